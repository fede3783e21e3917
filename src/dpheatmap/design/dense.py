"""The dense design: all cells of one level, once. It is the paper's second algorithm, for maps that are not sparse.

Where people are everywhere, following busy cells down the tree is of no use. The paper snaps everybody to a grid of
side 2^l, l = log2 sqrt(epsilon n) rounded, and measures its cells with all of epsilon: with about epsilon n cells, the
error of snapping and that of the noise are of the same size.

In terms of cells: the grid is the level whose number of cells in the domain is nearest, as a ratio, to epsilon n. On a
square that is the paper's; on other domains it has as many cells as the paper's would on a square of its own.

1. *The number of people.* If it is declared public, the level is known before anything is measured, and ``first`` is
   ``last``. Otherwise one count of everybody, with a twentieth of epsilon, chooses the level.
2. *The grid.* All its cells, with all that is left.

A path meets the total and one cell of the grid, so its shares add up to epsilon: the first is ``total``, the second
what it leaves (`curator/core/measure.py` has the proof for all designs).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from dpheatmap._util.parameters import DEEPEST
from dpheatmap.design.design import Question, Ruled
from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.design.settings import Settings
from dpheatmap.design.shares import SHARES, UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints

MOST_CELLS = 2**16
"""The most cells that a grid has, 256 x 256 on a square: smoothing would remove the detail of finer ones."""


@dataclass(frozen=True)
class DenseDesign(Ruled):
    """One level of ``first .. last``, chosen by a noisy total unless there is only one."""

    first: int
    last: int
    total: Fraction = Fraction(1, 20)
    name: ClassVar[str] = "dense"
    takes: ClassVar[tuple[str, ...]] = ("users",)
    methods: ClassVar[Mapping[str, str]] = dict.fromkeys(("paper", "dense"), "dpheatmap.estimate.dense_estimate")

    def __post_init__(self) -> None:
        if not (0 <= self.first <= self.last <= DEEPEST and 0 < self.total < 1):
            raise ValueError("levels or parts of epsilon out of range")
        if not 1 <= self._for_total < SHARES:
            raise ValueError("a measurement would get nothing of epsilon")

    @property
    def _for_total(self) -> int:
        return int(SHARES * self.total)

    @classmethod
    def choose(cls, domain: Domain, epsilon: Fraction, settings: Settings) -> Self:
        """The design with all levels, or with one level if the number of people is declared."""
        levels = settings.levels(domain, 1)
        if domain.count(levels[0]) > MOST_CELLS:
            raise ParameterError(
                f"first_level must have at most {MOST_CELLS} cells in the design 'dense'; level {levels[0]} has "
                f"{domain.count(levels[0])}. Leave it out, or choose a smaller one."
            )
        if settings.users is None:
            return cls(levels[0], levels[-1])
        level = grid_level(domain, epsilon * int(settings.users), levels[0], levels[-1])
        return cls(level, level)

    def begin(self, domain: Domain) -> Question:
        """Ask for the total; where there is nothing to choose, for all cells of the only level."""
        if self.first == self.last:
            return Question(self.first, domain.codes(self.first), SHARES, 0)
        top = min(domain.first_level(1), self.first)
        return Question(top, domain.codes(top), self._for_total, SHARES - self._for_total)

    def after(self, domain: Domain, loss: PrivacyLoss, asked: Question, noisy: Ints) -> list[Question]:
        """Ask for the grid after the total."""
        if asked.left == 0:
            return []
        level = grid_level(domain, loss.epsilon * int(noisy[0]) / UNITS, self.first, self.last)
        return [Question(level, domain.codes(level), asked.left, 0)]

    def possible_shares(self, domain: Domain) -> set[int]:
        """All of epsilon, or the total's share and what it leaves."""
        share = self.begin(domain).share
        return {share, SHARES - share} - {0}


def grid_level(domain: Domain, signal: Fraction, first: int, last: int) -> int:
    """The level from ``first`` to ``last`` whose number of cells is nearest, as a ratio, to ``signal``, epsilon n.

    Level k + 1 is at least as near as level k if c_k c_(k+1) <= signal^2, c the numbers of cells. On a square c_k =
    4^k, and this is 2^k <= sqrt(signal / 2): the logarithm of the side is rounded to the nearest, up on a tie.

    >>> [grid_level(Domain.unit(8), Fraction(signal), 0, 8) for signal in (-5, 1, 2, 200, 10**9)]
    [0, 0, 1, 4, 8]
    """
    level = first
    while level < last and _is_near(domain, level, signal):
        level += 1
    return level


def _is_near(domain: Domain, level: int, signal: Fraction) -> bool:
    """Whether the next level is at least as near to the signal, and not too large."""
    here, below = domain.count(level), domain.count(level + 1)
    return signal > 0 and here * below <= signal * signal and below <= MOST_CELLS
