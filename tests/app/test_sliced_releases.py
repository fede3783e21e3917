"""Maps over time and of groups in the app: refused at the field, planned, paid once, drawn, taken away, verified."""

from __future__ import annotations

import io
import json
import runpy
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

import dpheatmap as dph
from dpheatmap.app import pictures
from dpheatmap.app.plan_preview import map_to_preview
from dpheatmap.app.release_shelf import MAP, Shelf
from dpheatmap.app.slice_request import look_at, slices_from
from dpheatmap.errors import DpheatmapError, ParameterError
from dpheatmap.planning.slice_plans import plan_slices
from dpheatmap.render.series_files import FORMATS
from dpheatmap.slicing.axis import Axis
from dpheatmap.slicing.period import Period
from dpheatmap.testing import generated_people
from helpers.served import BOX, OVER, PLACE, Served, ended, until, wanted
from helpers.timed_trips import timed_trips

WEEKDAYS = {"time": "at", "every": "weekday", "time_zone": "Europe/Zurich"}
GROUPS = {"group": "vehicle", "groups": ["bike", "bus, or tram"]}
TYPES = {"at": "TIMESTAMP", "day": "DATE", "text": "VARCHAR", "vehicle": "VARCHAR", "flag": "BOOLEAN", "part": "DOUBLE"}


def refused(**slices: Any) -> tuple[str, str]:
    """The field that is refused, and why."""
    found = look_at({"slices": slices, "types": TYPES})["problem"]
    return found["field"], found["words"]


def test_each_refusal_stands_at_its_field_and_is_the_library_s() -> None:
    assert refused(time="at") == (
        "every",
        "time needs every: what a slice is. Give one such as 'hour-of-day'.",
    )
    assert refused(time="at", every="fortnight", time_zone="UTC")[0] == "every"
    assert refused(**WEEKDAYS | {"time_zone": "Mars"}) == (
        "time_zone",
        "time_zone must be the name of a time zone; it was 'Mars'. Give one such as 'Europe/Zurich' or 'UTC'.",
    )
    field, words = refused(**WEEKDAYS | {"every": "day"})
    assert field == "range"
    assert words.startswith("Slices of every day need a public range, and one taken from the data would tell when")
    assert refused(**WEEKDAYS, start="2026-06-02", end="2026-06-01")[0] == "range"
    assert refused(**WEEKDAYS, start="June")[0] == "range"
    assert refused(**WEEKDAYS | {"every": "1 hour"}, start="2026-01-01", end="2026-12-31")[0] == "range"
    assert refused(group="vehicle") == (
        "groups",
        "A group column needs the public list of groups, and one taken from the data would tell which occur. Give "
        "groups.",
    )
    assert refused(group="vehicle", groups=["bike", "bike"])[0] == "groups"
    assert refused(group="vehicle", groups=[])[0] == "groups"
    many = [str(number) for number in range(900)]
    assert refused(group="vehicle", groups=many)[0] == "groups"
    assert refused(**WEEKDAYS, group="vehicle", groups=many[:100])[0] == "number"


def test_more_slices_than_can_be_waited_for_are_refused_at_once() -> None:
    groups = {"slices": {"group": "mode", "groups": [f"g{number}" for number in range(201)]}}
    assert "at most 200 maps, and these would be 201" in look_at(groups)["problem"]["words"]
    with pytest.raises(ParameterError, match="at most 200 maps"):
        slices_from(groups)


def test_the_types_of_columns_are_refused_before_anything_is_read() -> None:
    field, words = refused(time="text", every="weekday")
    assert (field, words.endswith("Give time_zone, such as Europe/Zurich.")) == ("time_zone", True)
    assert refused(**WEEKDAYS | {"time": "flag"})[0] == "time"
    assert refused(time="day", every="hour-of-day")[0] == "every"
    assert refused(group="part", groups=["a", "b"])[0] == "group"
    assert look_at({"slices": {"time": "day", "every": "weekday"}, "types": TYPES})["problem"] is None


def test_what_slices_are_is_told_by_the_request_alone() -> None:
    assert look_at({"slices": WEEKDAYS | GROUPS, "types": TYPES}) == {
        "problem": None,
        "words": "14 maps, by group (2 of a public list), by weekday, clocks of Europe/Zurich",
        "notes": [],
    }
    spring = look_at({"slices": WEEKDAYS | {"start": "2026-03-28", "end": "2026-03-30"}})
    assert "29 Mar 2026" in spring["notes"][0] or "2026-03-29" in spring["notes"][0]


@pytest.mark.parametrize(
    "slices", [[], "weekday", {}, {"time": 1}, {"groups": "ab"}, {"every": "weekday"}, {"group": "x"}, {"time": "at"}]
)
def test_a_request_of_no_slices_is_refused(slices: object) -> None:
    with pytest.raises(DpheatmapError):
        slices_from({"slices": slices})


def test_the_plan_says_what_the_command_line_says(client: httpx.Client) -> None:
    asked = {"place": PLACE, "epsilon": "1", "users": 20_000}
    hours = {"time": "at", "every": "hour-of-day", "time_zone": "UTC"}
    found = client.post("/api/plan", json={**asked, "slices": hours}).json()
    made = plan_slices(dph.Domain.bbox(*BOX), epsilon=1, users=20_000, slices=24)
    assert found["advice"] == made.map.advice
    assert found["slices"] == [
        "What is said above is about the map of all 24 slices together.",
        " ".join(made.sentences[:4]),
    ]
    assert "--" not in " ".join(found["slices"])
    one = client.post("/api/plan", json=asked).json()
    assert one["slices"] == []
    of_groups = client.post("/api/plan", json={**asked, "slices": GROUPS}).json()
    assert of_groups == one | {"slices": of_groups["slices"]}
    assert of_groups["slices"][0].startswith("The 2 groups are measured each by itself")
    refusal = client.post("/api/plan", json={**asked, "slices": {"time": "at", "every": "day"}})
    assert (refusal.status_code, "public range" in refusal.json()["error"]) == (409, True)


def test_the_preview_is_of_the_map_that_slices_share() -> None:
    domain, hours = dph.Domain.bbox(*BOX), Axis(Period.of("hour-of-day", "UTC"))
    epsilon, users = map_to_preview(domain, Fraction(1), 5000, hours)
    assert (epsilon < 1, users) == (True, 5000)
    apart, few = map_to_preview(domain, Fraction(5), 10**6, hours)
    assert (apart > epsilon, few) == (True, 10**6 // 24)
    assert map_to_preview(domain, Fraction(1), 5000, Axis(None, ("a", "b"))) == (Fraction(1), 5000)
    assert map_to_preview(domain, Fraction(1), 5000) == (Fraction(1), 5000)


@pytest.fixture(scope="module")
def sliced(served: Served, client: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A release of seven weekdays in two groups, with how far its drawing was seen to be."""
    table = timed_trips(tmp_path_factory.mktemp("t") / "trips.csv")
    dph.Ledger(served.ledger).limit("riders", 50)
    asked = wanted({"path": str(table)}, "riders", slices=WEEKDAYS | GROUPS, title="By weekday", epsilon="20")
    begun = client.post("/api/releases", json=asked)
    assert begun.status_code == 200, begun.text
    seen: list[Any] = []

    def look() -> str:
        found = client.get(f"/api/releases/{begun.json()['id']}").json()
        seen.append((found["state"], found["drawn"]))
        return str(found["state"])

    until(look, lambda state: state in OVER)
    found = ended(client, begun.json()["id"])
    assert found["state"] == "done", found
    again = client.post("/api/releases", json=asked).json()
    assert (again["id"], again["repeated"]) == (found["id"], True), "the same is not paid for twice"
    return {**found, "seen": seen, "asked": asked}


def test_a_release_of_slices_is_charged_once_and_told(served: Served, sliced: dict[str, Any]) -> None:
    assert served.charges("riders") == 1
    assert sliced["slices"] == "14 maps, by group (2 of a public list), by weekday, clocks of Europe/Zurich"
    made: Any = dph.load(served.folder / "releases" / sliced["id"] / "release.dph.parquet")
    assert made.slices == Axis(Period.of("weekday", "Europe/Zurich"), ("bike", "bus, or tram")).labels
    assert (made.split, made.epsilon) == ("weight", 20)


def test_drawing_tells_which_slice_it_is_at(sliced: dict[str, Any]) -> None:
    while_drawing = [tuple(drawn) for state, drawn in sliced["seen"] if state == "drawing" and drawn]
    assert while_drawing == sorted(while_drawing)
    assert {of for _, of in while_drawing} <= {14}
    assert tuple(sliced["drawn"]) == (14, 14)


def test_another_axis_is_another_request(client: httpx.Client, sliced: dict[str, Any]) -> None:
    other = sliced["asked"] | {"slices": WEEKDAYS, "epsilon": "0.1"}
    made = client.post("/api/releases", json=other).json()
    assert made["repeated"] is False
    assert ended(client, made["id"])["slices"] == "7 maps, by weekday, clocks of Europe/Zurich"


def test_the_page_gets_a_map_with_a_slider_and_a_sheet(client: httpx.Client, sliced: dict[str, Any]) -> None:
    data = client.get(f"/api/releases/{sliced['id']}/map").json()
    assert len(data["series"]["slices"]) == 14
    assert data["stands_out"] is True
    sheet = Image.open(io.BytesIO(client.get(f"/api/releases/{sliced['id']}/thumbnail").content))
    assert 300 < max(sheet.size) <= 320
    assert sheet.convert("RGBA").getchannel("A").getextrema() == (0, 255), "what is between the maps is clear"


def test_every_format_of_a_series_is_offered_and_written(client: httpx.Client, sliced: dict[str, Any]) -> None:
    about = client.get(f"/api/releases/{sliced['id']}/about").json()
    assert {each["suffix"] for each in about["formats"]} == {".dph.parquet", *FORMATS}
    for each in about["formats"]:
        if not each["refusal"]:
            file = client.get(f"/api/releases/{sliced['id']}/file/{each['suffix']}")
            assert (file.status_code, len(file.content) > 1000) == (200, True), each
    page = client.get(f"/api/releases/{sliced['id']}/file/.html")
    assert "By weekday" in page.text
    refusal = client.get(f"/api/releases/{sliced['id']}/file/.pmtiles")
    assert (refusal.status_code, ".gif" in refusal.json()["error"]) == (400, True)


def axis_in(path: Path) -> Axis:
    """The public slices of a release file."""
    made: Any = dph.load(path)
    assert isinstance(made.axis, Axis)
    return made.axis


def test_the_recipe_makes_the_same_slices(
    served: Served, client: httpx.Client, sliced: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = client.get(f"/api/releases/{sliced['id']}/about").json()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPHEATMAP_LEDGER", str(tmp_path / "own.ledger"))
    dph.Ledger(tmp_path / "own.ledger").limit("riders", 50)
    (tmp_path / "groups.txt").write_text("bike\nbus, or tram\n")
    words = [word for word in shlex.split(about["command"])[1:-2] if not word.startswith("--title")]  # without a page
    subprocess.run([sys.executable, "-m", "dpheatmap", *words], check=True, capture_output=True)
    (saved,) = tmp_path.glob("*.dph.parquet")
    axis = axis_in(saved)
    saved.unlink()
    (tmp_path / "recipe.py").write_text(about["python"].rpartition("release.heatmap")[0])
    runpy.run_path(str(tmp_path / "recipe.py"))
    assert axis_in(saved) == axis
    assert axis_in(served.folder / "releases" / sliced["id"] / "release.dph.parquet") == axis


def test_the_ledger_is_verified_with_slices_on_the_shelf(client: httpx.Client, sliced: dict[str, Any]) -> None:
    answer = client.post("/api/ledger/verify")
    assert answer.status_code == 200, answer.text
    assert "The ledger is whole" in answer.json()["words"]


def test_what_needs_one_map_is_refused_in_words(client: httpx.Client, sliced: dict[str, Any]) -> None:
    id = sliced["id"]
    for path in (f"/api/releases/{id}/beside/{id}", f"/api/releases/{id}/minus/{id}"):
        refusal = client.get(path)
        assert (refusal.status_code, "has 14 slices" in refusal.json()["error"]) == (400, True)


def test_a_shelf_of_slices_is_read_again(tmp_path: Path) -> None:
    """Also one that was put there by another program, whose request is not known."""
    shelf = Shelf(tmp_path)
    record = shelf.add(MAP, "trips.csv", {}, "")
    path = shelf.release_path(record.id)
    people = generated_people(50).project("*, CASE WHEN x < 0.5 THEN 'west' ELSE 'east' END AS side")
    slices = {"group": "side", "groups": ["west", "east"]}
    dph.release(people, dph.Domain.unit(3), epsilon=1, user="person", x="x", y="y", **slices).save(path)  # type: ignore[call-overload]
    assert shelf.release(record.id).label["slices"].startswith("2 slices, by group")
    assert len(json.loads(pictures.map_of(path, None, None))["series"]["slices"]) == 2
    with pytest.raises(ParameterError, match=r"release\.dph\.parquet has 2 slices, and one map is needed here"):
        pictures.pair_of(path, path, (None, None))
