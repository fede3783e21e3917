"""Plans of many releases about the same people under one limit: which noise, and how much for each.

There are three ways to keep within epsilon and delta. By the *sum*, Laplace noise, and a pure promise. By a *fixed
series*, Laplace noise, and optimal composition of budgets that are written down beforehand. By *rho*, Gaussian noise,
and zero-concentrated accounting. `design/composition.py` has the arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpheatmap._util.number_words import digits
from dpheatmap._util.parameters import as_epsilon, check
from dpheatmap.design.composition import each_of_series, rho_within, round_down
from dpheatmap.design.forecast import GAUSSIAN_FORECAST
from dpheatmap.design.privacy_loss import DEFAULT_DELTA, LEAST_RHO
from dpheatmap.design.registry import FORECASTS
from dpheatmap.design.settings import Settings
from dpheatmap.design.shares import exact_text, read_epsilon
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain

_WORTH = 0.85  # another way than the sum must have at most this part of its error to be advised
_NAMES = {"sum": "Laplace, by the sum", "series": "Laplace, a fixed series", "gaussian": "Gaussian, by rho"}


@dataclass(frozen=True)
class Way:
    """One way to make the releases.

    Attributes
    ----------
    name : {"sum", "series", "gaussian"}
        How they are added up, and with which noise.
    each : Fraction
        The epsilon of a release; its rho, if the noise is Gaussian.
    noise : float
        The standard deviation of a count with all of a release's budget, in people.
    expected_emd : float
        The expected earth mover's distance of a release to the truth, in sides of the domain.
    """

    name: str
    each: Fraction
    noise: float
    expected_emd: float

    @property
    def budget(self) -> str:
        """The budget of a release in words."""
        return f"{'rho' if self.name == 'gaussian' else 'epsilon'} {exact_text(self.each)}"


@dataclass(frozen=True)
class ReleasesPlan:
    """The plan of many releases about the same people, made by :func:`plan_releases`. Nothing in it comes from data.

    Attributes
    ----------
    domain : Domain
        The public place.
    releases : int
        How many releases there will be.
    limit : Fraction
        The epsilon of all of them together.
    delta : Fraction
        The delta of all of them together.
    users : int
        The guess of the number of people.
    ways : tuple of Way
        The ways to make them: by the sum, as a fixed series, and with Gaussian noise.
    """

    domain: Domain
    releases: int
    limit: Fraction
    delta: Fraction
    users: int
    ways: tuple[Way, ...]

    @property
    def best(self) -> Way:
        """The way of the least expected error; the sum, whose promise is pure, if it is hardly worse."""
        simple, *others = self.ways
        best = min(others, key=lambda way: way.expected_emd)
        return best if best.expected_emd <= _WORTH * simple.expected_emd else simple

    @property
    def why(self) -> str:
        """Why that way is the best, and how to go about it."""
        simple, best = self.ways[0], self.best
        if best is simple:
            return (
                "Nothing else is much better for so few releases, and its promise is pure: it has no delta. Set a "
                f"limit by dpheatmap ledger limit LEDGER --population NAME --epsilon {exact_text(self.limit)}, and "
                f"give each release --epsilon {exact_text(best.each)}."
            )
        here, there = (self._error_in_words(way) for way in (best, simple))
        less = (
            f"It misplaces people by {here} instead of {there}, at the price of a delta of {exact_text(self.delta)}. "
            f"Set a limit by dpheatmap ledger limit LEDGER --population NAME --epsilon {exact_text(self.limit)} "
            f"--delta {exact_text(self.delta)}"
        )
        if best.name == "gaussian":
            return f"{less}, and give each release --noise gaussian --rho {exact_text(best.each)}."
        return (
            f"{less}, and reserve the series, whose budgets can't be changed then, by dpheatmap ledger reserve LEDGER "
            f"--population NAME --releases {self.releases} --epsilon {exact_text(best.each)}."
        )

    def _error_in_words(self, way: Way) -> str:
        return self.domain.length_in_words(self.domain.longer_side * way.expected_emd)

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values, for JSON.

        Returns
        -------
        dict
            The plan, with every way and the best one.
        """
        ways = [{**vars(way), "each": str(way.each)} for way in self.ways]
        return {
            "releases": self.releases, "limit": str(self.limit), "delta": str(self.delta), "users": self.users,
            "ways": ways, "best": self.best.name, "why": self.why,
        }  # fmt: skip

    def __str__(self) -> str:
        """The plan as a table, and the advice."""
        rows = [
            f"  {_NAMES[way.name]:<24} {way.budget:<20} {digits(way.noise, 2):>8} people  "
            f"{self._error_in_words(way):>12}"
            for way in self.ways
        ]
        return "\n".join(
            [
                f"{self.releases} releases about the same {self.users:,} people, epsilon {exact_text(self.limit)} and "
                f"delta {exact_text(self.delta)} together",
                "",
                f"  {'':<24} {'each release':<20} {'noise of a count':>15}  {'misplaced by':>12}",
                *rows,
                "",
                f"Best: {_NAMES[self.best.name]}. {self.why}",
            ]
        )


def plan_releases(
    domain: Domain, *, releases: int, limit: object, users: int, delta: object = DEFAULT_DELTA
) -> ReleasesPlan:
    """Plan many releases about the same people under one limit, before any data is read.

    Parameters
    ----------
    domain : Domain
        The public place.
    releases : int
        How many releases there will be, at most 1000.
    limit : number, str or Fraction
        The epsilon of all of them together.
    users : int
        A public guess of the number of people, never a count taken from the data.
    delta : number, str or Fraction, default 1e-6
        The probability that this epsilon is not kept, of all of them together.

    Returns
    -------
    ReleasesPlan
        The ways to do it, with the noise of each, and the best one. It prints as a table.

    Examples
    --------
    >>> weekly = plan_releases(Domain.unit(8), releases=52, limit=1, users=100_000)
    >>> weekly.best.name, [round(way.noise) for way in weekly.ways]
    ('gaussian', [74, 42, 33])
    """
    check(releases=releases, users=users, delta=delta)
    whole, least = read_epsilon(limit), as_epsilon(delta)
    if least == 0:
        raise ParameterError("delta must be above 0 to compare ways of adding up; it was 0. 1e-6 is a common choice.")
    allowed = rho_within(whole, least) / releases
    if min(allowed, whole / releases) < LEAST_RHO:
        raise ParameterError(
            "So small a limit and delta leave no budget whose noise fits into 64 bits. Use larger ones, or make fewer."
        )
    ways = []
    for name, each in (("sum", whole / releases), ("series", each_of_series(releases, whole, least))):
        error = FORECASTS["ladder"].expected_error(domain, each, users, Settings(), None)
        ways.append(Way(name, each, math.sqrt(2.0) / float(each), error))
    rho = round_down(allowed)
    strength = Fraction(2.0 * math.sqrt(rho))
    error = GAUSSIAN_FORECAST.expected_error(domain, strength, users, Settings(), None)
    ways.append(Way("gaussian", rho, math.sqrt(2.0) / float(strength), error))
    return ReleasesPlan(domain, releases, whole, least, users, tuple(ways))
