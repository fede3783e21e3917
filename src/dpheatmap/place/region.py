"""Regions: places on the ground with a boundary, such as a city's.

The boundary is public. It becomes a mask of the finest cells that meet it (`boundary.py`); an event is inside if its
finest cell is. Other cells are known to be empty: they are never measured, and never drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from dpheatmap.place.boundary import GRID, Boundary, boundary_of_edges, mask_of_boundary
from dpheatmap.place.box import Box
from dpheatmap.place.mask import CellRange, RangeMask
from dpheatmap.place.place import Bounds, Floats
from dpheatmap.place.projection import NORTHERNMOST
from dpheatmap.place.quadtree import decode

_STEPS = 1e6  # of a degree: the extent is rounded outwards, so that it is the same on every machine


@dataclass(frozen=True)
class Region(Box):
    """A boundary as text, on the grid of the cells of a level; the extent is a rectangle that holds its cells."""

    rings: str
    level: int
    kind: ClassVar[str] = "polygon"
    words: ClassVar[str] = "a region on the ground"

    @classmethod
    def of_edges(cls, edges: Floats, level: int, *, turned: bool) -> Self:
        """Make a region of the directed edges of rings, in units of the cells of a level.

        Rings on a turned world may end at the antimeridian once they are snapped. They are moved to the usual one,
        which is half a circle away.
        """
        boundary, half = boundary_of_edges(edges), GRID * 2**level // 2
        if turned and int(boundary.points[:, 0].max()) <= half:
            boundary, turned = boundary._replace(points=boundary.points + np.array([half, 0])), False
        return cls._of_rings(boundary.pack(), level, turned=turned)

    @classmethod
    def _of_rings(cls, rings: str, level: int, *, turned: bool) -> Self:
        """Make a region of rings on a world that is turned or not, which its extent tells, too."""
        finest, side = mask_of_boundary(rings, level, level).finest, 2.0**level
        world = Box(Bounds(0.0, 0.0, 360.0 if turned else 180.0, 0.0))
        west, south, east, north = world.edges(*(at / side for at in (finest.x0, finest.y0, finest.x1, finest.y1)))
        x0, y0 = (math.floor(at * _STEPS) / _STEPS for at in (west, max(south, 1e-6 - NORTHERNMOST)))
        x1, y1 = (math.ceil(at * _STEPS) / _STEPS for at in (east, min(north, NORTHERNMOST - 1e-6)))
        made = cls(Bounds(x0, y0, x1, y1), rings, level)
        if made.turned != turned:
            raise ValueError("the rings don't lie on the world that the extent tells")
        return made

    def mask(self, depth: int) -> RangeMask:
        """The cells that meet the boundary, down to a level at most as deep as its own."""
        return mask_of_boundary(self.rings, self.level, depth)

    def finest(self, depth: int) -> CellRange:
        """The rectangle of the cells that meet the boundary."""
        return self.mask(depth).finest

    @property
    def enclosed(self) -> float:
        """The area inside the boundary, in square metres."""
        mask = self.mask(self.level)
        levels, codes = mask.pieces()
        finest, side = levels == self.level, 2.0**-levels
        parts = np.where(finest, mask.weight(self.level, codes), 1.0)
        x, y = decode(codes)
        areas = self.area(x * side, y * side, (x + 1) * side, (y + 1) * side)
        return float((parts * areas).sum())

    @property
    def outline(self) -> list[Floats]:
        """The rings of the boundary."""
        boundary = Boundary.unpack(self.rings)
        points = boundary.points / (GRID * 2.0**self.level)
        rings = np.split(points, np.cumsum(boundary.sizes)[:-1])
        return [np.concatenate([ring, ring[:1]]) for ring in rings]

    @property
    def option(self) -> str:
        """The option ``--inside``; the name of its file is not kept."""
        return "--inside FILE"

    def to_dict(self) -> dict[str, Any]:
        """The extent, and the rings as text."""
        return {**super().to_dict(), "rings": self.rings}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        """Make the region from its rings, which lie on the grid of the finest cells."""
        extent = [float(edge) for edge in description["extent"]]
        made = cls._of_rings(str(description["rings"]), int(description["depth"]), turned=extent[2] > 180.0)
        if not max(abs(one - other) for one, other in zip(made.extent, extent, strict=True)) <= 2.0 / _STEPS:
            raise ValueError("not the extent of these rings")
        return made
