"""Plans of a release a day: which days, about which place, with which noise, and which part of the limit for each.

Without a delta, days share the limit by the sum. With one, `release_series.py` chooses the noise and the way of adding
up, for the map of all days: their people add up, and the noise by its variance, so it has the signal of a day with
sqrt(days) times as many people. Nothing in a plan comes from data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from dpheatmap._util.parameters import as_epsilon, check
from dpheatmap.design.privacy_loss import ConcentratedLoss, PureLoss
from dpheatmap.design.shares import exact_text, read_epsilon
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.planning.release_series import plan_releases

_MOST_USERS = 10**12
_WAYS = {
    "sum": "Laplace noise; the parts add up",
    "series": "Laplace noise; a fixed series, by optimal composition",
    "gaussian": "Gaussian noise; the parts of rho add up",
}


@dataclass(frozen=True)
class DailyPlan:
    """The plan of a release a day.

    Attributes
    ----------
    domain : Domain
        The public place.
    first : date
        The first day.
    days : int
        The number of days.
    limit : Fraction
        The epsilon of all days together.
    delta : Fraction
        The delta of all days together; 0 if the promise is pure.
    way : {"sum", "series", "gaussian"}
        How days are added up, and with which noise.
    each : Fraction
        The epsilon of a day; its rho, if the noise is Gaussian.
    """

    domain: Domain
    first: date
    days: int
    limit: Fraction
    delta: Fraction
    way: str
    each: Fraction

    @property
    def last(self) -> date:
        """The last day."""
        return self.first + timedelta(days=self.days - 1)

    @property
    def noise(self) -> str:
        """The law of the noise: "laplace" or "gaussian"."""
        return "gaussian" if self.way == "gaussian" else "laplace"

    @property
    def price(self) -> dict[str, Any]:
        """What a day costs, as the ledger and releases are told: its epsilon, or its rho."""
        return {"rho" if self.way == "gaussian" else "epsilon": self.each}

    @property
    def options(self) -> dict[str, Any]:
        """What the release of a day is told about its noise."""
        delta = {"delta": self.delta} if self.noise == "gaussian" else {}
        return {"noise": self.noise, **self.price, **delta}

    @property
    def loss(self) -> PureLoss | ConcentratedLoss:
        """The loss of a day."""
        return ConcentratedLoss(self.each, self.delta) if self.way == "gaussian" else PureLoss(self.each)

    def day(self, given: object) -> date:
        """Read a day, which must be one of the period."""
        day = read_day(given)
        if not self.first <= day <= self.last:
            raise ParameterError(f"{day} is not a day of this series, which runs from {self.first} to {self.last}.")
        return day

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values, which :meth:`from_dict` reads."""
        return {
            "domain": self.domain.to_dict(), "first": str(self.first), "days": self.days, "limit": str(self.limit),
            "delta": str(self.delta), "noise": self.noise, "way": self.way, "each": str(self.each),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> DailyPlan:
        """Read a plan; raises one of Python's own errors, or ours, if it makes no sense."""
        check(days=values["days"], delta=values["delta"])
        if values["way"] not in _WAYS:
            raise ValueError("no way to add up")
        limit, each = read_epsilon(values["limit"]), read_epsilon(values["each"])
        if values["way"] == "gaussian" and not as_epsilon(values["delta"]):
            raise ValueError("Gaussian noise without a delta")
        return cls(
            Domain.from_dict(values["domain"]), date.fromisoformat(values["first"]), values["days"], limit,
            as_epsilon(values["delta"]), values["way"], each,
        )  # fmt: skip

    def __str__(self) -> str:
        """The plan in a sentence."""
        name = next(iter(self.price))
        delta = f" at delta {exact_text(self.delta)}" if self.delta else ""
        return (
            f"{self.days} days from {self.first} to {self.last}, together epsilon {exact_text(self.limit)}{delta}: "
            f"each has {name} {exact_text(self.each)} ({_WAYS[self.way]})"
        )


def plan_days(
    domain: Domain, *, first: object, days: int, limit: object, users: int, delta: object = None
) -> DailyPlan:
    """Plan a release a day about the same people under one limit, before any data is read.

    >>> print(plan_days(Domain.unit(8), first="2024-06-01", days=30, limit=1, users=5000))
    30 days from 2024-06-01 to 2024-06-30, together epsilon 1: each has epsilon 1/30 (Laplace noise; the parts add up)
    """
    check(days=days, users=users)
    begin, whole = read_day(first), read_epsilon(limit)
    if begin > date.max - timedelta(days=days):
        raise ParameterError(f"A series ends before the year 10000; it was to begin on {begin}. Choose an earlier day.")
    if delta is None:
        return DailyPlan(domain, begin, days, whole, Fraction(0), "sum", whole / days)
    signal = min(int(users) * math.isqrt(days), _MOST_USERS)
    best = plan_releases(domain, releases=days, limit=limit, users=signal, delta=delta).best
    return DailyPlan(domain, begin, days, whole, as_epsilon(delta), best.name, best.each)


def read_day(given: object) -> date:
    """A day, given as a date or as text such as "2024-06-03".

    >>> read_day("2024-06-03")
    datetime.date(2024, 6, 3)
    """
    if type(given) is date:
        return given
    try:
        return date.fromisoformat(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ParameterError(
            f"A day is a date, or text such as 2024-06-03; it was {given!r:.50}. Write year, month and day."
        ) from None
