"""The catchments of places: the nearest place to each cell of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.projection import latitudes_of_rows
from dpheatmap.place.quadtree import Ints

if TYPE_CHECKING:
    from dpheatmap.estimate.places import Places


def catchments(places: Places, columns: int, rows: int) -> Ints:
    """The number of the nearest place at the middle of each cell of a grid over the domain."""
    middles = ((np.arange(count) + 0.5) / count for count in (columns, rows))
    x, y = coordinates(places.domain, *middles)
    return places.catchment(*np.meshgrid(x, y))


def coordinates(domain: Domain, across: Floats, down: Floats) -> tuple[Floats, Floats]:
    """Convert fractions of the domain's rectangle of cells, across and down, to its coordinates."""
    bounds, finest = domain.bounds, domain.cells(domain.depth)
    x = bounds.x0 + across * (bounds.x1 - bounds.x0)
    if domain.geographic:
        return x, latitudes_of_rows((finest.y0 + down * finest.rows) / 2.0**domain.depth)
    return x, bounds.y0 + down * (bounds.y1 - bounds.y0)
