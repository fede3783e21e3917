"""What was spent on a population, in two accounts of the same spending, and what may still be.

**Two sums.** Each charge has an epsilon, which is unbounded for Gaussian noise, and a rho: a release that is epsilon-DP
is rho-zCDP with rho = epsilon^2 / 2. An account keeps both, exactly, in the same way:

    spent = sum of the charges for everybody + sum over partitions of the largest sum of charges of any one part.

Nothing in it comes from people's data.

*Why a partition costs its largest part.* Its value is a function of the person: `aggregate` keeps, for a part, people
all of whose rows have that value. So parts are about disjoint sets of people, and adding or removing one person changes
the data of at most one part of each partition. A release about another part has the same distribution with and without
that person, given what was published before: its ratio of probabilities is 1 and its Renyi divergence 0, of any order.
So of all releases only those count that are about everybody or about the person's own parts. Their epsilons add up to
at most ``spent`` (sequential composition), and so do their rhos (below). Rows could not be partitioned like this, for
one person may have rows in every part.

**A limit of epsilon alone, E.** A charge is admitted if the sum of epsilon stays within E. Given what was published
before, each release changes the probability of what it publishes by a factor of at most exp(its epsilon), so the whole
transcript has a ratio of at most exp(the sum), whatever was chosen in the light of earlier releases. A Gaussian release
has no such factor and is refused.

**A limit of rho, R.** A charge is admitted if the sum of rho stays within R. Let P and Q be the distributions of
transcripts with and without a person, and L_i the ratio of probabilities of the i-th release given those before it. Its
budget rho_i was fixed by the entries before it, so E_Q[L_i^alpha | before] <= exp(alpha (alpha - 1) rho_i), whatever
they were. Hence prod L_i^alpha exp(-alpha (alpha - 1) rho_i) is a supermartingale under Q, of mean at most 1. On every
transcript the sum of rho_i is at most R, so E_Q[prod L_i^alpha] <= exp(alpha (alpha - 1) R): all together is R-zCDP,
although budgets and the number of releases were chosen on the way (a filter: Rogers et al. 2016; Feldman, Zrnic 2021).

**A limit of E at delta.** Let R be a rho that is (E, delta)-DP (`design/composition.py`). A charge is admitted if (a)
every charge is pure and the sum of epsilon stays within E, or (b) the sum of rho stays within R. Both tests look at
entries alone, which are public: given the same published values they admit the same, with and without a person. *All
together is (E, delta)-DP.* Fix the person, and let (a) and (b) be about the charges that count for them, by the above:
what passes a test passes it for everybody whom the charge is about, since their own sums are at most those of the test,
and other charges leave their sums as they are. Divide the whole transcripts into A, those at whose end (a) holds, and
B, the others.

- On A the ratio of probabilities is at most exp(E) at every point, so Pr[A and O] <= exp(E) Pr'[A and O] for every O.
- On B the last charge that counts passed (b). The sum of rho never falls, so (b) held all along. Take the mechanism
  that does the same but stops before the first charge that breaks (b): it gives every transcript of B the same
  probability, for it never stops on one. It is R-zCDP by the filter, so Pr[B and O] <= exp(E) Pr'[B and O] + delta.

The sum over A and B has one delta. A second filter that adds a delta of its own would have a second one.

**A series** of k releases counts in full from the moment that it is reserved, used or not, as k charges would; what is
left unused only makes the bounds looser. Its releases then cost nothing more. It may enter in a third way, (c): if
nothing was charged to the population yet, its budgets are equal and pure, and k releases of that epsilon are together
(E, delta)-DP by optimal composition. That theorem holds for budgets fixed beforehand, as these are. *This adds no
second delta*: whether (c) is taken is settled by the first entry that spends, before anything was published about these
people, so it is the same with and without a person and there is no event to divide by. After (c), and where neither (a)
nor (b) would have let the series in, the sum of epsilon is above E and that of rho above R: neither lets anything else
in, and the series is all that there is.

**Changed limits.** A limit that is changed for reasons other than what was published counts as if it had been there
from the beginning. If it is changed in the light of releases, divide the transcripts further, by the limit under which
the last charge was admitted: each kind keeps its own E and delta by the argument above, and the deltas of the limits
that might have been chosen add up. The chain shows every change. A limit below what was spent undoes nothing, and lets
only the releases of series through that were reserved, and so counted, before, and those about parts on which less was
spent. A limit of epsilon alone lets no Gaussian release through, reserved or not.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from dpheatmap._util.parameters import has_digits
from dpheatmap.curator.ledger.spending_limit import Limit
from dpheatmap.design.composition import (
    FIGURES,
    composes,
    epsilon_of_rho,
    epsilon_of_series,
    pure_within,
    rho_of_pure,
    rho_within,
    round_down,
    round_up,
)
from dpheatmap.design.privacy_loss import DEFAULT_DELTA, ConcentratedLoss, PrivacyLoss
from dpheatmap.design.shares import exact_text
from dpheatmap.slicing.part import Part

SUM_DIGITS = 1000  # of a numerator and of a denominator; Python writes out about 4,000
RHO_DIGITS = 3 * SUM_DIGITS  # squares are twice as long
_SHORT = 12  # characters of a number in a sentence


class Cost(NamedTuple):
    """What a charge costs in both accounts; without an epsilon, no epsilon bounds it."""

    epsilon: Fraction | None
    rho: Fraction

    @classmethod
    def pure(cls, epsilon: Fraction) -> Cost:
        """The cost of a release that is epsilon-DP."""
        return cls(epsilon, rho_of_pure(epsilon))

    @classmethod
    def gaussian(cls, rho: Fraction) -> Cost:
        """The cost of a release that is rho-zCDP."""
        return cls(None, rho)

    @classmethod
    def of(cls, loss: PrivacyLoss) -> Cost:
        """The cost of a release with this loss."""
        return cls.gaussian(loss.rho) if isinstance(loss, ConcentratedLoss) else cls.pure(loss.epsilon)

    @property
    def amount(self) -> Fraction:
        """The price in its own unit."""
        return self.rho if self.epsilon is None else self.epsilon

    def times(self, releases: int) -> Cost:
        """The cost of so many of them."""
        return Cost(None if self.epsilon is None else releases * self.epsilon, releases * self.rho)

    def __str__(self) -> str:
        return f"rho {in_figures(self.rho)}" if self.epsilon is None else exact_text(self.epsilon)


@dataclass
class Sum:
    """One account: what was spent on everybody and on parts."""

    everybody: Fraction = Fraction(0)
    parts: dict[str, dict[str, Fraction]] = field(default_factory=dict)

    @property
    def total(self) -> Fraction:
        """What was spent on the person on whom most was."""
        return self.everybody + sum((max(part.values()) for part in self.parts.values()), Fraction(0))

    def add(self, amount: Fraction, part: Part | None) -> None:
        """Add a charge."""
        if part is None:
            self.everybody += amount
            return
        of_column = self.parts.setdefault(part.column, {})
        of_column[part.value] = of_column.get(part.value, Fraction(0)) + amount

    def room(self, whole: Fraction, part: Part | None) -> Fraction:
        """What still fits; for a part that spent less than another part, the difference comes on top."""
        of_column = self.parts.get(part.column, {}) if part else {}
        lag = max(of_column.values()) - of_column.get(part.value, Fraction(0)) if part and of_column else Fraction(0)
        return max(whole - self.total + lag, Fraction(0))

    def is_short(self, digits: int) -> bool:
        """Whether every sum can be written out; sums of fractions with different denominators grow longer."""
        parts = (spent for part in self.parts.values() for spent in part.values())
        return all(has_digits(spent, digits) for spent in (self.total, *parts))


@dataclass
class Series:
    """Releases that were reserved together, and how many of them were made."""

    each: Cost
    releases: int
    used: int = 0


@dataclass
class Account:
    """A population: its limit, if one is set, and what was spent."""

    limit: Limit | None = None
    epsilons: Sum = field(default_factory=Sum)
    rhos: Sum = field(default_factory=Sum)
    is_pure: bool = True
    """Whether every charge has an epsilon."""
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    series: dict[int, Series] = field(default_factory=dict)
    """What was reserved, by the number of its entry."""
    charges: int = 0
    last: str = ""

    # What was spent

    @property
    def epsilon(self) -> Fraction | None:
        """The sum of epsilon: a bound on what leaked about a person; None once a Gaussian release was charged."""
        return self.epsilons.total if self.is_pure else None

    @property
    def rho(self) -> Fraction:
        """The sum of rho, in which a pure epsilon counts as epsilon^2 / 2."""
        return self.rhos.total

    @property
    def parts(self) -> dict[str, dict[str, Fraction]]:
        """The sums of epsilon of parts, by column and value."""
        return self.epsilons.parts

    @property
    def delta(self) -> Fraction:
        """The delta at which spending is told as an epsilon: the limit's, or else a common one."""
        return self.limit.delta if self.limit is not None and self.limit.delta else DEFAULT_DELTA

    @property
    def spent(self) -> Fraction:
        """What was spent, in the unit of the limit: rho, or the smallest epsilon that would have let it all pass."""
        if self.limit is not None and self.limit.rho is not None:
            return self.rho
        return self.epsilons.total if self._is_by_sum else self.epsilon_at(self.delta)

    @property
    def spent_in_words(self) -> str:
        """What was spent as a number in text: exactly, unless it was rounded anyway."""
        return exact_text(self.spent) if self._is_by_sum else in_figures(self.spent)

    @property
    def _is_by_sum(self) -> bool:
        """Whether the sum of epsilon is what counts: no delta plays a part."""
        return self.is_pure and (self.limit is None or self.limit.is_pure)

    def epsilon_at(self, delta: Fraction) -> Fraction:
        """The smallest limit at this delta that would have let all of this pass, rounded up; 0 is for pure charges."""
        if not self.is_pure and not delta:
            raise ValueError("no epsilon without a delta bounds a Gaussian release")
        ways = [self.epsilons.total] if self.is_pure else []
        if delta and self.rho:
            ways.append(_limit_for_rho(self.rho, delta))
        series = self._only_series()
        if delta and series is not None and series.each.epsilon is not None:
            ways.append(epsilon_of_series(series.releases, series.each.epsilon, delta))
        return min(ways)

    def _only_series(self) -> Series | None:
        """The series that is all that was spent, if there is one."""
        found = list(self.series.values())
        return found[0] if len(found) == 1 and found[0].used == self.charges else None

    # What fits

    @property
    def left(self) -> Fraction | None:
        """What a release about everybody may still cost, in the unit of the limit; None without one."""
        if self.limit is None:
            return None
        return self.fits() if self.limit.rho is None else self.fits_rho()

    def fits(self, part: Part | None = None) -> Fraction | None:
        """The largest epsilon of a pure release that fits, rounded down where it is a root; None without a limit."""
        if self.limit is None:
            return None
        epsilon, rho = self._rooms(self.limit, part)
        return max(epsilon, pure_within(rho))

    def fits_rho(self, part: Part | None = None) -> Fraction | None:
        """The largest rho of a Gaussian release that fits; None without a limit."""
        return None if self.limit is None else self._rooms(self.limit, part)[1]

    def admits(self, cost: Cost, part: Part | None = None) -> bool:
        """Whether a charge fits: tests (a) and (b) above."""
        if self.limit is None:
            return True
        epsilon, rho = self._rooms(self.limit, part)
        return (cost.epsilon is not None and cost.epsilon <= epsilon) or cost.rho <= rho

    def admits_series(self, each: Cost, releases: int) -> bool:
        """Whether a series fits: tests (a), (b) and (c) above."""
        if self.admits(each.times(releases)):
            return True
        if self.limit is None or not self.limit.delta or each.epsilon is None or self.rho:
            return False
        return composes(releases, each.epsilon, self.limit.whole_epsilon, self.limit.delta)

    def _rooms(self, limit: Limit, part: Part | None) -> tuple[Fraction, Fraction]:
        epsilon = self.epsilons.room(limit.whole_epsilon, part) if self.is_pure else Fraction(0)
        return epsilon, self.rhos.room(limit.whole_rho, part)

    @property
    def is_short(self) -> bool:
        """Whether every sum can be written out."""
        return self.epsilons.is_short(SUM_DIGITS) and self.rhos.is_short(RHO_DIGITS)

    # Changes

    def charge(self, cost: Cost, part: Part | None) -> None:
        """Add a charge."""
        self.charges += 1
        self._spend(cost, part)
        if part is not None:
            self.values.setdefault(part.column, part.values)

    def reserve(self, number: int, each: Cost, releases: int) -> None:
        """Add a series, which counts in full at once."""
        self.series[number] = Series(each, releases)
        self._spend(each.times(releases), None)

    def use(self, number: int) -> None:
        """Count a release of a series, which costs nothing more."""
        self.charges += 1
        self.series[number].used += 1

    def _spend(self, cost: Cost, part: Part | None) -> None:
        self.rhos.add(cost.rho, part)
        if cost.epsilon is None:
            self.is_pure = False
        else:
            self.epsilons.add(cost.epsilon, part)

    def in_words(self) -> str:
        """A sentence about what was spent and what is left.

        >>> account = Account(Limit(Fraction(10)))
        >>> account.charge(Cost.pure(Fraction(5, 2)), None)
        >>> account.in_words()
        '2.5 of 10 spent, 7.5 left'
        """
        if self.limit is None:
            return f"{self._spent_in_words()} spent, no limit set"
        if self.limit.rho is not None:
            spent, left = in_figures(self.rho), in_figures(self.rhos.room(self.limit.rho, None), up=False)
            return f"rho {spent} of {exact_text(self.limit.rho)} spent, {left} left"
        if self.limit.delta:
            return f"{self.spent_in_words} of {self.limit} spent, {self._fits_in_words()}"
        if not self.is_pure:
            return f"{self._spent_in_words()} spent, which no limit of epsilon alone allows; nothing fits any more"
        assert self.left is not None
        return f"{exact_text(self.spent)} of {self.limit} spent, {exact_text(self.left)} left"

    def accounts_in_words(self) -> str:
        """All accounts of what was spent, and what fits, in sentences."""
        epsilon = "unbounded, because of Gaussian noise" if self.epsilon is None else in_figures(self.epsilon)
        fits = "" if self.limit is None else f" {self._fits_in_words().capitalize()}."
        series = [
            f" Series {number}: {one.used} of {one.releases} releases made, at {one.each} each."
            for number, one in self.series.items()
        ]
        return (
            f"The sum of epsilon is {epsilon}, that of rho {in_figures(self.rho)}. The smallest limit at delta "
            f"{exact_text(self.delta)} that would have let all this pass is {in_figures(self.epsilon_at(self.delta))}."
            f"{fits}{''.join(series)}"
        )

    def _spent_in_words(self) -> str:
        return exact_text(self.epsilons.total) if self.is_pure else f"rho {in_figures(self.rho)}"

    def _fits_in_words(self) -> str:
        epsilon, rho = self.fits(), self.fits_rho()
        if not epsilon:
            return "nothing fits any more"
        gaussian = f" or rho {in_figures(rho, up=False)}" if rho else ""
        return f"epsilon {in_figures(epsilon, up=False)}{gaussian} still fits"


def in_figures(value: Fraction, *, up: bool = True) -> str:
    """A number for a sentence: exactly if that is short, else as a decimal, rounded up or down.

    >>> in_figures(Fraction(1, 50)), in_figures(Fraction(2, 3)), in_figures(Fraction(10**8, 3 * 10**8 + 1))
    ('0.02', '2/3', '0.333334')
    """
    if has_digits(value, _SHORT) and len(exact := exact_text(value)) <= _SHORT:
        return exact
    rounded = round_up(value) if up else round_down(value)
    return f"{Decimal(rounded.numerator) / rounded.denominator:f}"


def _limit_for_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """The smallest epsilon found of a limit at this delta that has room for rho."""
    epsilon = epsilon_of_rho(rho, delta)
    wider = (round_up(epsilon * (1 + Fraction(2**step - 1, 10**FIGURES))) for step in itertools.count())
    return next(limit for limit in wider if rho_within(limit, delta) >= rho)
