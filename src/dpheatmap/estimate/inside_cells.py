"""Cells cut where a domain ends, so that mass may be spread evenly over each of them.

In a rectangle, whoever spreads mass cuts cells at its edges. A boundary has no such edges: there, a cell that it passes
through is cut into smaller ones, down to a level, and its mass is passed on by their base measure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints


class InsideCells(NamedTuple):
    """Disjoint cells; for each, the number of the cell that it was cut from, and its part of that cell's mass."""

    levels: Ints
    codes: Ints
    holder: Ints
    part: Floats


def cut_at_boundary(domain: Domain, levels: Ints, codes: Ints, finest: int) -> InsideCells:
    """Cut disjoint cells that a boundary passes through into cells of a level ``finest`` at most.

    >>> place = Domain.polygon({"type": "Polygon", "coordinates": [[[0, 0], [90, 0], [0, 60], [0, 0]]]}, depth=5)
    >>> cut = cut_at_boundary(place, np.zeros(1, np.int64), np.zeros(1, np.int64), 5)
    >>> len(cut.codes) > 10, round(float(cut.part.sum()), 9)
    (True, 1.0)
    """
    pieces = domain.pieces(finest)
    if pieces is None:
        return InsideCells(levels, codes, np.arange(len(codes)), np.ones(len(codes)))
    first, size = _range(domain, levels, codes)
    order = np.argsort(first)
    start, length = _range(domain, pieces.levels, pieces.codes)
    above = order[np.maximum(np.searchsorted(first[order], start, side="right") - 1, 0)]
    held = (first[above] <= start) & (start + length <= first[above] + size[above])  # pieces in cells
    ranks = np.argsort(start)
    below = ranks[np.maximum(np.searchsorted(start[ranks], first, side="right") - 1, 0)]
    smaller = (
        (start[below] <= first) & (first < start[below] + length[below]) & (size < length[below])
    )  # in larger ones
    own, kept = above[held], np.flatnonzero(smaller)
    part = weights_of(domain, pieces.levels[held], pieces.codes[held])
    whole = np.bincount(own, part, len(codes))
    return InsideCells(
        np.concatenate([pieces.levels[held], levels[kept]]),
        np.concatenate([pieces.codes[held], codes[kept]]),
        np.concatenate([own, kept]),
        np.concatenate([part / whole[own], np.ones(len(kept))]),
    )


def weights_of(domain: Domain, levels: Ints, codes: Ints) -> Floats:
    """The base measures of cells of any levels."""
    found = np.zeros(len(levels))
    for level in np.unique(levels):
        here = levels == level
        found[here] = domain.weight(int(level), codes[here])
    return found


def _range(domain: Domain, levels: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """The first finest cell in each cell, and their number."""
    shift = 2 * (domain.depth - levels)
    return codes << shift, np.left_shift(1, shift)
