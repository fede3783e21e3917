"""A page of a place with a boundary paints, reads and saves nothing outside of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from playwright.sync_api import expect

from dpheatmap.place.domain import Domain
from dpheatmap.testing import generated_people, seeded_release
from helpers.browser import Open

TRIANGLE = {"type": "Polygon", "coordinates": [[[7.3, 46.9], [7.5, 46.9], [7.3, 47.02], [7.3, 46.9]]]}
DOMAIN = Domain.polygon(TRIANGLE, resolution=400)
FIJI = Domain.bbox(176, -20, -177.5, -15.5, resolution=4000)


def saved(domain: Domain, path: Path) -> tuple[int, int]:
    people = generated_people(20_000, extent=domain.extent)
    heat = seeded_release(people, domain, seed=1, epsilon=5, user="person", x="x", y="y").heatmap()
    heat.save(path, basemap=False)
    rows, columns = heat.values.shape
    return rows, columns


def test_what_lies_outside_a_boundary_is_bare(open_map: Open, tmp_path: Path) -> None:
    rows, columns = saved(DOMAIN, tmp_path / "map.html")
    opened = open_map(tmp_path / "map.html")
    tip = opened.page.locator(".tip")
    inside, outside = opened.screen_of(rows * 3 // 4, columns // 4), opened.screen_of(rows // 4, columns * 3 // 4)
    opened.page.mouse.move(*outside)
    expect(tip).to_contain_text("Nothing was counted here")
    opened.page.mouse.move(*inside)
    expect(tip).to_contain_text("of every")
    opened.page.mouse.move(2, 2)
    opened.settle()
    painted = opened.page.evaluate(
        """() => {
          const canvas = dpheatmap.heat.canvas, { width, height } = canvas;
          const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
          return { width, height, opacity: Array.from({ length: width * height }, (_, i) => data[4 * i + 3]) };
        }"""
    )
    opacity = np.array(painted["opacity"]).reshape(painted["height"], painted["width"])
    y, x = np.mgrid[: painted["height"], : painted["width"]]
    above = (y + 0.5) / painted["height"] < (x + 0.5) / painted["width"] - 0.02
    assert (opacity[above] == 0).all()
    assert (opacity[~above] > 0).mean() > 0.3
    with opened.page.expect_download() as download:
        opened.page.locator("summary", has_text="Download").click()
        opened.page.get_by_role("button", name="Numbers (GeoJSON)").click()
    features = json.loads(download.value.path().read_text())["features"]
    middles = np.array([np.mean(feature["geometry"]["coordinates"][0][:4], axis=0) for feature in features])
    assert DOMAIN.locate(middles[:, 0], middles[:, 1])[2].mean() > 0.99
    assert len(features) < 0.7 * 128**2


def test_a_map_beyond_the_antimeridian_reads_on_both_sides(open_map: Open, tmp_path: Path) -> None:
    rows, columns = saved(FIJI, tmp_path / "map.html")
    opened = open_map(tmp_path / "map.html")
    tip = opened.page.locator(".tip")
    for column in (columns // 3, columns * 4 // 5):
        opened.page.mouse.move(*opened.screen_of(rows // 2, column))
        expect(tip).to_contain_text("of every")
    opened.page.mouse.move(*opened.screen_of(rows // 2, columns * 4 // 5))
    expect(tip).to_contain_text("W")
    opened.check()
