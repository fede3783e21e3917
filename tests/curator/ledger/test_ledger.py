"""The ledger: sums that are exact, a limit that holds, and books that show what was done to them."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator import RowReport
from dpheatmap.curator.ledger.population_account import Account, Cost
from dpheatmap.curator.ledger.spending_limit import Limit
from dpheatmap.curator.publish import release_from
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.releases.release import LedgerEntry
from dpheatmap.slicing.part import Part
from helpers.people import nobody_in

DOMAIN = dph.Domain.unit(2)
NOBODY = replace(nobody_in(DOMAIN), report=RowReport(0, 0, 0, 0, 0, 0, 0.0))


# Sums


epsilons = st.fractions(Fraction(1, 100), 5, max_denominator=1000)
parts = st.builds(
    lambda column, value: Part(column, value, ("a", "b", "c")), st.sampled_from("xy"), st.sampled_from("abc")
)
charges = st.lists(st.tuples(epsilons, st.none() | parts), max_size=12)


def worst_person(made: list[tuple[Fraction, Part | None]]) -> Fraction:
    """What the charges come to for the person they add up to most for: of each partition, a person has one part."""

    def about(person: dict[str, str], part: Part | None) -> bool:
        return part is None or person[part.column] == part.value

    people = [dict(zip("xy", values, strict=True)) for values in itertools.product("abc", repeat=2)]
    return max(sum((e for e, part in made if about(person, part)), Fraction(0)) for person in people)


@given(charges)
def test_spending_is_that_of_the_worst_person(made: list[tuple[Fraction, Part | None]]) -> None:
    account = Account()
    for epsilon, part in made:
        account.charge(Cost.pure(epsilon), part)
    assert account.spent == worst_person(made)


@given(charges, st.none() | parts, st.fractions(0, 20, max_denominator=100))
def test_what_would_fit_fits_and_nothing_more(
    made: list[tuple[Fraction, Part | None]], part: Part | None, spare: Fraction
) -> None:
    limit = worst_person(made) + spare
    account = Account(Limit(limit))
    for epsilon, of in made:
        account.charge(Cost.pure(epsilon), of)
    fits = account.fits(part)
    assert fits is not None
    assert fits >= spare
    assert worst_person([*made, (fits, part)]) <= limit
    assert worst_person([*made, (fits + Fraction(1, 10**9), part)]) > limit


def test_ten_tenths_fit_into_one(place: str) -> None:
    ledger = dph.Ledger(place)
    ledger.limit("riders", 1)
    for _ in range(10):
        ledger.charge("riders", 0.1)
    with pytest.raises(PrivacyRefusal, match=r"'riders' has 0 of its limit of 1 left .* asks for 0.1. Nothing fits"):
        ledger.charge("riders", 0.1)
    assert ledger.accounts()["riders"].charges == 10


def test_a_refusal_says_what_is_left_and_what_would_fit(place: str) -> None:
    ledger = dph.Ledger(place)
    ledger.limit("riders", 2)
    ledger.charge("riders", "5/3")
    with pytest.raises(PrivacyRefusal, match=r"has 1/3 of its limit of 2 left in .* An epsilon of up to 1/3 would fit"):
        ledger.charge("riders", 1)
    with pytest.raises(PrivacyRefusal, match="up to 1/3 would fit"):
        ledger.check("riders", 1)
    ledger.charge("riders", "1/3")
    ledger.change_limit("riders", 3, was=2)
    assert ledger.accounts()["riders"].left == 1
    ledger.change_limit("riders", 1, was=3)  # below what was spent: nothing is undone, and nothing fits
    assert ledger.accounts()["riders"].left == 0


def test_parts_of_people_do_not_add_up_and_what_lags_behind_fits(place: str) -> None:
    ledger, lists = dph.Ledger(place), ("north", "south")
    north, south = (Part("district", value, lists) for value in lists)
    ledger.limit("riders", 2)
    ledger.charge("riders", "3/2", of=north)
    ledger.charge("riders", "3/2", of=south)
    assert ledger.accounts()["riders"].spent == Fraction(3, 2)
    ledger.charge("riders", "1/2", of=south)
    with pytest.raises(PrivacyRefusal, match=r"up to 0\.5 would fit"):
        ledger.charge("riders", 1, of=north)
    with pytest.raises(PrivacyRefusal, match="Nothing fits"):
        ledger.charge("riders", "1/2")
    with pytest.raises(ParameterError, match="has the list north, south in"):
        ledger.charge("riders", "1/2", of=Part("district", "north", ("north", "east")))
    ledger.charge("riders", "1/2", of=north)


def test_the_history_has_what_was_spent_after_each_charge(tmp_path: Path) -> None:
    ledger, lists = dph.Ledger(tmp_path / "city.ledger"), ("north", "south")
    north, south = (Part("district", value, lists) for value in lists)
    for population in ("riders", "walkers"):
        ledger.limit(population, 9)
    days = [datetime(2024, 1, day, tzinfo=UTC) for day in range(1, 6)]
    for day, epsilon, part in zip(days, (1, 2, 3, 1, 2), (None, north, south, north, None), strict=True):
        ledger.charge("riders", epsilon, of=part, made=day)
        limit = ledger.accounts()["riders"].limit
        ledger.change_limit("riders", 10 + day.day, was=limit)
    spent = [1, 3, 4, 4, 6]  # of both parts together, what the larger one has spent
    expected = [(day.isoformat(), Fraction(total)) for day, total in zip(days, spent, strict=True)]
    assert ledger.history() == {"riders": expected}


def test_a_population_needs_a_limit_unless_told_otherwise(place: str) -> None:
    for refused in (dph.Ledger(place).charge, dph.Ledger(place).check):
        with pytest.raises(PrivacyRefusal, match=r"'riders' has no limit in .*, so nothing may be spent"):
            refused("riders", 1)
    free = dph.Ledger(place, limits_needed=False)
    free.charge("riders", 100)
    account = free.accounts()["riders"]
    assert account.left is None
    assert account.in_words() == "100 spent, no limit set"
    free.limit("riders", 100)
    with pytest.raises(PrivacyRefusal, match="Nothing fits"):
        dph.Ledger(place).charge("riders", 1)


def test_charges_hold_their_limit_whatever_comes(place: str) -> None:
    """A row written by hand between two charges is seen by the second."""
    ledger = dph.Ledger(place)
    ledger.limit("riders", 2)
    first = ledger.charge("riders", 1, made=datetime(2024, 1, 2, tzinfo=UTC))
    assert first == LedgerEntry(2, ledger.entries()[1].hash)
    assert ledger.entries()[1].made == "2024-01-02T00:00:00+00:00"
    second = ledger.charge("riders", 1)
    assert second.number == 3
    with pytest.raises(PrivacyRefusal):
        ledger.charge("riders", Fraction(1, 10**6))


NAMES = ["Zürich — 東京", "a" * 200, "quote ' and \" and ;--", "%s {0} \\", "e\u0301"]


@pytest.mark.parametrize("name", NAMES)
def test_any_printable_name_is_kept_as_it_is(place: str, name: str) -> None:
    ledger = dph.Ledger(place)
    ledger.limit(name, 1)
    ledger.charge(name, 1)
    assert list(ledger.accounts()) == [name]


# The release


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows whenever random bytes are asked for."""
    return []


def watched(drawn: list[int], where: object, **options: Any) -> dph.Release:
    """A release whose draws of noise are seen."""

    def source(size: int) -> bytes:
        drawn.append(size)
        return bytes(size)

    return release_from(source, NOBODY, None, **{"epsilon": 1, "ledger": where, "population": "riders", **options})


def test_noise_is_drawn_after_the_charge_and_never_without_it(place: str, drawn: list[int]) -> None:
    ledger = dph.Ledger(place)
    ledger.limit("riders", 1)
    made = watched(drawn, place)
    assert drawn
    assert made.ledger == LedgerEntry(2, ledger.entries()[-1].hash)
    drawn.clear()
    with pytest.raises(PrivacyRefusal):
        watched(drawn, place)
    assert drawn == []


def test_a_charge_stays_when_the_release_fails_afterwards(place: str) -> None:
    ledger = dph.Ledger(place)
    ledger.limit("riders", 1)

    def broken(size: int) -> bytes:
        assert ledger.accounts()["riders"].spent == 1, "noise is drawn before the charge is on disk"
        raise OSError("no randomness")

    with pytest.raises(OSError, match="no randomness"):
        release_from(broken, NOBODY, None, epsilon=1, ledger=place, population="riders")
    assert ledger.accounts()["riders"].left == 0


def test_somebody_else_may_spend_while_the_table_is_read(place: str, drawn: list[int]) -> None:
    """The first look at the ledger is a courtesy; the charge after the reading decides."""
    ledger = dph.Ledger(place)
    ledger.limit("riders", 1)
    with pytest.raises(PrivacyRefusal, match="Nothing fits"):
        watched(drawn, place, seen=lambda report: ledger.charge("riders", 1))
    assert drawn == []
    assert ledger.accounts()["riders"].charges == 1


def test_times_are_whole_seconds(tmp_path: Path) -> None:
    ledger = dph.Ledger(tmp_path / "city.ledger")
    ledger.limit("riders", 9)
    ledger.charge("riders", 1)
    charged: dict[str, Any] = {"epsilon": 1, "ledger": ledger, "population": "riders", "user": "u", "x": "x", "y": "y"}
    table = pd.DataFrame({"u": ["a"], "x": [0.5], "y": [0.5], "image": ["a.jpg"]})
    dph.release(table, DOMAIN, **charged)
    dph.release_images(table, DOMAIN, image="image", images=["a.jpg"], **charged)
    dph.discover(table, **charged)
    assert [datetime.fromisoformat(row.made).microsecond for row in ledger.entries()] == [0] * 5


def test_what_is_refused_does_not_depend_on_the_table(tmp_path: Path) -> None:
    place, words = str(tmp_path / "city.ledger"), set()
    dph.Ledger(place).limit("riders", 1)
    tables: list[Any] = ["/nonexistent.csv", pd.DataFrame({"u": ["a"], "x": [0.5], "y": [0.5]}), pd.DataFrame()]
    for events in tables:
        with pytest.raises(PrivacyRefusal) as refusal:
            dph.release(events, DOMAIN, epsilon=2, user="u", x="x", y="y", ledger=place, population="riders")
        words.add(str(refusal.value))
    assert len(words) == 1
    assert len(dph.Ledger(place).entries()) == 1


def test_ledger_and_population_go_together() -> None:
    for options in ({"ledger": "city.ledger"}, {"population": "riders"}):
        with pytest.raises(ParameterError, match="ledger and population go together"):
            dph.release(NOBODY, epsilon=1, **options)  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="A series is one of a ledger's"):
        dph.release(NOBODY, epsilon=1, series=3)  # type: ignore[call-overload]
    for where in (None, "", 7):
        with pytest.raises(ParameterError, match="ledger must be a path or a URL"):
            dph.Ledger(where)  # type: ignore[arg-type]
    assert not Path("city.ledger").exists()


def test_labels_say_whether_somebody_keeps_account(tmp_path: Path) -> None:
    place = tmp_path / "city.ledger"
    ledger = dph.Ledger(place)
    ledger.limit("riders", 1)
    made = dph.release(NOBODY, epsilon=1, ledger=ledger, population="riders")
    assert made.ledger is not None
    assert f"entry 2, head of the chain {made.ledger.head}." in made.label["budget"]
    assert dph.release(NOBODY, epsilon=1).label["budget"].startswith("No ledger keeps account of this release")
    made.save(tmp_path / "a.dph.parquet")
    assert dph.load(tmp_path / "a.dph.parquet").ledger == made.ledger


def test_counts_of_a_part_are_charged_as_that_part(tmp_path: Path) -> None:
    table = pd.DataFrame({"u": ["a", "b"], "x": [0.1, 0.9], "y": [0.1, 0.9], "d": ["n", "s"]})
    place = tmp_path / "city.ledger"
    ledger = dph.Ledger(place)
    ledger.limit("riders", 1)
    for part in ("n", "s"):
        options: dict[str, Any] = {"user": "u", "x": "x", "y": "y", "partition": {"d": ["n", "s"]}, "part": part}
        counts = dph.aggregate(table, DOMAIN, **options)
        dph.release(counts, epsilon="1/2", ledger=place, population="riders")
        dph.release(table, DOMAIN, epsilon="1/2", ledger=place, population="riders", **options)
    assert ledger.accounts()["riders"].parts == {"d": {"n": 1, "s": 1}}
    with pytest.raises(ParameterError, match="partition"):
        dph.release(counts, epsilon=1, partition={"d": ["n", "s"]}, part="n")


def test_a_part_is_written_as_json_and_read_back() -> None:
    part = Part("district", "no,rth \u2192", ("no,rth \u2192", "south"))
    assert Part.read(str(part)) == part
    assert json.loads(str(part))[0] == "district"
    assert Part.read("") is None
    assert Part.of(None, None) is None
    for partition, value in (({"d": ["a"]}, None), (None, "a"), ({"d": ["a"]}, "b")):
        with pytest.raises(ParameterError, match="part"):
            Part.of(partition, value)
