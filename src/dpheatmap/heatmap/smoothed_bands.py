"""Smoothing of a distribution band by band: rasters of any size, in the memory of a few bands of rows.

The filter is that of `smoothing.py`: rows are spread across, each by its own sigma, and then down. A band of the result
depends on all rows within some sigmas of it, and sigma may be thousands of rows. But a Gaussian is a sum of narrower
ones. With knots t every h rows, of a sigma s,

    exp(-(y - i)^2 / 2 sigma^2) = c * sum over t of exp(-(y - t)^2 / 2 s^2) exp(-(t - i)^2 / 2 (sigma^2 - s^2)),

c = h sigma / (s sqrt(2 pi (sigma^2 - s^2))). If s^2 is at most half of sigma^2 and h is s / 1.75, both sides agree to
within 1e-12. So rows are spread over knots, which are few, and a band is made of the knots around it. Where sigma is
small, the rows themselves are the knots.

Inside a boundary, the part of a pixel's mass that the filter leaves inside is as smooth as the map. It is computed on
a grid of at most _COARSE pixels, and interpolated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpheatmap.estimate.distribution import Distribution, Rasteriser
from dpheatmap.heatmap.smoothing import bell, filter_row, inside_in_pixels, kept_inside, sigmas_in_pixels
from dpheatmap.place.domain import Domain, Floats

_REACH = 7.0  # sigmas: beyond, a bell is below 3e-11 of its top
_KNOTS = 1.75  # in their sigma
_FEW = 16.0  # rows: if sigma is smaller, the rows are the knots
_COARSE = 1024  # pixels on the longer side
_CHUNK = 256  # rows that are spread at once


def smoothed_bands(
    distribution: Distribution, sigma: float, shape: tuple[int, int], edges: Sequence[int]
) -> Iterator[Floats]:
    """Rasterise a distribution to rows and columns of pixels and smooth it; yields the bands of rows between edges.

    Together the bands are what `smoothing.smooth` computes, to within 1e-10 of the highest value; inside a boundary, on
    more than _COARSE pixels, to within a few thousandths.
    """
    rows, columns = shape
    domain = distribution.domain
    cells = Rasteriser(domain, distribution.levels, distribution.codes, columns, rows)
    if distribution.empty:
        for first, stop in pairwise(edges):
            yield cells.raster(distribution.mass, first, stop)
        return
    across, down = sigmas_in_pixels(domain, sigma, shape)
    knots, edge = _Knots(down, columns), None if domain.runs is None else _Edge(domain, sigma, shape)
    for first, stop in pairwise(edges):
        while knots.rows_added < knots.rows_for(stop):
            begin = knots.rows_added
            end = min(rows, begin + _CHUNK)
            chunk = cells.raster(distribution.mass, begin, end)
            if edge is not None:
                chunk /= edge.keeps(begin, end)
            for i, row in enumerate(chunk, begin):
                if row.any():
                    row[:] = filter_row(row, float(across[i])) / _sum_of_bell(i, rows, float(down[i]))
            knots.add(chunk)
        band = knots.band(first, stop)
        yield band if edge is None else band * edge.parts(first, stop)


class _Edge:
    """What lies inside a boundary, by rows: parts of pixels, and the parts of their masses that a filter keeps."""

    def __init__(self, domain: Domain, sigma: float, shape: tuple[int, int]) -> None:
        self.shape = shape
        even = Distribution.uniform(domain)
        self._even, self._mass = Rasteriser(domain, even.levels, even.codes, shape[1], shape[0]), even.mass
        self._pixels = inside_in_pixels(domain, shape)
        longer = max(shape)
        coarse = (max(2, round(side * min(1.0, _COARSE / longer))) for side in shape)
        self._kept = kept_inside(domain, sigma, (next(coarse), next(coarse)))

    def parts(self, first: int, stop: int) -> Floats:
        """The parts of the pixels of some rows that lie inside."""
        return np.minimum(self._even.raster(self._mass, first, stop) * self._pixels, 1.0)

    def keeps(self, first: int, stop: int) -> Floats:
        """The parts of the masses of these pixels that a filter keeps inside."""
        if self._kept.shape == self.shape:
            return self._kept[first:stop]
        rows, columns = self._kept.shape
        down = (np.arange(first, stop) + 0.5) * (rows / self.shape[0]) - 0.5
        across = (np.arange(self.shape[1]) + 0.5) * (columns / self.shape[1]) - 0.5
        between = np.stack([np.interp(down, np.arange(rows), column) for column in self._kept.T], axis=1)
        return np.stack([np.interp(across, np.arange(columns), row) for row in between])


def _sum_of_bell(i: int, rows: int, sigma: float) -> float:
    """The sum of a bell around row i over all rows."""
    reach = math.ceil(_REACH * sigma)
    half = bell(np.arange(min(rows, reach + 1), dtype=np.float64), sigma)
    return float(half[: i + 1].sum() + half[: rows - i].sum() - 1.0)


class _Knots:
    """Bells down the columns that hold the rows added so far; those above the band before are dropped.

    ``spread`` is the sigma by which each row is spread over knots. Where rows are knots it is next to nothing.
    """

    def __init__(self, sigmas: Floats, columns: int) -> None:
        rows, least = np.arange(len(sigmas)).astype(np.float64), float(sigmas.min())
        if least < _FEW:
            self.places, self.widths = rows, sigmas
            self.spread, self.scale = np.full(len(rows), 1e-100), np.ones(len(rows))
        else:
            width = least / math.sqrt(2.0)
            step, beyond = width / _KNOTS, math.ceil(_REACH * _KNOTS)
            self.places = np.arange(-beyond, math.ceil(len(rows) / step) + beyond + 1) * np.float64(step)
            self.widths = np.full(len(self.places), width)
            self.spread = np.sqrt(sigmas**2 - width**2)
            self.scale = step / (math.sqrt(2.0 * math.pi) * width) * (sigmas / self.spread)
        self.rows_added = 0
        self._highest, self._lowest = rows - _REACH * self.spread, rows + _REACH * self.spread
        self._dropped, self._held = 0, np.zeros((0, columns))

    def rows_for(self, stop: int) -> int:
        """How many rows must have been added for a band that ends before row ``stop``."""
        return _count(self._highest <= self.places[self._knots_for(stop) - 1])

    def add(self, chunk: Floats) -> None:
        """Add the next rows."""
        added = slice(self.rows_added, self.rows_added + len(chunk))
        self.rows_added += len(chunk)
        first = max(self._dropped, int(np.searchsorted(self.places, self._highest[added].min())))
        stop = int(np.searchsorted(self.places, self._lowest[added].max(), side="right"))
        rows = np.arange(added.start, added.stop)
        matrix = self.scale[added] * bell(self.places[first:stop, None] - rows, self.spread[added])
        missing = stop - self._dropped - len(self._held)
        if missing > 0:
            self._held = np.concatenate([self._held, np.zeros((missing, chunk.shape[1]))])
        self._held[first - self._dropped : stop - self._dropped] += matrix @ chunk

    def band(self, first: int, stop: int) -> Floats:
        """The rows of a band; all rows that it needs have been added."""
        begin, end = int(np.argmax(self.places + _REACH * self.widths >= first)), self._knots_for(stop)
        self._held = self._held[begin - self._dropped :].copy()
        self._dropped = begin
        rows = np.arange(first, stop)
        matrix = bell(rows[:, None] - self.places[begin:end], self.widths[begin:end])
        band: Floats = matrix @ self._held[: end - begin]
        return band

    def _knots_for(self, stop: int) -> int:
        return _count(self.places - _REACH * self.widths < stop)


def _count(reached: NDArray[np.bool_]) -> int:
    """How many of the first there are up to the last that is reached."""
    return int(np.flatnonzero(reached)[-1]) + 1
