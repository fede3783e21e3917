"""The start of designs that go down the quadtree: a noisy total chooses the level to start at."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Self

from dpheatmap._util.parameters import as_epsilon
from dpheatmap.design.design import Question, Ruled
from dpheatmap.design.settings import Settings
from dpheatmap.design.shares import SHARES
from dpheatmap.place.domain import Domain

FIRST_CELLS = 20
"""The first level is the deepest one at which at most so many cells meet the domain."""
DEFAULT_TOTAL = Fraction(1, 100)
"""The part of epsilon that a count of everybody gets."""
MOST_AT_ONCE = 2**14
"""The most cells that a start or an even map has: beyond that, cells are opened where people are."""


class StartedByTotal(Ruled):
    """A design that counts everybody first, with the part ``total`` of epsilon; without one it starts at ``first``."""

    first: int
    last: int
    total: Fraction
    start: Fraction
    takes: ClassVar[tuple[str, ...]] = ("people_share",)

    @classmethod
    def choose(cls, domain: Domain, epsilon: Fraction, settings: Settings) -> Self:
        """The design from the level of a few cells to the last; if the first level is given, no total is needed."""
        levels = settings.levels(domain, FIRST_CELLS)
        given = {} if settings.first_level is None else {"total": Fraction(0)}
        if settings.people_share is not None:
            given = {"total": as_epsilon(settings.people_share)}
        return cls(levels[0], levels[-1], **given)  # type: ignore[call-arg]

    def total_question(self, domain: Domain) -> Question | None:
        """Ask for the number of people: a count of the deepest cell that holds the whole domain, ``first`` at most.

        None where nothing hangs on it.
        """
        if self.first == self.last or self.total == 0:
            return None
        level, share = min(domain.first_level(1), self.first), int(SHARES * self.total)
        return Question(level, domain.codes(level), share, SHARES - share)

    def start_of(self, domain: Domain, signal: Fraction) -> int:
        """The deepest level with so few cells that each has enough of the total's signal, ``first`` at least."""
        most = min(signal / self.start, Fraction(MOST_AT_ONCE))
        return max([self.first, *(k for k in range(self.first, self.last) if domain.count(k) <= most)])
