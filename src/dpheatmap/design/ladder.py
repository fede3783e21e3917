"""The ladder: epsilon is spent down the quadtree along the paths that hold people, and looking costs nothing.

The budget of a path is spent from the top down, as in the adaptive design. What differs is how a cell's fate is
decided. The curator looks at its count through *more* noise than what will be published of it: the noise of the value
to be published, and further noise. Such a look reveals nothing that the published value does not, so it is free of
charge (`curator/core/looks.py`, with the proof). The decisions are secret, and made there. Here is what is public:
the levels, the shares of epsilon, and the thresholds.

Decisions use a cell's *signal*: its count times the epsilon that its paths have left. In this unit a measurement with
all that is left has noise of scale 1.

1. *The total.* One count of everybody, with a hundredth of epsilon, chooses the level to start at: the deepest one
   whose cells hold, on average, START people times epsilon; not above ``first``.
2. *A cell*, from the start on, is looked at up to three times, each time through less noise. By its signal it is

   * *opened* above OPENING: measured with three tenths of what is left; its children are then looked at like itself;
   * *deepened* above DEEPENING: each child that itself shows more than SPLITTING is measured by its four children, the
     others once, with all that is left;
   * *finished* above CLOSING: its children are measured with all that is left, and nothing below them;
   * *closed* otherwise: measured with all that is left.
3. *Even maps.* If the cells of the start level hold nearly the same, searching for busy ones is of no use. All of them
   are measured at once, one level down if their mean signal is at least EVEN_ONCE, two levels down from EVEN_TWICE on.
   The latter is of use to spotty maps, and costs smooth ones more noise than it brings detail. So if it would make more
   than EVEN_CELLS cells, it is done only if the children inside of cells differ: if ROUGHNESS of the sum of their
   squares lies between children of the same cell.

The constants were set on public data other than those that results are reported for (`docs/explanation/results.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

from dpheatmap._util.parameters import DEEPEST
from dpheatmap.design.shares import SHARES, UNITS
from dpheatmap.design.start import DEFAULT_TOTAL, MOST_AT_ONCE, StartedByTotal
from dpheatmap.place.domain import Domain


class Rung(NamedTuple):
    """What a path has left after some opened cells, and what opening another takes of it."""

    left: int
    taken: int


class EvenRule(NamedTuple):
    """The rule for even maps: evenness, counts of a cell from which it is measured 1 and 2 levels down, variances.

    Two levels down only if its cells' children are rougher than ``roughness``; None if that does not matter.
    """

    evenness: Fraction
    least: tuple[Fraction, ...]
    own_variance: Fraction
    variance: Fraction
    roughness: Fraction | None


class Step(NamedTuple):
    """The rules of a step: what its paths have left, what opening takes of it, and thresholds in units."""

    last: int
    left: int
    taken: int
    opening: int
    deepening: int
    splitting: int
    closing: int
    even: EvenRule | None


@dataclass(frozen=True)
class LadderDesign(StartedByTotal):
    """Free looks on the levels ``first .. last``; without ``total`` it starts at ``first``."""

    first: int
    last: int
    total: Fraction = DEFAULT_TOTAL
    start: Fraction = Fraction(24)
    spent: Fraction = Fraction(3, 10)
    closing: Fraction = Fraction(7)
    deepening: Fraction = Fraction(14)
    opening: Fraction = Fraction(28)
    splitting: Fraction = Fraction(8)
    evenness: Fraction = Fraction(3, 5)
    even_once: Fraction = Fraction(10)
    even_twice: Fraction = Fraction(40)
    even_cells: Fraction = Fraction(400)
    roughness: Fraction = Fraction(1, 4)
    name: ClassVar[str] = "ladder"

    def __post_init__(self) -> None:
        if not all(isinstance(value, int | Fraction) for value in vars(self).values()):
            raise ValueError("a number of the rule is neither whole nor a fraction")
        if not (0 <= self.first <= self.last <= DEEPEST and 0 <= self.total < 1 and 0 < self.spent < 1):
            raise ValueError("levels or parts of epsilon out of range")
        if not 0 < self.closing <= self.deepening <= self.opening or self.splitting <= 0:
            raise ValueError("a cell would be opened whatever is in it")
        if min(self.start, self.evenness, self.even_once, self.roughness) <= 0 or self.even_twice < self.even_once:
            raise ValueError("a start or an even map would be as fine as can be")
        if min(min(rung) for rung in self.rungs) < 1 or (self.total > 0 and SHARES * self.total < 1):
            raise ValueError("a measurement would get nothing of epsilon")

    @property
    def rungs(self) -> list[Rung]:
        """For each number of opened cells above on a path: what is left, and what opening takes."""
        rungs, left = [], SHARES
        if self.first < self.last:
            left -= int(SHARES * self.total)
        for _ in range(self.last - self.first + 1):
            rungs.append(Rung(left, int(left * self.spent)))
            left -= rungs[-1].taken
        return rungs

    def steps(self, domain: Domain, epsilon: Fraction, level: int) -> list[Step]:
        """The rules of all steps from a level on, each a level deeper than the one before."""
        signals = self.opening, self.deepening, self.splitting, self.closing
        even = self._even_rule(domain, epsilon, level) if level < self.last - 1 else None
        steps = []
        for left, taken in self.rungs[: self.last - level + 1]:
            opening, deepening, splitting, closing = (self.threshold(signal, epsilon, left) for signal in signals)
            steps.append(Step(self.last, left, taken, opening, deepening, splitting, closing, even))
            even = None
        return steps

    def _even_rule(self, domain: Domain, epsilon: Fraction, level: int) -> EvenRule:
        """The rule for even maps of a level."""
        left, taken = (UNITS * SHARES / (epsilon * share) for share in self.rungs[0])
        least = tuple(signal * left for signal in self.even_signals(domain, level))
        roughness = None if domain.count(level + 2) <= self.even_cells else self.roughness
        return EvenRule(self.evenness, least, 2 * taken**2, 2 * left**2, roughness)

    def even_signals(self, domain: Domain, level: int) -> list[Fraction]:
        """The mean signals of cells of a level from which an even map is measured one level down, and two."""
        tells = domain.count(level) * self.evenness > 1  # a map of too few cells is even whatever is in them
        once = [self.even_once] if tells and domain.count(level + 1) <= MOST_AT_ONCE else []
        twice = [self.even_twice] if once and domain.count(level + 2) <= MOST_AT_ONCE else []
        return once + twice

    def threshold(self, signal: Fraction, epsilon: Fraction, left: int) -> int:
        """The largest count, in units, whose signal is at most ``signal``."""
        return signal * UNITS * SHARES // (epsilon * left)

    def possible_shares(self, domain: Domain) -> set[int]:
        """The total's share, and for each number of opened cells above, what is left and what opening takes."""
        total = self.total_question(domain)
        shares = {share for rung in self.rungs for share in rung}
        return shares if total is None else {total.share, *shares}
