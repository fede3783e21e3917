"""Pictures of series: small maps on one scale, a chart of the volumes, and animations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.series import Series
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.changes import picture_of_difference
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import on_one_scale
from dpheatmap.render.content.series_picture import NOTHING, picture_of_series, words_on
from dpheatmap.render.figure.page_layout import SCALE
from dpheatmap.render.figure.series_sheet import SeriesSheet, sheet_of
from dpheatmap.render.figure.series_slides import slides_of
from dpheatmap.render.figure.volume_chart import VolumeChart
from dpheatmap.render.palette import LIGHT, rgb_of
from dpheatmap.slicing.period import WEEKDAYS
from helpers.sliced import series_of_days, sliced
from render.figure.record import Record, lies_in, touch

CITY = Domain.bbox(7.30, 46.90, 7.50, 47.02, resolution=500)
TRIANGLE = {"type": "Polygon", "coordinates": [[[7.3, 46.9], [7.5, 46.9], [7.4, 47.02], [7.3, 46.9]]]}

NAMES = tuple(day.capitalize() for day in WEEKDAYS)
"""The days as sheets call them."""


@pytest.fixture(scope="module")
def series() -> Series:
    return series_of_days(CITY, 64)


@pytest.fixture(scope="module")
def sheet(series: Series) -> SeriesSheet:
    return sheet_of(series)


@pytest.fixture(scope="module")
def drawn(sheet: SeriesSheet) -> Record:
    return sheet.draw(Record)


def test_all_maps_have_one_scale(series: Series, sheet: SeriesSheet) -> None:
    assert {picture.edges for picture in sheet.content.pictures} == {sheet.picture.edges}
    assert {picture.unit for picture in sheet.content.pictures} == {sheet.picture.unit}
    alone = [on_one_scale([heat], [Look()])[0] for heat in series.values()]
    assert len({picture.edges for picture in alone}) > 1
    assert "One scale for all maps" in sheet.picture.words.legend.notes


def test_a_map_of_noise_does_not_set_the_scale(series: Series) -> None:
    """The highest value of a map on which nothing stands out is noise."""
    noise = series["sun"]
    loud = replace(noise, values=np.where(np.arange(noise.values.size).reshape(noise.values.shape) == 99, 0.9, 1e-6))
    assert loud.empty
    one, other = on_one_scale([series["fri"], loud], [Look(), Look()])
    assert one.edges == other.edges == on_one_scale([series["fri"]], [Look()])[0].edges


def test_every_map_has_its_name_above_it_and_none_touches_another(sheet: SeriesSheet, drawn: Record) -> None:
    boxes = [panel.box for panel in sheet.panels]
    for name, box in zip(NAMES, boxes, strict=True):
        assert any(
            text.words == name and text.x == box.left and box.top - 30 < text.y < box.top for text in drawn.texts
        )
    assert [box for box in drawn.images if box in boxes] == boxes
    assert not any(touch(one, other) for k, one in enumerate(boxes) for other in boxes[:k])
    assert all(lies_in(box, sheet.layout.map) for box in boxes)


def test_a_slice_without_signal_says_so_and_has_no_heat(sheet: SeriesSheet, drawn: Record) -> None:
    bare = [not picture.painted for picture in sheet.content.pictures]
    assert bare == [False] * 6 + [True]
    assert [text.words for text in drawn.texts].count(NOTHING) == 1
    said = drawn.said(NOTHING)
    assert lies_in(said.area, sheet.panels[6].box)
    colours = np.unique(sheet.panels[6].pixels().reshape(-1, 3), axis=0)
    swatch = np.array(rgb_of(sheet.map.inks.swatches[0]))
    assert np.abs(colours - swatch).sum(axis=1).min() > 20
    assert "No place stands out on Sun." in sheet.picture.words.takeaway


def test_a_faint_slice_says_that_all_of_it_lies_below_the_scale(series: Series) -> None:
    faint = on_one_scale([series["mon"]], [Look(limits=(20000, 50000))])[0]
    assert faint.painted
    assert words_on(faint) == "all under 20,000"
    assert words_on(on_one_scale([series["mon"]], [Look()])[0]) == ""


def test_one_map_has_the_scale_bar_and_the_names(sheet: SeriesSheet) -> None:
    assert [panel.ground.scale_bar is not None for panel in sheet.panels] == [True] + [False] * 6
    assert not any(panel.ground.ground.names for panel in sheet.panels[1:])


def test_the_words_tell_slices_volumes_and_the_promise_for_all(series: Series, sheet: SeriesSheet) -> None:
    words = sheet.picture.words
    assert words.subtitle == "By weekday, clocks of UTC"
    assert words.takeaway.startswith("Busiest on Fri, with ")
    assert " of every 100 people. Quietest on Sun." in words.takeaway
    assert words.badge == "Not private"
    private = replace(series, release=replace(series.release, seeded=False))
    assert sheet_of(private).picture.words.badge == "Private · ε = 2 per person for all 7 together"
    assert words.facts[0] == "Each person counts once over all slices, in parts if seen in several."
    alone = on_one_scale([series["fri"]], [Look()])[0].words.facts[0]
    assert alone == "Each person counts at most once in a slice."
    apart = sheet_of(replace(series, release=replace(series.release, split="epsilon"))).picture.words.facts[0]
    assert apart == "Each person counts up to once in each slice."
    named = sheet_of(series, Look(title="Riders", subtitle="June", source="City Bikes")).picture.words
    assert (named.title, named.subtitle) == ("Riders", "June")
    assert {"Slices by weekday, clocks of UTC.", "Data: City Bikes."} <= set(named.facts)


def test_numbers_of_people_are_shown_in_people(series: Series) -> None:
    people = sheet_of(series.in_people()).picture
    assert people.words.legend.title.startswith("How many people are in")
    low, high = series.volumes.interval(0.9)
    said = people.words.takeaway.split("with ")[1].split(" people")[0]
    first, last = (float(end.replace(",", "")) for end in said.split(" to "))
    assert first <= low[4] + 1
    assert last >= high[4] - 1


def test_the_chart_has_a_range_a_dot_and_a_name_for_each_slice(sheet: SeriesSheet, drawn: Record) -> None:
    ranges = [box for box, colour in drawn.fills if colour == rgb_of(LIGHT.faint) and box.top > sheet.layout.map.bottom]
    assert len(ranges) == 7
    heights = [box.height for box in ranges]
    low, high = sheet.content.volumes.ranges
    assert heights == pytest.approx(heights[0] * (high - low) / (high - low)[0], abs=3)  # rounded to pixels
    below = [text.words for text in drawn.texts if text.y > max(box.bottom for box in ranges)]
    assert [word for word in below if word in NAMES] == list(NAMES)
    assert all(lies_in(text.area, (0, 0, *drawn.size)) for text in drawn.texts)


def test_names_below_the_chart_never_touch() -> None:
    for axis_of in ({"groups": ("bike", "walk")}, {"groups": ("bike", "walk"), "times": False}):
        made = sliced(Domain.unit(4), people=300, **axis_of).heatmap(size=16)
        chart = VolumeChart(picture_of_series(made, Look(), 24).volumes)
        canvas = Record(2000, 1000, (0, 0, 0))
        chart.draw(canvas, 0.0, LIGHT, sheet_of(made).map.inks)
        bottom = max(text.y for text in canvas.texts)
        areas = [text.area for text in canvas.texts if text.y == bottom]
        assert len(areas) >= 2
        assert not any(touch(one, other) for k, one in enumerate(areas) for other in areas[:k])


@pytest.mark.parametrize(
    "domain", [Domain.image(64, 48), Domain.unit(4), Domain.polygon(TRIANGLE, resolution=500), Domain.image(20, 200)],
    ids=["image", "unit square", "region", "tall"],
)  # fmt: skip
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_sheet_is_drawn_of_every_kind_of_place(domain: Domain, colours: str, photo: Path) -> None:
    made = sliced(domain, people=300, groups=("bike", "walk"), times=False).heatmap(size=32)
    background = photo if domain.extent[2:] == (64, 48) else None
    sheet = sheet_of(made, Look(colours=colours, background=background))
    canvas = sheet.draw(Record)
    assert len(sheet.panels) == 2
    assert all(lies_in(text.area, (0, 0, *canvas.size)) for text in canvas.texts)
    assert sheet.layout.height < SCALE * 1700


def test_slides_differ_in_the_map_its_name_and_the_mark_alone(series: Series) -> None:
    slides = list(slides_of(picture_of_series(series, Look(), 200), Look()))
    assert len({(slide.layout.map, slide.layout.height) for slide in slides}) == 1
    for number, (slide, name) in enumerate(zip(slides, NAMES, strict=True)):
        drawn = slide.draw(Record)
        label = drawn.said(name if number < 6 else f"Sun: {NOTHING}")
        assert lies_in(label.area, slide.layout.map) or number < 6
        assert isinstance(slide.chart, VolumeChart)
        assert slide.chart.marked == number


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_an_animation_has_a_frame_for_each_slice(series: Series, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"week{suffix}"
    series.save(path, title="Week")
    with Image.open(path) as picture:
        assert getattr(picture, "n_frames", 1) == 7
        assert picture.width == 760
        picture.seek(1)
        picture.load()
        assert picture.info["duration"] == 800
        assert picture.convert("RGB").getpixel((2, picture.height - 2)) == rgb_of(LIGHT.page)
    assert path.stat().st_size < 2e6
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_an_animation_is_written_whole_or_not_at_all(
    series: Series, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "week.gif"
    path.write_bytes(b"before")
    calls = iter(range(9))

    def break_off(*_: object) -> None:
        if next(calls) == 8:
            raise RuntimeError("broken off")

    monkeypatch.setattr("dpheatmap.render.figure.series_slides.NameMark.draw_under_names", break_off)
    with pytest.raises(RuntimeError, match="broken off"):
        series.save(path)
    assert path.read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == ["week.gif"]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_pictures_hold_the_words(series: Series, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"week{suffix}"
    series.save(path, title="A week of riders", colours="dark")
    if suffix == ".png":
        with Image.open(path) as picture:
            assert picture.width == 1520
    elif suffix == ".svg":
        text = path.read_text("utf-8")
        assert all(word in text for word in ("A week of riders", *NAMES, NOTHING))
        assert text.count("<image") >= 7
    else:
        assert path.read_bytes().startswith(b"%PDF")


def test_a_difference_of_slices_costs_one_release_and_names_both(series: Series) -> None:
    change = series.difference("sat", "fri")
    assert change.names == ("on Sat", "on Fri")
    words = picture_of_difference(change).words
    assert "Both are slices of one release: epsilon = 2 per person" in " ".join(words.facts)
    private = replace(change, before=replace(change.before, seeded=False), after=replace(change.after, seeded=False))
    assert picture_of_difference(private).words.badge == "Private · ε = 2 per person for both maps"
    assert "add up" not in picture_of_difference(private).label["how_strongly"]


def test_pictures_refuse_what_they_cant_draw(series: Series, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="background"):
        series.save(tmp_path / "week.png", background="pitch")
    assert not list(tmp_path.iterdir())
