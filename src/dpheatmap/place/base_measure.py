"""A base measure: how much of a place each cell holds before anything is known about people.

By default it is the area inside the domain. A public prior, such as an earlier release or a population raster, is
another one.
"""

from __future__ import annotations

from typing import Protocol

from dpheatmap.place.place import Floats
from dpheatmap.place.quadtree import Ints


class BaseMeasure(Protocol):
    """A public measure on the cells of every level, additive over a cell's children."""

    def weight(self, level: int, codes: Ints) -> Floats:
        """The measure of cells of a level: positive where people may be, 0 outside the domain."""
