"""Limits: set once, changed by name and on record, and from the first one on nobody spends without one."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap._util.parameters import MOST_DIGITS
from dpheatmap.curator.ledger.chain import Row, hash_of, next_row, replay
from dpheatmap.curator.ledger.population_account import SUM_DIGITS, Account, Cost
from dpheatmap.curator.ledger.spending_limit import Limit
from dpheatmap.errors import LedgerError, ParameterError, PrivacyRefusal
from dpheatmap.slicing.part import Part
from helpers.people import nobody_in
from helpers.stories import story

PEOPLE = pd.DataFrame({"u": ["a"], "x": [0.5], "y": [0.5], "image": ["a.jpg"]})
COLUMNS: dict[str, Any] = {"user": "u", "x": "x", "y": "y", "epsilon": 1}
SQUARE = dph.Domain.unit(2)
WAYS: dict[str, Callable[..., Any]] = {
    "release": lambda events, **options: dph.release(events, SQUARE, **COLUMNS, **options),
    "images": lambda events, **options: dph.release_images(
        events, SQUARE, image="image", images=["a.jpg"], **COLUMNS, **options
    ),
    "discover": lambda events, **options: dph.discover(events, **COLUMNS, **options),
}
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())


# Set once


def test_a_limit_is_set_once(place: str) -> None:
    ledger = dph.Ledger(place)
    ledger.limit("riders", 1)
    for again in (40, "1/2"):
        with pytest.raises(PrivacyRefusal, match=r"'riders' has a limit of 1 in .* already, and a limit is set once"):
            ledger.limit("riders", again)
    ledger.limit("riders", "1.0")  # the same again, as from a second tab: nothing is written
    assert [(row.kind, row.epsilon) for row in ledger.entries()] == [("limit", "1")]
    ledger.limit("walkers", 40)


def test_what_was_spent_without_a_limit_gets_one(place: str) -> None:
    dph.Ledger(place, limits_needed=False).charge("riders", 2)
    dph.Ledger(place).limit("riders", 3)
    assert dph.Ledger(place).accounts()["riders"].left == 1


SETTING = """
import sys, dpheatmap as dph
from dpheatmap.errors import PrivacyRefusal
ledger = dph.Ledger(sys.argv[1])
ledger.entries()
print("ready", flush=True)
sys.stdin.readline()
try:
    {call}
    print("done")
except PrivacyRefusal:
    print("refused")
"""


def at_once(place: str, calls: list[str]) -> list[str]:
    """What processes print that wait for each other and then make their calls."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", SETTING.format(call=call), place],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for call in calls
    ]  # fmt: skip
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [process.communicate(timeout=300)[0].strip() for process in started]


@story(
    "Six processes at once set a limit for the same people",
    "One does; the others are refused, and told the limit that there is.",
)
def test_of_many_who_set_a_limit_at_once_one_does(place: str) -> None:
    told = at_once(place, [f"ledger.limit('riders', {k + 1})" for k in range(6)])
    assert sorted(told) == ["done", *["refused"] * 5]
    (row,) = dph.Ledger(place).entries()
    assert row.epsilon == str(told.index("done") + 1)


def test_of_many_who_change_a_limit_at_once_one_does(place: str) -> None:
    dph.Ledger(place).limit("riders", 1)
    told = at_once(place, [f"ledger.change_limit('riders', {k + 2}, was=1)" for k in range(6)])
    assert sorted(told) == ["done", *["refused"] * 5]
    assert str(dph.Ledger(place).accounts()["riders"].limit) == str(told.index("done") + 2)


def test_a_change_is_decided_where_it_is_written(place: str) -> None:
    """Somebody else changes the limit between the look at it and the transaction."""

    class Late(dph.Ledger):
        def accounts(self) -> dict[str, Account]:
            found = super().accounts()
            dph.Ledger(place).change_limit("riders", 2, was=1)
            return found

    dph.Ledger(place).limit("riders", 1)
    with pytest.raises(PrivacyRefusal, match="is 2, and it was to be changed from 1"):
        Late(place).change_limit("riders", 40, was=1)
    assert str(dph.Ledger(place).accounts()["riders"].limit) == "2"


# Changed on record


def test_a_change_holds_both_values_in_the_chain(place: str) -> None:
    ledger = dph.Ledger(place)
    ledger.limit("riders", "1/3")
    ledger.change_limit("riders", 40, was="1/3")
    ledger.change_limit("riders", 2, was=40.0)
    assert str(ledger.accounts()["riders"].limit) == "2"
    told = [(row.kind, row.epsilon, row.part and json.loads(row.part)) for row in ledger.entries()]
    assert told == [("limit", "1/3", ""), ("change", "40", {"from": "1/3"}), ("change", "2", {"from": "40"})]
    assert ledger.verify() == 3


def test_a_change_names_the_limit_that_there_is(place: str) -> None:
    ledger = dph.Ledger(place)
    ledger.limit("riders", 1)
    with pytest.raises(PrivacyRefusal, match=r"The limit of 'riders' in .* is 1, and it was to be changed from 2\."):
        ledger.change_limit("riders", 40, was=2)
    with pytest.raises(PrivacyRefusal, match=r"'walkers' has no limit in .* that could be changed"):
        ledger.change_limit("walkers", 40, was=1)
    with pytest.raises(ParameterError, match="changed to another value; that of 'riders' is 1 already"):
        ledger.change_limit("riders", 1, was=1)
    assert len(ledger.entries()) == 1


def test_a_refused_change_makes_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(PrivacyRefusal, match="no limit"):
        dph.Ledger(tmp_path / "none").change_limit("riders", 2, was=1)
    assert not list(tmp_path.iterdir())


def entry(rows: list[Row], kind: str, epsilon: str, part: str = "") -> Row:
    return next_row(rows, "", kind, "riders", epsilon, part)


@pytest.mark.parametrize(
    "part",
    ["", "1", '"1"', "[]", "{}", '{"from": 1}', '{"from": "2"}', '{"from": "1", "to": "3"}', '{"from": "x"}',
     '{"from": "1/0"}', '{"from": ["1"]}', '["a", "b", ["b"]]', "[" * 10_000],
)  # fmt: skip
def test_a_change_from_another_limit_is_no_entry(part: str) -> None:
    first = entry([], "limit", "1")
    good = entry([first], "change", "3", '{"from": "1"}')
    assert str(replay([first, good], "it")["riders"].limit) == "3"
    with pytest.raises(LedgerError, match="entry 2 can't be understood"):
        replay([first, entry([first], "change", "3", part)], "it")
    with pytest.raises(LedgerError, match="entry 1 can't be understood"):
        replay([entry([], "change", "3", '{"from": "1"}')], "it")


def test_ledgers_of_earlier_versions_are_read_as_they_were() -> None:
    """They changed limits by further entries of the same kind, and let epsilons have more digits."""
    rows: list[Row] = []
    for kind, epsilon in (("limit", "1"), ("limit", "40"), ("charge", f"1/1{'0' * 700}"), ("limit", "2")):
        rows.append(entry(rows, kind, epsilon))
    account = replay(rows, "it")["riders"]
    assert (account.limit, account.spent) == (Limit(Fraction(2)), Fraction(1, 10**700))


def test_an_edited_change_is_found(tmp_path: Path) -> None:
    path = tmp_path / "city.ledger"
    dph.Ledger(path).limit("riders", 1)
    dph.Ledger(path).change_limit("riders", 40, was=1)
    row = dph.Ledger(path).entries()[1]
    with sqlite3.connect(path) as con:
        con.execute("UPDATE entries SET part = ? WHERE number = 2", ('{"from": "39"}',))
    with pytest.raises(LedgerError, match="entry 2 is not what it was"):
        dph.Ledger(path).verify()
    forged = row._replace(part='{"from": "39"}')
    with sqlite3.connect(path) as con:
        con.execute("UPDATE entries SET hash = ? WHERE number = 2", (hash_of(forged),))
    con.close()
    with pytest.raises(LedgerError, match="entry 2 can't be understood"):
        dph.Ledger(path).verify()


@given(st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=8), st.data())
def test_a_limit_is_what_was_last_named(values: list[int], data: st.DataObject) -> None:
    rows = [entry([], "limit", "1")]
    limit = 1
    for value in values:
        was = data.draw(st.sampled_from([1, 2, 3]))
        row = entry(rows, "change", str(value), json.dumps({"from": str(was)}))
        if was == limit:
            rows.append(row)
            limit = value
        else:
            with pytest.raises(LedgerError):
                replay([*rows, row], "it")
    assert str(replay(rows, "it")["riders"].limit) == str(limit)


# Nobody without one


@each_way
def test_once_anybody_has_a_limit_a_name_is_needed(way: Callable[..., Any], place: str) -> None:
    """Before the table is read: the one here does not exist."""
    unnamed: dict[str, Any] = {"ledger": dph.Ledger(place, limits_needed=False), "population": "people.csv"}
    way(PEOPLE, **unnamed)
    dph.Ledger(place).limit("riders", 1)
    with pytest.raises(PrivacyRefusal, match=r"holds a limit for 'riders', so a release must name its population"):
        way("/nonexistent.csv", **unnamed)
    dph.Ledger(place).limit("people.csv", 9)  # also if the name that it would have had has a limit
    with pytest.raises(PrivacyRefusal, match=r"holds a limit for 'people.csv', 'riders', so"):
        way("/nonexistent.csv", **unnamed)
    assert dph.Ledger(place).accounts()["people.csv"].charges == 1


@each_way
def test_a_limit_that_comes_while_the_table_is_read_counts(way: Callable[..., Any], place: str) -> None:
    """The first look at the ledger is a courtesy; the charge after the reading decides."""
    unnamed: dict[str, Any] = {"ledger": dph.Ledger(place, limits_needed=False), "population": "people.csv"}
    with pytest.raises(PrivacyRefusal, match="must name its population"):
        way(PEOPLE, **unnamed, seen=lambda report: dph.Ledger(place).limit("riders", 1))
    assert [row.kind for row in dph.Ledger(place).entries()] == ["limit"]


def test_many_names_are_cut_short(tmp_path: Path) -> None:
    ledger = dph.Ledger(tmp_path / "city.ledger")
    for k in range(50):
        ledger.limit(f"people {k}", 1)
    with pytest.raises(PrivacyRefusal, match=r"for 'people 0', 'people 1', 'people 2' and 47 more, so"):
        dph.Ledger(tmp_path / "city.ledger", limits_needed=False).check("x", 1)


# Digits


def test_an_epsilon_of_thousands_of_digits_does_not_spoil_the_ledger(place: str) -> None:
    ledger = dph.Ledger(place)
    ledger.limit("riders", 1)
    for long in (Fraction(1, 10**5000), f"1/1{'0' * 5000}", "1e-5000"):
        for use in (ledger.charge, ledger.check, ledger.limit):
            with pytest.raises(ParameterError, match=f"of at most {MOST_DIGITS} digits; it was"):
                use("riders", long)
        with pytest.raises(ParameterError, match=r"^was must be a number"):
            ledger.change_limit("riders", 2, was=long)
    longest = Fraction(1, 10**MOST_DIGITS - 1)
    ledger.charge("riders", longest)
    assert ledger.accounts()["riders"].spent == longest
    with pytest.raises(ParameterError, match="digits"):
        ledger.charge("riders", Fraction(1, 10**MOST_DIGITS))


def test_a_part_of_epsilon_that_no_file_could_hold_is_refused(tmp_path: Path) -> None:
    ledger = dph.Ledger(tmp_path / "city.ledger")
    ledger.limit("riders", 1)
    options = {**COLUMNS, "epsilon": Fraction(1, 10**MOST_DIGITS - 1), "ledger": ledger, "population": "riders"}
    with pytest.raises(ParameterError, match=r"^epsilon must be"):
        dph.release_images(PEOPLE, SQUARE, image="image", images=["a", "b"], split="epsilon", **options)
    assert len(ledger.entries()) == 1


def test_a_sum_that_could_not_be_written_out_is_refused(tmp_path: Path) -> None:
    """Denominators that have no factor in common make sums longer: ten of them would, in words, be a crash."""
    ledger = dph.Ledger(tmp_path / "city.ledger")
    ledger.limit("riders", 1)
    part = Part("d", "n", ("n", "s"))
    for of in (None, part):
        for k in range(1, 3 if of is None else 2):
            ledger.charge("riders", Fraction(1, 10**390 + k), of=of)
        for use in (ledger.charge, ledger.check):
            with pytest.raises(ParameterError, match=f"must be written out in at most {SUM_DIGITS} digits"):
                use("riders", Fraction(1, 10**390 + 9), of=of)
    account = ledger.accounts()["riders"]
    assert "of 1 spent" in account.in_words()
    with pytest.raises(PrivacyRefusal, match="asks for 2"):
        ledger.charge("riders", 2)
    ledger.charge("riders", "0.1")
    assert replay(ledger.entries(), "it")["riders"].is_short


@given(st.lists(st.fractions(Fraction(1, 10**6), 5), max_size=8))
def test_everyday_sums_are_short(charges: list[Fraction]) -> None:
    account = Account()
    for epsilon in charges:
        account.charge(Cost.pure(epsilon), None)
    assert account.is_short


def test_the_label_of_a_changed_ledger_verifies(tmp_path: Path) -> None:
    ledger = dph.Ledger(tmp_path / "city.ledger")
    ledger.limit("riders", 1)
    made = dph.release(nobody_in(SQUARE), epsilon=1, ledger=ledger, population="riders")
    ledger.change_limit("riders", 2, was=1)
    more = dph.release(nobody_in(SQUARE), epsilon=1, ledger=ledger, population="riders")
    assert ledger.verify([made, more]) == 4
