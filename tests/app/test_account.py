"""For whoever answers for the budget: what each charge bought, whether the ledger is whole, and all as a table."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import dpheatmap as dph
from dpheatmap.app.account_book import export, in_words, purchases
from dpheatmap.app.release_shelf import PLACE, Record, Shelf
from helpers.served import COLUMNS, Served, ended, serving, trips, wanted


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """An app of this module's own, with charges of the app and of others."""
    folder = tmp_path_factory.mktemp("app")
    ledger = dph.Ledger(folder / "test.ledger")
    ledger.limit("riders", 5)
    ledger.charge("riders", "0.25")
    with serving(folder / "kept", str(folder / "test.ledger")) as running:
        yield running


@pytest.fixture(scope="module")
def bought(served: Served, client: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Three releases, of which one has a title and one is deleted, and a search for a place."""
    table = trips(tmp_path_factory.mktemp("t") / "trips.csv", 100)
    source = {"path": str(table)}
    made = [
        client.post("/api/releases", json=wanted(source, "riders", epsilon=epsilon, title=title)).json()
        for epsilon, title in (("0.5", "June"), ("0.25", ""), ("0.125", "Gone"))
    ]
    search = {"source": source, "columns": COLUMNS, "epsilon": "0.1", "population": "riders"}
    found = [ended(client, one["id"]) for one in (*made, client.post("/api/discover", json=search).json())]
    assert client.delete(f"/api/releases/{found[2]['id']}").status_code == 200
    return found


def test_each_charge_says_what_it_bought(client: httpx.Client, bought: list[dict[str, Any]]) -> None:
    entries = client.get("/api/ledger").json()
    assert [(e["number"], e["kind"], e["epsilon"], e["bought"]) for e in entries] == [
        (6, "charge", "0.1", "Search for the place of trips.csv"),
        (5, "charge", "0.125", "Map “Gone” of trips.csv, which was deleted"),
        (4, "charge", "0.25", "Map of trips.csv"),
        (3, "charge", "0.5", "Map “June” of trips.csv"),
        (2, "charge", "0.25", ""),
        (1, "limit", "5", ""),
    ]
    assert {e["id"] for e in entries} == {None, bought[0]["id"], bought[1]["id"], bought[3]["id"]}


def test_what_was_deleted_is_remembered_after_the_end(
    served: Served, client: httpx.Client, bought: list[dict[str, Any]], tmp_path: Path
) -> None:
    copy = tmp_path / "kept"
    shutil.copytree(served.folder, copy, ignore=shutil.ignore_patterns("lock"))
    with serving(copy, served.ledger) as again, again.opened() as later:
        words = [entry["bought"] for entry in later.get("/api/ledger").json()]
        assert words[1] == "Map “Gone” of trips.csv, which was deleted"
    address = f"/api/releases/{bought[2]['id']}"
    client.post(f"{address}/restore")
    assert client.get("/api/ledger").json()[1]["bought"] == "Map “Gone” of trips.csv"
    client.delete(address)


def test_the_ledger_is_checked_against_the_shelf(client: httpx.Client, bought: list[dict[str, Any]]) -> None:
    answer = client.post("/api/ledger/verify")
    assert answer.json()["words"] == (
        "The ledger is whole: 6 entries, each as it was written. The charges of all 2 releases on the shelf are in it."
    )


def test_a_ledger_that_was_put_back_is_noticed(tmp_path: Path) -> None:
    path, table = tmp_path / "l", trips(tmp_path / "trips.csv", 50)
    dph.Ledger(path).limit("riders", 5)
    old = path.read_bytes()
    with serving(tmp_path / "kept", str(path)) as served, served.opened() as client:
        made = client.post("/api/releases", json=wanted({"path": str(table)}, "riders")).json()
        assert ended(client, made["id"])["state"] == "done"
        path.write_bytes(old)
        answer = client.post("/api/ledger/verify")
    assert answer.status_code == 400
    assert "was rolled back or cut short: Map of trips.csv" in answer.json()["error"]


def test_the_export_is_that_of_the_ledger_and_what_it_bought(
    served: Served, client: httpx.Client, bought: list[dict[str, Any]]
) -> None:
    answer = client.get("/api/ledger/export")
    assert answer.headers["content-type"].startswith("text/csv")
    header, *rows = list(csv.reader(io.StringIO(answer.text)))
    assert header == [*dph.Ledger.COLUMNS, "bought"]
    assert [row[:-1] for row in rows] == [[str(cell) for cell in row] for row in dph.Ledger(served.ledger).entries()]
    assert [row[-1] for row in rows][2:4] == ["Map “June” of trips.csv", "Map of trips.csv"]


def test_entries_need_the_key(served: Served, client: httpx.Client, bought: list[dict[str, Any]]) -> None:
    with served.client(cookies=client.cookies) as thief:
        for path in ("/api/ledger", "/api/ledger/export", "/api/settings"):
            assert thief.get(path).status_code == 401
        assert thief.post("/api/ledger/verify").status_code == 401


def test_charges_of_another_ledger_are_not_mixed_up(tmp_path: Path) -> None:
    """The same number in another ledger is another charge."""
    ledger, shelf = dph.Ledger(tmp_path / "l"), Shelf(tmp_path / "kept")
    ledger.limit("riders", 5)
    ledger.charge("riders", 1)
    record = shelf.add("map", "=cmd().csv", {"epsilon": "1"}, "f", "=1+1")
    shelf.change(record.id, charge={"population": "riders", "epsilon": "1", "made": "2020-01-01", "entry": 2})
    assert list(purchases(shelf)) == [(2, "2020-01-01", "riders")]
    assert [row[-1] for row in csv.reader(io.StringIO(export(ledger, shelf)))] == ["bought", "", ""]
    assert in_words(Record("0", PLACE, "done", "", "a.csv", {}, "")) == "Search for the place of a.csv"


def test_no_text_of_an_export_is_a_formula(tmp_path: Path) -> None:
    ledger, shelf = dph.Ledger(tmp_path / "l"), Shelf(tmp_path / "kept")
    ledger.limit("=1+1", 5)
    assert [row[3] for row in csv.reader(io.StringIO(export(ledger, shelf)))][1:] == ["'=1+1"]


def test_the_publisher_is_kept(served: Served, client: httpx.Client) -> None:
    assert client.get("/api/settings").json() == {"publisher": ""}
    assert client.post("/api/settings", json={"publisher": "  City   of Bern "}).json() == {"publisher": "City of Bern"}
    assert client.get("/api/settings").json() == {"publisher": "City of Bern"}
    assert client.post("/api/settings", json={"publisher": "x" * 121}).status_code == 400
    (served.folder / "settings.json").write_text("[]")
    assert client.get("/api/settings").json() == {"publisher": ""}


def test_entries_of_every_kind_are_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "l"
    ledger = dph.Ledger(path)
    ledger.limit("riders", 1, delta="1e-6")
    ledger.reserve("riders", "0.01", releases=52)
    ledger.charge("riders", "0.01", series=2)
    ledger.charge("riders", rho="0.001")
    ledger.change_limit("riders", rho="0.02", was="1 at delta 0.000001")
    with serving(tmp_path / "kept", str(path)) as served, served.opened() as client:
        entries = client.get("/api/ledger").json()
        assert [(e["kind"], e["epsilon"], e["note"]) for e in entries[::-1]] == [
            ("limit-delta", "1", "Limit set to 1 at delta 0.000001"),
            ("reserve", "0.01", "52 releases reserved, at 0.01 each"),
            ("use", "0.01", ""),
            ("charge-rho", "rho 0.001", ""),
            ("change-rho", "rho 0.02", "Limit changed to rho 0.02"),
        ]
        (riders,) = client.get("/api/budget").json()["populations"]
        assert (riders["limit"], riders["whole"], riders["spent"]) == ("rho 0.02", "0.02", "0.0036")
        assert riders["words"] == "rho 0.0036 of 0.02 spent, 0.0164 left"
        assert float(riders["left"]) == pytest.approx((2 * 0.0164) ** 0.5, rel=1e-5)
        assert len(riders["history"]) == 2
        assert client.post("/api/ledger/verify").status_code == 200
        told = client.post("/api/limit", json={"population": "riders", "epsilon": "1"})
        assert told.json()["error"].startswith("riders has a limit of rho 0.02 already")
