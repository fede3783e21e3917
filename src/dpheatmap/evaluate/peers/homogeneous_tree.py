"""HTF: a tree of even boxes (Shaham, Ghinita, Ahuja, Krumm, Shahabi 2021 and 2023, "Homogeneous Tree Framework")."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpheatmap.curator import Curator
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.baselines import finest_grid
from dpheatmap.evaluate.peers.box_tree import Boxes, Level, consistent_leaves
from dpheatmap.evaluate.peers.cut_search import Purse, cut_boxes
from dpheatmap.evaluate.peers.inference import to_children
from dpheatmap.evaluate.peers.non_negative import nearest_non_negative
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

TOTAL = Fraction(1, 20)
BALANCE = 0.25
"""The people times epsilon of a leaf, c."""
CUTS = 0.05
"""The part of the budget that looks for the cuts, the same for all levels."""
GROWTH = 2.0 ** (1 / 3)
"""A level's counts get so much more than those of the level above, as in the quadtrees of Cormode et al."""
STOP = 5.0
"""Boxes with fewer people times epsilon are not split."""


def htf(curator: Curator) -> Distribution:
    """Split boxes in two where both parts become as even as possible, count them on all levels, make them consistent.

    *How a box is cut*: alternately across and down, where the sum of ``|count - mean count|`` over the cells of both
    parts is least, by a search that asks for a few noisy sums: :mod:`~dpheatmap.evaluate.peers.cut_search`.

    *When it is not*: on the last level, of which there are log2(n eps / c), if it is one cell, or if its noisy count is
    small. What such a box has not spent then goes into a second count of it. The counts of a level get 2^(1/3) times
    the budget of the level above. Least squares makes the levels consistent, the two counts of a box averaged by
    precision. Mass lies evenly in a leaf. Negative counts are removed as in
    :mod:`~dpheatmap.evaluate.peers.non_negative`.

    *Privacy.* The number of people costs 5 %. All else is paid by the boxes' own
    :meth:`~dpheatmap.curator.Curator.allowances`.

    *What is different.* HTF is made for grids with many people in a cell. On 256 x 256 cells with 200 people nearly all
    cells are empty, and every cut is about as even as any other. So the cells of the search are blocks, at most as
    many as leaves. A ten-thousandth of epsilon is enough for an n of millions; here it would be noise of thousands of
    people. With c = 10, the uniform grid's, 200 people at epsilon 1 have 16 leaves; with c = 1/4 the EMD on public maps
    is half of that. The other settings were chosen there, too: a twentieth of the budget for cuts, and no splits of
    boxes below 5 / eps people. Half or twice as much of any of them changes the EMD by -4 % to +13 %.

    *Source.* The papers' abstracts and an implementation by others; the papers' full text was not at hand.
    """
    rows, columns = finest_grid(curator.domain)
    leaves = max(curator.total(curator.part(TOTAL)), 1.0) * float(curator.epsilon) / BALANCE
    side = block_side(rows, columns, leaves)
    purse = curator.allowances(side, curator.rest)
    shape = purse.left.shape
    people, leaf = consistent_leaves(grow(purse, round(math.log2(max(leaves, 1.0)))), shape)
    labels = to_children(leaf.astype(np.float64), side, (rows, columns)).astype(np.int64)
    each = nearest_non_negative(people) / np.bincount(labels.ravel())
    return Distribution.from_raster(curator.domain, each[labels])


def block_side(rows: int, columns: int, leaves: float) -> int:
    """The side of square blocks, a power of two, of which there are at most as many as leaves.

    >>> block_side(256, 256, 800.0), block_side(256, 256, 1e9), block_side(1, 5, 1.0)
    (16, 1, 8)
    """
    side = 1
    while -(-rows // side) * -(-columns // side) > max(leaves, 1.0):
        side *= 2
    return side


def grow(purse: Purse, height: int) -> list[Level]:
    """Count and cut boxes, level by level; the first, whose count is n, is cut in any case."""
    search, counts = budgets(height, purse.parts)
    boxes, levels = Boxes.whole(*purse.left.shape), list[Level]()
    for depth in range(height + 1):
        prices = np.full(len(boxes), counts[depth]) if depth < height else boxes.at(purse.left)
        people, precision = _count(purse, boxes, prices)
        wanted = (people * float(purse.epsilon) > STOP) | (depth == 0)
        split = wanted & (boxes.rows * boxes.columns > 1) & (depth < height)
        levels.append(_count_again(purse, boxes, people, precision, split))
        if not split.any():
            break
        boxes = cut_boxes(purse, boxes.only(split), depth, search)
    return levels


def budgets(height: int, parts: int) -> tuple[int, list[int]]:
    """What a level's search for cuts costs, and a count of each level but the last, which gets what is left.

    >>> budgets(2, 1000)
    (25, [246, 311])
    """
    growth = GROWTH ** np.arange(height + 1)
    counts = (growth / growth.sum() * (1.0 - CUTS) * parts).astype(np.int64)[:-1]
    return int(CUTS * parts / max(height, 1)), counts.tolist()


def _count(purse: Purse, boxes: Boxes, prices: Ints) -> tuple[Floats, Floats]:
    """Noisy counts of boxes, and their precision: one over the variance of the noise, times two."""
    people = purse.regions(boxes.labels(purse.left.shape), prices)
    return people, (prices / purse.parts * float(purse.epsilon)) ** 2


def _count_again(purse: Purse, boxes: Boxes, people: Floats, precision: Floats, split: NDArray[np.bool_]) -> Level:
    """A level, after a second count of the boxes that stay whole and have something left."""
    again = ~split & (boxes.at(purse.left) > 0)
    if again.any():
        few = boxes.only(again)
        second, more = _count(purse, few, few.at(purse.left))
        people[again] = (people[again] * precision[again] + second * more) / (precision[again] + more)
        precision[again] += more
    return Level(boxes, people, 2.0 / precision, split)
