"""Maps on the cells of a level, in strips from the top down: what tiles and large GeoTIFFs are made of.

The cells of a domain are map tiles: a tile of zoom z has 256 x 256 pixels, each of which is a cell of level z + 8. So
nothing is resampled. A strip is what lies in one row of tiles. Cells of coarser levels are sums of four, and their
strips follow from those of finer levels. So only a few strips are held at a time, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.smoothed_bands import smoothed_bands
from dpheatmap.place.domain import Domain, Floats

TILE = 8
"""Levels from a tile to its pixels."""

_SIDE = 2**TILE
_MOST_TILES = 1_000_000


@dataclass(frozen=True, eq=False)
class Strip:
    """Values of the cells of a level in one row of tiles, from a first column and row on; 0 beyond.

    ``layers`` has an array of rows and columns for each kind of value.
    """

    level: int
    x0: int
    y0: int
    layers: Floats

    @property
    def rows(self) -> int:
        """How many rows of cells there are."""
        return int(self.layers.shape[1])

    def coarser(self) -> Strip:
        """The half of a strip one level up: four cells are added up to one."""
        rows, columns = self.layers.shape[1:]
        left, top = self.x0 % 2, self.y0 % 2
        padded = np.pad(self.layers, ((0, 0), (top, (top + rows) % 2), (left, (left + columns) % 2)))
        fours = padded.reshape(len(padded), padded.shape[1] // 2, 2, padded.shape[2] // 2, 2)
        return Strip(self.level - 1, self.x0 // 2, self.y0 // 2, fours.sum(axis=(2, 4)))

    def with_below(self, below: Strip) -> Strip:
        """Both halves of a strip together."""
        return replace(self, layers=np.concatenate([self.layers, below.layers], axis=1))


def refuse_zooms(domain: Domain, zooms: tuple[int, int] | None) -> None:
    """Refuse pixels finer than the finest cells, and more tiles than anybody has time for."""
    last = 0 if zooms is None else zooms[1]
    if last > finest_zoom(domain):
        raise ParameterError(
            f"zooms must end at {finest_zoom(domain)} or before, where pixels are the finest cells of this place; the "
            f"last was {last}. End there: web maps enlarge the last zoom by themselves."
        )
    tiles = domain.count(min(last, domain.depth))
    if tiles > _MOST_TILES:
        raise ParameterError(
            f"zooms must end where the map has at most {_MOST_TILES:,} tiles; zoom {last} has {tiles:,}. "
            "End earlier: web maps enlarge the last zoom by themselves."
        )


def finest_zoom(domain: Domain) -> int:
    """The last zoom whose pixels are not smaller than the finest cells."""
    return max(0, domain.depth - TILE)


def own_level(heat: Heatmap) -> int:
    """The deepest level that has no more cells on the longer side than the map has pixels."""
    domain, pixels = heat.domain, max(heat.values.shape)

    def longer(level: int) -> int:
        cells = domain.cells(level)
        return max(cells.columns, cells.rows)

    return max(level for level in range(domain.depth + 1) if longer(level) <= max(pixels, longer(0)))


def strips_for(heat: Heatmap, level: int) -> Iterator[Strip]:
    """The values of a map, as one layer, in the cells of a level, or of the map's own level if that is deeper."""
    level = max(level, own_level(heat))
    cells = heat.domain.cells(level)
    edges = [cells.y0, *range((cells.y0 // _SIDE + 1) * _SIDE, cells.y1, _SIDE), cells.y1]
    below = [edge - cells.y0 for edge in edges]
    bands: Iterable[Floats]
    if heat.values.shape == (cells.rows, cells.columns) and level == heat.domain.depth:
        bands = (heat.values[first:stop] for first, stop in pairwise(below))
    elif heat.estimate is None:
        raise ParameterError(
            "Tiles need a map whose pixels are cells, or the release that it was made from. Use Release.heatmap."
        )
    else:
        masses = heat.estimate.distribution().coarser(level)
        whole = float(heat.values.sum())
        bands = (whole * band for band in smoothed_bands(masses, heat.sigma, (cells.rows, cells.columns), below))
    for y0, band in zip(edges, bands, strict=False):
        yield Strip(level, cells.x0, y0, band[None])


def with_coarser(strips: Iterable[Strip], coarsest: int) -> Iterator[Strip]:
    """Strips, and among them those of coarser levels, each when all of it is known."""
    halves: dict[int, Strip] = {}
    for strip in strips:
        yield from _with_coarser(strip, coarsest, halves)
    while halves:
        yield from _with_coarser(halves.pop(max(halves)), coarsest, halves)


def _with_coarser(strip: Strip, coarsest: int, halves: dict[int, Strip]) -> Iterator[Strip]:
    """A strip, and the one of the level above that is whole now; ``halves`` are those that may not be."""
    yield strip
    if strip.level > coarsest:
        half = strip.coarser()
        before = halves.pop(half.level, None)
        if before is not None and before.y0 // _SIDE == half.y0 // _SIDE:
            half = before.with_below(half)
        elif before is not None:
            yield from _with_coarser(before, coarsest, halves)
        halves[half.level] = half
