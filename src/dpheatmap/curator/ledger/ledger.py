"""The ledger: a durable record of what was spent on each population, with limits that can't be overspent.

**Contract of `Ledger.charge`.** It returns only after the charge is on disk, and only if all charges of the population
together, this one included, stay within its limit. The limit is checked and the charge written in one transaction that
no other process can enter (`stores.py`). `release` calls it after the last thing that can be refused and before the
first noise is drawn; nothing takes a charge back. So all noise that was ever drawn for a population with a limit is
paid for within the limit, also if processes race, are killed, or fail afterwards.

**Limits.** `Ledger.limit` sets a limit once. Only `Ledger.change_limit` changes it, and the chain holds both values.
Once any population has a limit, none without one is charged: otherwise a table whose budget is spent could be released
again by leaving out the name of its population. All of this is decided inside the transaction that writes.

Whether a charge is refused (`admission.py`) follows from earlier entries and from its price: no data enters.
`population_account.py` has the sums, the tests, and the proof that what passes them keeps the limit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from typing import ClassVar

from dpheatmap._util.files import data_folder
from dpheatmap._util.parameters import as_epsilon, check
from dpheatmap.curator.ledger.admission import Admission, list_names
from dpheatmap.curator.ledger.chain import (
    SPENDING,
    Entry,
    Row,
    accounts_after,
    change_entry,
    charge_entry,
    limit_entry,
    next_row,
    replay,
    reserve_entry,
    use_entry,
)
from dpheatmap.curator.ledger.known_files import KnownFiles, marks_of
from dpheatmap.curator.ledger.population_account import Account, Cost
from dpheatmap.curator.ledger.spending_limit import Limit
from dpheatmap.curator.ledger.verification import check_release
from dpheatmap.errors import ParameterError
from dpheatmap.releases.release import LedgerEntry, Release
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.slicing.part import Part


class Ledger:
    """A ledger in a file, or in PostgreSQL by its URL. Opening one reads and writes nothing.

    Parameters
    ----------
    where : path or URL
        The file, such as ``city.ledger``, or the URL of a PostgreSQL database.
    limits_needed : bool, default True
        Whether a population without a limit is refused, so that a mistyped name does not open a budget of its own. With
        False it may be charged, and its spending is recorded, as long as the ledger holds no limit for anybody. Once it
        holds one, every charge with False is refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"{folder}/city.ledger")
    ...     ledger.limit("riders", 2)
    ...     _ = ledger.charge("riders", 0.5)
    ...     ledger.accounts()["riders"].left
    Fraction(3, 2)
    """

    COLUMNS: ClassVar = Row._fields

    def __init__(self, where: str | PathLike[str], *, limits_needed: bool = True) -> None:
        if not isinstance(where, (str, PathLike)) or not os.fspath(where):
            raise ParameterError(f"ledger must be a path or a URL; it was {where!r}. Name a file such as city.ledger.")
        from dpheatmap.curator.ledger.stores import store_at

        self._store = store_at(where)
        self._admission = Admission(self._store.name, limits_needed)

    @property
    def name(self) -> str:
        """The name of the ledger in messages: the file's name, or the URL without user and password."""
        return self._store.name

    def limit(self, population: str, epsilon: object = None, *, delta: object = None, rho: object = None) -> None:
        """Set how much may be spent on a population, all releases together.

        Parameters
        ----------
        population : str
            The name of the people.
        epsilon : number, str or Fraction, optional
            The limit. If the population has this limit already, as when a script runs twice, nothing is written.
        delta : number, str or Fraction, optional
            The probability that more than epsilon leaks. Many releases then cost less than their sum, and Gaussian
            noise is allowed. By default there is none.
        rho : number, str or Fraction, optional
            The limit in zero-concentrated differential privacy, in place of epsilon.

        Raises
        ------
        PrivacyRefusal
            If the population has another limit already.
        """
        check(population=population)
        wanted = Limit.of(epsilon, delta, rho)
        with self._store.transaction(write=True) as inside:
            rows = inside.rows()
            present = replay(rows, self.name).get(population, Account()).limit
            if present is None:
                inside.append(_next(rows, population, limit_entry(wanted)))
            elif present != wanted:
                raise self._admission.second_limit(population, present, wanted)

    def change_limit(
        self, population: str, epsilon: object = None, *, was: object, delta: object = None, rho: object = None
    ) -> None:
        """Change the limit of a population; the chain holds both values.

        Parameters
        ----------
        population : str
            The name of the people.
        epsilon : number, str or Fraction, optional
            The new limit. What was spent stays spent: if that is more than the limit, nothing fits any more.
        was : number, str, Fraction or Limit
            The present limit, which must be right: a number, or text such as ``"1 at delta 0.000001"`` or
            ``"rho 0.02"``.
        delta : number, str or Fraction, optional
            The delta of the new limit.
        rho : number, str or Fraction, optional
            The new limit in zero-concentrated differential privacy, in place of epsilon.

        Raises
        ------
        PrivacyRefusal
            If the population has no limit, or another one than ``was``.
        """
        check(population=population)
        before, after = Limit.read(was), Limit.of(epsilon, delta, rho)
        self._admission.refuse_change(self.accounts(), population, before, after)  # so that a refusal creates no ledger
        with self._store.transaction(write=True) as inside:
            rows = inside.rows()
            self._admission.refuse_change(replay(rows, self.name), population, before, after)
            inside.append(_next(rows, population, change_entry(before, after)))

    def charge(
        self,
        population: str,
        epsilon: object = None,
        *,
        rho: object = None,
        of: Part | None = None,
        made: datetime | None = None,
        series: int | None = None,
    ) -> LedgerEntry:
        """Write a charge to the ledger, or refuse it. The contract is at the top of the module.

        Parameters
        ----------
        population : str
            The name of the people.
        epsilon : number, str or Fraction, optional
            The price of a release with Laplace noise.
        rho : number, str or Fraction, optional
            The price of a release with Gaussian noise, in place of epsilon.
        of : Part, optional
            The part of the population that the charge is about; by default everybody.
        made : datetime, optional
            The time of the charge; by default now.
        series : int, optional
            The number of the entry that reserved this release, at the same price; it costs nothing more then.

        Returns
        -------
        LedgerEntry
            The number of the entry, and the head of the chain.

        Raises
        ------
        PrivacyRefusal
            If the population has no limit where one is needed, if the charge does not fit into it, or if nothing like
            it was reserved.
        """
        check(population=population)
        cost = _read_cost(epsilon, rho, of, series)
        with self._store.transaction(write=True) as inside:
            rows = inside.rows()
            self._admission.refuse_charge(replay(rows, self.name), population, cost, of, series)
            entry = charge_entry(cost, of) if series is None else use_entry(cost, series)
            row = _next(rows, population, entry, made)
            inside.append(row)
        return LedgerEntry(row.number, row.hash)

    def check(
        self,
        population: str,
        epsilon: object = None,
        *,
        rho: object = None,
        of: Part | None = None,
        series: int | None = None,
    ) -> None:
        """Refuse what :meth:`charge` would refuse now, and write nothing.

        Parameters
        ----------
        population : str
            The name of the people.
        epsilon : number, str or Fraction, optional
            The price of a release with Laplace noise.
        rho : number, str or Fraction, optional
            The price of a release with Gaussian noise, in place of epsilon.
        of : Part, optional
            The part of the population that the charge would be about; by default everybody.
        series : int, optional
            The number of the entry that reserved this release.

        Raises
        ------
        PrivacyRefusal
            If the charge would be refused.
        """
        check(population=population)
        self._admission.refuse_charge(self.accounts(), population, _read_cost(epsilon, rho, of, series), of, series)

    def reserve(
        self,
        population: str,
        epsilon: object = None,
        *,
        releases: int,
        rho: object = None,
        made: datetime | None = None,
    ) -> LedgerEntry:
        """Reserve a series of releases about everybody, each at the same price; it is spent in full at once.

        With a limit that has a delta, a series that is reserved before anything else was charged may cost more each
        than releases that are charged one by one.

        Parameters
        ----------
        population : str
            The name of the people.
        epsilon : number, str or Fraction, optional
            The price of each release, with Laplace noise.
        releases : int
            The number of releases.
        rho : number, str or Fraction, optional
            The price of each release with Gaussian noise, in place of epsilon.
        made : datetime, optional
            The time of the entry; by default now.

        Returns
        -------
        LedgerEntry
            The number of the entry, by which :meth:`charge` knows the series, and the head of the chain.

        Raises
        ------
        PrivacyRefusal
            If the population has no limit, or if the series does not fit into it.
        """
        check(population=population, releases=releases)
        each, releases = _read_cost(epsilon, rho), int(releases)
        self._admission.refuse_series(
            self.accounts(), population, each, releases
        )  # so that a refusal creates no ledger
        with self._store.transaction(write=True) as inside:
            rows = inside.rows()
            self._admission.refuse_series(replay(rows, self.name), population, each, releases)
            row = _next(rows, population, reserve_entry(each, releases), made)
            inside.append(row)
        return LedgerEntry(row.number, row.hash)

    marks_of = staticmethod(marks_of)

    def note_files(self, population: str, marks: Iterable[bytes]) -> None:
        """Note that the files of an input were charged to a population (`known_files.py`).

        Parameters
        ----------
        population : str
            The name of the people.
        marks : iterable of bytes
            The marks of the files, by :meth:`marks_of`.
        """
        check(population=population)
        KnownFiles(self._store.beside).add(marks, population)

    def populations_of(self, marks: Iterable[bytes]) -> list[str]:
        """List the populations that any files of an input were charged to before.

        Parameters
        ----------
        marks : iterable of bytes
            The marks of the files, by :meth:`marks_of`.

        Returns
        -------
        list of str
            The names, sorted.
        """
        return KnownFiles(self._store.beside).populations(marks)

    def warning(self, population: str, name: str, marks: Iterable[bytes]) -> str:
        """Warn if an input was charged to another population before.

        Parameters
        ----------
        population : str
            The name of the people that it is to be charged to.
        name : str
            The name of the input in the warning.
        marks : iterable of bytes
            The marks of its files, by :meth:`marks_of`.

        Returns
        -------
        str
            The warning, or an empty text.
        """
        check(population=population)
        others = [other for other in self.populations_of(marks) if other != population]
        if not others:
            return ""
        return (
            f"{name}, or a file in its place, was charged to {list_names(others)} before, and now to {population!r}. "
            "If these are the same people, use one name for them: what is spent under two names is not added up."
        )

    def entries(self) -> list[Row]:
        """Read all entries, after checking the chain.

        Returns
        -------
        list of Row
            The entries as they are stored.
        """
        with self._store.transaction(write=False) as inside:
            rows: list[Row] = inside.rows()
        replay(rows, self.name)
        return rows

    def accounts(self) -> dict[str, Account]:
        """Compute every population's limit and spending, after checking the chain.

        Returns
        -------
        dict of str to Account
            The accounts by population.
        """
        return replay(self.entries(), self.name)

    def history(self) -> dict[str, list[tuple[str, Fraction]]]:
        """Compute what each population had spent after each of its charges, after checking the chain.

        Returns
        -------
        dict of str to list of tuple
            The time of each charge or reservation, and what was spent up to it, by population: in the unit of the
            limit that there was then.
        """
        spent: dict[str, list[tuple[str, Fraction]]] = {}
        for row, account in accounts_after(self.entries(), self.name):
            if row.kind in SPENDING:
                spent.setdefault(row.population, []).append((row.made, account.spent))
        return spent

    def verify(self, against: Mapping[str, Release | SlicedRelease] | Iterable[Release | SlicedRelease] = ()) -> int:
        """Check that the chain is whole and holds the charges of releases.

        Parameters
        ----------
        against : iterable of Release or mapping of str to Release, default ()
            The releases, by the names that errors call them. All slices of a sliced one are one charge.

        Returns
        -------
        int
            The number of entries.

        Raises
        ------
        LedgerError
            If the chain is broken, or if it lacks the entry of a release.

        Notes
        -----
        The chain itself shows edits, deletions and reorders. It does not show that its end was cut off, or that an old
        copy was put back. Releases that were made later show that: their labels carry the head of the chain at their
        time.
        """
        rows = self.entries()
        named = against.items() if isinstance(against, Mapping) else ((repr(release), release) for release in against)
        for name, release in named:
            check_release(self.name, rows, name, release)
        return len(rows)

    @staticmethod
    def default_place() -> str:
        """Return the ledger of commands that name none.

        Returns
        -------
        str
            The value of DPHEATMAP_LEDGER, or a file in the user's data folder.
        """
        named = os.environ.get("DPHEATMAP_LEDGER")
        if named:
            return named
        return str(data_folder() / "ledger")

    def __repr__(self) -> str:
        return f"<Ledger {self.name}>"


def _next(rows: list[Row], population: str, entry: Entry, made: datetime | None = None) -> Row:
    made = made or datetime.now(UTC).replace(microsecond=0)
    return next_row(rows, made.isoformat(), entry.kind, population, entry.epsilon, entry.part)


def _read_cost(epsilon: object, rho: object, of: Part | None = None, series: int | None = None) -> Cost:
    """The price that parameters of these names give, checked."""
    given = {"epsilon": epsilon, "rho": rho, "series": series}
    check(**{name: value for name, value in given.items() if value is not None})
    if (epsilon is None) == (rho is None):
        raise ParameterError("A price is an epsilon or a rho, and both or none were given. Give one of them.")
    if of is not None and series is not None:
        raise ParameterError("A series is about everybody, and a part was named with it. Leave out one of them.")
    return Cost.pure(as_epsilon(epsilon)) if rho is None else Cost.gaussian(as_epsilon(rho))
