"""Which cells of a tree that was measured at once are worth reading.

Where no curator can look first and measure then, every cell of every level is measured, and most of them hold next to
nobody: on 320 x 240 pixels 100,000 cells, of which some hundreds say something. So a tree is read like a curator would
have measured it: all cells of the first level, then the children of those whose count exceeds `WORTH` deviations of the
noise that its children have.

What is read follows from what was read before, so that the posterior given these values is a proper one: that the
others exist tells nothing that the values read do not. On gaze maps its error is that of all cells read, to a few per
cent, in a hundredth of the time; above `WORTH` = 0.6 it grows. Less would read noise: with the paper's budgets a cell
with nobody in it is opened with a probability of 0.18, so that it leads to less than one further.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

WORTH = 0.5


def measurements_to_read(levels: Ints, codes: Ints, people: Floats, deviations: Floats) -> Ints:
    """Positions of the measurements to read, each cell measured once, in the order of a release."""
    start = np.append(np.searchsorted(levels, np.unique(levels)), len(levels))
    read = [np.arange(start[0], start[1])]
    for begin, end in pairwise(start[1:].tolist()):
        above = read[-1]
        opened = codes[above[people[above] > WORTH * deviations[begin:end].mean()]]
        read.append(begin + np.flatnonzero(np.isin(codes[begin:end] >> 2, opened)))
    return np.concatenate(read)
