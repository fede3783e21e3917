"""Measurements: cells and their noisy counts, which is all that a release tells of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpheatmap.design.design import Question
from dpheatmap.design.slice_rule import Blocks, SliceRule
from dpheatmap.place.quadtree import Ints


@dataclass(frozen=True, eq=False)
class Measurements:
    """Cells and their noisy counts.

    A cell may be measured more than once, each time for a share of epsilon of its own. Rows are ordered by level, then
    by Morton code, then by time.

    Attributes
    ----------
    levels : array of int
        The level of each cell.
    codes : array of int
        The Morton code of each cell.
    counts : array of int
        The noisy counts, in units of 1/W of a person; W is ``Release.units``.
    shares : array of int
        The share of epsilon, out of `SHARES`, that was spent on each count.
    deviations : array of int or None
        The standard deviation of the noise of each count, in the units of the counts. None where the noise follows from
        the shares.
    """

    levels: Ints
    codes: Ints
    counts: Ints
    shares: Ints
    deviations: Ints | None = None

    def __len__(self) -> int:
        return len(self.levels)

    def at(self, level: int) -> tuple[Ints, Ints]:
        """Select the measurements of one level.

        Parameters
        ----------
        level : int
            The level.

        Returns
        -------
        codes : array of int
            The Morton codes of its cells.
        counts : array of int
            Their noisy counts.
        """
        start, stop = np.searchsorted(self.levels, [level, level + 1])
        return self.codes[start:stop], self.counts[start:stop]

    def answers(self, asked: Question) -> Ints | None:
        """Look up the noisy counts that answer a question of the design.

        Parameters
        ----------
        asked : Question
            The level, the cells and the share of epsilon of the question.

        Returns
        -------
        array of int or None
            The noisy counts; None if some of the cells were not measured with that share.
        """
        start, stop = np.searchsorted(self.levels, [asked.level, asked.level + 1])
        here = self.shares[start:stop] == asked.share
        codes, counts = self.codes[start:stop][here], self.counts[start:stop][here]
        at = np.searchsorted(codes, asked.cells)
        if len(codes) == 0 or at[-1] >= len(codes) or not np.array_equal(codes[at], asked.cells):
            return None
        found: Ints = counts[at]
        return found


class SliceMeasurements(NamedTuple):
    """What was measured of slices that are alike.

    Attributes
    ----------
    look : int
        The noisy count of everybody, in units.
    rule : SliceRule
        How epsilon was shared, which the look decided.
    trees : tuple of Measurements
        The pooled map alone; or that of each slice, if they were measured apart.
    blocks : Blocks or None
        The cells that were counted slice by slice.
    counts : array of int or None
        The noisy counts of blocks, in units: a row for each slice.
    """

    look: int
    rule: SliceRule
    trees: tuple[Measurements, ...]
    blocks: Blocks | None = None
    counts: Ints | None = None
