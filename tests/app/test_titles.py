"""A map's title, smoothing and look: stored with it, and in every file made of it, under a name that says public."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

import dpheatmap as dph
from dpheatmap.app.file_names import public_name
from dpheatmap.app.release_shelf import Record
from dpheatmap.app.uploads import ENDINGS
from dpheatmap.render import FORMATS, RELEASE_SUFFIX
from helpers.served import Served, ended, trips, wanted

LOOKS: dict[str, dict[str, Any]] = {
    "first": {},
    "smooth": {"smooth": True, "theme": "auto", "view": {"lng": 7.4, "lat": 46.9, "zoom": 11}},
    "dark": {"theme": "dark", "smooth": False, "show": "sure"},
    "again": {"theme": "auto"},
}
TITLE = "Où sont-ils? <b>Été</b> 2026"


@pytest.fixture(scope="module")
def made(served: Served, client: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    dph.Ledger(served.ledger).limit("titled", 5)
    table = trips(tmp_path_factory.mktemp("t") / "trips.csv")
    body = wanted({"path": str(table)}, "titled", title=f"  {TITLE}\n")
    return {**ended(client, client.post("/api/releases", json=body).json()["id"]), "body": body}


def name_in(answer: httpx.Response) -> str:
    return unquote(answer.headers["content-disposition"]).rpartition("=")[2].strip('"').removeprefix("utf-8''")


def test_the_title_is_given_with_the_release(made: dict[str, Any]) -> None:
    assert made["title"] == TITLE


@pytest.mark.parametrize("suffix", [RELEASE_SUFFIX, *FORMATS])
def test_every_file_carries_the_title(client: httpx.Client, made: dict[str, Any], suffix: str) -> None:
    """In its name, and inside where a format has room for it."""
    answer = client.get(f"/api/releases/{made['id']}/file/{suffix}")
    kind = "release" if suffix == RELEASE_SUFFIX else "map"
    assert name_in(answer) == f"public-{kind}_Où-sont-ils-b-Été-b-2026_epsilon-1{suffix}"
    if suffix == ".html":
        assert "<title>Où sont-ils? &lt;b&gt;Été&lt;/b&gt; 2026</title>" in answer.text
        assert "Where people are" not in answer.text.partition("</head>")[0]
    if suffix == ".svg":
        plain = client.get(f"/api/releases/{made['id']}/file/.png").content
        client.patch(f"/api/releases/{made['id']}", json={"title": ""})
        assert client.get(f"/api/releases/{made['id']}/file/.svg").content != answer.content
        assert client.get(f"/api/releases/{made['id']}/file/.png").content != plain
        client.patch(f"/api/releases/{made['id']}", json={"title": TITLE})


def test_the_look_goes_into_pictures(client: httpx.Client, made: dict[str, Any]) -> None:
    address = f"/api/releases/{made['id']}"
    seen = {}
    for name, look in LOOKS.items():
        assert client.patch(address, json={"look": look}).json()["look"] == look
        seen[name] = client.get(f"{address}/file/.png").content
        page = client.get(f"{address}/file/.html").text
        assert f'"style":"{"smooth" if look.get("smooth") else "bands"}"' in page
        assert ('"colours":"dark"' in page) == (look.get("theme") == "dark")
    assert len(set(seen.values())) == 3
    assert seen["first"] == seen["again"]


def test_appearance_is_stored_and_costs_nothing(served: Served, client: httpx.Client, made: dict[str, Any]) -> None:
    """Another title or smoothing makes no other release: the same request still gives the stored one."""
    address, before = f"/api/releases/{made['id']}", served.charges("titled")
    assert client.patch(address, json={"title": "Second", "sigma": 400.0}).status_code == 200
    journal = json.loads((served.folder / "releases" / made["id"] / "job.json").read_text())
    assert (journal["title"], journal["sigma"]) == ("Second", 400.0)
    again = client.post("/api/releases", json={**made["body"], "title": "Third"}).json()
    assert (again["id"], again["repeated"], again["title"]) == (made["id"], True, "Second")
    assert "--title=Second" in client.get(f"{address}/about?sigma=400").json()["command"]
    assert served.charges("titled") == before
    client.patch(address, json={"title": TITLE, "sigma": None})


@pytest.mark.parametrize(
    "body",
    [
        {"title": "x" * 121},
        {"title": "a\u202eb"},
        {"sigma": -1},
        {"sigma": "wide"},
        {"sigma": 1e300},
        {"sigma": 1e-320},
        {"look": []},
        {"look": {"a": "x" * 2000}},
    ],
)
def test_what_is_no_appearance_is_refused(client: httpx.Client, made: dict[str, Any], body: dict[str, Any]) -> None:
    assert client.patch(f"/api/releases/{made['id']}", json=body).status_code == 400
    assert client.get(f"/api/releases/{made['id']}").json()["title"] == TITLE


@pytest.mark.parametrize("sigma", ["1e308", "1e200", "1e-320", "nan", "inf", "1e999", "0", "-1", "wide"])
@pytest.mark.parametrize("what", ["map", "about", "file/.svg"])
def test_a_smoothing_that_is_none_is_refused(client: httpx.Client, made: dict[str, Any], what: str, sigma: str) -> None:
    assert client.get(f"/api/releases/{made['id']}/{what}?sigma={sigma}").status_code == 400


@pytest.mark.parametrize("look", ['{"a": NaN}', '{"view": {"zoom": 1e999}}', '{"theme": "a\\ud800"}', '{"\\udfff": 1}'])
def test_a_look_that_is_no_json_does_not_break_the_shelf(client: httpx.Client, made: dict[str, Any], look: str) -> None:
    address, kind = f"/api/releases/{made['id']}", {"content-type": "application/json"}
    assert client.patch(address, content=f'{{"look": {look}}}', headers=kind).status_code == 400
    assert client.get("/api/releases").status_code == 200
    assert client.patch(address, json={"look": {"a": 1, "theme": "dark"}}).json()["look"] == {"theme": "dark"}
    client.patch(address, json={"look": {}})


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_public_file_has_the_name_of_the_private_one(ending: str) -> None:
    """Nor one that begins like it, whatever the private file is called."""
    for stem in ("trips", "public", "public-map", "..", "a b", "Fahrten Bern", "x" * 300):
        record = Record("0", "map", "done", "", f"{stem}{ending}", {"epsilon": "1/3"}, "")
        for suffix in (RELEASE_SUFFIX, *FORMATS):
            name = public_name(record, suffix)
            assert name != record.file
            assert name.startswith(("public-map_", "public-release_"))
            assert name.endswith(f"_epsilon-1-3{suffix}")
            assert Path(name).name == name
            assert len(name) < 120


def test_silence_is_told_from_the_noisy_map_alone(
    client: httpx.Client, made: dict[str, Any], population: str, tmp_path: Path
) -> None:
    """A table without a row in the place and one with few give the same words: the noise decides, not the rows."""
    assert client.get(f"/api/releases/{made['id']}/map").json()["stands_out"] is True
    for name, people, box in (("away.csv", 400, (100.0, 10.0, 101.0, 11.0)), ("few.csv", 3, (7.3, 46.9, 7.5, 47.02))):
        table = trips(tmp_path / name, people, box)
        body = wanted({"path": str(table)}, population, epsilon="0.01")
        record = ended(client, client.post("/api/releases", json=body).json()["id"])
        assert (record["state"], record["message"]) == ("done", "")
        assert client.get(f"/api/releases/{record['id']}/map").json()["stands_out"] is False
