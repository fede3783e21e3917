"""Areas in the app: a file is chosen, and the people in each area stand in a table, on the map and in files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from playwright.sync_api import expect

import dpheatmap as dph
from dpheatmap.render.content.area_picture import EN_DASH
from helpers.served import BOX, trips
from helpers.visits import Visit, release_directly

WEST, SOUTH, EAST, NORTH = BOX
MIDDLE = (WEST + EAST) / 2


def districts(path: Path) -> Path:
    """Two halves of the place, with names that are markup if they are not text."""
    halves = {"West <b>": (WEST, MIDDLE), "East & more": (MIDDLE, EAST)}
    features = [
        {
            "type": "Feature",
            "properties": {"name": name},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[x0, SOUTH], [x1, SOUTH], [x1, NORTH], [x0, NORTH], [x0, SOUTH]]],
            },
        }
        for name, (x0, x1) in halves.items()
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def test_people_in_districts(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    record = release_directly(visit, trips(tmp_path / "trips.csv", 2000))
    page.evaluate(f"location.hash = 'map/{record['id']}'")
    page.wait_for_selector(".map-frame[data-ready=first]:not([aria-busy])")
    page.get_by_label("File of areas").set_input_files(districts(tmp_path / "districts.geojson"))
    page.wait_for_selector(".map-frame[data-ready=areas]:not([aria-busy])")
    rows = page.locator(".counted-areas tbody tr")
    expect(rows).to_have_count(2)
    release = dph.load(visit.served.folder / "releases" / record["id"] / "release.dph.parquet")
    table = release.areas(tmp_path / "districts.geojson").sort_values("rank")
    assert rows.locator("th").all_inner_texts() == table["area"].tolist()
    assert page.evaluate("dpheatmap.state.show") == "areas"
    low, high = (f"{table[end].iloc[0]:,.0f}" for end in ("people_low", "people_high"))
    expect(rows.first).to_contain_text(f"{low}{EN_DASH}{high}")
    expect(page.locator(".areas-section [role=status]")).to_contain_text(table["area"].iloc[0])
    with page.expect_download() as waiting:
        page.locator(".counted-areas").get_by_role("link", name=".csv").click()
    assert waiting.value.suggested_filename.endswith(".csv")
    waiting.value.save_as(tmp_path / "areas.csv")
    with (tmp_path / "areas.csv").open() as file:
        assert [row["area"] for row in csv.DictReader(file)] == ["West <b>", "East & more"]
    with page.expect_download() as waiting:
        page.locator(".counted-areas").get_by_role("link", name=".png").click()
    assert waiting.value.path().read_bytes().startswith(b"\x89PNG")
    title = page.locator(".map-frame h1")
    expect(title).to_have_text("Where people are, by area")
    expect(page.locator(".map-frame .takeaway")).to_contain_text(table["area"].iloc[0])
    expect(page.locator(".map-frame .facts")).not_to_contain_text("Smoothed")
    assert all(words.strip() for words in page.locator(".counted-areas .files span").all_inner_texts())
    expect(page.locator(".counted-areas .files span")).to_have_count(8)
    box = rows.first.bounding_box()
    assert box is not None
    assert box["height"] < 40
    rows.first.get_by_role("button").click()
    expect(page.locator(".tip")).to_contain_text(table["area"].iloc[0])
    visit.judge()
    assert visit.served.charges("riders") == 1

    page.evaluate("dpheatmap.set({ show: 'heat' })")
    expect(title).to_have_text("Where people are")
    expect(page.locator(".map-frame .facts")).to_contain_text("Smoothed")

    (tmp_path / "d.shp").write_text("")
    page.get_by_label("File of areas").set_input_files(tmp_path / "d.shp")
    expect(page.locator(".areas-section .problem")).to_contain_text("ends in .geojson, .json, .gpkg or .parquet;")
    expect(page.locator(".areas-section .problem")).not_to_contain_text(".csv")

    broken = tmp_path / "broken.geojson"
    broken.write_text("{")
    page.get_by_label("File of areas").set_input_files(broken)
    expect(page.locator(".areas-section .problem")).to_contain_text("broken.geojson")
    expect(rows).to_have_count(0)
    visit.said.clear()  # the browser itself notes the refusal on the console
