"""Selection of the cells worth reading, in a tree whose cells were all measured at once.

Without a curator, measurements can't be chosen one after the other, so every cell of every level is measured. Most
cells hold next to nobody: 320 x 240 pixels have 100,000 cells, of which some hundreds are informative. So a tree is
read as a curator would have measured it: all cells of the first level, then the children of each cell whose count
exceeds `WORTH` deviations of the noise of its children.

Which cells are read follows from the values read before. So the posterior given these values is a proper one: the
existence of the others adds no information. On gaze maps its error is that of all cells read, to a few per cent, in a
hundredth of the time; above `WORTH` = 0.6 it grows. A lower value would read noise: with the paper's budgets an empty
cell is opened with a probability of 0.18, so that on average it leads to less than one further.
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
