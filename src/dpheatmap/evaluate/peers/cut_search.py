"""HTF's search for the cuts that leave both parts of a box as even as possible."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpheatmap.evaluate.peers.box_tree import Boxes
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

ROUNDS = 3
"""HTF's T. More rounds find finer places, each asked about with more noise."""
QUESTIONS = 2 * ROUNDS + 1
ONE_CUT = 2
"""A box of so many cells can be cut at one place only, and nothing is asked."""


class Purse(Protocol):
    """What boxes pay from: see :meth:`dpheatmap.curator.Curator.allowances`."""

    parts: int
    epsilon: Fraction

    @property
    def left(self) -> Ints:
        """What each block has left, in parts."""

    def regions(self, labels: Ints, prices: Ints) -> Floats:
        """The noisy numbers of people in regions."""

    def cuts(self, labels: Ints, beyond: NDArray[np.bool_], prices: Ints) -> Floats:
        """The noisy unevenness of regions that are cut in two."""


def cut_boxes(purse: Purse, boxes: Boxes, depth: int, budget: int) -> Boxes:
    """Cut boxes in two, alternately across and down, at places found by :func:`search`; returns their parts."""
    down = np.where(boxes.columns == 1, True, np.where(boxes.rows == 1, False, depth % 2 == 1))
    length = np.where(down, boxes.rows, boxes.columns)
    wide = length > ONE_CUT
    at = np.ones(len(boxes), np.int64)
    if wide.any():
        at[wide] = search(_Uneven(purse, boxes.only(wide), down[wide], budget // QUESTIONS), length[wide])
    return boxes.cut(at, down)


def search(uneven: Callable[[Ints], Floats], length: Ints) -> Ints:
    """Find places of cuts, from 1 to the length - 1, at which a noisy function is small.

    A round asks halfway to either side of the best place so far, and goes on around the best of the three. All boxes
    are asked about at once.

    >>> search(lambda at: abs(at - 9.0), np.array([33])).tolist()
    [8]
    """
    low, high = np.ones(len(length), np.int64), length - 1
    best = (low + high) // 2
    least = uneven(best)
    for _ in range(ROUNDS):
        before, after = (low + best) // 2, (best + high) // 2
        left, right = uneven(before), uneven(after)
        stay = (least <= left) & (least <= right)
        back = ~stay & (left <= right)
        low = np.where(stay, before, np.where(back, low, best))
        high = np.where(stay, after, np.where(back, best, high))
        best = np.where(stay, best, np.where(back, before, after))
        least = np.where(stay, least, np.where(back, left, right))
    return best


class _Uneven:
    """How uneven boxes are when they are cut at places: a question to the purse at a fixed price."""

    def __init__(self, purse: Purse, boxes: Boxes, down: NDArray[np.bool_], price: int) -> None:
        self._purse, self._prices = purse, np.full(len(boxes), price)
        self._labels = boxes.labels(purse.left.shape)
        box, (y, x) = np.maximum(self._labels, 0), np.indices(self._labels.shape)
        self._box = box
        self._place = np.where(down[box], y - boxes.y0[box], x - boxes.x0[box])

    def __call__(self, at: Ints) -> Floats:
        return self._purse.cuts(self._labels, self._place >= at[self._box], self._prices)
