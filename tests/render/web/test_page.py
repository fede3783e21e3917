from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
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
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.content.words import keep_units
from dpheatmap.render.palette import LIGHT, band_colours
from dpheatmap.render.web.page import LIMIT, check_tiles, page, place_on_square
from render.conftest import bell

MakeHeat = Callable[..., Heatmap]
CITY, IMAGE = Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=12), Domain.image(7, 5)
OSM = "https://tile.openstreetmap.org/{z}/{x}/{y}.png"


def data_in(text: str) -> dict[str, object]:
    """The data that a page carries."""
    found = re.search(r'id="dpheatmap-data">([^<]*)</script>', text)
    assert found is not None
    data: dict[str, object] = json.loads(found[1])
    return data


def page_of(heat: Heatmap, look: Look | None = None, tiles: str | None = None) -> str:
    look = look or Look()
    return page(picture_of(heat, look), look, tiles=tiles)


def policy_of(text: str) -> dict[str, list[str]]:
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert found is not None
    return {rule.split()[0]: rule.split()[1:] for rule in html.unescape(found[1]).split("; ")}


def test_the_policy_allows_what_the_page_carries_and_nothing_else(make_heat: MakeHeat) -> None:
    text = page_of(make_heat(CITY))
    policy = policy_of(text)
    assert policy["default-src"] == ["'none'"]
    assert policy["connect-src"] == policy["worker-src"] == ["blob:"]
    assert policy["img-src"] == ["data:", "blob:"]
    assert policy["font-src"] == ["data:"]
    inline = re.findall(r"<script>(.*?)</script>", text, re.DOTALL) + re.findall(
        r"<style>(.*?)</style>", text, re.DOTALL
    )
    hashes = {f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'" for part in inline}
    assert hashes < {*policy["script-src"], *policy["style-src"]}
    assert len(policy["script-src"]) == 2
    assert not any("unsafe" in source for rule in policy.values() for source in rule)


def test_tiles_open_the_policy_for_their_host_alone(make_heat: MakeHeat) -> None:
    text = page_of(make_heat(CITY), tiles="https://tiles.example:8443/a/{z}/{x}/{y}.png?key=1")
    policy = policy_of(text)
    assert policy["connect-src"] == ["blob:", "https://tiles.example:8443"]
    assert policy["img-src"] == ["data:", "blob:", "https://tiles.example:8443"]
    assert data_in(text)["tiles"] == {
        "url": "https://tiles.example:8443/a/{z}/{x}/{y}.png?key=1",
        "credit": "Tiles: tiles.example",
    }
    osm = data_in(page_of(make_heat(CITY), tiles=OSM))["tiles"]
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
        page_of(make_heat(IMAGE), tiles=OSM)
    Image.new("RGB", (7, 5)).save(tmp_path / "photo.png")
    with pytest.raises(ParameterError, match="A background goes under a map of an image"):
        page_of(make_heat(CITY), Look(background=tmp_path / "photo.png"))
    (tmp_path / "text.png").write_text("no picture")
    for missing in ("text.png", "none.png"):
        with pytest.raises(DataError, match=r"can't be read as a picture\. Give a PNG|There is no picture"):
            page_of(make_heat(IMAGE), Look(background=tmp_path / missing))


def test_options_of_other_formats_are_refused(make_heat: MakeHeat, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"tiles is no option of \.csv files"):
        make_heat(CITY).save(tmp_path / "map.csv", tiles=OSM)
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_is_told_can_become_markup(make_heat: MakeHeat) -> None:
    evil = "</script><script>alert(1)</script><!-- & <img src=x onerror=alert(2)> \u2028"
    look = Look(title=evil, subtitle=evil, source=evil, what=evil, context_credit=evil)
    picture = replace(picture_of(make_heat(CITY), look), label={"who": evil})
    text = page(picture, look)
    assert text.count("alert(1)") >= 6
    assert "<script>alert" not in text
    assert "<img" not in text
    data = data_in(text)
    assert data["title"] == data["subtitle"] == evil
    assert data["label"] == [{"heading": "Who is protected", "text": evil}]
    assert evil in data["credits"]  # type: ignore[operator]


def test_however_large_and_rough_a_map_is_its_page_stays_small(make_heat: MakeHeat) -> None:
    domain = Domain.bbox(6.0, 50.0, 8.0, 52.0, depth=19)
    rough = np.random.default_rng(1).exponential(size=(1500, 1100)) ** 3
    picture = replace(picture_of(make_heat(domain, rough)), ranges=lambda: (rough[:256, :188], rough[:256, :188]))
    text = page(picture, Look())
    assert len(text.encode()) <= LIMIT
    data = data_in(text)
    assert (data["rows"], data["columns"]) == (362, 265)


def test_a_page_of_a_city_is_small(city: Release) -> None:
    assert len(page_of(city.heatmap(size=1024)).encode()) < 1_500_000


def test_a_page_says_what_pictures_say(city: Release) -> None:
    heat = city.heatmap(size=200)
    look = Look(title="Trips", subtitle="June", source="City Bikes", what="trips", colours="dark", style="smooth")
    picture, data = picture_of(heat, look), data_in(page_of(heat, look))
    words = keep_units(picture.words)
    assert [data[name] for name in ("title", "subtitle", "takeaway", "badge")] == [
        "Trips", "June", words.takeaway, words.badge,
    ]  # fmt: skip
    assert data["facts"] == list(words.facts)
    assert "Data: City Bikes." in words.facts
    assert data["edges"] == list(picture.edges)
    assert data["light"]["bands"] == band_colours(LIGHT.heat, len(picture.edges))  # type: ignore[index]
    assert (data["colours"], data["style"]) == ("dark", "smooth")
    assert data["legend"]["title"] == words.legend.title  # type: ignore[index]
    assert len(data["busiest"]) == len(picture.busiest) > 0  # type: ignore[arg-type]
    first = data["busiest"][0]  # type: ignore[index]
    assert 0 <= first["low"] < first["high"]
    assert "GeoNames CC BY 4.0" in data["credits"]  # type: ignore[operator]


def test_numbers_keep_their_units() -> None:
    heat = bell(IMAGE, 0.2)
    look = Look(source="a grid of 5 m")
    data = data_in(page_of(heat, look))
    assert data["facts"][-2:-1] == ["Data: a grid of 5\xa0m."]  # type: ignore[index]
    assert "7\xa0×\xa05\xa0px." in data["facts"]  # type: ignore[operator]
    assert "7 × 5 px." in picture_of(heat, look).words.facts, "elsewhere, words are plain"


def test_a_gradient_ends_at_the_largest_value_or_at_the_limits() -> None:
    heats = [bell(CITY, wide, sigma=2000.0) for wide in (0.1, 0.2)]
    alone = [data_in(page_of(heat))["top"] for heat in heats]
    assert alone == [pytest.approx(picture_of(heat).values.max()) for heat in heats]
    assert [data_in(page_of(heat, Look(style="smooth", limits=(1, 20))))["top"] for heat in heats] == [20, 20]


def test_ranges_and_clarity_have_grids_of_their_own(city: Release) -> None:
    data = data_in(page_of(city.heatmap(size=600)))
    for name in ("low", "high", "clarity"):
        packed = data[name]
        assert max(packed["rows"], packed["columns"]) == 256  # type: ignore[index]
    assert data["hatch"] is True


def test_without_a_basemap_a_page_has_no_ground(make_heat: MakeHeat) -> None:
    data = data_in(page_of(make_heat(CITY), Look(basemap=False)))
    assert data["basemap"] is None
    assert data["credits"] == ["dpheatmap"]


def test_somebody_s_own_map_goes_into_the_page(make_heat: MakeHeat, tmp_path: Path) -> None:
    ring = [[7.0, 50.92], [7.1, 50.92], [7.1, 50.98], [7.0, 50.98], [7.0, 50.92]]
    park = {"type": "Feature", "properties": {"leisure": "park", "name": "Königsforst"},
            "geometry": {"type": "Polygon", "coordinates": [ring]}}  # fmt: skip
    (tmp_path / "own.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [park]}))
    look = Look(context=(str(tmp_path / "own.geojson"),), context_credit="Stadt Köln")
    data = data_in(page_of(make_heat(CITY), look))
    layers: list[dict[str, str]] = data["context"]  # type: ignore[assignment]
    (layer,) = layers
    assert (layer["name"], layer["kind"]) == ("own", "park")
    carried = json.loads(zlib.decompress(base64.b64decode(layer["data"])))
    assert carried["features"][0]["properties"]["name"] == "Königsforst"
    assert "Stadt Köln" in data["credits"]  # type: ignore[operator]


def test_a_place_lies_where_mercator_puts_it() -> None:
    assert place_on_square(Domain.bbox(-180, -85, 0, 0, depth=1)) == [0.0, 0.5, 0.5, 1.0]
    left, top, right, bottom = place_on_square(Domain.image(640, 480))
    assert (left + right, top + bottom) == (1.0, 1.0)
    assert (right - left) / (bottom - top) == pytest.approx(640 / 480)


def test_a_map_without_uncertainty_says_nothing_of_it(make_heat: MakeHeat) -> None:
    data = data_in(page_of(make_heat(CITY)))
    assert data["low"] is data["high"] is data["clarity"] is None
    assert data["legend"]["notes"] == ["How sure this is, is not known."]  # type: ignore[index]


def test_a_map_without_signal_does_not_glow(make_heat: MakeHeat) -> None:
    data = data_in(page_of(make_heat(IMAGE, np.ones((5, 7)), uniform=True)))
    assert data["edges"] == []
    assert data["nothing"]["heading"] == "No place stands out from the noise"  # type: ignore[index]
    assert data["busiest"] == []
