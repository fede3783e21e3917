"""The hash chain of a ledger's entries, and the sum that each population has spent.

**The chain.** Each entry carries the hash of the one before it and a hash of its own over everything in it, so that no
entry can be edited, removed or moved without all later hashes changing. Each also carries a random number: no two
entries are alike, even if an old copy is put back and the same is charged again in the same second, and hashes that are
published in labels can't confirm guesses about the contents.

**Kinds of entries.** ``limit`` sets the limit of a population to ``epsilon``. ``change`` changes it to ``epsilon``, and
holds the limit before it in ``part``, as ``{"from": "1"}``; an entry that names another limit than there was is
invalid. ``charge`` spends ``epsilon``, on the people of ``part`` if it is not empty. Ledgers of earlier versions change
limits by a further ``limit`` and are read as they were; earlier versions refuse an entry ``change``.

**The sum.** Nothing in an entry comes from people's data. A population's spending bounds the epsilon of all its
releases together, whatever was chosen in the light of earlier ones (sequential composition):

    spent = sum of the charges for everybody + sum over partitions of the largest sum of charges of any one part.

*Why a partition costs its largest part.* Its value is a function of the person: `aggregate` keeps, for a part, people
all of whose rows have that value. So parts are about disjoint sets of people, adding or removing one person changes the
data of one part alone, and of all releases of the partition together the ratio of probabilities is at most exp of what
was spent on that part. Rows could not be partitioned like this, for one person may have rows in every part.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from dpheatmap._util.parameters import LARGEST_EPSILON, as_epsilon, check, has_digits
from dpheatmap.design.shares import exact_text
from dpheatmap.errors import LedgerError
from dpheatmap.slicing.part import Part

LIMIT, CHANGE, CHARGE = "limit", "change", "charge"
FIRST = "0" * 64  # stands for the hash before the first entry
SUM_DIGITS = 1000  # of a numerator and of a denominator; Python writes out about 4,000


class Row(NamedTuple):
    """An entry as it is stored."""

    number: int
    made: str
    kind: str
    population: str
    epsilon: str
    part: str
    nonce: str
    previous: str
    hash: str


def hash_of(row: Row) -> str:
    """The hash that a row must carry: SHA-256 over all its other fields, the previous hash among them."""
    return hashlib.sha256(json.dumps(list(row[:-1])).encode()).hexdigest()


def next_row(rows: Sequence[Row], made: str, kind: str, population: str, epsilon: str, part: str) -> Row:
    """The next row of a chain."""
    previous = rows[-1].hash if rows else FIRST
    row = Row(len(rows) + 1, made, kind, population, epsilon, part, secrets.token_hex(32), previous, "")
    return row._replace(hash=hash_of(row))


@dataclass
class Account:
    """A population: its limit, if one is set, and what was spent."""

    limit: Fraction | None = None
    everybody: Fraction = Fraction(0)
    parts: dict[str, dict[str, Fraction]] = field(default_factory=dict)
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    charges: int = 0
    last: str = ""

    @property
    def spent(self) -> Fraction:
        """The epsilon of all releases together: a bound on what leaked about a person."""
        return self.everybody + sum((max(part.values()) for part in self.parts.values()), Fraction(0))

    @property
    def left(self) -> Fraction | None:
        """The epsilon that a release about everybody may still cost; None without a limit."""
        return None if self.limit is None else max(self.limit - self.spent, Fraction(0))

    def fits(self, part: Part | None = None) -> Fraction | None:
        """The largest epsilon that fits; for a part that spent less than another part, the difference comes on top."""
        if self.limit is None or part is None:
            return self.left
        of_column = self.parts.get(part.column, {})
        lag = max(of_column.values(), default=Fraction(0)) - of_column.get(part.value, Fraction(0))
        return max(self.limit - self.spent + lag, Fraction(0))

    def in_words(self) -> str:
        """A sentence about what was spent and what is left.

        >>> Account(limit=Fraction(10), everybody=Fraction(5, 2)).in_words()
        '2.5 of 10 spent, 7.5 left'
        """
        if self.limit is None or self.left is None:
            return f"{exact_text(self.spent)} spent, no limit set"
        return f"{exact_text(self.spent)} of {exact_text(self.limit)} spent, {exact_text(self.left)} left"

    @property
    def is_short(self) -> bool:
        """Whether every sum can be written out; sums of fractions with different denominators grow longer."""
        parts = (spent for part in self.parts.values() for spent in part.values())
        return all(has_digits(spent, SUM_DIGITS) for spent in (self.spent, *parts))

    def charge(self, epsilon: Fraction, part: Part | None) -> None:
        """Add a charge."""
        self.charges += 1
        if part is None:
            self.everybody += epsilon
            return
        of_column = self.parts.setdefault(part.column, {})
        of_column[part.value] = of_column.get(part.value, Fraction(0)) + epsilon
        self.values.setdefault(part.column, part.values)


def replay(rows: Iterable[Row], name: str) -> dict[str, Account]:
    """The accounts of all populations, after checking that the chain is whole."""
    return {row.population: account for row, account in accounts_after(rows, name)}


def accounts_after(rows: Iterable[Row], name: str) -> Iterator[tuple[Row, Account]]:
    """Yield each entry with the account of its population after it; later entries change the same account object."""
    accounts: dict[str, Account] = {}
    previous = FIRST
    for position, row in enumerate(rows, 1):
        if row.number != position:
            raise _chain_error(name, f"entry {position} is missing")
        if row.hash != hash_of(row) or row.previous != previous:
            raise _chain_error(name, f"entry {position} is not what it was when it was written")
        try:
            check(population=row.population)
            account = accounts.setdefault(row.population, Account())
            _apply(row, account)
        except (ValueError, TypeError, ArithmeticError, RecursionError):
            raise _chain_error(name, f"entry {position} can't be understood") from None
        account.last = row.made
        previous = row.hash
        yield row, account


def _apply(row: Row, account: Account) -> None:
    """Apply an entry to the account of its population; raises one of Python's own errors if it makes no sense."""
    epsilon = _epsilon_in(row.epsilon)
    if row.kind == CHANGE:
        if limit_before(row) != account.limit:
            raise ValueError("another limit than there was")
        account.limit = epsilon
        return
    part = Part.read(row.part)
    if row.kind == LIMIT:
        account.limit = epsilon
    elif row.kind == CHARGE:
        account.charge(epsilon, part)
    else:
        raise ValueError("no kind of entry")


def change_from(limit: Fraction) -> str:
    """The text by which an entry that changes a limit names the limit before it.

    >>> change_from(Fraction(1, 3))
    '{"from": "1/3"}'
    """
    return json.dumps({"from": str(limit)})


def limit_before(row: Row) -> Fraction:
    """The limit that an entry changes."""
    found = json.loads(row.part)
    if not isinstance(found, dict) or set(found) != {"from"} or not isinstance(found["from"], str):
        raise ValueError("no limit")
    return _epsilon_in(found["from"])


def _epsilon_in(text: str) -> Fraction:
    """Read an epsilon of an entry; those of earlier versions may have more digits than new ones."""
    epsilon = as_epsilon(text)
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise ValueError("out of range")
    return epsilon


def _chain_error(name: str, problem: str) -> LedgerError:
    return LedgerError(f"{name} was altered or is damaged: {problem}. Go back to a copy that verifies.")
