"""Uniform and adaptive grids: Qardaji, Yang and Li, "Differentially private grids" (2013).

A finer grid has more noise, a coarser one more error from spreading a cell's people evenly. In a grid of m x m cells of
n people the first grows like m and the second like n / m, so they balance at ``m = sqrt(n eps / c)``. The authors find
c = 10 good on all their data.

*Privacy.* The questions are the number of people, and for each grid the counts of its disjoint cells. Each costs its
part of epsilon, for any weights of a person. Grid lines depend on the public domain and on earlier answers only.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpheatmap.curator import Curator
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.baselines import finest_grid
from dpheatmap.evaluate.peers.non_negative import nearest_non_negative
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

BALANCE = 10.0
"""The authors' c."""
BALANCE_WITHIN = BALANCE / 2
"""The authors' c_2, for the grids within the coarse grid's cells."""
COARSE_SHARE = Fraction(1, 2)
"""The authors' alpha: the coarse grid's part of the grids' budget."""
COARSEST = 10
"""The authors' least number of coarse cells per side."""
ROUNDING = 1e-9  # the floating-point error that may be added to an integer before it is rounded up

TOTAL_SHARE = Fraction(1, 20)
"""The part for the uniform grid's n. Its standard error times epsilon is sqrt(2) 20 = 28 for all n and epsilon, so m^2
is off by about 3 cells; and the noise on the cells is 5 % larger than if n were known."""
TOTAL_SHARE_OF_ADAPTIVE = Fraction(1, 100)
"""The coarse grid has its least size unless n eps > 16000, and for more the error of 141 does not matter."""


def uniform_grid(curator: Curator) -> Distribution:
    """Measure one grid of about n eps / 10 cells, as square as possible, with people even inside a cell.

    If the noisy number of people is tiny or negative it is one cell. Negative counts are removed as in
    :mod:`~dpheatmap.evaluate.peers.non_negative`.
    """
    rows, columns = finest_grid(curator.domain)
    people = curator.total(curator.part(TOTAL_SHARE))
    down, across = grid_shape(rows, columns, cells_of_uniform_grid(people, float(curator.rest)))
    labels = _parts(rows, down)[:, None] * across + _parts(columns, across)[None, :]
    people_in_cells = nearest_non_negative(curator.regions(labels, curator.rest))
    return Distribution.from_raster(curator.domain, _spread_evenly(labels, people_in_cells))


def adaptive_grid(curator: Curator) -> Distribution:
    """Measure a coarse grid, and in each of its cells a grid whose fineness depends on the cell's noisy count.

    A cell of noisy count N' is cut into m x m, ``m = ceil(sqrt(N' (1 - alpha) eps / c_2))``: at least one, which is
    then measured again. All finer cells are disjoint and make one question.
    """
    rows, columns = finest_grid(curator.domain)
    people = curator.total(curator.part(TOTAL_SHARE_OF_ADAPTIVE))
    side = coarse_side(people, float(curator.rest))
    down, across = grid_shape(rows, columns, float(side * side))
    row, column = _parts(rows, down), _parts(columns, across)
    coarse = row[:, None] * across + column[None, :]
    coarse_budget = curator.rest * COARSE_SHARE
    first = curator.regions(coarse, coarse_budget)
    wanted = sides_within(first, float(curator.rest))
    down_within = np.minimum(wanted, np.repeat(np.bincount(row), across))
    across_within = np.minimum(wanted, np.tile(np.bincount(column), down))
    fine = _labels_within(coarse, row, column, down_within, across_within)
    ratio = float(coarse_budget / curator.rest)
    second = curator.regions(fine, curator.rest)
    people_in_cells = nearest_non_negative(reconcile(first, second, down_within * across_within, ratio))
    return Distribution.from_raster(curator.domain, _spread_evenly(fine, people_in_cells))


def cells_of_uniform_grid(people: float, epsilon: float) -> float:
    """The authors' m^2 = n eps / c, at least 1."""
    return max(1.0, people * epsilon / BALANCE)


def coarse_side(people: float, epsilon: float) -> int:
    """The authors' m_1: a quarter of the uniform grid's cells per side, at least ten.

    >>> coarse_side(1_000_000, 1.0), coarse_side(200, 1.0)
    (80, 10)
    """
    return max(COARSEST, math.ceil(math.ceil(math.sqrt(max(people, 0.0) * epsilon / BALANCE)) / 4))


def sides_within(people: Floats, epsilon: float) -> Ints:
    """The authors' m_2 for coarse cells with these noisy counts, whose finer cells are measured with epsilon.

    >>> sides_within(np.array([-3.0, 0.0, 4.0, 50.0]), 2.0).tolist()
    [1, 1, 2, 5]
    """
    return np.maximum(1, np.ceil(np.sqrt(np.maximum(people, 0.0) * epsilon / BALANCE_WITHIN))).astype(np.int64)


def grid_shape(rows: int, columns: int, cells: float) -> tuple[int, int]:
    """The numbers of square cells down and across a rectangle, rounded up as in the authors' formulas.

    They are at least 1 and at most the number of finest cells; where one side hits a limit, the other compensates.

    >>> grid_shape(240, 320, 12.0), grid_shape(2, 60, 100.0), grid_shape(2, 200, 100.0)
    ((3, 4), (2, 55), (1, 100))
    """
    down = min(max(math.sqrt(cells * rows / columns), 1.0), float(rows))
    across = min(max(cells / down, 1.0), float(columns))
    down = min(max(cells / across, 1.0), float(rows))
    return math.ceil(down - ROUNDING), math.ceil(across - ROUNDING)


def reconcile(first: Floats, second: Floats, children: Ints, ratio: float) -> Floats:
    """Adjust the finer counts by the authors' constrained inference with the coarse ones.

    A coarse cell's own count has a variance proportional to 1 / alpha^2, and the sum of its k finer ones k / (1 -
    alpha)^2. The best estimate weights them inversely, and its difference to the sum is shared equally. ``ratio`` is
    alpha / (1 - alpha); a coarse cell has ``children`` finer cells, adjacent in ``second``.
    """
    begin = np.cumsum(children) - children
    sums = np.add.reduceat(second, begin)
    weight = ratio**2 * children / (1.0 + ratio**2 * children)
    shared: Floats = second + np.repeat(weight * (first - sums) / children, children)
    return shared


def _parts(length: int, parts: int) -> Ints:
    """The number of the part of each finest cell in a row cut into nearly equal parts, none empty if possible."""
    return np.arange(length) * parts // length


def _labels_within(coarse: Ints, row: Ints, column: Ints, down: Ints, across: Ints) -> Ints:
    """For each finest cell the number of its finer cell, counted coarse cell by coarse cell and within it row by row.

    ``down`` and ``across`` are the numbers of parts of each coarse cell.
    """
    offset = np.cumsum(down * across) - down * across
    height, width = np.bincount(row), np.bincount(column)
    y = (np.arange(len(row)) - np.searchsorted(row, row))[:, None]
    x = (np.arange(len(column)) - np.searchsorted(column, column))[None, :]
    part_down = y * down[coarse] // height[row][:, None]
    part_across = x * across[coarse] // width[column][None, :]
    labels: Ints = offset[coarse] + part_down * across[coarse] + part_across
    return labels


def _spread_evenly(labels: Ints, people: Floats) -> Floats:
    """Spread the people of regions evenly over the regions' finest cells."""
    even: Floats = (people / np.bincount(labels.ravel(), minlength=len(people)))[labels]
    return even
