"""A distribution over the domain, held as the masses of disjoint cells of any level."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpheatmap.estimate.inside_cells import cut_at_boundary
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, decode, encode


@dataclass(frozen=True, eq=False)
class Distribution:
    """Masses of disjoint cells that cover the domain; inside a cell, mass lies evenly on its part of the domain.

    ``mass`` adds up to 1. ``total`` is the estimated number of people, before normalisation. ``empty`` means that the
    estimate was zero everywhere, and the uniform map replaces it.
    """

    domain: Domain
    levels: Ints
    codes: Ints
    mass: Floats
    total: float
    empty: bool = False

    @classmethod
    def from_people(cls, domain: Domain, levels: Ints, codes: Ints, people: Floats) -> Distribution:
        """Turn estimated numbers of people in disjoint cells into a distribution; negative numbers count as 0.

        If none is positive, the result is the flagged uniform map.

        >>> Distribution.from_people(Domain.unit(3), np.array([1, 1]), np.array([0, 2]), np.array([-1.0, 4.0])).mass
        array([0., 1.])
        """
        people = np.maximum(people, 0.0)
        total = float(people.sum())
        if total <= 0.0:
            return cls.uniform(domain)
        return cls(domain, levels, codes, people / total, total)

    @classmethod
    def from_raster(cls, domain: Domain, people: Floats) -> Distribution:
        """Turn estimated numbers of people in every finest cell, row by row, into a distribution.

        What was estimated in cells outside of a boundary is left out: nobody is there.
        """
        finest = domain.cells(domain.depth)
        rows, columns = np.nonzero(people > 0.0)
        inside = domain.meets(domain.depth, columns + finest.x0, rows + finest.y0)
        rows, columns = rows[inside], columns[inside]
        codes = encode(columns + finest.x0, rows + finest.y0)
        return cls.from_people(domain, np.full(len(codes), domain.depth), codes, people[rows, columns])

    @classmethod
    def uniform(cls, domain: Domain) -> Distribution:
        """The flagged uniform map, used for an estimate of zero: all mass in the root cell, evenly on the domain."""
        root = np.zeros(1, np.int64)
        return cls(domain, root, root, np.ones(1), 0.0, empty=True)

    def only(self, chosen: NDArray[np.bool_]) -> Distribution:
        """The chosen cells alone, with their part of the mass."""
        return replace(self, levels=self.levels[chosen], codes=self.codes[chosen], mass=self.mass[chosen])

    def coarser(self, level: int) -> Distribution:
        """Add up cells finer than a level; cells of that level and coarser ones stay as they are.

        >>> halves = Distribution(Domain.unit(3), np.array([1, 2]), np.array([0, 4]), np.array([0.25, 0.75]), 9.0)
        >>> halves.coarser(1).codes.tolist(), halves.coarser(0).mass.tolist()
        ([0, 1], [1.0])
        """
        levels = np.minimum(self.levels, level)
        codes = self.codes >> 2 * (self.levels - levels)
        cells, where = np.unique(np.stack([levels, codes]), axis=1, return_inverse=True)
        domain = replace(self.domain, depth=level)
        mass = np.bincount(where, self.mass, cells.shape[1]).astype(np.float64)
        return Distribution(domain, cells[0], cells[1], mass, self.total, self.empty)

    def raster(self, columns: int, rows: int) -> Floats:
        """Compute the mass of each pixel of the domain's rectangle of finest cells, cut into ``rows x columns`` pixels.

        >>> half_left = Distribution(Domain.unit(3), np.array([1, 1]), np.array([0, 2]), np.array([0.25, 0.75]), 9.0)
        >>> half_left.raster(4, 2).tolist()
        [[0.125, 0.125, 0.0, 0.0], [0.375, 0.375, 0.0, 0.0]]
        """
        return Rasteriser(self.domain, self.levels, self.codes, columns, rows).raster(self.mass)


class Rasteriser:
    """Some cells on a grid of pixels, which any masses of theirs can be spread over, as `Distribution.raster` does."""

    def __init__(self, domain: Domain, levels: Ints, codes: Ints, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        finest = domain.cells(domain.depth)
        coarser = math.log2(max(1.0, min(finest.columns / columns, finest.rows / rows)))
        inside = cut_at_boundary(domain, levels, codes, domain.depth - int(coarser))
        self._holder, self._part = inside.holder, inside.part
        x, y = decode(inside.codes)
        side = np.left_shift(1, domain.depth - inside.levels)
        self._across = _interval_in_pixels(x * side, side, finest.x0, finest.x1, columns)
        self._down = _interval_in_pixels(y * side, side, finest.y0, finest.y1, rows)

    def raster(self, mass: Floats, first: int = 0, stop: int | None = None) -> Floats:
        """Compute the mass of each pixel, or of those in some rows."""
        from dpheatmap.estimate.rasterise import rasterise

        stop = self.rows if stop is None else stop
        mass = mass[self._holder] * self._part
        values = np.zeros((stop - first, self.columns))
        ends: tuple[Floats, ...] = (*self._across, *self._down)
        if stop - first < self.rows:
            top, bottom = self._down
            there = np.flatnonzero((top < stop) & (bottom > first))
            mass, ends = mass[there], tuple(end[there] for end in ends)
        rasterise(values, first, mass, *ends)
        return values


def _interval_in_pixels(begin: Ints, length: Ints, low: int, high: int, pixels: int) -> tuple[Floats, Floats]:
    """Ends of intervals of finest cells, clipped to ``low .. high`` and measured in pixels from ``low``.

    Integers are multiplied before the only division, so that an end on a pixel's edge falls on it exactly.
    """
    start = np.maximum(begin, low) - low
    stop = np.minimum(begin + length, high) - low
    return start * pixels / (high - low), stop * pixels / (high - low)
