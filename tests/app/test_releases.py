"""From a table to a release and its files, through the server, compared with the library."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

import dpheatmap as dph
from dpheatmap.app.recipe import recipe
from dpheatmap.app.release_request import domain_of
from dpheatmap.app.release_shelf import Record
from dpheatmap.place.domain import Domain
from dpheatmap.render import FORMATS, RELEASE_SUFFIX
from dpheatmap.render.content.picture import picture_of
from helpers.served import BOX, COLUMNS, PLACE, Served, ended, serving, trips, until, wanted


def released(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post("/api/releases", json=body)
    assert answer.status_code == 200, answer.text
    return ended(client, answer.json()["id"])


@pytest.fixture(scope="module")
def made(served: Served, client: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A release of a table that was uploaded."""
    dph.Ledger(served.ledger).limit("riders", 5)
    table = trips(tmp_path_factory.mktemp("t") / "trips.csv")
    sent = client.put("/api/uploads?name=my trips.csv", content=table.read_bytes()).json()
    record = released(client, wanted({"upload": sent["upload"]}, "riders"))
    return {**record, "table": table, "upload": sent["upload"]}


def test_maps_kept_for_another_edition_of_the_page_are_drawn_anew(
    served: Served, client: httpx.Client, made: dict[str, Any]
) -> None:
    """What an earlier version drew may be in a form that the page of this one can't read."""
    address, folder = f"/api/releases/{made['id']}/map", served.folder / "releases" / made["id"]
    now = client.get(address).text
    kept = next(folder.glob("map-*.json"))
    assert kept.read_text() == now
    kept.rename(folder / "map-0123456789ab.json").write_text("{}")
    assert client.get(address).text == now
    assert kept.read_text() == now


def test_a_release_is_that_of_the_library(
    served: Served, client: httpx.Client, made: dict[str, Any], tmp_path: Path
) -> None:
    assert (made["state"], made["file"], made["message"]) == ("done", "my trips.csv", "")
    content = client.get(f"/api/releases/{made['id']}/file/{RELEASE_SUFFIX}").content
    (tmp_path / "a.dph.parquet").write_bytes(content)
    release = dph.load(tmp_path / "a.dph.parquet")
    assert release.domain == dph.Domain.bbox(*BOX)
    assert release.epsilon == 1
    assert not release.seeded
    dph.Ledger(served.ledger).verify([release])
    data = client.get(f"/api/releases/{made['id']}/map").json()
    picture = picture_of(release.heatmap())
    assert (data["rows"], data["columns"]) == picture.values.shape
    assert data["edges"] == list(picture.edges)
    assert data["top"] == pytest.approx(picture.values.max(), rel=1e-6)
    assert [part["text"] for part in data["label"]] == list(release.label.values())
    smoother = client.get(f"/api/releases/{made['id']}/map?sigma=900").json()
    assert smoother["top"] == pytest.approx(picture_of(release.heatmap(sigma=900)).values.max(), rel=1e-6)


def test_exact_numbers_are_for_the_data_holder_only(served: Served, made: dict[str, Any]) -> None:
    """They are in the session's answer and in no file."""
    assert made["private"]["people"] == 400
    journals = [json.loads(path.read_text()) for path in served.folder.glob("releases/*/job.json")]
    assert journals
    for journal in journals:
        assert "private" not in str(journal)
        told = {name: journal[name] for name in journal if name not in ("id", "fingerprint", "made", "charge")}
        assert str(made["private"]["rows"]) not in re.findall(r"\d+", str(told))


@pytest.mark.parametrize("suffix", [RELEASE_SUFFIX, *FORMATS])
def test_every_format_can_be_taken_away(client: httpx.Client, made: dict[str, Any], suffix: str) -> None:
    answer = client.get(f"/api/releases/{made['id']}/file/{suffix}")
    assert answer.status_code == 200
    kind = "release" if suffix == RELEASE_SUFFIX else "map"
    assert answer.headers["content-disposition"].endswith(f'filename="public-{kind}_my-trips_epsilon-1{suffix}"')
    assert len(answer.content) > 1000
    formats = client.get(f"/api/releases/{made['id']}/about").json()["formats"]
    listed = {entry["suffix"]: entry["refusal"] for entry in formats}
    assert set(listed) == {RELEASE_SUFFIX, *FORMATS}
    assert listed[suffix] == ""


def test_formats_that_make_no_sense_say_why(
    client: httpx.Client, made: dict[str, Any], population: str, tmp_path: Path
) -> None:
    table = trips(tmp_path / "gaze.parquet", box=(0, 0, 64, 48))
    place = {"kind": "image", "size": [64, 48]}
    record = released(client, wanted({"path": str(table)}, population, place=place))
    about = client.get(f"/api/releases/{record['id']}/about").json()
    assert {entry["suffix"] for entry in about["formats"] if entry["refusal"]} == {".tif", ".geojson", ".pmtiles"}
    answer = client.get(f"/api/releases/{record['id']}/file/.tif")
    assert answer.status_code == 400
    assert "lies on the ground" in answer.json()["error"]
    assert client.get(f"/api/releases/{record['id']}/file/.exe").status_code == 400
    other = client.get(f"/api/releases/{record['id']}/minus/{made['id']}")
    assert other.status_code == 400


def test_a_repeated_request_returns_the_stored_release(
    served: Served, client: httpx.Client, made: dict[str, Any]
) -> None:
    """Also from a tab that uploaded the same file anew, and never at another price."""
    before = served.charges("riders")
    again = client.put("/api/uploads?name=copy.csv", content=made["table"].read_bytes()).json()["upload"]
    for upload in (made["upload"], again):
        answer = client.post("/api/releases", json=wanted({"upload": upload}, "riders")).json()
        assert (answer["id"], answer["repeated"]) == (made["id"], True)
    assert served.charges("riders") == before


def test_a_stored_release_is_given_where_nothing_is_left(served: Served, client: httpx.Client, table: Path) -> None:
    dph.Ledger(served.ledger).limit("few", "0.5")
    body = wanted({"path": str(table)}, "few", epsilon="1/2", place={"kind": "unit"})
    first = released(client, body)
    again = client.post("/api/releases", json=body)
    assert (again.status_code, again.json()["id"]) == (200, first["id"])
    assert client.post("/api/releases", json={**body, "after": first["id"]}).status_code == 409
    assert served.charges("few") == 1


def test_another_release_is_asked_for_by_the_one_before(
    served: Served, client: httpx.Client, made: dict[str, Any]
) -> None:
    before = served.charges("riders")
    body = wanted({"upload": made["upload"]}, "riders", after=made["id"], epsilon="0.25")
    with ThreadPoolExecutor(8) as pool:
        ids = {client.post("/api/releases", json=body).json()["id"] for _ in range(8)} | set(
            pool.map(lambda _: client.post("/api/releases", json=body).json()["id"], range(8))
        )
    assert len(ids) == 1
    assert ids != {made["id"]}
    assert ended(client, ids.pop())["state"] == "done"
    assert served.charges("riders") == before + 1


def test_the_recipes_do_the_same(served: Served, client: httpx.Client, population: str, tmp_path: Path) -> None:
    """The command line and the Python that the app shows run, and release the same place for the same price."""
    table = trips(tmp_path / "my trips.csv")
    record = released(client, wanted({"path": str(table)}, population, epsilon="0.5"))
    about = client.get(f"/api/releases/{record['id']}/about?sigma=400").json()
    environment = {"DPHEATMAP_LEDGER": served.ledger, "PYTHONPATH": str(Path(dph.__file__).parents[1]), "PATH": ""}
    first, *words = shlex.split(about["command"])
    assert first == "dpheatmap"
    command = [sys.executable, "-m", "dpheatmap", *words]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    by_command = dph.load(tmp_path / "public-release_my-trips_epsilon-0.5.dph.parquet")
    (tmp_path / "public-release_my-trips_epsilon-0.5.dph.parquet").unlink()
    subprocess.run([sys.executable, "-c", about["python"]], cwd=tmp_path, env=environment, check=True)
    by_python = dph.load(tmp_path / "public-release_my-trips_epsilon-0.5.dph.parquet")
    assert by_command.domain == by_python.domain == dph.Domain.bbox(*BOX)
    assert by_command.epsilon == by_python.epsilon == Fraction(1, 2)
    assert (tmp_path / "public-map_my-trips_epsilon-0.5.html").stat().st_size > 500_000
    assert served.charges(population) == 3


@pytest.mark.parametrize(
    ("place", "option"),
    [
        ({"kind": "unit"}, "--unit"),
        ({"kind": "image", "size": [640, 480]}, "--image 640x480"),
        (
            {"kind": "bbox", "bounds": [-74.1, 40.6, -73.8, 40.9], "resolution": 50},
            "--bbox=-74.1,40.6,-73.8,40.9 --resolution 50",
        ),
    ],
)
def test_recipes_of_every_place(place: dict[str, Any], option: str) -> None:
    columns = {"user": None, "x": "-x '", "y": 'a "b"', "weight": "w"}
    chosen = {"path": None, "columns": columns, "place": place, "epsilon": "1/3", "population": "it's us"}
    found = recipe(Record("0", "map", "done", "", "t.csv", chosen, ""), 2.5)
    assert option in found["command"]
    words = shlex.split(found["command"])
    assert {"--x=-x '", 'a "b"', "--population=it's us", "--each-row-is-a-person", "2.5"} <= set(words)
    line = next(line for line in found["python"].splitlines() if line.startswith("domain = "))
    assert eval(line.removeprefix("domain = dph."), {"Domain": Domain}) == domain_of(place)
    compile(found["python"], "recipe", "exec")


@pytest.mark.parametrize(
    "name", ["--no-ledger.csv", "--counts=evil.parquet", "-o.csv", "; rm -rf ~.csv", "$(id).csv", "a'b`c`.csv"]
)
def test_no_files_name_says_what_to_do(name: str) -> None:
    """Neither to the shell nor to the command: it stands where the file does, as one word."""
    columns = {"user": "u", "x": "x", "y": "y", "weight": None}
    chosen = {"path": None, "columns": columns, "place": {"kind": "unit"}, "epsilon": "1", "population": "p"}
    found = recipe(Record("0", "map", "done", "", name, chosen, ""))
    word = shlex.split(found["command"])[2]
    assert not word.startswith("-")
    assert word.removeprefix("./") == name
    assert repr(word) in found["python"]


def test_what_is_refused_costs_nothing(served: Served, client: httpx.Client, population: str, table: Path) -> None:
    source = {"path": str(table)}
    for status, body, words in (
        (409, wanted(source, population, epsilon="6"), "has 5 of its limit of 5 left"),
        (409, wanted(source, "nobody"), "has no limit"),
        (400, wanted(source, population, epsilon="-1"), "epsilon must be"),
        (400, wanted(source, population, epsilon=1), "epsilon is missing"),
        (400, wanted(source, " "), "population is missing"),
        (400, wanted(source, population, place=None), "The request is not"),
        (400, wanted(source, population, place={"kind": "bbox", "bounds": [1, 2, 0, 3]}), "box"),
        (400, wanted({"path": "/no/such.csv"}, population), "There is no file /no/such.csv"),
        (400, wanted({"upload": "0123456789abcdef"}, population), "no longer there"),
        (400, wanted(source, population, columns={"x": "lon", "y": "lat"}), "user is missing"),
    ):  # fmt: skip
        answer = client.post("/api/releases", json=body)
        assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.text
        assert "--" not in answer.text
        assert "dpheatmap " not in answer.text
    failed = released(client, wanted(source, population, columns={**COLUMNS, "x": "nothing"}))
    assert failed["state"] == "failed"
    assert "There is no coordinate column 'nothing' in trips.csv" in failed["message"]
    assert failed["message"].endswith("Nothing was charged.")
    assert "dpheatmap inspect" not in failed["message"]
    assert served.charges(population) == 0


def test_cancelling_before_the_charge_costs_nothing(tmp_path: Path) -> None:
    """What is cancelled while it waits or reads costs nothing; what is cancelled too late is there and was paid for."""
    ledger, go, table = str(tmp_path / "l"), tmp_path / "go", trips(tmp_path / "trips.csv", 50)
    dph.Ledger(ledger).limit("riders", 5)
    with serving(tmp_path / "kept", ledger, held_until=go) as served, served.opened() as client:
        source = {"path": str(table)}
        reading, waiting = (
            client.post("/api/releases", json=wanted(source, "riders", epsilon=epsilon)).json()["id"]
            for epsilon in ("1", "2")
        )
        until(lambda: client.get(f"/api/releases/{reading}").json()["state"], lambda state: state == "reading")
        for id in (reading, waiting):
            client.post(f"/api/releases/{id}/cancel")
        go.touch()
        for id in (reading, waiting):
            over = ended(client, id)
            assert (over["state"], over["message"]) == ("cancelled", "Cancelled before anything was charged.")
        assert served.charges("riders") == 0
        retried = released(client, wanted(source, "riders"))
        assert retried["id"] != reading
        assert client.post(f"/api/releases/{retried['id']}/cancel").json()["state"] == "done"
        assert served.charges("riders") == 1


def test_deleting_can_be_undone(served: Served, client: httpx.Client, population: str, table: Path) -> None:
    record = released(client, wanted({"path": str(table)}, population))
    id = record["id"]
    assert client.delete(f"/api/releases/{id}").status_code == 200
    assert client.get(f"/api/releases/{id}/map").status_code == 400
    assert id not in [entry["id"] for entry in client.get("/api/releases").json()]
    assert client.post(f"/api/releases/{id}/restore").json()["state"] == "done"
    assert client.get(f"/api/releases/{id}/thumbnail").content.startswith(b"\x89PNG")
    assert served.charges(population) == 1


def test_a_place_is_discovered_once_for_its_price(
    served: Served, client: httpx.Client, population: str, tmp_path: Path
) -> None:
    table = trips(tmp_path / "trips.parquet", 3000)
    body = {"source": {"path": str(table)}, "columns": COLUMNS, "epsilon": "0.5", "population": population}
    begun = client.post("/api/discover", json=body).json()
    found = ended(client, begun["id"])
    assert found["state"] == "done"
    west, south, east, north = found["result"]["place"]["bounds"]
    assert west < 7.4 < east
    assert south < 46.96 < north
    again = client.post("/api/discover", json=body).json()
    assert (again["id"], again["repeated"]) == (begun["id"], True)
    assert served.charges(population) == 1
    assert begun["id"] not in [entry["id"] for entry in client.get("/api/releases").json()]
    refused = client.post("/api/discover", json={**body, "epsilon": "4.75"})
    assert refused.status_code == 409


def test_spending_is_that_of_the_ledger(served: Served, client: httpx.Client) -> None:
    people = "spenders"
    assert client.post("/api/limit", json={"population": people, "epsilon": "3"}).status_code == 200
    ledger = dph.Ledger(served.ledger)
    ledger.charge(people, "0.5")
    ledger.charge(people, "1/4")
    found = next(p for p in client.get("/api/budget").json()["populations"] if p["population"] == people)
    assert (found["limit"], found["spent"], found["left"]) == ("3", "0.75", "2.25")
    assert [spent for _, spent in found["history"]] == [0.5, 0.75]


def test_plan_and_preview_read_no_data(client: httpx.Client) -> None:
    body = {"place": PLACE, "epsilon": "1", "users": 2000}
    found = client.post("/api/plan", json=body).json()
    plan = dph.plan(dph.Domain.bbox(*BOX), epsilon=1, users=2000)
    assert found["advice"] == plan.advice
    assert found["odds"] == "2.72"
    assert found["caution"] is None
    weak = client.post("/api/plan", json={**body, "epsilon": "100"}).json()
    assert weak["caution"] == dph.plan(dph.Domain.bbox(*BOX), epsilon=100, users=2000).caution
    assert weak["caution"].startswith("An epsilon of 10 or more")
    assert found["chance"] == pytest.approx(0.731, abs=1e-3)
    preview = client.post("/api/preview", json=body).json()
    assert preview["truth"].startswith("data:image/png;base64,")
    assert preview["truth"] != preview["shown"]
    faint = client.post("/api/preview", json={**body, "epsilon": "0.001", "users": 50}).json()
    assert faint["sure"] is None or faint["sure"] > preview["sure"]
    many = client.post("/api/preview", json={**body, "users": 10**9, "epsilon": "0.00001"}).json()
    assert many["sure"] < preview["sure"]


def test_towns_land_and_pictures(client: httpx.Client) -> None:
    assert client.get("/api/towns?name=bern").json()[0]["name"] in ("Bern", "Bernal")
    assert client.get("/api/towns?name=").json() == []
    world, near = client.get("/api/basemap").json(), client.get("/api/basemap?bounds=7,46,8,47").json()
    assert len(world["land"]) > 100
    assert any(city[0] == "Köniz" for city in near["cities"])
    assert client.get("/api/basemap?bounds=a").status_code == 400
    upload = client.put("/api/uploads?name=a.png", content=b"not a picture").json()["upload"]
    assert "can't be read as a picture" in client.get(f"/api/uploads/{upload}/picture").json()["error"]
    client.delete(f"/api/uploads/{upload}")


def test_a_hundred_megabytes_stream_through(served: Served, client: httpx.Client) -> None:
    """Neither server nor test hold the file in memory."""
    line = b"".join(b"%d,7.4,46.95\n" % k for k in range(70_000))
    blocks = 100 * 10**6 // len(line)
    before = served.memory()

    def content() -> Any:
        yield b"rider,lon,lat\n"
        for _ in range(blocks):
            yield line

    answer = client.put("/api/uploads?name=big.csv", content=content())
    assert answer.json()["size"] == 14 + blocks * len(line)
    assert served.memory() - before < 5e7
    client.delete(f"/api/uploads/{answer.json()['upload']}")
