"""Heatmaps, differences and places are one family: one frame, one set of sizes, one small print, one badge."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpheatmap
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.places import kmedian
from dpheatmap.heatmap.differences import Difference
from dpheatmap.place.domain import Domain
from dpheatmap.releases.release import Release
from dpheatmap.render.content.look import Look
from dpheatmap.render.figure.change import figure_of_difference
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.figure.page_layout import SCALE, SIDE
from dpheatmap.render.figure.place_marks import PlaceMarks
from dpheatmap.render.figure.places_map import figure_of_places
from dpheatmap.render.palette import LIGHT, WARNING, rgb_of
from dpheatmap.testing import generated_people, seeded_release
from render.conftest import CITY, SCREEN, MakeHeat, blob, heat_of
from render.figure.record import record, touch

OTHERS = ("difference", "places")
TOWN = Domain.bbox(7.30, 46.90, 7.50, 47.02, resolution=400)


@pytest.fixture(scope="module", params=[TOWN, SCREEN, Domain.image(60, 200)], ids=["city", "screen", "strip"])
def family(request: pytest.FixtureRequest) -> dict[str, Figure]:
    """The figures of a heatmap, a difference and places, of one place."""
    people = (generated_people(n, extent=request.param.extent, seed=n) for n in (800, 1500))
    before, after = (dpheatmap.release(p, request.param, epsilon=2, user="person", x="x", y="y") for p in people)
    return {
        "heat": figure_of(after.heatmap()),
        "difference": figure_of_difference(dpheatmap.difference(after, before)),
        "places": figure_of_places(kmedian(after, 3)),
    }


@pytest.mark.parametrize("other", OTHERS)
def test_the_frame_is_the_same(family: dict[str, Figure], other: str) -> None:
    """The page, its margins, the map's size, the bar of the legend and the badge's corner."""
    one, two = family["heat"].layout, family[other].layout
    assert one.width == two.width
    assert (one.map.left, one.map.right, one.map.height) == (two.map.left, two.map.right, two.map.height)
    for layout in (one, two):
        assert layout.head[0].x == SIDE
        assert layout.small_print[0].x == SIDE
        assert layout.badge.right == layout.width - SCALE * SIDE
        assert layout.badge.top - layout.map.bottom == SCALE * 12
        last = max(layout.small_print[-1].y + 5, layout.badge.bottom / SCALE)
        assert layout.height == round(SCALE * (last + 20))
    assert one.head[0]._replace(text="") == two.head[0]._replace(text="")
    last_box, other_last = (max(right for _, right, _ in family[name].bar) for name in ("heat", other))
    assert last_box == pytest.approx(other_last)


def test_places_have_the_small_print_and_the_badge_of_their_heatmap(family: dict[str, Figure]) -> None:
    heat, places = family["heat"].picture.words, family["places"].picture.words
    assert places.facts == heat.facts
    assert places.badge == heat.badge
    assert heat.badge.startswith("Private · ε = 2 per ")
    assert places.title.startswith("3 places, ")


@pytest.mark.parametrize("other", OTHERS)
def test_letters_are_the_same(family: dict[str, Figure], other: str) -> None:
    one, two = (record(family[name]) for name in ("heat", other))
    for part in ("title", "takeaway", "badge"):
        a, b = (
            drawn.said(getattr(family[name].picture.words, part)[:8]) for name, drawn in (("heat", one), (other, two))
        )
        assert (a.size, a.colour, a.weight) == (b.size, b.colour, b.weight)
        assert a.x == b.x or part == "badge"
    assert {text.size / SCALE for text in (*one.texts, *two.texts)} <= {26, 16, 15, 13.5, 13, 12, 11.5, 11}
    assert one.page == two.page


def test_the_badge_tells_the_promise() -> None:
    a, b = (heat_of(SCREEN, values) for values in np.random.default_rng(0).random((2, 48, 64)))
    assert figure_of(a).picture.words.badge == "Private · ε = 1/3 per viewer"
    assert figure_of_difference(Difference(a, b)).picture.words.badge == "Private · ε = 2/3 per person for both maps"
    seeded = replace(b, seeded=True)
    for figure, colour in (
        (figure_of(a), LIGHT.badge),
        (figure_of(seeded), WARNING),
        (figure_of_difference(Difference(a, b)), LIGHT.badge),
        (figure_of_difference(Difference(seeded, a)), WARNING),
    ):
        assert (figure.layout.badge, rgb_of(colour)) in record(figure).fills
        assert (figure.picture.words.badge == "Not private") == (colour == WARNING)


# Differences


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_difference_is_drawn_where_it_is(colours: str) -> None:
    values = np.ones((2, 48, 64))
    values[1, :16], values[1, 32:] = 0.25, 1.75
    spread = np.linspace(1e-6, 2e-6, 64)  # the change that can just be told is at the right edge
    a, b = (heat_of(SCREEN, value, sigma=1e-9, std=spread * value / value.sum()) for value in values)
    figure = figure_of_difference(Difference(a, b), Look(colours=colours))
    pixels = figure.map_pixels().astype(int)
    third = pixels.shape[0] // 3
    fewer, same, more = (pixels[k * third + 40 : (k + 1) * third - 40] for k in range(3))
    assert (fewer[..., 2] > fewer[..., 0] + 20).all(), "blue"
    assert (more[..., 0] > more[..., 2] + 20).all(), "rust"
    assert (same == rgb_of(figure.theme.land)).all(), "bare"
    legend = {rgb_of(colour) for _, _, colour in figure.bar}
    for part in (fewer, more):
        assert min(np.abs(part[0, 0] - colour).max() for colour in legend) <= 1, "as in the legend"


def test_changes_that_can_not_be_told_are_bare() -> None:
    values = np.stack([blob(SCREEN, wide) for wide in (0.1, 0.3)])
    std = np.where(np.arange(64) < 32, 1e-9, 1.0) * np.ones((48, 1))
    a, b = (heat_of(SCREEN, value, sigma=1e-9, std=std) for value in values)
    figure = figure_of_difference(change := Difference(a, b))
    bare = (figure.map_pixels() == rgb_of(LIGHT.land)).all(axis=-1)
    side = bare.shape[1] / 64
    middles = np.ix_(*(((np.arange(n) + 0.5) * side).astype(int) for n in (48, 64)))
    assert bare[:, bare.shape[1] // 2 + 40 :].all()
    found = bare[middles]
    assert (found | change.significant()).all()
    assert not found[:, 5:28].all()


def test_without_uncertainty_small_changes_alone_are_bare() -> None:
    a, b = (heat_of(SCREEN, blob(SCREEN, wide)) for wide in (0.1, 0.3))
    figure = figure_of_difference(Difference(a, b))
    bare = (figure.map_pixels() == rgb_of(LIGHT.land)).all(axis=-1)
    assert 0.0 < bare.mean() < 0.6
    assert "How sure this is, is not known." in [note.line.text for note in figure.layout.notes]


# Places


def test_names_keep_clear_of_places() -> None:
    people = generated_people(1500, extent=CITY.extent)
    release = seeded_release(people, CITY, seed=1, epsilon=2, user="person", x="x", y="y")
    figure = figure_of_places(kmedian(release, 7))
    assert figure.marks is not None
    taken = figure.marks.areas(figure.layout.map)
    assert 7 < len(taken) <= 14
    names = {name.text for name in figure.ground.names}
    texts = [text for text in record(figure).texts if text.halo and text.words in names]
    assert texts
    assert not any(touch(text.area, area) for text in texts for area in taken)


def test_rings_and_numbers_are_drawn(city: Release) -> None:
    places = kmedian(city, 4)
    figure = figure_of_places(places)
    assert isinstance(figure.marks, PlaceMarks)
    drawn, heat = record(figure), record(figure_of(city.heatmap()))
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
    a, b = (make_heat(SCREEN, blob(SCREEN, wide)) for wide in (0.1, 0.3))
    with pytest.raises(ParameterError, match=r"must be one of \.html, \.png, \.svg, \.pdf"):
        Difference(a, b).save(tmp_path / "change.npz")
    assert not list(tmp_path.iterdir())


def test_modules_of_pictures_have_names_of_their_own() -> None:
    root = Path(dpheatmap.__file__).parent
    known = Counter(path.name for path in root.rglob("*.py"))
    mine = {path.name for path in (root / "render").rglob("*.py")} - {"__init__.py"}
    assert {name for name in mine if known[name] > 1} == set()
