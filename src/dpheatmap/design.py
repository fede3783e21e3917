"""Designs: which cells are measured, and with which share of epsilon, as a function of published values alone.

Both sides of the wall use them: the curator to measure, and whoever reads a release to check it. A design starts with
all cells of its first level. From the noisy counts of a level it decides which cells are *closed*, that is measured a
second time with all that is left of epsilon on their path; which are *finished*, that is their children are measured
with all that is left, and nothing below them; and which cells are measured on the next level and decided about there.

**What every design keeps**, and the proof in `curator/measure.py` rests on: along each path from a cell of the first
level down to a finest cell, the shares of all measurements add up to at most SHARES, which stands for epsilon.

* *The paper's*: each level has its share, the shares add up to SHARES, and a cell is measured at most once.
* *Adaptive*: level l has the share e_l, and rest_l = SHARES - (e_q + .. + e_l) is what a path has left after it. A cell
  of level l is opened, and its paths go on; or closed and measured again with rest_l; or finished, and each child
  measured with rest_l. In the last two cases the path has then spent SHARES exactly, and ends. The last level's share
  is all that is left, so it decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from dpheatmap.budget import SHARES, UNITS, split_over_levels, split_over_paths
from dpheatmap.domain import Domain
from dpheatmap.quadtree import Ints, largest
from dpheatmap.selection import all_cells, children_inside

if TYPE_CHECKING:
    from dpheatmap.release import Measurements

PAPER_WIDTH = 20
SPENT_ON_A_LEVEL = Fraction(1, 4)
"""Of what is left on a path. This and the thresholds were found by trials on public data."""
CLOSING, OPENING = Fraction(5), Fraction(10)
_FARTHEST = 2**61  # noisy counts are held within this


class Decision(NamedTuple):
    """What follows from the noisy counts of a level.

    ``closed`` are cells of it to be measured again, and ``finished`` cells of the next level to be measured, both with
    the rest. ``below`` are the cells of the next level that are measured with its share.
    """

    closed: Ints
    finished: Ints
    below: Ints


@dataclass(frozen=True)
class PaperDesign:
    """The paper's: all children of the ``width`` largest cells; the levels' shares fall by ``decay``."""

    shares: Mapping[int, int]
    width: int
    decay: Fraction
    name: ClassVar[str] = "paper"
    closes: ClassVar[bool] = False

    def rest(self, level: int) -> int:
        """What a path has left after a level; this design leaves it to the next levels."""
        return _rest(self.shares, level)

    def decide(self, domain: Domain, epsilon: Fraction, level: int, cells: Ints, noisy: Ints) -> Decision:
        """The children of all cells of the first level, then of the largest ones; none is measured again."""
        none = cells[:0]
        if level == max(self.shares):
            return Decision(none, none, none)
        kept = cells if level == min(self.shares) else cells[largest(cells, noisy, self.width)]
        return Decision(none, none, children_inside(domain, level, kept))


@dataclass(frozen=True)
class AdaptiveDesign:
    """Path budgets. What counts is a cell's noisy count times what its paths have left of epsilon.

    Up to ``closing`` the cell is closed, up to ``opening`` it is finished, above it is opened.
    """

    shares: Mapping[int, int]
    closing: Fraction
    opening: Fraction
    name: ClassVar[str] = "adaptive"
    closes: ClassVar[bool] = True

    def rest(self, level: int) -> int:
        """What a path has left after a level."""
        return _rest(self.shares, level)

    def decide(self, domain: Domain, epsilon: Fraction, level: int, cells: Ints, noisy: Ints) -> Decision:
        """Close what would hardly rise above the noise of its children, finish what may show one level more.

        In whole numbers: count / W > c / (epsilon rest / SHARES) iff count > floor of W times the right side. One level
        above the last, to open is to finish.
        """
        if level == max(self.shares):
            return Decision(cells[:0], cells[:0], cells[:0])
        low, high = (
            min(c * UNITS * SHARES // (epsilon * self.rest(level)), _FARTHEST) for c in (self.closing, self.opening)
        )
        closed = noisy <= low
        opened = ~closed & (noisy > high)
        if level == max(self.shares) - 1:
            opened = ~closed
        finished = cells[~closed & ~opened]
        return Decision(
            cells[closed], children_inside(domain, level, finished), children_inside(domain, level, cells[opened])
        )


Design = PaperDesign | AdaptiveDesign


def _rest(shares: Mapping[int, int], level: int) -> int:
    return SHARES - sum(share for at, share in shares.items() if at <= level)


def design_named(name: str, levels: range, width: int, decay: Fraction) -> Design:
    """The design of that name for the levels given; width and decay are for the paper's."""
    if name == AdaptiveDesign.name:
        return AdaptiveDesign(split_over_paths(levels[0], levels[-1], SPENT_ON_A_LEVEL), CLOSING, OPENING)
    return PaperDesign(split_over_levels(levels[0], levels[-1], decay), width, decay)


def measured(design: Design, domain: Domain, epsilon: Fraction, rows: Measurements) -> Iterator[tuple[int, Ints, Ints]]:
    """Level by level, the codes and shares of the measurements that the noisy counts say were made, in order.

    It ends early where the rows of a level are not these, because what they say about the next one means nothing.
    """
    cells, last = all_cells(domain, min(design.shares)), np.zeros(0, np.int64)
    for level, share in sorted(design.shares.items()):
        noisy = rows.with_share(level, share)
        closed, finished, below = cells[:0], cells[:0], cells[:0]
        if len(noisy) == len(cells):
            closed, finished, below = design.decide(domain, epsilon, level, cells, noisy)
        groups = ((cells, share), (closed, design.rest(level)), (last, design.rest(level - 1)))
        codes = np.concatenate([group for group, _ in groups])
        shares = np.concatenate([np.full(len(group), paid) for group, paid in groups])
        order = np.argsort(codes, kind="stable")
        yield level, codes[order], shares[order]
        if len(noisy) != len(cells):
            return
        cells, last = below, finished
