"""The shape of a ladder's release: what a reader can check of it, since its decisions can't be replayed.

The total, the start level, and each measurement's share of epsilon are checked exactly, so each path spends what it
should, once. A cell is *free* at the start, and where its parent was opened. A free cell was opened, or closed, or not
measured itself; then its children were, or their children. So every leaf lies at most two levels below a free cell. The
number of opened cells above it is that of the levels between the start and its free cell. A child that was split is
checked, too: the published values of its own children add up to more than the threshold, unless the map is even.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpheatmap.design.design import Question
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.shares import FARTHEST, UNITS
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.measurements import Measurements

OTHER_CELLS = "the cells measured at level {} are not those that its design measures"
OTHER_SHARES = "the shares of epsilon at level {} are not those that its design spends"
NOT_SPLIT = "a cell of level {} was split though it holds too little"


def problem_of_ladder(design: LadderDesign, domain: Domain, epsilon: Fraction, found: Measurements) -> str | None:
    """The first rule that the measurements break, in words, or None."""
    total = design.total_question(domain)
    start = design.first
    if total is not None:
        counted = found.answers(total)
        if counted is None:
            return OTHER_CELLS.format(total.level)
        start = design.start_of(domain, epsilon * int(counted[0]) / UNITS)
    rest = _without(found, total)
    if domain.count(start) > len(rest):
        return OTHER_CELLS.format(start)
    return _Shape(design, domain, epsilon, start, rest).problem()


def _without(found: Measurements, total: Question | None) -> Measurements:
    """The measurements without the total, which may be of a cell that was measured again."""
    if total is None:
        return found
    rest = np.ones(len(found), np.bool_)
    same = (found.levels == total.level) & (found.codes == total.cells[0]) & (found.shares == total.share)
    rest[np.flatnonzero(same)[:1]] = False
    return Measurements(found.levels[rest], found.codes[rest], found.counts[rest], found.shares[rest])


@dataclass(frozen=True, eq=False)
class _Shape:
    """Measurements from the start on, and what they should be."""

    design: LadderDesign
    domain: Domain
    epsilon: Fraction
    start: int
    found: Measurements

    def problem(self) -> str | None:
        """Go down level by level, and account for each measurement by the cells that may be measured there."""
        used, nothing = 0, np.zeros(0, np.int64)
        waiting = [self.domain.codes(self.start), nothing, nothing]  # cells 0, 1 and 2 levels below a free cell
        for level in range(self.start, self.design.last + 1):
            if sum(map(len, waiting)) > len(self.found) - used:  # each holds a measurement, or several
                return OTHER_CELLS.format(level)
            opened, missing = nothing, []
            for deeper, cells in enumerate(waiting):
                left, taken = self.design.rungs[level - self.start - deeper] if len(cells) else (0, 0)
                there, share = self._shares(level, cells)
                may_open = deeper == 0 and level < self.design.last - 1
                if not np.all((share == left) | ((share == taken) & may_open)):
                    return OTHER_SHARES.format(level)
                used += len(share)
                opened = cells[there][share == taken] if may_open else opened
                missing.append(cells[~there])
            if len(missing[2]) or (level == self.design.last and (len(missing[0]) or len(missing[1]))):
                return OTHER_CELLS.format(level)
            if not self._is_even(level) and self._too_little(level, missing[1]):
                return NOT_SPLIT.format(level)
            if level < self.design.last:
                waiting = [self.domain.children(level, cells) for cells in (opened, *missing[:2])]
        return None if used == len(self.found) else "it has measurements that its design does not make"

    def _shares(self, level: int, cells: Ints) -> tuple[NDArray[np.bool_], Ints]:
        """Tell which cells of a level were measured, and with which shares."""
        first, end = np.searchsorted(self.found.levels, [level, level + 1])
        codes = self.found.codes[first:end]
        at = np.searchsorted(codes, cells)
        there = at < np.searchsorted(codes, cells, side="right")
        return there, self.found.shares[first:end][at[there]]

    def _is_even(self, level: int) -> bool:
        """Whether all of the map is measured two levels below the start, and this is the level above."""
        return level == self.start + 1 and bool(self.found.levels[0] > level)

    def _too_little(self, level: int, split: Ints) -> bool:
        """Whether a cell was split though the values of its children add up to the threshold or less."""
        codes, counts = self.found.at(level + 1)
        if len(split) == 0 or len(codes) == 0:
            return False  # what is missing is seen on the next level
        four = split[:, None] * 4 + np.arange(4)
        at = np.searchsorted(codes, four)
        there = at < np.searchsorted(codes, four, side="right")
        values = np.where(there, counts[np.minimum(at, len(codes) - 1)], 0)
        exact = (np.abs(values) < FARTHEST).all(axis=1)  # four of these fit into 64 bits; others were clipped
        left = self.design.rungs[level - self.start - 1].left
        threshold = self.design.threshold(self.design.splitting, self.epsilon, left)
        return bool((values[exact].sum(axis=1) <= threshold).any())
