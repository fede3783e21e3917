"""The widget in a browser: what a reader draws or clicks on the map comes back to Python as numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

import dpheatmap as dph
from dpheatmap.testing import generated_people
from helpers.browser import window

CITY = (-74.1, 40.6, -73.8, 40.9)
HALVES = {"West": (-74.1, 40.6, -73.95, 40.9), "East": (-73.95, 40.6, -73.8, 40.9)}

# The least that a notebook gives to a widget: a model with its state, and an element.
HOST = """<!doctype html><meta charset="utf-8"><title>Host</title><div id="cell"></div><script type="module">
const {{ esm, state }} = {data};
const listeners = {{}};
const model = {{
  get: (name) => state[name],
  set: (name, value) => void (state[name] = value),
  save_changes: () => (window.saved = [...(window.saved ?? []), state.asked]),
  on: (event, listener) => void (listeners[event] = listener),
  off: (event) => void delete listeners[event],
}};
window.answer = (text) => {{ state.answer = text; listeners["change:answer"]?.(); }};
const code = URL.createObjectURL(new Blob([esm], {{ type: "text/javascript" }}));
const widget = (await import(code)).default;
window.end = widget.render({{ model, el: document.getElementById("cell") }});
window.left = () => Object.keys(listeners).length;
</script>"""


def host(widget: Any, folder: Path) -> Path:
    """A page that shows a widget as a notebook does."""
    state = {name: getattr(widget, name) for name in ("page", "title", "height", "answer")}
    data = json.dumps({"esm": widget._esm, "state": state}).replace("<", "\\u003c")
    path = folder / "host.html"
    path.write_text(HOST.format(data=data), encoding="utf-8")
    return path


def saved(page: Page, many: int) -> Any:
    """What the widget has told, once there are so many."""
    found: list[Any] = []
    for _ in range(600):
        found = page.evaluate("window.saved ?? []")
        if len(found) >= many:
            break
        page.wait_for_timeout(100)
    assert len(found) == many
    return found[-1]


def map_in(page: Page) -> Frame:
    page.frame_locator("iframe").locator("button.select").wait_for()
    frame = page.frames[1]
    assert frame.evaluate("typeof dpheatmap") == "object"
    return frame


def drag(page: Page, first: tuple[float, float], last: tuple[float, float]) -> None:
    """Draw a box between two fractions of the map."""
    page.frame_locator("iframe").locator("button.select").click()
    room = page.frame_locator("iframe").locator("canvas.maplibregl-canvas").bounding_box()
    assert room is not None
    for (x, y), press in ((first, page.mouse.down), (last, page.mouse.up)):
        page.mouse.move(room["x"] + x * room["width"], room["y"] + y * room["height"], steps=5)
        press()


def own(frame: Frame, x: float, y: float) -> list[float]:
    """Where fractions of the map lie, by MapLibre."""
    code = "([x, y]) => { const map = dpheatmap.map.map, { clientWidth: w, clientHeight: h } = map.getCanvas(); " \
        "const { lng, lat } = map.unproject([x * w, y * h]); return [lng, lat]; }"  # fmt: skip
    found: list[float] = frame.evaluate(code, [x, y])
    return found


@pytest.fixture(scope="module")
def release() -> dph.Release:
    people = generated_people(1500, extent=CITY)
    return dph.release(people, dph.Domain.bbox(*CITY, resolution=200), epsilon=1, user="person", x="x", y="y")


def test_a_box_comes_back_as_numbers(browser: Browser, release: dph.Release, tmp_path: Path) -> None:
    widget = release.widget()
    with window(browser, 900, 640, "light") as context:
        page = context.new_page()
        page.goto(host(widget, tmp_path).as_uri())
        expect(page.locator(".dpheatmap-answer")).to_have_text(
            "Press ⬚ and draw a box on the map, to see how many people are in it."
        )
        frame = map_in(page)
        (west, north), (east, south) = own(frame, 0.45, 0.4), own(frame, 0.55, 0.6)
        drag(page, (0.45, 0.4), (0.55, 0.6))
        asked = saved(page, 1)
        assert asked["box"] == pytest.approx([west, south, east, north], abs=0.002)
        widget.set_state({"asked": asked})
        page.evaluate("window.answer", widget.answer)
        expect(page.locator(".dpheatmap-answer")).to_contain_text("of every 1,000 people;")
        expect(page.frame_locator("iframe").locator(".selected")).to_be_visible()
        assert page.frame_locator("iframe").locator("button.select").get_attribute("aria-pressed") == "false"
        page.evaluate("window.end()")
        assert page.evaluate("window.left()") == 0
    expected = release.areas({"box": tuple(asked["box"])})
    assert widget.selection.share == pytest.approx(float(expected["share"][0]))
    assert widget.selection.people_low <= widget.selection.people <= widget.selection.people_high
    assert widget.selection.bounds == tuple(asked["box"])


def test_an_area_that_is_clicked_comes_back(browser: Browser, release: dph.Release, tmp_path: Path) -> None:
    widget, seen = release.widget(HALVES, confidence=0.8), list[Any]()
    widget.observe(lambda change: seen.append(change["new"]), "selection")
    with window(browser, 900, 640, "dark") as context:
        page = context.new_page()
        page.goto(host(widget, tmp_path).as_uri())
        frame = map_in(page)
        at = frame.evaluate("dpheatmap.map.map.project([-73.87, 40.7])")
        room = page.frame_locator("iframe").locator("canvas.maplibregl-canvas").bounding_box()
        assert room is not None
        page.mouse.click(room["x"] + at["x"], room["y"] + at["y"])
        asked = saved(page, 1)
    assert asked == {"area": "East"}
    widget.set_state({"asked": asked})
    expected = release.areas(HALVES, confidence=0.8)
    assert [one.name for one in seen] == ["East"]
    assert widget.selection.share == pytest.approx(float(expected["share"][1]))
    assert widget.answer.endswith("About 8 in 10 such ranges hold the truth.")


def test_boxes_of_images_are_in_pixels(browser: Browser, tmp_path: Path) -> None:
    people = generated_people(300, extent=(0, 0, 640, 480))
    gaze = dph.release(people, dph.Domain.image(640, 480), epsilon=1, user="person", x="x", y="y")
    widget = gaze.widget()
    with window(browser, 900, 640, "light") as context:
        page = context.new_page()
        page.goto(host(widget, tmp_path).as_uri())
        frame = map_in(page)
        for _ in range(3):
            page.frame_locator("iframe").get_by_label("Zoom out").click()
            frame.evaluate("new Promise((done) => dpheatmap.map.map.once('idle', done))")
        drag(page, (0.02, 0.02), (0.98, 0.98))  # beyond the image on every side
        asked = saved(page, 1)
    assert asked["box"] == pytest.approx([0, 0, 640, 480])
    widget.set_state({"asked": asked})
    assert widget.selection.share == pytest.approx(1.0, abs=0.1)
    assert "of every 1,000 viewers;" in widget.answer


@pytest.mark.parametrize(
    "asked", [{}, {"area": "nowhere"}, {"area": []}, {"box": [1, 2]}, {"box": ["a", 1, 2, 3]}, {"box": None}]
)
def test_nonsense_selects_nothing(release: dph.Release, asked: dict[str, Any]) -> None:
    widget = release.widget(HALVES)
    widget.set_state({"asked": {"area": "West"}})
    assert widget.selection.name == "West"
    widget.set_state({"asked": asked})
    assert widget.selection is None
    assert widget.answer.startswith("Click an area")


def test_a_box_elsewhere_is_told(release: dph.Release) -> None:
    widget = release.widget()
    widget.set_state({"asked": {"box": [7.0, 46.0, 8.0, 47.0]}})
    assert widget.selection is None
    assert "outside the place" in widget.answer
