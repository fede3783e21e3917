"""The adaptive design: epsilon is spent down the quadtree along the paths that hold people, as deep as is useful.

The budget of a path is spent from the top down. Decisions use a cell's *signal*: its noisy count times the epsilon that
its paths have left. In this unit, a measurement with all that is left has noise of scale 1. With Gaussian noise,
epsilon is that of Laplace noise with the same deviation (`PrivacyLoss.strength`).

1. *The total.* One count of everybody, with a hundredth of epsilon, chooses the level to start at: the deepest one
   whose cells hold, on average, START people times epsilon; not above ``first``.
2. *A level.* Its cells are measured with a quarter of what is left. Then a cell's signal decides whether it is

   * *closed* up to CLOSING: measured once more, with all that is left;
   * *finished* up to OPENING: its children are measured with all that is left, and nothing below them;
   * *opened* above: its children are measured like this level.

   The last level, and what is finished or closed, takes all that is left.
3. *Even maps.* If the cells of the start level hold nearly the same, searching for busy ones is of no use. All of them
   are finished at once, at the level where a cell's signal is about EVEN_SIGNAL.

Everything here is a function of the domain, epsilon and noisy counts, in whole numbers and fractions. The constants
were set on public data other than those that results are reported for (`docs/explanation/results.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpheatmap._util.evenness import each_if_even
from dpheatmap._util.parameters import DEEPEST
from dpheatmap.design.design import Question
from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.design.shares import FARTHEST, SHARES, UNITS
from dpheatmap.design.start import DEFAULT_TOTAL, MOST_AT_ONCE, StartedByTotal
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints


@dataclass(frozen=True)
class AdaptiveDesign(StartedByTotal):
    """Path budgets on the levels ``first .. last``; without ``total`` it starts at ``first``."""

    first: int
    last: int
    total: Fraction = DEFAULT_TOTAL
    start: Fraction = Fraction(24)
    spent: Fraction = Fraction(1, 4)
    closing: Fraction = Fraction(5)
    opening: Fraction = Fraction(10)
    evenness: Fraction = Fraction(3, 4)
    even_signal: Fraction = Fraction(5)
    name: ClassVar[str] = "adaptive"

    def __post_init__(self) -> None:
        if not (0 <= self.first <= self.last <= DEEPEST and 0 <= self.total < 1 and 0 < self.spent < 1):
            raise ValueError("levels or parts of epsilon out of range")
        if not 0 < self.closing <= self.opening or min(self.start, self.evenness, self.even_signal) <= 0:
            raise ValueError("a cell would be opened whatever is in it")
        if min(min(step) for step in self._steps) < 1 or (self.total > 0 and SHARES * self.total < 1):
            raise ValueError("a measurement would get nothing of epsilon")

    def begin(self, domain: Domain) -> Question:
        """Ask for the total; where there is nothing to choose, for all cells of the only level."""
        total = self.total_question(domain)
        return self._level(self.first, domain.codes(self.first), SHARES) if total is None else total

    def after(self, domain: Domain, loss: PrivacyLoss, asked: Question, noisy: Ints) -> list[Question]:
        """Choose the start after the total; close, finish and open cells after a level."""
        if asked.left == 0:
            return []
        if self._is_total(asked):
            level = self.start_of(domain, loss.strength(SHARES) * int(noisy[0]) / UNITS)
            return [self._level(level, domain.codes(level), asked.left)]
        if asked.left + asked.share == self._left_at_start:
            deeper = self._levels_if_even(domain, loss, asked, noisy)
            if deeper is not None:
                return [_spend_the_rest(domain, asked, asked.cells, deeper)]
        low, high = (_count(c, loss.strength(asked.left)) for c in (self.closing, self.opening))
        closed, opened = noisy <= low, noisy > high
        if asked.level == self.last - 1:  # opening a cell is the same as finishing it
            opened[:] = False
        below = domain.children(asked.level, asked.cells[opened])
        return [
            _spend_the_rest(domain, asked, asked.cells[closed], 0),
            _spend_the_rest(domain, asked, asked.cells[~closed & ~opened], 1),
            self._level(asked.level + 1, below, asked.left),
        ]

    def possible_shares(self, domain: Domain) -> set[int]:
        """The total's share, and for each number of levels on a path, what a level takes and what it leaves."""
        return {self.begin(domain).share, *(share for step in self._steps for share in step)}

    @property
    def _left_at_start(self) -> int:
        return SHARES - int(SHARES * self.total)

    @property
    def _steps(self) -> list[tuple[int, int, int]]:
        """For each number of levels above on a path: what is left, what a level takes, and what it leaves."""
        steps, left = [], self._left_at_start
        for _ in range(self.last - self.first + 1):
            taken = int(left * self.spent)
            steps.append((left, taken, left - taken))
            left -= taken
        return steps

    def _is_total(self, asked: Question) -> bool:
        return self.total > 0 and asked.left == self._left_at_start

    def _level(self, level: int, cells: Ints, left: int) -> Question:
        """Ask for a level with its part of what is left; the last level takes all."""
        share = left if level == self.last else int(left * self.spent)
        return Question(level, cells, share, left - share)

    def _levels_if_even(self, domain: Domain, loss: PrivacyLoss, asked: Question, noisy: Ints) -> int | None:
        """The number of levels deeper that an even map is measured; None if the map is not even or too large."""
        noise = len(noisy) * 2 * (UNITS / loss.strength(asked.share)) ** 2  # variance of counts, in units
        each = each_if_even([int(y) for y in noisy], noise, self.evenness)
        if each is None:
            return None
        signal = each * loss.strength(asked.left) / UNITS
        deeper = 0
        while asked.level + deeper < self.last and signal >= self.even_signal * 2 * 4**deeper:
            deeper += 1  # the number of levels nearest, in powers of 4, to signal / even_signal
        return deeper if domain.count(asked.level + deeper) <= MOST_AT_ONCE else None


GAUSSIAN_SPENT = Fraction(1, 6)
"""What a level takes of what is left with Gaussian noise, where a part of rho buys its square root in strength."""


def _count(signal: Fraction, strength: Fraction) -> int:
    """The largest count, in units, whose signal is at most ``signal``."""
    return min(signal * UNITS // strength, FARTHEST)


def _spend_the_rest(domain: Domain, asked: Question, cells: Ints, deeper: int) -> Question:
    """Ask for cells, or for all cells ``deeper`` levels down inside them, with all that is left."""
    for level in range(asked.level, asked.level + deeper):
        cells = domain.children(level, cells)
    return Question(asked.level + deeper, cells, asked.left, 0)
