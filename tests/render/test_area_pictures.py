"""Pictures and pages of areas: bands by density, order by number, and words that say who leads and how sure it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pytest
import shapely
from PIL import Image

import dpheatmap as dph
from dpheatmap.errors import ParameterError
from dpheatmap.render.content.area_picture import EN_DASH, AreaContent, content_of_areas
from dpheatmap.render.content.look import Look
from dpheatmap.render.figure.areas_map import figure_of_areas
from dpheatmap.render.figure.page_layout import SCALE
from dpheatmap.render.figure.rank_chart import MOST_ROWS, RankChart
from dpheatmap.render.palette import LIGHT, rgb_of
from dpheatmap.render.web.page import areas_data
from dpheatmap.testing import generated_people, seeded_release
from render.figure.record import record

CITY = dph.Domain.bbox(7.30, 46.90, 7.50, 47.02, resolution=100)
SCREEN = dph.Domain.image(640, 480)


def released(domain: dph.Domain, people: int = 3000, epsilon: float = 2) -> dph.Release:
    table = generated_people(people, extent=domain.extent)
    return seeded_release(table, domain, seed=2, epsilon=epsilon, user="person", x="x", y="y")


def tiles(domain: dph.Domain, across: int = 4) -> dict[str, tuple[float, float, float, float]]:
    x0, y0, x1, y1 = domain.extent
    wide, high = (x1 - x0) / across, (y1 - y0) / across
    return {
        f"Q{i}{j}": (x0 + i * wide, y0 + j * high, x0 + (i + 1) * wide, y0 + (j + 1) * high)
        for i in range(across)
        for j in range(across)
    }


@pytest.fixture(scope="module")
def release() -> dph.Release:
    return released(CITY)


@pytest.fixture(scope="module")
def table(release: dph.Release) -> Any:
    return release.areas(tiles(CITY))


@pytest.mark.parametrize("values", ["share", "people"])
def test_areas_are_ranked_by_number_and_coloured_by_density(release: dph.Release, table: Any, values: str) -> None:
    content = content_of_areas(release, table, values=values)
    assert [area.name for area in content.areas] == table.sort_values("rank")["area"].tolist()
    by_name = table.set_index("area")
    for area, band in zip(content.areas, content.bands, strict=True):
        people = by_name["people"][area.name]
        if values == "people":
            assert (area.value, area.low) == pytest.approx((people, by_name["people_low"][area.name]))
            assert area.density == pytest.approx(by_name["per_km2"][area.name] / 1e6)
        told = area.density * content.picture.unit.factor
        expected = sum(told >= edge for edge in content.picture.edges) - 1
        assert band == (expected if area.is_told else -1)
    assert max(content.bands) == len(content.picture.edges) - 1


def test_the_map_s_pixels_are_those_of_areas(release: dph.Release, table: Any) -> None:
    content = content_of_areas(release, table)
    values = content.picture.values
    rows, columns = values.shape
    first = content.areas[0]
    ring = np.concatenate(first.rings)
    finest = CITY.cells(CITY.depth)
    x, y = (ring.mean(axis=0) * 2**CITY.depth - [finest.x0, finest.y0]) / [finest.columns, finest.rows]
    assert values[int(y * rows), int(x * columns)] == pytest.approx(first.density * content.picture.unit.factor)
    assert len(np.unique(values)) <= len(content.areas) + 1


def content_with(ranges: list[tuple[float, ...]], release: dph.Release, table: Any) -> AreaContent:
    """The content of areas with these ranges of people, and a value in their middle unless it is told."""
    some = table.head(len(ranges)).copy()
    for k, (low, high, *told) in enumerate(ranges):
        value = told[0] if told else (low + high) / 2
        some.loc[some.index[k], ["people", "people_low", "people_high"]] = value, low, high
    return content_of_areas(release, some, values="people")


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ([(90, 110), (10, 20), (12, 30)], "Q00 is clearly first, with 90 to 110 people."),
        ([(90, 110), (80, 95), (12, 30)], "Q00 and Q01 lead. Their ranges overlap, so which of them is first is not"),
        ([(90, 110), (80, 95), (70, 91), (1, 2)], "Q00, Q01 and Q02 lead."),
        ([(90, 110)] * 6, "Q00, Q01, Q02 and 3 others lead."),
        ([(0, 10, 3)] * 2, "No area stands out from the noise."),
    ],
)
def test_the_takeaway_says_who_leads(
    ranges: list[tuple[float, ...]], words: str, release: dph.Release, table: Any
) -> None:
    assert content_with(ranges, release, table).picture.words.takeaway.startswith(words)


def test_areas_of_which_nothing_can_be_told_are_bare_and_say_so(release: dph.Release, table: Any) -> None:
    content = content_with([(90, 110), (0, 30, 5)], release, table)
    assert content.bands[1] == -1
    assert content.areas[1].range_in_words == "too small to tell"
    assert content.areas[1].rank_in_words == ""
    nothing = content_with([(0, 10, 3)] * 2, release, table)
    assert nothing.picture.words.nothing is not None


@pytest.mark.parametrize("across", [2, 4, 8, 16])
def test_one_base_for_the_whole_sheet_is_that_of_the_largest(release: dph.Release, across: int) -> None:
    content = content_of_areas(release, release.areas(tiles(CITY, across)))
    words = content.picture.words
    base = int(content.counted.removeprefix("Of every ").removesuffix(" people").replace(",", ""))
    assert 10 <= content.areas[0].value <= base <= 1000
    assert words.legend.title.startswith(f"{content.counted}, how many are in")
    assert RankChart(content)._title.startswith(f"{content.counted}, how many are in the area")
    assert all(edge == round(edge) for edge in content.picture.edges)


def test_small_shares_have_decimals(release: dph.Release, table: Any) -> None:
    some = table.head(4).copy()
    some[["share", "low", "high"]] = [
        (0.7, 0.68, 0.72),
        (0.0025, 0.00221, 0.00279),
        (0.0006, 0.00001, 0.00098),
        (0.05, 0.04, 0.06),
    ]
    content = content_of_areas(release, some)
    assert content.counted == "Of every 1,000 people"
    told = [area.range_in_words.replace(EN_DASH, " to ") for area in content.areas]
    assert told == ["680 to 720", "40 to 60", "2.2 to 2.8", "under 1"]
    assert content.sentence_of(content.areas[3]) == "Under 1 of every 1,000 people"


@pytest.mark.parametrize(
    ("ranges", "by_ratios"),
    [
        ([(7229, 7363), (60, 90), (1, 11)], True),
        ([(90, 110), (40, 60)], False),
        ([(900, 1100), (0, 10)], False),
        ([(100, 120), (3, 5)], True),
    ],
)
def test_the_scale_of_the_chart_holds_every_range(
    ranges: list[tuple[float, ...]], by_ratios: bool, release: dph.Release, table: Any
) -> None:
    chart = RankChart(content_with(ranges, release, table))
    low, high = chart._ends
    assert low <= min(low for low, _ in ranges)
    assert high >= max(high for _, high in ranges)
    assert chart._at(low) == pytest.approx(chart._plot_left)
    assert [chart._at(low) for low, _ in ranges] == sorted({chart._at(low) for low, _ in ranges}, reverse=True)
    assert ("The scale is logarithmic." in " ".join(chart._notes)) == by_ratios == chart.is_by_ratios
    assert 2 <= len(chart._ticks) <= 8
    assert not by_ratios or (chart._ticks[0], chart._ticks[-1]) == (low, high)


def test_the_chart_has_room_for_long_names(release: dph.Release, table: Any) -> None:
    some = table.head(2).copy()
    some["area"] = ["Community District 12 of Manhattan", "b"]
    words = [text.words for text in record(figure_of_areas(release, some, Look(basemap=False))).texts]
    assert "Community District 12 of Manhattan" in words


def test_numbers_on_the_map_are_said_to_be_ranks(release: dph.Release, table: Any) -> None:
    figure = figure_of_areas(release, table, Look(basemap=False))
    drawn = record(figure)
    assert "Numbers on the map are ranks, as in the chart below" in [text.words for text in drawn.texts]
    ranks = [text for text in drawn.texts if text.words.isdigit() and text.halo]
    assert {text.words for text in ranks} <= {str(rank) for rank in range(1, 11)}
    assert len(ranks) >= 3
    assert {text.colour for text in ranks} == {rgb_of(LIGHT.ink)}  # readable on every band, and on water
    tiny = release.areas({name: (x, y, x + 0.002, y + 0.001) for name, (x, y, *_) in tiles(CITY).items()})
    assert not any("ranks" in note for note in figure_of_areas(release, tiny).picture.words.legend.notes)


@pytest.mark.parametrize("values", ["share", "people"])
def test_what_can_not_be_told_is_not_ranked(values: str, release: dph.Release) -> None:
    weak = released(CITY, people=20, epsilon=0.1)
    figure = figure_of_areas(weak, weak.areas(tiles(CITY, 8)), Look(basemap=False), values=values)
    said = " ".join(text.words for text in record(figure).texts)
    assert "No area stands out from the noise" in said
    assert "Not known: whoever is there is hidden by the noise" in said
    assert "Q00" not in said
    assert "Under" not in said
    some = content_of_areas(weak, weak.areas(tiles(CITY, 8)), values=values)
    assert [area.name for area in some.areas] == list(tiles(CITY, 8))


def test_only_areas_that_can_be_told_have_a_rank(release: dph.Release, table: Any) -> None:
    content = content_with([(0, 300, 50), (90, 110), (10, 20)], release, table)
    assert [area.name for area in content.areas] == ["Q01", "Q02", "Q00"]
    figure = figure_of_areas(release, table.head(3), Look(basemap=False))
    drawn = record(replace(figure, picture=content.picture, chart=RankChart(content)))
    row = {text.words: text.y for text in drawn.texts}
    assert row["Q00"] == row["too small to tell"]
    assert not any(text.words == "3" and text.y == row["Q00"] for text in drawn.texts)


def test_over_a_picture_areas_let_it_shine_through(tmp_path: Path) -> None:
    Image.fromarray(np.full((480, 640, 3), 200, np.uint8)).save(tmp_path / "bg.png")
    made, look = released(SCREEN), Look(background=tmp_path / "bg.png")
    table = made.areas(tiles(SCREEN))
    opacity = areas_data(content_of_areas(made, table, look), look)["light"]["opacity"]
    assert (min(opacity), max(opacity)) == (0.50, 0.74)
    figure = figure_of_areas(made, table, look)
    assert (min(figure._inks.opacities), max(figure._inks.opacities)) == (0.50, 0.74)
    shares = np.array([area.density for area in content_of_areas(made, table, look).areas])
    content = content_of_areas(made, table, look)
    assert content.picture.edges[0] >= 0.99 * shares.max() * content.picture.unit.factor / 8


def test_the_chart_lists_the_first_ones(release: dph.Release) -> None:
    content = content_of_areas(release, release.areas(tiles(CITY, 6)), values="people")
    chart = RankChart(content)
    assert len(chart.shown) == MOST_ROWS
    assert chart._title == "People in the area, with the range of each"
    assert chart._notes[0].startswith("The 20 largest of 36 areas. About 9 in 10 such ranges hold the truth.")
    places = [chart._at(area.value) for area in chart.shown]
    assert places == sorted(places, reverse=True)
    assert all(chart._at(tick) >= chart._at(chart._ends[0]) for tick in chart._ticks)
    assert 2 <= len(chart._ticks) <= 12


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("domain", [CITY, SCREEN, dph.Domain.unit(6)], ids=["ground", "image", "unit"])
def test_pictures_of_every_kind_of_place(domain: dph.Domain, colours: str, tmp_path: Path) -> None:
    made = released(domain)
    for suffix in (".png", ".svg", ".pdf"):
        made.save_areas(tiles(domain), tmp_path / f"a{suffix}", colours=colours, values="people", title="By quarter")
        assert (tmp_path / f"a{suffix}").stat().st_size > 5000
    picture = np.asarray(Image.open(tmp_path / "a.png").convert("RGB"))
    assert picture.shape[1] == SCALE * 760
    assert "By quarter" in (tmp_path / "a.svg").read_text()


def test_painted_areas_have_their_colour_and_white_borders(release: dph.Release, table: Any) -> None:
    figure = figure_of_areas(release, table, Look(basemap=False))
    pixels = figure.map_pixels()
    swatches = {rgb_of(colour) for colour in figure._inks.swatches}
    shown = {tuple(colour) for colour in pixels[::7, ::7].reshape(-1, 3).tolist()}
    near = [
        any(
            max(abs(a - b) for a, b in zip(colour, swatch, strict=True)) <= 2
            for swatch in (*swatches, rgb_of(LIGHT.land))
        )
        for colour in shown
    ]
    assert np.mean(near) > 0.6  # the rest is hatched or at an edge


def test_the_page_shows_areas_first(release: dph.Release, table: Any, tmp_path: Path) -> None:
    release.save_areas(tiles(CITY), tmp_path / "a.html", values="people")
    text = (tmp_path / "a.html").read_text()
    data = json.loads(text.partition('id="dpheatmap-data">')[2].partition("</script>")[0])
    areas = data["areas"]
    assert [area["name"] for area in areas["areas"]] == table.sort_values("rank")["area"].tolist()
    assert areas["counted"] == "People"
    assert areas["takeaway"].startswith(areas["areas"][0]["name"])
    assert areas["title"] == "Where people are, by area"
    assert not any("Smoothed" in fact for fact in areas["facts"])
    assert any("Smoothed" in fact for fact in data["facts"])  # where the heat is shown
    assert "<title>Where people are, by area</title>" in text
    first = np.cumsum(np.array(areas["areas"][0]["rings"][0]).reshape(-1, 2), axis=0) / 1e5
    assert (first >= -1e-3).all()
    assert (first <= 1.001).all()
    assert len(text) < 1_500_000


def test_names_of_areas_can_not_become_markup(release: dph.Release, tmp_path: Path) -> None:
    nasty = {"</script><script>alert(1)</script>": (7.3, 46.9, 7.4, 47.0), "b": (7.4, 46.9, 7.5, 47.0)}
    release.save_areas(nasty, tmp_path / "a.html")
    assert "<script>alert" not in (tmp_path / "a.html").read_text()
    release.save_areas(nasty, tmp_path / "a.svg")
    assert "<script>alert" not in (tmp_path / "a.svg").read_text()


def test_holes_and_parts_are_drawn_as_they_count(release: dph.Release) -> None:
    ring = shapely.box(7.32, 46.92, 7.46, 47.0) - shapely.box(7.36, 46.94, 7.42, 46.98)
    frame = geopandas.GeoDataFrame({"name": ["ring"]}, geometry=[ring], crs=4326)
    content = content_of_areas(release, release.areas(frame))
    rows, columns = content.picture.values.shape
    inside = content.picture.values > 0
    assert not inside[rows // 2, int(columns * 0.45)]  # the hole
    assert inside.mean() == pytest.approx(ring.area / (0.2 * 0.12), rel=0.05)


def test_what_does_not_fit_is_refused(release: dph.Release, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="must be one of"):
        release.save_areas(tiles(CITY), tmp_path / "a.xlsx")
    with pytest.raises(ParameterError, match="values must be"):
        release.save_areas(tiles(CITY), tmp_path / "a.png", values="shares")
    release.save_areas(tiles(CITY), tmp_path / "a.csv", confidence=0.8)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_areas_data_keeps_what_is_rough(release: dph.Release, table: Any) -> None:
    content = content_of_areas(release, table)
    data = areas_data(content, Look())
    assert [area["rough"] for area in data["areas"]] == [area.is_rough for area in content.areas]
    assert data["legend"]["title"].endswith(", on average over the area")


def test_pictures_say_how_sure_their_ranges_are(release: dph.Release, tmp_path: Path) -> None:
    release.save_areas(tiles(CITY), tmp_path / "a.svg", confidence=0.99)
    assert "99 in 100 such ranges hold the truth" in (tmp_path / "a.svg").read_text()
    content = content_of_areas(release, release.areas(tiles(CITY), confidence=0.8))
    assert areas_data(content, Look())["caption"].endswith("8 in 10 such ranges hold the truth.")


def test_what_is_outside_is_not_shown(release: dph.Release) -> None:
    content = content_of_areas(release, release.areas({"out": (0, 0, 1, 1), **tiles(CITY)}))
    assert len(content.areas) == len(tiles(CITY))
    assert "out" not in [area.name for area in content.areas]
