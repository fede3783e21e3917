"""Admission to a ledger: what is refused, by which entries, and in which words.

Everything here follows from earlier entries and from what is asked for. No data enters, and nothing is written.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass

from dpheatmap.curator.ledger.population_account import SUM_DIGITS, Account, Cost, in_figures
from dpheatmap.curator.ledger.spending_limit import Limit
from dpheatmap.design.shares import exact_text
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.slicing.part import Part


@dataclass(frozen=True)
class Admission:
    """The refusals of a ledger of this name; ``limits_needed`` is that of :class:`Ledger`."""

    name: str
    limits_needed: bool

    def refuse_charge(
        self,
        accounts: Mapping[str, Account],
        population: str,
        cost: Cost,
        part: Part | None,
        series: int | None,
    ) -> None:
        """Refuse a charge that the population has no limit or no room for, or that was not reserved as it is."""
        limited = [name for name, account in accounts.items() if account.limit is not None]
        if limited and not self.limits_needed:
            raise PrivacyRefusal(
                f"{self.name} holds a limit for {list_names(limited)}, so a release must name its population. Give "
                "--population NAME with one that has a limit; in Python, leave limits_needed=False out."
            )
        account = accounts.get(population, Account())
        if account.limit is None and self.limits_needed:
            raise PrivacyRefusal(self._has_none(population))
        if series is None:
            self._refuse_sum(account, population, cost, part)
        else:
            self._refuse_use(account, population, cost, series)

    def _refuse_sum(self, account: Account, population: str, cost: Cost, part: Part | None) -> None:
        known = account.values.get(part.column) if part else None
        if part and known and set(known) != set(part.values):
            raise ParameterError(
                f"The partition by {part.column!r} has the list {', '.join(known)} in {self.name}, and another one was "
                "given. A partition keeps its list."
            )
        if account.limit is not None:
            self._refuse_kind(account.limit, population, cost)
        if not account.admits(cost, part):
            raise PrivacyRefusal(self._has_no_room(account, population, f"this release asks for {cost}", part))
        after = deepcopy(account)
        after.charge(cost, part)
        self._refuse_length(after, population)

    def _refuse_kind(self, limit: Limit, population: str, cost: Cost) -> None:
        """Refuse Gaussian noise where there is no delta."""
        if limit.is_pure and cost.epsilon is None:
            raise PrivacyRefusal(
                f"The population {population!r} has a limit of epsilon alone in {self.name}, and no epsilon bounds a "
                "release with Gaussian noise. Use Laplace noise, or decide on a limit with a delta: dpheatmap ledger "
                f"change-limit LEDGER --population {shlex.quote(population)} --from {limit} --to {limit} --delta 1e-6"
            )

    def _refuse_length(self, after: Account, population: str) -> None:
        if not after.is_short:
            raise ParameterError(
                f"What was spent on {population!r} in {self.name} must be written out in at most {SUM_DIGITS} digits, "
                "and with this epsilon it would not be. Give one with fewer digits, such as 0.1."
            )

    def _refuse_use(self, account: Account, population: str, cost: Cost, number: int) -> None:
        series = account.series.get(number)
        if series is None:
            raise PrivacyRefusal(
                f"Entry {number} of {self.name} reserves no series for {population!r}. Check the number, which "
                "dpheatmap ledger show tells, and the population."
            )
        if account.limit is not None:
            self._refuse_kind(account.limit, population, cost)
        if cost != series.each:
            raise PrivacyRefusal(
                f"The series {number} of {population!r} in {self.name} was reserved at {series.each} a release, and "
                f"this one asks for {cost}. Ask for what was reserved."
            )
        if series.used == series.releases:
            raise PrivacyRefusal(
                f"All {series.releases} releases of the series {number} of {population!r} in {self.name} were made. "
                "Nothing of it is left."
            )

    def refuse_series(self, accounts: Mapping[str, Account], population: str, each: Cost, releases: int) -> None:
        """Refuse a series that does not fit."""
        account = accounts.get(population, Account())
        if account.limit is None:
            raise PrivacyRefusal(self._has_none(population))
        self._refuse_kind(account.limit, population, each)
        if not account.admits_series(each, releases):
            asks = f"{releases} releases at {each} each were asked for"
            raise PrivacyRefusal(self._has_no_room(account, population, asks, None))
        after = deepcopy(account)
        after.reserve(0, each, releases)
        self._refuse_length(after, population)

    def refuse_change(self, accounts: Mapping[str, Account], population: str, before: Limit, after: Limit) -> None:
        """Refuse a change of another limit than there is, or to the same."""
        limit = accounts.get(population, Account()).limit
        if limit is None:
            raise PrivacyRefusal(
                f"The population {population!r} has no limit in {self.name} that could be changed. Check the name, or "
                f"set one as with: dpheatmap ledger limit LEDGER --population {shlex.quote(population)} --epsilon 3"
            )
        if limit != before:
            raise PrivacyRefusal(
                f"The limit of {population!r} in {self.name} is {limit}, and it was to be changed from {before}. Look "
                "at what was decided since, and name the limit that there is."
            )
        if after == before:
            raise ParameterError(
                f"A limit is changed to another value; that of {population!r} is {limit} already. Leave it."
            )

    def _has_none(self, population: str) -> str:
        return (
            f"The population {population!r} has no limit in {self.name}, so nothing may be spent on it. Check the "
            "name, or set a limit as with: "
            f"dpheatmap ledger limit LEDGER --population {shlex.quote(population)} --epsilon 3"
        )

    def _has_no_room(self, account: Account, population: str, asks: str, part: Part | None) -> str:
        """What is left for a release, and what was asked for."""
        epsilon, rho = account.fits(part), account.fits_rho(part)
        assert account.limit is not None
        assert epsilon is not None
        assert rho is not None
        gaussian = f", or a rho of up to {in_figures(rho, up=False)}," if rho else ""
        advice = (
            f"An epsilon of up to {exact_text(epsilon)}{gaussian} would fit" if epsilon else "Nothing fits any more"
        )
        if account.limit.is_pure:
            has = f"has {exact_text(epsilon)} of its limit of {account.limit} left"
        else:
            has = f"has the limit {account.limit}"
        return f"The population {population!r} {has} in {self.name}, and {asks}. {advice}."

    def second_limit(self, population: str, limit: Limit, wanted: Limit) -> PrivacyRefusal:
        """The refusal of another limit where there is one."""
        return PrivacyRefusal(
            f"The population {population!r} has a limit of {limit} in {self.name} already, and a limit is set once. If "
            "it is to be changed, run: dpheatmap ledger change-limit LEDGER --population "
            f"{shlex.quote(population)} --from {shlex.quote(str(limit))} {wanted.as_options('--to')}"
        )


def list_names(names: list[str], most: int = 3) -> str:
    """The first names of a list, and how many more there are.

    >>> list_names(["riders", "staff"]), list_names(list("abcde"))
    ("'riders', 'staff'", "'a', 'b', 'c' and 2 more")
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
