"""The hash chain of a ledger's entries, and the accounts that they come to.

**The chain.** Each entry carries the hash of the one before it and a hash of its own over everything in it, so that no
entry can be edited, removed or moved without all later hashes changing. Each also carries a random number: no two
entries are alike, even if an old copy is put back and the same is charged again in the same second, and hashes that are
published in labels can't confirm guesses about the contents.

**Kinds of entries**, and what they hold in the columns ``epsilon`` and ``part``. Numbers are exact fractions, as text.

| kind | epsilon | part |
|---|---|---|
| ``limit`` | the limit of epsilon | |
| ``limit-delta`` | the limit of epsilon | ``{"delta": "1/1000000"}`` |
| ``limit-rho`` | the limit of rho | |
| ``change`` | the new limit of epsilon | ``{"from": "1"}``, the limit of epsilon before |
| ``change-pure`` | the new limit of epsilon | ``{"from": LIMIT}``, with a limit of another kind |
| ``change-delta`` | the new limit of epsilon | ``{"delta": "1/1000000", "from": LIMIT}`` |
| ``change-rho`` | the new limit of rho | ``{"from": LIMIT}`` |
| ``charge`` | what is spent | empty for everybody, or ``["column", "value", ["value", "other"]]`` for a part |
| ``charge-rho`` | the rho that is spent | the same |
| ``reserve`` | the epsilon of each release of a series | ``{"releases": 52}`` |
| ``reserve-rho`` | the rho of each release of a series | ``{"releases": 52}`` |
| ``use`` | the price of a release of a series | ``{"series": 7}``, the number of the entry that reserved it |

LIMIT is ``{"epsilon": "1"}``, ``{"epsilon": "1", "delta": "1/1000000"}`` or ``{"rho": "1/50"}``. Numbers and JSON of
the kinds with a hyphen, of ``reserve`` and of ``use`` are written in one way only, and any other is invalid. So is a
first limit where there is one, a change that names another limit than there was, and the use of a series that was not
reserved for this population, at another price, or once more than reserved, and a ``charge-rho``, a ``reserve-rho`` or
the use of one where the limit is of epsilon alone. Ledgers of earlier versions have the kinds ``limit``, ``change`` and
``charge`` alone, and change limits by a further ``limit``: they are read as they were. Earlier versions refuse the
others.

What entries come to is in `population_account.py`.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from dpheatmap._util.parameters import LARGEST_EPSILON, as_epsilon, check
from dpheatmap.curator.ledger.population_account import Account, Cost
from dpheatmap.curator.ledger.spending_limit import Limit
from dpheatmap.design.shares import exact_text
from dpheatmap.errors import LedgerError
from dpheatmap.slicing.part import Part

LIMIT, LIMIT_DELTA, LIMIT_RHO = "limit", "limit-delta", "limit-rho"
CHANGE, CHANGE_PURE, CHANGE_DELTA, CHANGE_RHO = "change", "change-pure", "change-delta", "change-rho"
CHARGE, CHARGE_RHO = "charge", "charge-rho"
RESERVE, RESERVE_RHO, USE = "reserve", "reserve-rho", "use"
LIMITS = (LIMIT, LIMIT_DELTA, LIMIT_RHO)
CHANGES = (CHANGE, CHANGE_PURE, CHANGE_DELTA, CHANGE_RHO)
SPENDING = (CHARGE, CHARGE_RHO, RESERVE, RESERVE_RHO)
"""The kinds of entries after which more is spent."""
FIRST = "0" * 64  # stands for the hash before the first entry


_T = TypeVar("_T", str, int)


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

    @property
    def price(self) -> str:
        """The number in the column epsilon, exactly; a rho is called so."""
        amount = exact_text(Fraction(self.epsilon))
        return f"rho {amount}" if self.kind.endswith("-rho") else amount

    @property
    def limit(self) -> Limit | None:
        """The limit that is set, or that the limit is changed to; None in an entry of another kind."""
        return limit_in(self) if self.kind in LIMITS + CHANGES else None

    @property
    def releases(self) -> int | None:
        """The number of releases that are reserved; None in an entry of another kind."""
        return _in_json(self, "releases", int) if self.kind in (RESERVE, RESERVE_RHO) else None


def hash_of(row: Row) -> str:
    """The hash that a row must carry: SHA-256 over all its other fields, the previous hash among them."""
    return hashlib.sha256(json.dumps(list(row[:-1])).encode()).hexdigest()


def next_row(rows: Sequence[Row], made: str, kind: str, population: str, epsilon: str, part: str) -> Row:
    """The next row of a chain."""
    previous = rows[-1].hash if rows else FIRST
    row = Row(len(rows) + 1, made, kind, population, epsilon, part, secrets.token_hex(32), previous, "")
    return row._replace(hash=hash_of(row))


class Entry(NamedTuple):
    """What an entry says, apart from when and about whom: the three columns that depend on its kind."""

    kind: str
    epsilon: str
    part: str


def limit_entry(limit: Limit) -> Entry:
    """The entry that sets a population's first limit.

    >>> limit_entry(Limit(Fraction(1), Fraction(1, 10**6)))
    Entry(kind='limit-delta', epsilon='1', part='{"delta": "1/1000000"}')
    """
    if limit.rho is not None:
        return Entry(LIMIT_RHO, str(limit.rho), "")
    if limit.delta:
        return Entry(LIMIT_DELTA, str(limit.epsilon), json.dumps({"delta": str(limit.delta)}))
    return Entry(LIMIT, str(limit.epsilon), "")


def change_entry(before: Limit, after: Limit) -> Entry:
    """The entry that changes a limit.

    >>> change_entry(Limit(Fraction(1, 3)), Limit(Fraction(2)))
    Entry(kind='change', epsilon='2', part='{"from": "1/3"}')
    >>> change_entry(Limit(rho=Fraction(1, 3)), Limit(Fraction(2)))
    Entry(kind='change-pure', epsilon='2', part='{"from": {"rho": "1/3"}}')
    """
    if before.is_pure and after.is_pure:
        return Entry(CHANGE, str(after.epsilon), json.dumps({"from": str(before.epsilon)}))
    named = {"from": before.as_dict()}
    if after.rho is not None:
        return Entry(CHANGE_RHO, str(after.rho), json.dumps(named))
    if after.delta:
        return Entry(CHANGE_DELTA, str(after.epsilon), json.dumps({"delta": str(after.delta), **named}))
    return Entry(CHANGE_PURE, str(after.epsilon), json.dumps(named))


def charge_entry(cost: Cost, part: Part | None) -> Entry:
    """The entry of a charge."""
    return Entry(CHARGE if cost.epsilon is not None else CHARGE_RHO, str(cost.amount), str(part) if part else "")


def reserve_entry(each: Cost, releases: int) -> Entry:
    """The entry that reserves a series."""
    kind = RESERVE if each.epsilon is not None else RESERVE_RHO
    return Entry(kind, str(each.amount), json.dumps({"releases": releases}))


def use_entry(each: Cost, series: int) -> Entry:
    """The entry of a release that was reserved."""
    return Entry(USE, str(each.amount), json.dumps({"series": series}))


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
        except (ValueError, TypeError, ArithmeticError, LookupError, RecursionError):
            raise _chain_error(name, f"entry {position} can't be understood") from None
        account.last = row.made
        previous = row.hash
        yield row, account


def _apply(row: Row, account: Account) -> None:
    """Apply an entry to the account of its population; raises one of Python's own errors if it makes no sense."""
    amount = _number(row.epsilon)
    if row.kind in (LIMIT, CHANGE, CHARGE):
        _apply_early(row, amount, account)
        return
    if row.kind in LIMITS + CHANGES:
        limit, first = limit_in(row), row.kind in LIMITS
        if first != (account.limit is None):
            raise ValueError("a first limit after another, or a change before it")
        expected = limit_entry(limit) if account.limit is None else change_entry(account.limit, limit)
        account.limit = limit
    elif row.kind == CHARGE_RHO:
        cost, part = Cost.gaussian(amount), Part.read(row.part)
        expected = charge_entry(cost, part)
        _check_kind_of_limit(account, cost)
        account.charge(cost, part)
    elif row.kind in (RESERVE, RESERVE_RHO):
        each = Cost.pure(amount) if row.kind == RESERVE else Cost.gaussian(amount)
        releases = _in_json(row, "releases", int)
        check(releases=releases)
        expected = reserve_entry(each, releases)
        _check_kind_of_limit(account, each)
        account.reserve(row.number, each, releases)
    elif row.kind == USE:
        number = _in_json(row, "series", int)
        check(series=number)
        series = account.series[number]
        expected = use_entry(series.each, number)
        _check_kind_of_limit(account, series.each)
        if series.used == series.releases:
            raise ValueError("more than was reserved")
        account.use(number)
    else:
        raise ValueError("no kind of entry")
    if (row.kind, row.epsilon, row.part) != expected:
        raise ValueError("written otherwise, or with another limit or price than there was")


def _apply_early(row: Row, amount: Fraction, account: Account) -> None:
    """Apply an entry of a kind that the first ledgers have, too."""
    if row.kind == CHARGE:
        account.charge(Cost.pure(amount), Part.read(row.part))
        return
    if account.limit is not None and not account.limit.is_pure:
        raise ValueError("a change between kinds of limits that does not say so")
    if row.kind == LIMIT:
        Part.read(row.part)
    elif account.limit != Limit(_number(_in_json(row, "from", str))):
        raise ValueError("another limit than there was")
    account.limit = Limit(amount)


def _check_kind_of_limit(account: Account, cost: Cost) -> None:
    if cost.epsilon is None and account.limit is not None and account.limit.is_pure:
        raise ValueError("Gaussian noise with a limit of epsilon alone")


def limit_in(row: Row) -> Limit:
    """The limit that an entry sets, or changes the limit to."""
    amount = _number(row.epsilon)
    if row.kind in (LIMIT_RHO, CHANGE_RHO):
        return Limit(rho=amount)
    if row.kind not in (LIMIT_DELTA, CHANGE_DELTA):
        return Limit(amount)
    delta = _in_json(row, "delta", str, *(["from"] if row.kind == CHANGE_DELTA else []))
    check(delta=delta)
    return Limit(amount, as_epsilon(delta))


def _in_json(row: Row, name: str, kind: type[_T], *others: str) -> _T:
    """A value in the JSON of an entry, which has this name and the others, and no more."""
    found: Any = json.loads(row.part)
    if not isinstance(found, dict) or set(found) != {name, *others} or not isinstance(found[name], kind):
        raise ValueError(f"no {name}")
    value: _T = found[name]
    return value


def cost_of(rows: Sequence[Row], number: int) -> Cost | None:
    """What a release cost whose entry has this number, in a chain that is whole; None if it is no such entry."""
    row = rows[number - 1]
    kind = rows[_in_json(row, "series", int) - 1].kind if row.kind == USE else row.kind
    if row.kind not in (CHARGE, CHARGE_RHO, USE):
        return None
    return (Cost.pure if kind in (CHARGE, RESERVE) else Cost.gaussian)(Fraction(row.epsilon))


def _number(text: str) -> Fraction:
    """Read an epsilon or rho of an entry; those of earlier versions may have more digits than new ones."""
    epsilon = as_epsilon(text)
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise ValueError("out of range")
    return epsilon


def _chain_error(name: str, problem: str) -> LedgerError:
    return LedgerError(f"{name} was altered or is damaged: {problem}. Go back to a copy that verifies.")
