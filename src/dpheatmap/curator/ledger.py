"""The ledger: what was spent on which population, durable, and a limit that can't be overspent.

**Contract of `Ledger.charge`.** It returns only after the charge is on disk, and only if all charges of the population
together, this one included, stay within its limit. The limit is checked and the charge written in one transaction that
no other process can enter (`ledger_stores.py`). `release` calls it after the last thing that can be refused and before
the first noise is drawn; nothing takes a charge back. So whatever noise was ever drawn for a population with a limit
is paid for within it, also if processes race, are killed, or fail afterwards.

Whether a charge is refused follows from earlier entries and from epsilon: no data enters.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from typing import ClassVar

from dpheatmap.budget import exact_text, read_epsilon
from dpheatmap.curator.ledger_chain import CHARGE, LIMIT, Account, Part, Row, accounts_after, chained, replay
from dpheatmap.errors import LedgerError, ParameterError, PrivacyRefusal
from dpheatmap.files import data_folder
from dpheatmap.parameters import check
from dpheatmap.release import LedgerEntry, Release


class Ledger:
    """A ledger in a file, or in PostgreSQL by its URL. Opening one reads and writes nothing.

    A population that has no limit can't be charged, so that a mistyped name does not open a budget of its own; with
    ``limits_needed=False`` it can, and what it spends is kept account of.

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
        from dpheatmap.curator.ledger_stores import store_at

        self._store = store_at(where)
        self._limits_needed = limits_needed

    @property
    def name(self) -> str:
        """What to call it in messages: the file's name, or the URL without user and password."""
        return self._store.name

    def limit(self, population: str, epsilon: object) -> None:
        """Set or change how much may be spent on a population, all releases together."""
        check(population=population)
        exact = read_epsilon(epsilon)
        with self._store.transaction(write=True) as inside:
            rows = inside.rows()
            replay(rows, self.name)
            inside.append(_next(rows, LIMIT, population, exact, None, None))

    def charge(
        self, population: str, epsilon: object, *, of: Part | None = None, made: datetime | None = None
    ) -> LedgerEntry:
        """Write a charge down, or refuse it; returns where it stands in the chain. See the contract above.

        ``of`` is the part of the population that it is about, if it is not about everybody.
        """
        check(population=population)
        exact = read_epsilon(epsilon)
        with self._store.transaction(write=True) as inside:
            rows = inside.rows()
            self._refuse(replay(rows, self.name).get(population), population, exact, of)
            row = _next(rows, CHARGE, population, exact, of, made)
            inside.append(row)
        return LedgerEntry(row.number, row.hash)

    def check(self, population: str, epsilon: object, *, of: Part | None = None) -> None:
        """Refuse what `charge` would refuse now, and write nothing."""
        check(population=population)
        self._refuse(self.accounts().get(population), population, read_epsilon(epsilon), of)

    def entries(self) -> list[Row]:
        """All entries as they are stored, after checking the chain."""
        with self._store.transaction(write=False) as inside:
            rows: list[Row] = inside.rows()
        replay(rows, self.name)
        return rows

    def accounts(self) -> dict[str, Account]:
        """Every population's limit and spending, after checking the chain."""
        return replay(self.entries(), self.name)

    def history(self) -> dict[str, list[tuple[str, Fraction]]]:
        """What each population had spent after each of its charges, with their times, after checking the chain."""
        spent: dict[str, list[tuple[str, Fraction]]] = {}
        for row, account in accounts_after(self.entries(), self.name):
            if row.kind == CHARGE:
                spent.setdefault(row.population, []).append((row.made, account.spent))
        return spent

    def verify(self, against: Mapping[str, Release] | Iterable[Release] = ()) -> int:
        """Check that the chain is whole and holds these releases; returns the number of entries.

        Inside the chain it finds edits, deletions and reorders. That the end was cut off, or that an old copy was put
        back, shows by releases that were made later: their labels carry the head of the chain at their time.
        """
        rows = self.entries()
        named = against.items() if isinstance(against, Mapping) else ((repr(release), release) for release in against)
        for name, release in named:
            _check_release(self.name, rows, name, release)
        return len(rows)

    def _refuse(self, account: Account | None, population: str, epsilon: Fraction, part: Part | None) -> None:
        if (account is None or account.limit is None) and self._limits_needed:
            raise PrivacyRefusal(
                f"The population {population!r} has no limit in {self.name}, so nothing may be spent on it. Check the "
                "name, or set a limit as with: "
                f"dpheatmap ledger limit LEDGER --population {shlex.quote(population)} --epsilon 3"
            )
        if account is None:
            return
        known = account.values.get(part.column) if part else None
        if part and known and set(known) != set(part.values):
            raise ParameterError(
                f"The partition by {part.column!r} has the list {', '.join(known)} in {self.name}, and another one was "
                "given. A partition keeps its list."
            )
        fits = account.fits(part)
        if fits is not None and epsilon > fits:
            assert account.limit is not None
            advice = f"An epsilon of up to {exact_text(fits)} would fit" if fits else "Nothing fits any more"
            raise PrivacyRefusal(
                f"The population {population!r} has {exact_text(fits)} of its limit of {exact_text(account.limit)} "
                f"left in {self.name}, and this release asks for {exact_text(epsilon)}. {advice}."
            )

    @staticmethod
    def default_place() -> str:
        """The ledger of commands that name none: DPHEATMAP_LEDGER, or a file in the user's data folder."""
        named = os.environ.get("DPHEATMAP_LEDGER")
        if named:
            return named
        return str(data_folder() / "ledger")

    def __repr__(self) -> str:
        return f"<Ledger {self.name}>"


def _next(
    rows: list[Row], kind: str, population: str, epsilon: Fraction, part: Part | None, made: datetime | None
) -> Row:
    made = made or datetime.now(UTC).replace(microsecond=0)
    text = str(part) if part else ""
    return chained(rows, made.isoformat(), kind, population, str(epsilon), text)


def _check_release(ledger: str, rows: list[Row], name: str, release: Release) -> None:
    entry = release.ledger
    if entry is None:
        raise LedgerError(f"{name} was made without a ledger, so nothing can be checked against it. Leave it out.")
    if entry.number > len(rows):
        raise LedgerError(
            f"{ledger} was rolled back or cut short: {name} is entry {entry.number}, and the ledger ends with entry "
            f"{len(rows)}. Find the copy with all entries."
        )
    row = rows[entry.number - 1]
    # One charge may be for a batch of images that each got an equal part of it.
    covered = row.kind == CHARGE and (Fraction(row.epsilon) / release.epsilon).denominator == 1
    if row.hash != entry.head or not covered:
        raise LedgerError(
            f"{ledger} was rewritten, or {name} was charged to another one: entry {entry.number} is not the one in its "
            "label. Find the right copy."
        )
