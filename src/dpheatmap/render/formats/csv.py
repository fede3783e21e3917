"""CSV tables of pixels or of hexagons: the position of each, and its share of people."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.formats.features import areas_of, refuse_areas


def write(heat: Heatmap, path: Path, *, h3: int | None = None) -> None:
    """Write columns ``lon, lat, share`` for a box, else ``x, y, share``, row by row from the top; floats round-trip.

    Instead of shares there may be ``people``. ``std`` follows where it is known. With ``h3`` there are hexagons: their
    names, values and densities.
    """
    with path.open("w", encoding="ascii", newline="\n") as file:
        if h3 is not None:
            columns = areas_of(heat, h3).columns()
            file.write(",".join(columns) + "\n")
            for row in zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True):
                file.write(",".join(map(str, row)) + "\n")
            return
        layers = [heat.values] if heat.std is None else [heat.values, heat.std]
        names = list(heat.domain.place.axes)
        file.write(",".join([*names, heat.quantity, "std"][: 2 + len(layers)]) + "\n")
        across = [repr(x) for x in heat.domain.place.customary(heat.x).tolist()]
        for y, *rows in zip(heat.y.tolist(), *layers, strict=True):
            texts = [map(repr, row.tolist()) for row in rows]
            file.writelines(f"{x},{y!r},{','.join(values)}\n" for x, *values in zip(across, *texts, strict=True))


def refuse(domain: Domain, *, h3: int | None = None) -> None:
    """Refuse hexagons for a domain that is not on the ground."""
    refuse_areas(domain, h3)
