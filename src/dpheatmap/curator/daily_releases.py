"""A release a day about the same people, within one limit whatever happens.

**Contract.** `DailyReleases.start` reserves all days in the ledger at once, and so spends the limit in full. Each day
is charged to the reservation: nothing that happens later takes a population beyond its limit, and no other release
takes a day's part. A person is protected over all days together: the limit is one of the person, not of the day.

**Refusals** follow from the calendar, the folder's file (`daily_journal.py`), the names of the files in it, and the
ledger. They are made before the table is opened, and no data enters.
"""

from __future__ import annotations

import os
import secrets
import shlex
import warnings
from collections.abc import Callable
from datetime import date, timedelta
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from dpheatmap._util.files import check_writable, data_folder
from dpheatmap._util.parameters import check
from dpheatmap.curator.aggregation import Progress, public_domain
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.curator.daily_journal import NAME, Journal, lock_folder
from dpheatmap.curator.ledger.ledger import Ledger
from dpheatmap.curator.ledger.population_account import Account, Cost
from dpheatmap.curator.publish import release_from
from dpheatmap.curator.read.reading import ReadingOptions
from dpheatmap.design.shares import exact_text
from dpheatmap.errors import BudgetWarning, DpheatmapError, LedgerError, ParameterError, PrivacyRefusal
from dpheatmap.place.domain import Domain
from dpheatmap.planning.daily_plan import DailyPlan, plan_days
from dpheatmap.releases.release import LedgerEntry, Release, load_one

SUFFIX = ".dph.parquet"


class DailyReleases:
    """A release a day about the same people, in a folder: all days together stay within one limit.

    :meth:`start` makes the folder. A day's table must hold the rows of that day. What is protected is a person over all
    days together.

    Parameters
    ----------
    folder : path
        The folder.

    Examples
    --------
    >>> import tempfile
    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = dph.Ledger(f"{folder}/city.ledger")
    ...     ledger.limit("riders", 1)
    ...     week = dph.DailyReleases.start(
    ...         f"{folder}/week", dph.Domain.unit(6), first="2024-06-03", days=7, limit=1, users=500,
    ...         ledger=ledger, population="riders",
    ...     )
    ...     for day in ("2024-06-03", "2024-06-04"):
    ...         _ = week.release(generated_people(500), day=day, ledger=ledger, user="person", x="x", y="y")
    ...     print(dph.combine(week.releases.values(), same=False).epsilon)
    2/7
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self._folder = Path(folder)
        self._plan, self._entry = self._journal.plan, self._journal.entry

    @property
    def _journal(self) -> Journal:
        return Journal.read(self._folder)

    @classmethod
    def start(
        cls,
        folder: str | PathLike[str],
        domain: Domain,
        *,
        first: str | date,
        days: int,
        limit: object,
        users: int,
        ledger: str | PathLike[str] | Ledger,
        population: str,
        delta: object = None,
        series: int | None = None,
    ) -> DailyReleases:
        """Plan the days, reserve all of them in the ledger, and make the folder.

        Parameters
        ----------
        folder : path
            The folder, which is made if it is not there.
        domain : Domain
            The public place.
        first : str or date
            The first day, such as "2024-06-01".
        days : int
            The number of days, at most 1000.
        limit : number, str or Fraction
            The epsilon of all days together.
        users : int
            A public guess of the number of people of a day, never a count taken from the data.
        ledger : path, URL or Ledger
            The ledger, in which the population has a limit that all days fit into.
        population : str
            The name of the people in the ledger.
        delta : number, str or Fraction, optional
            The probability that this epsilon is not kept, of all days together. With it, days have Gaussian noise or
            a fixed series of Laplace noise if that is better. Without it, the promise is pure.
        series : int, optional
            The number of an entry that reserved the same releases before, if none of them was used.

        Returns
        -------
        DailyReleases
            The days, of which none is released yet.

        Raises
        ------
        PrivacyRefusal
            If the population has no limit that the days fit into.
        """
        check(population=population, **({} if series is None else {"series": series}))
        plan = plan_days(public_domain(domain), first=first, days=days, limit=limit, users=users, delta=delta)
        opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        _refuse_without_limit(opened, population, plan)
        where = Path(folder)
        try:
            where.mkdir(exist_ok=True)
        except OSError as error:
            raise ParameterError(f"The folder {str(where)!r} can't be made: {error.strerror}. Name another.") from None
        with lock_folder(where):
            if (where / NAME).exists():
                raise ParameterError(f"{str(where)!r} holds a series already. Name another folder.")
            check_writable(where / NAME)
            entry = _reserve(opened, population, plan) if series is None else _adopt(opened, population, plan, series)
            try:
                Journal(plan, entry).write(where)
            except BaseException:
                warnings.warn(
                    f"The days are reserved as series {entry.number} of {opened.name}, and {NAME} could not be "
                    f"written. Start again with series {entry.number}, which costs nothing more.",
                    BudgetWarning,
                    stacklevel=2,
                )
                raise
        return cls(where)

    def release(
        self,
        events: Any,
        *,
        day: str | date,
        ledger: str | PathLike[str] | Ledger,
        again: bool = False,
        progress: Progress | None = None,
        seen: Callable[[RowReport], None] | None = None,
        **options: Unpack[ReadingOptions],
    ) -> Release:
        """Release a day with its part of the limit, and save it in the folder.

        Parameters
        ----------
        events : path, data frame, relation, URL or Counts
            The table, which must hold the rows of that day, or its counts.
        day : str or date
            The day.
        ledger : path, URL or Ledger
            The ledger in which the days are reserved.
        again : bool, default False
            Whether to pay for a day whose release was paid for before and lost. It takes the part of another day.
        progress : callable, optional
            Called while the table is read, as by :func:`release`.
        seen : callable, optional
            Shown a report of the reading, as by :func:`release`.
        **options
            How the table is read, as for :func:`release`; but broken lines are left out unless ``bad_lines`` is "stop".

        Returns
        -------
        Release
            The release, which is in the folder, too.

        Raises
        ------
        ParameterError
            If the day is not one of the period, or is there already.
        PrivacyRefusal
            If the day was paid for before and its release was lost, or if all that was reserved is used.
        LedgerError
            If the ledger does not hold the reservation, or if another process is at work in the folder.
        """
        wanted = self._plan.day(day)
        path = self.path_of(wanted)
        opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        if not isinstance(events, Counts):
            options.setdefault("bad_lines", "skip")  # nothing that depends on people refuses a day
        with lock_folder(self._folder):
            if path.exists():
                raise ParameterError(f"{path} is there already: a day is released once. Its map costs nothing.")
            population, used = self.population_in(opened), self._count_uses(opened)
            journal = self._journal.settle(used)
            if not again:
                self._refuse_loss(journal, wanted, used)
            check_writable(path)
            journal.begin(wanted).write(self._folder)
            try:
                made = release_from(
                    os.urandom, events, self._plan.domain, **self._plan.options, ledger=opened, population=population,
                    series=self._entry.number, progress=progress, seen=seen, **options,
                )  # fmt: skip
            except BaseException:
                self._journal.settle(self._count_uses(opened)).write(self._folder)
                raise
            try:
                made.save(path)
            except BaseException:
                kept = _keep(made, path)
                warnings.warn(f"What the budget bought is kept: {kept}. Move it to {path}.", BudgetWarning, 2)
                raise
            self._journal.finish().write(self._folder)
        return made

    @property
    def plan(self) -> DailyPlan:
        """The days, the place, the noise, and the part of each day."""
        return self._plan

    @property
    def entry(self) -> LedgerEntry:
        """The entry of the ledger that reserved all days."""
        return self._entry

    @property
    def days(self) -> dict[date, str]:
        """How each day of the period stands: "released", "open", "lost" if it was paid for and its file is missing.

        A day that is "begun" is being released now, or was stopped; the next release finds out whether it was charged.
        """
        journal, plan = self._journal, self._plan
        return {day: self._state(journal, day) for day in (plan.first + timedelta(days=n) for n in range(plan.days))}

    def _state(self, journal: Journal, day: date) -> str:
        if self.path_of(day).exists():
            return "released"
        return "begun" if journal.begun == day else "lost" if day in journal.paid else "open"

    @property
    def releases(self) -> dict[date, Release]:
        """The releases so far by day, from the folder's files."""
        return {day: load_one(self.path_of(day)) for day, state in self.days.items() if state == "released"}

    def path_of(self, day: str | date) -> Path:
        """Tell the file of a day.

        Parameters
        ----------
        day : str or date
            A day of the period.

        Returns
        -------
        Path
            The file, whether it is there or not.
        """
        return self._folder / f"{self._plan.day(day)}{SUFFIX}"

    def population_in(self, ledger: Ledger) -> str:
        """Find whom the days are reserved for.

        Parameters
        ----------
        ledger : Ledger
            The ledger in which the days are reserved.

        Returns
        -------
        str
            The name of the population.

        Raises
        ------
        LedgerError
            If the ledger does not hold the reservation.
        """
        rows, entry = ledger.entries(), self._entry
        if len(rows) < entry.number or rows[entry.number - 1].hash != entry.head:
            raise LedgerError(
                f"{ledger.name} does not hold the reservation of this series, entry {entry.number}. Name the ledger "
                "that it was started with, or find the copy with all entries."
            )
        return rows[entry.number - 1].population

    def _count_uses(self, ledger: Ledger) -> int:
        """Count the releases of the reservation that were used."""
        return ledger.accounts()[self.population_in(ledger)].series[self._entry.number].used

    def _refuse_loss(self, journal: Journal, day: date, used: int) -> None:
        if day in journal.paid:
            raise PrivacyRefusal(
                f"{day} was charged before, and {self.path_of(day)} is not there: it was moved, or its process was "
                "stopped before it was written. Put it back; or release the day again, by --again (again=True), which "
                "takes the part of another day."
            )
        missing = used - sum(journal.paid.values())
        if missing:
            raise PrivacyRefusal(
                f"The ledger holds {missing} more of the releases of this series than {self._folder / NAME} does: the "
                "folder is an old copy. Find the right one; or go on with this one, by --again (again=True)."
            )

    def __repr__(self) -> str:
        return f"<DailyReleases {str(self._folder)!r}: {self._plan}>"


def _refuse_without_limit(ledger: Ledger, population: str, plan: DailyPlan) -> None:
    if ledger.accounts().get(population, Account()).limit is None:
        delta = f" --delta {exact_text(plan.delta)}" if plan.delta else ""
        raise PrivacyRefusal(
            f"The population {population!r} has no limit in {ledger.name}. Check the name, or set one: dpheatmap "
            f"ledger limit LEDGER --population {shlex.quote(population)} --epsilon {exact_text(plan.limit)}{delta}"
        )


def _reserve(ledger: Ledger, population: str, plan: DailyPlan) -> LedgerEntry:
    return ledger.reserve(population, releases=plan.days, **plan.price)


def _adopt(ledger: Ledger, population: str, plan: DailyPlan, number: int) -> LedgerEntry:
    """Take over a reservation of the same releases, none of which was used."""
    found = ledger.accounts()[population].series.get(number)
    if found is None or (found.each, found.releases, found.used) != (Cost.of(plan.loss), plan.days, 0):
        raise PrivacyRefusal(
            f"Entry {number} of {ledger.name} does not reserve these {plan.days} days for {population!r}, or some of "
            "them were used. dpheatmap ledger show tells what was reserved."
        )
    return LedgerEntry(number, ledger.entries()[number - 1].hash)


def _keep(made: Release, path: Path) -> Path:
    """Save a release that can't be written where it should be: beside it, else in the data folder."""
    kept = path.with_name(f"{path.name.removesuffix(SUFFIX)}-{secrets.token_hex(4)}{SUFFIX}")
    try:
        made.save(kept)
    except DpheatmapError:
        kept = data_folder() / kept.name
        kept.parent.mkdir(parents=True, exist_ok=True)
        made.save(kept)
    return kept
