"""What is published: counts with noise, in exact integers, clipped only at the very end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dpheatmap.curator.core.counts import Counts
from dpheatmap.design.design import Question
from dpheatmap.design.shares import FARTHEST
from dpheatmap.place.quadtree import Ints

Draw = Callable[[int, int], Ints]
"""Gives fresh noise of a share of epsilon: so many exact integers, none of them given before."""

SAFE = 2**57
"""Sums of 33 integers below it fit into 64 bits: a look has at most 16 counts, 16 noises of what is below, and one."""


class Published(NamedTuple):
    """Cells with their share of epsilon, and their noisy counts."""

    question: Question
    noisy: Ints


def count_with_noise(counts: Counts, level: int, cells: Ints, share: int, draw: Draw) -> Ints:
    """Count cells, and add noise of a share to each."""
    return add_noise(counts.exact(level, cells), draw(share, len(cells)))


def add_noise(counts: Ints, noise: Ints) -> Ints:
    """Add noise to exact counts of any size, and clip the sums."""
    return clip(summable(counts) + summable(noise))


def clip(noisy: Ints) -> Ints:
    """Hold noisy counts within +-2^61: a function of what may be published."""
    within: Ints = np.clip(noisy, -FARTHEST, FARTHEST).astype(np.int64)
    return within


def summable(numbers: Ints) -> Ints:
    """The same integers, as Python's own if 33 of them, added up, might not fit into 64 bits."""
    small = numbers.dtype != object and bool(((numbers < SAFE) & (numbers > -SAFE)).all())
    return numbers if small else numbers.astype(object)
