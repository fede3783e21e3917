"""What readers take away from the interactive map in Chromium, opened from disk: files, snippets and prints."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
from PIL import Image
from playwright.sync_api import expect

from helpers.browser import Opened
from helpers.open_maps import NAMED, OCEAN, MakeData, OpenData, room


def saved(opened: Opened, name: str, folder: Path) -> Path:
    with opened.page.expect_download() as waiting:
        opened.page.get_by_role("button", name=name).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_files_can_be_taken_away(make_data: MakeData, open_data: OpenData, tmp_path: Path) -> None:
    data = make_data(OCEAN)
    opened = open_data(data)
    opened.page.locator("summary", has_text="Download").click()
    image = np.asarray(Image.open(saved(opened, "Picture", tmp_path)).convert("RGB"), dtype=np.int64)
    area = room(opened.page.locator(".area"))
    assert image.shape[1] == 2 * (area["width"] + 40)
    assert image.shape[0] > 2 * (area["height"] + 150)  # words above and below the map
    assert image[:10].min() == 255
    for swatch in data["light"]["swatches"]:  # in the legend and on the map
        colour = np.array(list(bytes.fromhex(swatch[1:])))
        assert (np.abs(image - colour).max(axis=2) <= 2).sum() > 500
    badge = np.array(list(bytes.fromhex("EAF1EC")))
    assert (np.abs(image[-200:] - badge).max(axis=2) <= 1).sum() > 1000
    table = json.loads(saved(opened, "Numbers", tmp_path).read_text())
    assert table["unit"] == data["legend"]["title"]
    count = data["rows"] * data["columns"]
    values = np.array([feature["properties"]["value"] for feature in table["features"]])
    assert sorted(values) == pytest.approx(sorted(0.5 * 160.0 ** (np.arange(count) / (count - 1))), rel=1e-3)
    ends = np.array([[feature["properties"][end] for end in ("low", "high")] for feature in table["features"]])
    assert ends == pytest.approx(values[:, None] * [0.8, 1.2], rel=1e-3)
    assert all(feature["properties"]["clear"] for feature in table["features"])
    corners = np.array([point for feature in table["features"] for point in feature["geometry"]["coordinates"][0]])
    bounds = OCEAN.bounds
    assert [*corners.min(axis=0), *corners.max(axis=0)] == pytest.approx(list(bounds), abs=1e-6)
    first = np.array(table["features"][0]["geometry"]["coordinates"][0])
    assert first.max(axis=0)[1] == pytest.approx(bounds.y1, abs=1e-6)  # row 0 is the north
    opened.check()


def test_the_snippet_embeds_what_is_seen(make_data: MakeData, open_data: OpenData, tmp_path: Path) -> None:
    opened = open_data(make_data(OCEAN, title='Where "people" are'), after="#theme=dark")
    page = opened.page
    page.locator("summary", has_text="Download").click()
    page.get_by_role("button", name="Copy the snippet").click()
    expect(page.locator(".snippet [role=status]")).not_to_be_empty()
    text = page.get_by_label("Snippet to embed this map").input_value()
    assert text.startswith('<iframe src="map.html#embed&amp;theme=dark" title="Where &quot;people&quot; are"')
    host = tmp_path / "host.html"
    host.write_text(f"<!doctype html><title>News</title><p>As the map tells:</p>{text}", encoding="utf-8")
    page.goto(host.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("#dpheatmap[data-ready]").wait_for()
    expect(frame.locator("#dpheatmap")).to_have_attribute("data-layout", "embed")
    expect(frame.locator("#dpheatmap")).to_have_class(re.compile("dark"))
    assert not opened.said, opened.said


def rastered(printed: bytes) -> np.ndarray:
    """The only page of a PDF, at 100 pixels an inch."""
    document = pypdfium2.PdfDocument(printed)
    assert len(document) == 1
    return np.asarray(document[0].render(scale=100 / 72).to_pil().convert("RGB"), dtype=np.int64)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (600, 400), (1400, 900)])
def test_it_prints_on_one_page_in_light_without_controls(
    make_data: MakeData, open_data: OpenData, width: int, height: int
) -> None:
    data = make_data(OCEAN, basemap=NAMED)
    opened = open_data(data, width=width, height=height, scheme="dark")
    page = opened.page
    printed = page.pdf(format="A4")
    assert re.findall(rb"/Type\s*/Page\b", printed) == [b"/Type /Page"]
    sheet, swatch = rastered(printed), np.array(list(bytes.fromhex(data["light"]["swatches"][5][1:])))
    assert sheet[2, 2].tolist() == [255, 255, 255]
    assert (sheet.max(axis=2) < 40).mean() < 0.02  # letters alone are dark
    hot = np.argwhere(np.abs(sheet - swatch).max(axis=2) <= 3)
    assert len(hot) > 1000  # of the legend, and of the map below it
    assert np.ptp(hot[:, 0]) > 0.1 * len(sheet)
    opened.settle()
    assert opened.page.locator(".printed").count() == 0  # all is as before
    expect(page.locator("#dpheatmap.dark")).to_be_visible()
    # What is on that page, as the screen can show it: its width without margins, and its height.
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 1017})
    parts = ["h1", ".takeaway", ".badge", ".legend", ".facts", ".printed", ".credits"]
    rooms = [room(page.locator(name)) for name in parts]
    assert all(a["bottom"] <= b["y"] + 1 for a, b in pairwise(rooms))
    assert all(one["x"] >= 0 and one["right"] <= 688 and one["bottom"] <= 1017 for one in rooms)
    for name in (".zoom", ".stage", ".more", ".settings", ".open", ".link", ".tip"):
        assert not page.locator(name).first.is_visible()
    screen = opened.pixels()
    assert screen[2, 2].tolist() == [255, 255, 255]
    on_map = screen[int(rooms[5]["y"]) : int(rooms[5]["bottom"])]
    assert (np.abs(on_map - swatch).max(axis=2) <= 3).sum() > 300
    opened.check()
