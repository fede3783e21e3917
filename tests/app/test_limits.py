"""Limits in the app: set once, never changed by a form that is out of date, and one file under two names is told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import dpheatmap as dph
from helpers.served import COLUMNS, Served, ended, trips, wanted


def limit(client: httpx.Client, population: str, epsilon: Any) -> httpx.Response:
    return client.post("/api/limit", json={"population": population, "epsilon": epsilon})


def test_a_form_that_is_out_of_date_changes_no_limit(served: Served, client: httpx.Client) -> None:
    """The page was loaded before somebody set the limit, and sends what stands in its field."""
    dph.Ledger(served.ledger).limit("stale", 1)
    answer = limit(client, "stale", "40")
    assert answer.status_code == 409
    assert answer.json()["error"].startswith("stale has a limit of 1 already, and a limit is set once.")
    assert limit(client, " stale ", "40").status_code == 409
    before = dph.Ledger(served.ledger).entries()
    assert limit(client, "stale", "1.0").status_code == 200  # the one that there is, as from a second tab
    assert dph.Ledger(served.ledger).entries() == before
    assert str(dph.Ledger(served.ledger).accounts()["stale"].limit) == "1"


def test_nothing_that_can_be_asked_changes_a_limit(served: Served, client: httpx.Client) -> None:
    dph.Ledger(served.ledger).limit("asked", 1)
    more: list[dict[str, Any]] = [
        {"was": "1"}, {"from": "1"}, {"from": "1", "to": "40"}, {"force": True}, {"change": True}
    ]  # fmt: skip
    for extra in more:
        body = {"population": "asked", "epsilon": "40", **extra}
        assert client.post("/api/limit", json=body).status_code == 409
        for method, path in (("PUT", "/api/limit"), ("PATCH", "/api/limit"), ("POST", "/api/limit/change"),
                             ("POST", "/api/change-limit"), ("POST", "/api/budget")):  # fmt: skip
            assert client.request(method, path, json=body).status_code in (404, 405)
    assert str(dph.Ledger(served.ledger).accounts()["asked"].limit) == "1"


def test_of_many_forms_at_once_one_sets_the_limit(served: Served, client: httpx.Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda k: limit(client, "many", str(k + 1)).status_code, range(8)))
    assert sorted(answers) == [200, *[409] * 7]
    assert str(dph.Ledger(served.ledger).accounts()["many"].limit) == str(answers.index(200) + 1)


@pytest.mark.parametrize("epsilon", ["1/1" + "0" * 5000, "1e-5000", 10**4000])
def test_an_epsilon_of_thousands_of_digits_is_refused_in_a_sentence(
    client: httpx.Client, population: str, table: Path, epsilon: Any
) -> None:
    refused = [limit(client, "digits", epsilon)]
    if isinstance(epsilon, str):
        refused.append(client.post("/api/releases", json=wanted({"path": str(table)}, population, epsilon=epsilon)))
    for answer in refused:
        assert answer.status_code == 400
        assert "epsilon must be a number above 0 and at most 1000000, of at most 400 digits" in answer.json()["error"]
        assert len(answer.json()["error"]) < 300


# The same file under another name


def charged(client: httpx.Client, source: dict[str, Any]) -> list[str]:
    answer = client.post("/api/charged", json=source)
    assert answer.status_code == 200, answer.text
    found: list[str] = answer.json()["populations"]
    return found


def test_the_same_file_under_another_name_is_told(
    served: Served, client: httpx.Client, population: str, tmp_path: Path
) -> None:
    table = trips(tmp_path / "what[1]*.csv", 50)
    link = tmp_path / "link.csv"
    link.symlink_to(table)
    assert charged(client, {"path": str(table)}) == []
    first = client.post("/api/releases", json=wanted({"path": str(table)}, population)).json()
    assert first["warning"] == ""
    assert ended(client, first["id"])["state"] == "done"
    assert charged(client, {"path": str(link)}) == [population]
    dph.Ledger(served.ledger).limit("others", 9)
    for path, body in (
        ("/api/releases", wanted({"path": str(link)}, "others")),
        ("/api/discover", {"source": {"path": str(link)}, "columns": COLUMNS, "epsilon": "1", "population": "others"}),
    ):
        answer = client.post(path, json=body)
        assert answer.status_code == 200  # told, not refused
        assert f"link.csv, or a file in its place, was charged to {population!r}" in answer.json()["warning"]
        assert ended(client, answer.json()["id"])["state"] == "done"
    assert charged(client, {"path": str(table)}) == sorted([population, "others"])


def test_an_upload_is_a_copy_and_not_known(served: Served, client: httpx.Client, population: str, table: Path) -> None:
    """Its place on disk is that of the next upload, perhaps: it would be taken for this one."""
    sent = {"upload": client.put("/api/uploads?name=a.csv", content=table.read_bytes()).json()["upload"]}
    made = client.post("/api/releases", json=wanted(sent, population)).json()
    assert ended(client, made["id"])["state"] == "done"
    (upload,) = (served.folder / "uploads").glob(f"{sent['upload']}*")
    ledger = dph.Ledger(served.ledger)
    assert ledger.populations_of(ledger.marks_of(upload)) == []
    assert charged(client, sent) == []


def test_what_is_no_source_is_refused(client: httpx.Client) -> None:
    for body in ({}, {"path": 3}, {"path": "/nonexistent.csv"}, {"upload": "0123456789abcdef"}):
        assert client.post("/api/charged", json=body).status_code == 400
