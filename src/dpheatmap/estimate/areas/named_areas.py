"""Areas as they were read: names, geometries, and what there is to tell of them; and where they lie in a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dpheatmap.place.box import Box
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.rings import Shapes, shapes_of_rings
from dpheatmap.place.vector_rings import rings_of_geometries, to_degrees, valid_geometries


class NamedAreas(NamedTuple):
    """Areas as geometries of shapely, and their system of coordinates, which is None in places without one."""

    names: list[str]
    geometries: Any
    crs: Any
    columns: Any = None
    """A frame of the columns that the areas came with, or None."""
    notes: Sequence[str] = ()
    """What to note of each area; nothing, if it is empty."""
    said: tuple[str, ...] = ()
    """Lines that tell how the areas were read."""
    is_grid: bool = False
    """Whether they are cells that don't overlap, of which only those in the place are wanted."""

    def shapes(self, domain: Domain) -> Shapes:
        """The areas on the grid of a domain."""
        rings = rings_of_geometries(self.geometries)
        shapes = shapes_of_rings(self.names, rings, lambda points: _project(points, self.crs, domain))
        if isinstance(domain.place, Box) and domain.place.turned:
            again = shapes_of_rings(self.names, rings, lambda points: _project(points, self.crs, domain, 360.0))
            return shapes.with_copy(again)
        return shapes

    def only(self, kept: Any) -> NamedAreas:
        """Some of the areas, by a mask."""
        names = [name for name, keep in zip(self.names, kept, strict=True) if keep]
        notes = [note for note, keep in zip(self.notes, kept, strict=True) if keep] if self.notes else ()
        columns = None if self.columns is None else self.columns[kept].reset_index(drop=True)
        return self._replace(names=names, geometries=self.geometries[kept], columns=columns, notes=notes)

    def saying(self, line: str) -> NamedAreas:
        """The same areas with one more line to tell."""
        return self._replace(said=(*self.said, line))

    def noting(self, note: str, where: Any) -> NamedAreas:
        """The same areas, some of them with one more note."""
        had = self.notes or [""] * len(self.names)
        notes = [", ".join(filter(None, (old, note))) if here else old for old, here in zip(had, where, strict=True)]
        return self._replace(notes=notes)


def outlines_of(table: Any, domain: Domain) -> list[list[Floats]]:
    """The closed rings of each area of a table on the root square, those of holes the other way round."""
    geometries = table.geometry.to_numpy()
    rings = rings_of_geometries(valid_geometries(geometries))
    crs = table.crs if domain.geographic else None
    points = _project(rings.points, crs, domain) / 2.0**domain.depth
    if isinstance(domain.place, Box) and domain.place.turned:
        points[:, 0] %= 1.0
    found: list[list[Floats]] = [[] for _ in range(len(geometries))]
    starts = np.searchsorted(rings.ring, np.arange(len(rings.area) + 1))
    for k, area in enumerate(rings.area.tolist()):
        ring = points[starts[k] : starts[k + 1]]
        swept = float(np.sum((ring[:-1, 0] + ring[1:, 0]) * np.diff(ring[:, 1])))
        found[area].append(ring if (swept > 0) == (rings.hole[k] == 0) else ring[::-1])
    return found


def _project(points: Floats, crs: Any, domain: Domain, turn: float = 0.0) -> Floats:
    """Points in units of the finest cells of a domain; on the ground, after a turn of some degrees to the east."""
    x, y = (to_degrees(points, crs) if domain.geographic else points).T
    u, v = domain.to_root(x, y)
    if isinstance(domain.place, Box):
        u = domain.place.columns_of(x + turn)  # lines go on beyond the edge of the world
    return np.stack([u, v], axis=1) * 2.0**domain.depth
