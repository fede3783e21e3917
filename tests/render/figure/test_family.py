"""Heatmaps, differences and places are one family: one frame, one set of sizes, one small print, one badge."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import dpheatmap
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.places import kmedian
from dpheatmap.heatmap.differences import Difference
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.releases.release import Release
from dpheatmap.render.figure.canvas import Box
from dpheatmap.render.figure.change import figure_of_difference
from dpheatmap.render.figure.colour import scale_in_oklab
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.figure.lettering import Colour, text_width
from dpheatmap.render.figure.place_marks import PlaceMarks
from dpheatmap.render.figure.places_map import figure_of_places
from dpheatmap.render.figure.scale import Balance
from dpheatmap.testing import generated_people, seeded_release
from render.conftest import CITY, SCREEN, MakeHeat, blob

OTHERS = ("difference", "places")
GREY = (217, 218, 222)


class Text(NamedTuple):
    """A text as it was drawn."""

    x: float
    y: float
    words: str
    size: float
    colour: Colour


class Record:
    """A canvas that remembers what was drawn on it."""

    def __init__(self, width: int, height: int, colour: Colour) -> None:
        self.size = width, height
        self.images: list[Box] = []
        self.fills: list[tuple[Box, Colour]] = []
        self.strokes: list[tuple[float, Colour]] = []
        self.texts: list[Text] = []

    def image(self, pixels: NDArray[np.uint8], box: Box) -> None:
        assert pixels.shape == (box.bottom - box.top, box.right - box.left, 3)
        self.images.append(box)

    def fill(self, box: Box, colour: Colour) -> None:
        self.fills.append((box, colour))

    def lines(self, lines: Sequence[Floats], inside: Box, *, width: float, colour: Colour, opacity: float) -> None:
        self.strokes.append((width, colour))

    def text(
        self, x: float, y: float, text: str, *, size: float, colour: Colour, align: float = 0.0,
        halo: Colour | None = None,
    ) -> None:  # fmt: skip
        self.texts.append(Text(x, y, text, size, colour))

    def said(self, words: str) -> Text:
        """The first text that starts with these words."""
        return next(text for text in self.texts if text.words.startswith(words))


def family_of(domain: Domain) -> dict[str, Figure]:
    """The figures of a heatmap, a difference and places, of one place and as many pixels."""
    people = (generated_people(n, extent=domain.extent, seed=n) for n in (800, 1500))
    before, after = (dpheatmap.release(p, domain, epsilon=2, user="person", x="x", y="y") for p in people)
    return {
        "heat": figure_of(after.heatmap()),
        "difference": figure_of_difference(dpheatmap.difference(after, before)),
        "places": figure_of_places(kmedian(after, 3)),
    }


@pytest.fixture(scope="module", params=[CITY, SCREEN, Domain.image(60, 200)], ids=["city", "screen", "strip"])
def family(request: pytest.FixtureRequest) -> dict[str, Figure]:
    return family_of(request.param)


@pytest.mark.parametrize("other", OTHERS)
def test_the_frame_is_the_same(family: dict[str, Figure], other: str) -> None:
    """The map, its margins and its ticks, the title, the legend, the badge and the small print begin in one place."""
    one, two = family["heat"].place, family[other].place
    assert (one.map, one.title, one.across, one.down) == (two.map, two.title, two.across, two.down)
    assert (one.legend_at, one.bar, one.strip) == (two.legend_at, two.bar, two.strip)
    assert one.badge[:2] == two.badge[:2]
    assert one.badge.bottom == two.badge.bottom
    assert one.note(0) == two.note(0)
    assert one.px(100) == two.px(100)
    assert one.credit == two.credit


def test_places_have_the_small_print_and_the_badge_of_their_heatmap(family: dict[str, Figure]) -> None:
    heat, places = family["heat"].place, family["places"].place
    assert places.notes == heat.notes
    assert places.badge == heat.badge
    assert family["places"].words.badge == "Private · ε = 2 per person"


@pytest.mark.parametrize("other", OTHERS)
def test_the_margins_are_the_same(family: dict[str, Figure], other: str) -> None:
    """To the right of the last thing, and below the last line."""
    for figure in (family["heat"], family[other]):
        place = figure.place
        lines = [place.legend_at[0] + round(text_width(note, place.px(19))) for note in place.notes]
        ends = [*lines, place.badge.right, place.right, place._legend_end, place._last_label]
        ends.append(place.left + round(text_width(figure.words.title, place.px(40))))
        bar = place.scale_bar
        assert place.width == max(ends + ([bar.left + bar.width] if bar else [])) + place.px(44)
        last = max(place.note(len(place.notes) - 1), place.bottom + place.px(32))
        assert place.height == last + place.px(44)


def parts(figure: Figure, drawn: Record) -> list[Text]:
    """Title, name of the legend, badge and the first line of the small print."""
    words = (figure.words.title, figure.legend.name, figure.words.badge, figure.place.notes[0])
    return [drawn.said(each) for each in words]


@pytest.mark.parametrize("other", OTHERS)
def test_letters_and_strokes_are_the_same(family: dict[str, Figure], other: str) -> None:
    one, two = (family[name].draw(Record) for name in ("heat", other))
    for a, b in zip(parts(family["heat"], one), parts(family[other], two), strict=True):
        assert (a.x, a.y, a.size, a.colour) == (b.x, b.y, b.size, b.colour)
    place = family["heat"].place
    assert {text.size for text in one.texts} == {place.px(40), place.px(21), place.px(19)}
    assert {text.size for text in two.texts} - {place.px(1.2 * 21)} == {text.size for text in one.texts}
    assert one.images == two.images
    edges = [box for box, colour in one.fills if colour == (30, 30, 38) and box.bottom - box.top > place.px(20)]
    assert edges
    assert all((box, (30, 30, 38)) in two.fills for box in edges)
    assert {width for width, _ in one.strokes} <= {width for width, _ in two.strokes}


def test_the_badge_tells_the_promise(make_heat: MakeHeat) -> None:
    a, b = (make_heat(SCREEN, values) for values in np.random.default_rng(0).random((2, 48, 64)))
    assert figure_of(a).words.badge == "Private · ε = 1/3 per person"
    assert figure_of_difference(Difference(a, b)).words.badge == "Private · ε = 2/3 per person for both maps"
    green, red = (234, 241, 236), (200, 16, 32)
    seeded = replace(b, seeded=True)
    for figure, colour in (
        (figure_of(a), green),
        (figure_of(seeded), red),
        (figure_of_difference(Difference(a, b)), green),
        (figure_of_difference(Difference(seeded, a)), red),
    ):
        assert (figure.place.badge, colour) in figure.draw(Record).fills
        assert (figure.words.badge == "Not private") == (colour == red)


# Differences


def test_changes_have_colours_about_zero() -> None:
    scale = Balance("% of people per km²", 4.0)
    ticks = scale.ticks(440, lambda text: 12.0 * len(text))
    assert [tick.label for tick in ticks] == ["\N{MINUS SIGN}4", "\N{MINUS SIGN}2", "0", "2", "4"]
    assert [tick.at for tick in ticks] == pytest.approx([0, 110, 220, 330, 440])
    strip = scale.strip(257, 2).astype(int)
    blue, white, brown = strip[0, 0], strip[0, 128], strip[0, -1]
    assert blue[2] > blue[0]
    assert brown[0] > brown[2]
    assert white.min() > 235
    lightness = scale_in_oklab("balance")[:, 0]
    assert lightness == pytest.approx(lightness[::-1], abs=0.02), "as dark on either side"
    values = np.array([[-4.0, 0.0, 4.0, 1.0]])
    painted = scale.paint(values, values == 1.0)
    assert painted[0, :3, :3].tolist() == [blue.tolist(), white.tolist(), brown.tolist()]
    assert painted[0, 3].tolist() == [*GREY, 255]


def test_a_difference_is_drawn_where_it_is(make_heat: MakeHeat) -> None:
    values = np.ones((2, 48, 64))
    values[0, :24], values[1, 24:] = 2, 3
    change = Difference(*(make_heat(SCREEN, value, sigma=1e-9, std=np.full((48, 64), 1e-9)) for value in values))
    figure = figure_of_difference(change)
    pixels = figure.map_pixels().astype(int)
    half = pixels.shape[0] // 2
    assert (pixels[:half, :, 2] > pixels[:half, :, 0]).all(), "fewer at the top: blue"
    assert (pixels[half:, :, 0] > pixels[half:, :, 2]).all(), "more below: brown"
    assert figure.legend.name.endswith(", B minus A, linear scale; grey: within the noise")


def test_changes_within_the_noise_are_grey(make_heat: MakeHeat) -> None:
    std = np.full((48, 64), 1e-9)
    std[:, 32:] = 1.0
    heats = (make_heat(SCREEN, blob(SCREEN, wide), sigma=1e-9, std=std) for wide in (0.1, 0.3))
    figure = figure_of_difference(change := Difference(*heats))
    grey = (figure.map_pixels() == GREY).all(axis=-1)
    factor = figure.place.factor
    assert (grey[::factor, ::factor] == ~change.significant()).all()
    assert grey[:, 32 * factor :].all()


def test_what_is_grey_has_smooth_edges_on_a_smooth_map(make_heat: MakeHeat) -> None:
    """The middle of every pixel tells whether it is within the noise; a step of its edge is cut across."""
    std = np.where(np.add.outer(np.arange(48), np.arange(64)) < 50, 1.0, 1e-9)
    a, b = (make_heat(SCREEN, blob(SCREEN, wide), sigma=sigma, std=std) for wide, sigma in ((0.1, 9.0), (0.3, 9.0)))
    figure = figure_of_difference(change := Difference(a, b))
    factor = figure.place.factor
    grey = (figure.map_pixels() == GREY).all(axis=-1)
    assert (grey[factor // 2 :: factor, factor // 2 :: factor] == ~change.significant()).all()
    blocks = np.repeat(np.repeat(~change.significant(), factor, axis=0), factor, axis=1)
    assert 0.001 < (grey != blocks).mean() < 0.02


def test_without_uncertainty_no_change_is_grey(make_heat: MakeHeat) -> None:
    a, b = (make_heat(SCREEN, blob(SCREEN, wide)) for wide in (0.1, 0.3))
    figure = figure_of_difference(Difference(a, b))
    assert not (figure.map_pixels() == GREY).all(axis=-1).any()
    assert figure.legend.name.endswith(", linear scale")


def test_the_ground_of_a_difference_is_dark_on_pale(make_heat: MakeHeat) -> None:
    domain = Domain.bbox(-75.0, 40.0, -72.0, 42.0, depth=11)
    a, b = (make_heat(domain, blob(domain, wide)) for wide in (0.1, 0.3))
    for figure, dark in ((figure_of(a), False), (figure_of_difference(Difference(a, b)), True)):
        drawn = figure.draw(Record)
        towns = [drawn.said(town.name) for town in figure.ground.towns]
        assert len(towns) == 10
        assert all((sum(colour) < 330) == dark for _, colour in drawn.strokes)
        assert all((sum(town.colour) < 330) == dark for town in towns)


def test_facts_share_lines_as_evenly_as_they_can(make_heat: MakeHeat) -> None:
    a, b = (make_heat(CITY, blob(CITY, wide)) for wide in (0.1, 0.3))
    figure = figure_of_difference(Difference(a, b))
    assert figure.words.facts == (
        "A: epsilon = 1/3 per person, 2026-01-31",
        "B: epsilon = 1/3 per person, 2026-01-31",
        figure.words.facts[2],
        "made with dpheatmap",
    )
    narrow = Domain.bbox(7.30, 46.90, 7.42, 47.02, resolution=100)
    a, b = (make_heat(narrow, blob(narrow, wide)) for wide in (0.1, 0.3))
    place = figure_of_difference(Difference(a, b)).place
    assert [note.count(" · ") for note in place.notes[:-1]] == [1, 1]
    for note in place.notes:
        assert place.legend_at[0] + text_width(note, place.px(19)) <= max(place.right, place._legend_end)


def test_a_scale_bar_beside_a_long_legend_is_short_rather_than_beyond_the_map(make_heat: MakeHeat) -> None:
    domain = Domain.bbox(-74.1, 40.6, -73.8, 40.9)
    std = np.full(blob(domain).shape, 1e-9)
    a, b = (make_heat(domain, blob(domain, wide), std=std) for wide in (0.1, 0.3))
    heat, change = figure_of(a).place, figure_of_difference(Difference(a, b)).place
    assert heat.scale_bar is not None
    assert change.scale_bar is not None
    assert (heat.scale_bar.label, change.scale_bar.label) == ("5 km", "2 km")
    for place in (heat, change):
        assert place.scale_bar is not None
        assert place.scale_bar.left + place.scale_bar.width == place.right


# Places


def test_names_keep_clear_of_places() -> None:
    people = generated_people(1500, extent=CITY.extent)
    release = seeded_release(people, CITY, seed=1, epsilon=2, user="person", x="x", y="y")
    figure = figure_of_places(kmedian(release, 7))
    assert figure.marks is not None
    taken, size = figure.marks.areas(figure.place), figure.place.px(21)
    assert 7 < len(taken) <= 14
    assert figure.ground.towns
    for town in figure.ground.towns:
        right = town.left + text_width(town.name, size)
        top, bottom = town.y - 0.8 * size, town.y + 0.8 * size
        assert all(right <= a[0] or a[2] <= town.left or bottom <= a[1] or a[3] <= top for a in taken)


def test_rings_and_numbers_are_drawn(city: Release) -> None:
    places = kmedian(city, 4)
    figure = figure_of_places(places)
    assert isinstance(figure.marks, PlaceMarks)
    drawn, heat = figure.draw(Record), figure_of(city.heatmap()).draw(Record)
    said = Counter(text.words for text in drawn.texts) - Counter(text.words for text in heat.texts)
    assert {"1", "2", "3", "4"} <= set(said)
    assert len(drawn.strokes) == len(heat.strokes) + 4  # borders and rings, each with a rim


# Files


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_the_same_difference_gives_the_same_file(make_heat: MakeHeat, tmp_path: Path, suffix: str) -> None:
    a, b = (make_heat(SCREEN, blob(SCREEN, wide)) for wide in (0.1, 0.3))
    for name in ("a", "b"):
        Difference(a, b).save(tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


@pytest.mark.parametrize("installed", [True, False], ids=["installed", "missing"])
def test_png_needs_no_matplotlib(city: Release, screen: Release, tmp_path: Path, installed: bool) -> None:
    """In a Python of its own, which loads none even if it has one; SVG and PDF name what is missing."""
    city.save(tmp_path / "a.dph.parquet")
    people = generated_people(500, extent=CITY.extent)
    seeded_release(people, CITY, seed=2, epsilon=1, user="person", x="x", y="y").save(tmp_path / "b.dph.parquet")
    code = f"""
import sys
if not {installed}:
    sys.modules["matplotlib"] = None
import dpheatmap
a, b = (dpheatmap.load({str(tmp_path)!r} + name) for name in ("/a.dph.parquet", "/b.dph.parquet"))
change = dpheatmap.difference(a, b, size=64)
change.save({str(tmp_path / "change.png")!r})
dpheatmap.kmedian(a, k=2).save({str(tmp_path / "places.png")!r})
a.heatmap(size=64).save({str(tmp_path / "heat.png")!r})
assert not any(name.startswith("matplotlib") and module for name, module in sys.modules.items())
for what in (change, dpheatmap.kmedian(a, k=2)) if not {installed} else ():
    for suffix in (".svg", ".pdf"):
        try:
            what.save({str(tmp_path / "missing")!r} + suffix)
        except dpheatmap.errors.MissingDependency as error:
            print(error)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    sentence = "An SVG or PDF file needs the package matplotlib, which is not installed."
    assert out.count(sentence) == (0 if installed else 4)
    assert {path.name for path in tmp_path.iterdir()} == {
        "a.dph.parquet", "b.dph.parquet", "change.png", "places.png", "heat.png",
    }  # fmt: skip
    for name in ("change.png", "places.png", "heat.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_a_difference_refuses_other_files(make_heat: MakeHeat, tmp_path: Path) -> None:
    heats: list[Heatmap] = [make_heat(SCREEN, blob(SCREEN, wide)) for wide in (0.1, 0.3)]
    with pytest.raises(ParameterError, match=r"must be one of \.html, \.png, \.svg, \.pdf"):
        Difference(*heats).save(tmp_path / "change.tif")
    assert not list(tmp_path.iterdir())


def test_modules_of_pictures_have_names_of_their_own() -> None:
    root = Path(dpheatmap.__file__).parent
    known = Counter(path.name for path in root.rglob("*.py"))
    mine = {path.name for path in (root / "render").rglob("*.py")} - {"__init__.py"}
    assert {name for name in mine if known[name] > 1} == set()
