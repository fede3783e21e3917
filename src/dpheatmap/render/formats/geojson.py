"""GeoJSON (RFC 7946): measured cells or hexagons with their share of people."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render.formats.features import areas_of, refuse_areas
from dpheatmap.render.formats.metadata import facts, refuse_without_ground

_DIGITS = 7  # of a degree: a centimetre


def write(heat: Heatmap, path: Path, *, h3: int | None = None) -> None:
    """Write a collection of polygons in degrees; the member ``dpheatmap`` says how the map was made."""
    areas = areas_of(heat, h3)
    columns = {name: np.asarray(column).tolist() for name, column in areas.columns().items()}
    rows = zip(*columns.values(), strict=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        about = json.dumps(facts(heat, smoothed=areas.smoothed))
        file.write(f'{{"type": "FeatureCollection", "dpheatmap": {about}, "features": [\n')
        for k, (ring, row) in enumerate(zip(areas.rings, rows, strict=True)):
            feature = {
                "type": "Feature",
                "geometry": {"type": "Polygon", "coordinates": [_close(ring)]},
                "properties": dict(zip(columns, row, strict=True)),
            }
            file.write(",\n" * (k > 0) + json.dumps(feature))
        file.write("\n]}\n")


def refuse(domain: Domain, *, h3: int | None = None) -> None:
    """Refuse images and unit squares: GeoJSON is in degrees."""
    refuse_without_ground(domain, "GeoJSON", ".parquet or .csv")
    refuse_areas(domain, h3)


def _close(ring: Floats) -> list[list[float]]:
    """The corners, rounded, with the first one repeated at the end."""
    corners: list[list[float]] = np.round(ring, _DIGITS).tolist()
    return [*corners, corners[0]]
