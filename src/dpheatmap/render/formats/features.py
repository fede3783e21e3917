"""Areas with their share of people, for .geojson, .parquet, .csv and data frames.

They are the leaves of the release (`leaves.py`), or the cells of H3 at a resolution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.posterior.leaves import Leaves
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render.formats.metadata import refuse_without_ground


@dataclass(frozen=True, eq=False)
class Areas:
    """Areas by name, their outlines, the value of each with its standard deviation, and its density.

    ``names`` are columns that identify areas. A ring is an array of corners (x, y), counter-clockwise on a map and
    not closed. ``density`` is per km2 on the ground, per square pixel, or per square side, as ``density_name`` says.
    ``smoothed`` says whether the map's smoothing is in the values, and ``quantity`` whether these are shares or people.
    """

    names: dict[str, Any]
    rings: list[Floats]
    values: Floats
    std: Floats | None
    density: Floats
    density_name: str
    smoothed: bool
    quantity: str

    def columns(self) -> dict[str, Any]:
        """Everything but the outlines, as columns; std is left out where it is not known."""
        std = {} if self.std is None else {"std": self.std}
        return {**self.names, self.quantity: self.values, **std, self.density_name: self.density}


def areas_of(heat: Heatmap, h3: int | None = None) -> Areas:
    """The areas of a map: cells of H3 at a resolution, or the leaves of its release."""
    refuse_areas(heat.domain, h3)
    if h3 is None:
        return measured_areas(heat)
    from dpheatmap.render.formats.hexagons import hexagons

    return hexagons(heat, h3)


def refuse_areas(domain: Domain, h3: int | None) -> None:
    """Refuse hexagons for a domain that is not on the ground, or without their package."""
    if h3 is not None:
        refuse_without_ground(domain, "H3", "a map of a box")
        import_extra("h3", "geo", "A list of hexagons")


def measured_areas(heat: Heatmap) -> Areas:
    """The leaves of the release by level, column and row: for a box, map tiles by zoom, x and y."""
    if heat.estimate is None:
        raise ParameterError(
            "The measured cells are those of a release, and this map was not made from one. Use Release.heatmap."
        )
    found = heat.estimate.leaves()
    unit = heat.domain.place.units.area
    values, std = found.share, found.std
    if heat.quantity == "people":
        values, std = heat.estimate.total * found.share, found.std_of_people
    return Areas(
        {"level": found.levels, "x": found.x, "y": found.y},
        list(corners_of(found)),
        values,
        std,
        unit * values / found.area,
        density_name(heat),
        smoothed=False,
        quantity=heat.quantity,
    )


def corners_of(cells: Leaves) -> Floats:
    """The corners of cells (x, y), counter-clockwise on a map, with longitudes from -180 to 180."""
    x0, y0, x1, y1 = cells.edges
    beyond = 360.0 * (x0 >= 180.0) * cells.domain.geographic  # no cell but the whole world crosses the antimeridian
    x0, x1 = x0 - beyond, x1 - beyond
    return np.stack([np.stack(c, axis=1) for c in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))], axis=1)


def density_name(heat: Heatmap) -> str:
    """The name of the column of densities."""
    return heat.domain.place.units.density
