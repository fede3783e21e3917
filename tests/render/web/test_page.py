from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dpheatmap.errors import DataError, ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.releases.release import Release
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.web.page import LIMIT, check_tiles, page, place_on_square
from dpheatmap.render.web.picture import picture_of

MakeHeat = Callable[..., Heatmap]
CITY, IMAGE = Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=12), Domain.image(7, 5)
OSM = "https://tile.openstreetmap.org/{z}/{x}/{y}.png"


def data_in(text: str) -> dict[str, object]:
    """The data that a page carries."""
    found = re.search(r'id="dpheatmap-data">([^<]*)</script>', text)
    assert found is not None
    data: dict[str, object] = json.loads(found[1])
    return data


def policy_of(text: str) -> dict[str, list[str]]:
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert found is not None
    return {rule.split()[0]: rule.split()[1:] for rule in html.unescape(found[1]).split("; ")}


def test_the_policy_allows_what_the_page_carries_and_nothing_else(make_heat: MakeHeat) -> None:
    text = page(picture_of(make_heat(CITY)))
    policy = policy_of(text)
    assert policy["default-src"] == ["'none'"]
    assert policy["connect-src"] == policy["worker-src"] == ["blob:"]
    assert policy["img-src"] == ["data:", "blob:"]
    inline = re.findall(r"<script>(.*?)</script>", text, re.DOTALL) + re.findall(
        r"<style>(.*?)</style>", text, re.DOTALL
    )
    hashes = {f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'" for part in inline}
    assert hashes < {*policy["script-src"], *policy["style-src"]}
    assert len(policy["script-src"]) == 2
    assert not any("unsafe" in source for rule in policy.values() for source in rule)


def test_tiles_open_the_policy_for_their_host_alone(make_heat: MakeHeat) -> None:
    text = page(picture_of(make_heat(CITY)), tiles="https://tiles.example:8443/a/{z}/{x}/{y}.png?key=1")
    policy = policy_of(text)
    assert policy["connect-src"] == ["blob:", "https://tiles.example:8443"]
    assert policy["img-src"] == ["data:", "blob:", "https://tiles.example:8443"]
    assert data_in(text)["tiles"] == {
        "url": "https://tiles.example:8443/a/{z}/{x}/{y}.png?key=1",
        "credit": "Tiles: tiles.example",
    }
    osm = data_in(page(picture_of(make_heat(CITY)), tiles=OSM))["tiles"]
    assert osm == {"url": OSM, "credit": "© OpenStreetMap contributors"}


@pytest.mark.parametrize(
    "address",
    [
        "",
        "tiles",
        "https://tile.example/{z}/{x}.png",
        "javascript:alert(1)//{z}{x}{y}",
        "file:///tmp/{z}/{x}/{y}.png",
        "https:///{z}/{x}/{y}",
        "https://a b/{z}/{x}/{y}",
        "https://a;script-src *; /{z}/{x}/{y}",
        "https://a:port/{z}/{x}/{y}",
        "https://[/{z}/{x}/{y}",
    ],
)
def test_what_is_no_address_of_tiles_is_refused(address: str) -> None:
    with pytest.raises(ParameterError, match=r"tiles must be an address .*\. Give one such as"):
        check_tiles(address)


def test_tiles_and_backgrounds_go_with_their_kinds_of_place(make_heat: MakeHeat, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="Map tiles go with a box"):
        page(picture_of(make_heat(IMAGE)), tiles=OSM)
    Image.new("RGB", (7, 5)).save(tmp_path / "photo.png")
    with pytest.raises(ParameterError, match="A background goes under a map of an image"):
        page(picture_of(make_heat(CITY)), background=tmp_path / "photo.png")
    (tmp_path / "text.png").write_text("no picture")
    for missing in ("text.png", "none.png"):
        with pytest.raises(DataError, match=r"can't be read as a picture\. Give a PNG|There is no picture"):
            page(picture_of(make_heat(IMAGE)), background=tmp_path / missing)


def test_options_of_other_formats_are_refused(make_heat: MakeHeat, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"tiles is no option of \.csv files"):
        make_heat(CITY).save(tmp_path / "map.csv", tiles=OSM)
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_is_told_can_become_markup(make_heat: MakeHeat) -> None:
    evil = "</script><script>alert(1)</script><!-- & <img src=x onerror=alert(2)> \u2028"
    picture = replace(picture_of(make_heat(CITY)), title=evil, unit=evil, facts=(evil,), label={"who": evil})
    text = page(picture)
    assert text.count("alert(1)") == 4 + 1  # four in the data, and the title in the head
    assert "<script>alert" not in text
    assert "<img" not in text
    data = data_in(text)
    assert data["title"] == data["unit"] == evil
    assert data["label"] == [{"heading": "Who is protected", "text": evil}]


def test_however_large_and_rough_a_map_is_its_page_stays_small(make_heat: MakeHeat) -> None:
    domain = Domain.bbox(6.0, 50.0, 8.0, 52.0, depth=19)
    rough = np.random.default_rng(1).exponential(size=(1500, 1100)) ** 3
    heat = make_heat(domain, rough)
    picture = replace(picture_of(heat), std=heat.values.copy(), clear=rough > 1)
    text = page(picture)
    assert len(text.encode()) <= LIMIT
    data = data_in(text)
    assert (data["rows"], data["columns"]) == (724, 531)


def test_a_place_lies_where_mercator_puts_it() -> None:
    assert place_on_square(Domain.bbox(-180, -85, 0, 0, depth=1)) == [0.0, 0.5, 0.5, 1.0]
    left, top, right, bottom = place_on_square(Domain.image(640, 480))
    assert (left + right, top + bottom) == (1.0, 1.0)
    assert (right - left) / (bottom - top) == pytest.approx(640 / 480)


def test_grey_means_the_same_as_in_pictures(city: Release) -> None:
    """On the interactive map, in PNG, SVG and PDF: less than 1.645 standard deviations above nothing."""
    heat = city.heatmap(size=200)
    picture, figure = picture_of(heat), figure_of(heat)
    assert picture.clear is not None
    assert 0.05 < figure.raster.noise.mean() < 0.95
    assert (picture.clear == ~figure.raster.noise).all()
    assert figure.legend.name.endswith(f"; grey: {picture.quiet}")
    assert data_in(page(picture))["quiet"] == "within the noise"
    assert heat.std is not None
    clear = heat.values > 1.645 * heat.std  # by more draws, so not quite the same
    assert (picture.clear == clear).mean() > 0.9


def test_a_map_without_uncertainty_says_nothing_of_it(make_heat: MakeHeat) -> None:
    data = data_in(page(picture_of(make_heat(CITY))))
    assert data["std"] is data["clear"] is data["noise"] is None


def test_a_map_without_signal_does_not_glow(make_heat: MakeHeat) -> None:
    empty = picture_of(make_heat(IMAGE, np.ones((5, 7)), empty=True))
    assert empty.top == pytest.approx(4 * empty.values.max())
    assert "No signal above the noise" in empty.warnings[0]
    assert picture_of(make_heat(IMAGE)).top == picture_of(make_heat(IMAGE)).values.max()
