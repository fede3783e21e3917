"""How much a device's owner lets leak in all collections together, and what has been spent of it.

**Contract.** `charge` is called before anything of a contribution leaves the device. It is on disk when it returns, and
one process at a time is inside, so that no race, kill or power cut lets more leave than the limit allows. A
contribution that was charged is not charged again, however often it is sent: it is the same bytes. Another one is, also
in the same collection: it can't be known whether the first one counts. Nothing is ever given back.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from os import PathLike, fspath
from pathlib import Path
from typing import NamedTuple

from dpheatmap._util.files import data_folder
from dpheatmap.collect.collection import Collection
from dpheatmap.design.shares import exact_text, read_epsilon
from dpheatmap.errors import DataError, PrivacyRefusal

_KIND = 0x64706844  # "dphD", the application id in the file's header
_WAIT = 10.0  # seconds for another process to be done
_TABLES = """
CREATE TABLE IF NOT EXISTS limits (number INTEGER PRIMARY KEY, epsilon TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS charges (contribution BLOB PRIMARY KEY, collection BLOB NOT NULL, epsilon TEXT NOT NULL)
"""


class Balance(NamedTuple):
    """The limit, None if there is none yet, and what was spent."""

    limit: Fraction | None
    spent: Fraction

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return max(Fraction(0), (self.limit or Fraction(0)) - self.spent)


class DeviceAccount:
    """The account of a device, in a file of its own.

    Parameters
    ----------
    path : path
        The file; it is made when the limit is set.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     account = DeviceAccount(f"{folder}/account")
    ...     account.set_limit(4)
    ...     account.balance().left
    Fraction(4, 1)
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = Path(fspath(path))

    @staticmethod
    def default_place() -> str:
        """Return the file of commands that name none, in the user's data folder.

        Returns
        -------
        str
            The path.
        """
        return str(data_folder() / "device-account")

    def set_limit(self, epsilon: object) -> None:
        """Set how much may leak in all, or change it. What was spent stays spent.

        Parameters
        ----------
        epsilon : number, str or Fraction
            The limit.
        """
        limit = read_epsilon(epsilon)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.touch(0o600)
        with self._transaction() as con:
            con.execute("INSERT OR REPLACE INTO limits VALUES (0, ?)", (str(limit),))

    def balance(self) -> Balance:
        """Read the limit and what was spent.

        Returns
        -------
        Balance
            Both, exactly.
        """
        if not self._path.exists():
            return Balance(None, Fraction(0))
        with self._transaction() as con:
            return _balance(con)

    def charge(self, collection: Collection, bodies: Iterable[bytes]) -> None:
        """Charge a contribution, unless it was charged before; call this before sending it.

        Parameters
        ----------
        collection : Collection
            The collection that it is for.
        bodies : iterable of bytes
            The contribution.

        Raises
        ------
        PrivacyRefusal
            If there is no limit, or not enough left of it.
        """
        epsilon, contribution = collection.terms.epsilon, _digest(bodies)
        if not self._path.exists():
            raise PrivacyRefusal(_no_limit(self._path))
        with self._transaction() as con:
            if con.execute("SELECT 1 FROM charges WHERE contribution = ?", (contribution,)).fetchone():
                return
            there = _balance(con)
            if there.limit is None:
                raise PrivacyRefusal(_no_limit(self._path))
            if epsilon > there.left:
                raise PrivacyRefusal(
                    f"This collection costs an epsilon of {exact_text(epsilon)}, and this device has "
                    f"{exact_text(there.left)} left of its limit of {exact_text(there.limit)}. Leave it out, or decide "
                    "on another limit."
                )
            con.execute("INSERT INTO charges VALUES (?, ?, ?)", (contribution, collection.digest, str(epsilon)))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Let one process in; what it writes is on disk at the end, or not there at all."""
        try:
            with closing(sqlite3.connect(self._path, _WAIT, isolation_level=None)) as con:
                con.execute("PRAGMA trusted_schema = OFF")
                con.execute("PRAGMA synchronous = EXTRA")
                con.execute("BEGIN IMMEDIATE")
                _check_kind(con)
                yield con
                con.execute("COMMIT")  # without it, closing rolls back
        except (sqlite3.Error, OSError, ValueError) as error:
            raise DataError(
                f"{self._path.name} can't be used as a device's account: {error}. Check the file, and the disk."
            ) from None


def _check_kind(con: sqlite3.Connection) -> None:
    (kind,) = con.execute("PRAGMA application_id").fetchone()
    if kind == _KIND:
        return
    if kind or con.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise sqlite3.DatabaseError("it is something else")
    con.execute(f"PRAGMA application_id = {_KIND}")
    for statement in _TABLES.split(";"):
        con.execute(statement)


def _balance(con: sqlite3.Connection) -> Balance:
    found = con.execute("SELECT epsilon FROM limits").fetchone()
    spent = sum((Fraction(epsilon) for (epsilon,) in con.execute("SELECT epsilon FROM charges")), Fraction(0))
    return Balance(None if found is None else Fraction(found[0]), spent)


def _digest(bodies: Iterable[bytes]) -> bytes:
    found = hashlib.sha256()
    for body in bodies:
        found.update(hashlib.sha256(body).digest())
    return found.digest()


def _no_limit(path: Path) -> str:
    return (
        f"This device has no limit yet in {path.name}, and nothing leaves it without one. Decide how much may leak in "
        "all collections together, as with: dpheatmap collect limit 4"
    )
