"""Interactive maps that are open in a browser: places to map, and what is judged of every layout."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator

from dpheatmap.place.domain import Domain
from helpers.browser import Opened
from helpers.map_data import NOTHING
from helpers.visits import AXE

MakeData = Callable[..., dict[str, Any]]
OpenData = Callable[..., Opened]
Room = dict[str, float]
OCEAN = Domain.bbox(-40.0, 30.0, -39.0, 31.0, depth=12)
IMAGE = Domain.image(24, 16)
WINDOW = [-43.0, 27.0, -36.0, 34.0]
CITIES = [["Largehaven", -39.5, 30.5, 2_000_000], ["Smallhaven", -39.75, 30.75, 3_000], ["Açores", -28.0, 38.5, 900]]
NAMED = NOTHING | {"window": WINDOW, "cities": CITIES}


def room(part: Locator) -> Room:
    """Where a part is on the screen."""
    box = part.bounding_box()
    assert box is not None
    return {
        "x": box["x"],
        "y": box["y"],
        "width": box["width"],
        "height": box["height"],
        "right": box["x"] + box["width"],
        "bottom": box["y"] + box["height"],
    }


def apart(a: Room, b: Room) -> bool:
    """Whether two parts cover nothing of each other."""
    return (
        a["right"] <= b["x"] + 1 or b["right"] <= a["x"] + 1 or a["bottom"] <= b["y"] + 1 or b["bottom"] <= a["y"] + 1
    )


def judge(opened: Opened) -> None:
    """axe-core finds no serious fault, and nothing is wider than the window."""
    opened.page.evaluate(AXE.read_text())
    found = opened.page.evaluate("axe.run().then(found => found.violations)")
    serious = [fault for fault in found if fault["impact"] in ("serious", "critical")]
    assert serious == [], json.dumps([(f["id"], [n["html"] for n in f["nodes"]]) for f in serious], indent=1)
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert opened.page.evaluate("(e => e.scrollWidth <= e.clientWidth)(document.getElementById('dpheatmap'))")


def heat_is_in_sight(opened: Opened, rows: int, columns: int) -> None:
    """All of the heat is on the map, and no part lies over the map but small ones."""
    area = room(opened.page.locator(".area"))
    for row, column in ((0, 0), (rows - 1, columns - 1)):
        x, y = opened.screen_of(row, column)
        assert area["x"] <= x <= area["right"]
        assert area["y"] <= y <= area["bottom"]
    for name in ("header", ".legend", ".promise"):
        assert apart(area, room(opened.page.locator(name))), name
