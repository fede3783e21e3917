from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.heatmap.differences import Difference
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.figure.canvas import PillowCanvas
from dpheatmap.render.figure.change import figure_of_difference
from dpheatmap.render.figure.colour import STEPS, colours
from dpheatmap.render.figure.figure_layout import Layout
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.figure.lettering import text_width
from dpheatmap.render.formats import png
from dpheatmap.render.wording import density_in_words

MakeHeat = Callable[..., Heatmap]
SCALE = colours(np.linspace(0, 1, STEPS)).astype(int)

EXTREMES = {
    "unit": Domain.unit(5),
    "one cell": Domain.unit(0),
    "image": Domain.image(64, 48),
    "city": Domain.bbox(-74.1, 40.6, -73.8, 40.9),
    "world": Domain.bbox(-180, -85.05, 180, 85.05, depth=7),
    "south": Domain.bbox(-70, -60, -65, -20, depth=8),
    "wide": Domain.bbox(0, 50, 20, 50.6, depth=12),
    "tall": Domain.bbox(10, 35, 10.6, 47, depth=12),
    "wide image": Domain.image(200_000, 9_000, depth=9),
    "tall image": Domain.image(3, 1_000_000, depth=9),
    "one tile": Domain.bbox(7.00001, 50.00001, 7.00002, 50.00002, depth=12),
    "deepest": Domain.bbox(-73.9999990, 40.7000000, -73.9999985, 40.7000004, depth=28),
}
extremes = pytest.mark.parametrize("domain", EXTREMES.values(), ids=EXTREMES.keys())


def layout_of(heat: Heatmap, **options: Any) -> Layout:
    """The layout that the picture of a heatmap has."""
    return figure_of(heat, **options).place


def map_of(heat: Heatmap, **options: Any) -> np.ndarray:
    """The pixels of the picture that show the map, without coast, borders and towns."""
    options = {"basemap": False, **options}
    place = layout_of(heat, **options)
    picture = np.asarray(png.draw(heat, **options)).astype(int)
    return picture[place.top : place.bottom, place.left : place.right]


def values_of(pixels: np.ndarray) -> np.ndarray:
    """Back from colours to values between 0 and 1; every pixel has to have a colour of the scale."""
    known, shown = (colour @ [1 << 16, 1 << 8, 1] for colour in (SCALE, pixels))
    order = known.argsort()
    step: np.ndarray = order[np.minimum(np.searchsorted(known, shown, sorter=order), STEPS - 1)]
    assert (known[step] == shown).all()
    return step / (STEPS - 1)


@extremes
def test_colours_tell_the_values(make_heat: MakeHeat, domain: Domain) -> None:
    heat = make_heat(domain, sigma=1e-9 * domain.longer_side)
    density, _ = density_in_words(heat)
    factor = layout_of(heat).factor
    shown = values_of(map_of(heat)[::factor, ::factor])
    assert shown == pytest.approx(density / density.max(), abs=0.51 / (STEPS - 1))


def test_smooth_heat_is_smooth_and_nothing_is_invented(make_heat: MakeHeat) -> None:
    values = np.exp(-(np.arange(64)[:, None] ** 2 + np.arange(64) ** 2) / 200)
    heat = make_heat(Domain.unit(6), values, sigma=0.1)
    factor = layout_of(heat).factor
    shown = values_of(map_of(heat))
    assert np.abs(np.diff(shown, axis=0)).max() < 0.3 * np.abs(np.diff(values, axis=0)).max()
    assert shown[factor // 2 :: factor, factor // 2 :: factor] == pytest.approx(values, abs=0.03)
    blocks = shown.reshape(64, factor, 64, factor)
    assert blocks.max() <= values.max()
    assert blocks.min() >= values.min() - 1 / STEPS


@pytest.mark.parametrize("domain", [EXTREMES["city"], EXTREMES["image"], EXTREMES["unit"]])
def test_row_0_is_the_top(make_heat: MakeHeat, domain: Domain) -> None:
    finest = domain.cells(domain.depth)
    values = np.full((finest.rows, finest.columns), 1e-6)
    values[0, 0] = 1.0  # the north-west corner
    pixels = map_of(make_heat(domain, values, sigma=1e-9))
    assert pixels[0, 0].tolist() == SCALE[-1].tolist()
    assert pixels.sum(axis=-1).argmax() == 0
    assert pixels[-1, -1].tolist() == pixels[0, -1].tolist() == SCALE[0].tolist()


@extremes
@pytest.mark.parametrize("warned", [False, True])
@pytest.mark.parametrize("options", [{}, {"scale": "log"}, {"style": "contour"}], ids=str)
def test_nothing_is_cut_at_the_edge(make_heat: MakeHeat, domain: Domain, warned: bool, options: dict[str, Any]) -> None:
    heat = make_heat(domain, seeded=warned, empty=warned, loss=PureLoss(Fraction(123456789, 1000000007)))
    picture = np.asarray(png.draw(heat, **options))
    for edge in (picture[:8], picture[-8:], picture[:, :8], picture[:, -8:]):
        assert (edge == 255).all()


@extremes
@pytest.mark.parametrize("options", [{}, {"scale": "log"}, {"style": "contour"}], ids=str)
def test_nothing_overlaps(make_heat: MakeHeat, domain: Domain, options: dict[str, Any]) -> None:
    check_that_nothing_overlaps(layout_of(make_heat(domain, seeded=True, empty=True), **options))


@extremes
def test_nothing_overlaps_or_is_cut_in_a_difference(make_heat: MakeHeat, domain: Domain) -> None:
    """Its legend and its small print are longer."""
    finest = domain.cells(domain.depth)
    std = np.full((finest.rows, finest.columns), 1e-4)
    a, b = (
        make_heat(domain, values, std=std, loss=PureLoss(Fraction(123456789, 1000000007)))
        for values in np.random.default_rng(0).random((2, *std.shape))
    )
    figure = figure_of_difference(Difference(a, b))
    check_that_nothing_overlaps(figure.place)
    picture = np.asarray(figure.draw(PillowCanvas).picture)
    for edge in (picture[:8], picture[-8:], picture[:, :8], picture[:, -8:]):
        assert (edge == 255).all()


def check_that_nothing_overlaps(place: Layout) -> None:
    size, line = place.px(21), place.px(24)
    boxes: list[tuple[float, float, float, float]] = [
        (place.left, place.title - place.px(30), place.left + 300, place.title)
    ]
    boxes.append((place.left, place.top, place.right, place.bottom))
    x, y = place.legend_at
    boxes.append((x, y - size, x + text_width(place.legend.name, size), y))
    boxes.append((x, place.bar, x + place.px(440), place.bar + place.px(64)))
    if place.scale_bar:
        bar = place.scale_bar
        boxes.append((bar.left, bar.y - place.px(34) - size, bar.left + bar.width, bar.y))
    boxes.append(place.badge)
    for row, note in enumerate(place.notes):
        boxes.append((x, place.note(row) - line + place.px(5), x + text_width(note, place.px(19)), place.note(row)))
    below = place.bottom + place.px(8)
    labels: list[tuple[float, float, float, float]] = []
    for at, label in place.bar_ticks:
        half, under = text_width(label, size) / 2, place.bar + place.px(28)
        assert (place.legend_at[0] + at + half) < place.width - 8
        labels.append((x + at - half, under, x + at + half, under + line))
    assert all(a[2] <= b[0] for a, b in pairwise(labels))
    for at, label in place.across:
        half = text_width(label, size) / 2
        boxes.append((place.left + at - half, below, place.left + at + half, below + line))
    for (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) in combinations(boxes, 2):
        assert ax1 <= bx0 or bx1 <= ax0 or ay1 <= by0 or by1 <= ay0
    assert all(min(x0, y0) > 0 and x1 < place.width and y1 < place.height for x0, y0, x1, y1 in boxes)


def test_a_seed_is_shown_in_red(make_heat: MakeHeat) -> None:
    red = np.array([200, 16, 32])
    for seeded in (False, True):
        picture = np.asarray(png.draw(make_heat(Domain.unit(4), np.ones((16, 16)), seeded=seeded, empty=True)))
        place = layout_of(make_heat(Domain.unit(4), seeded=seeded, empty=True))
        assert (picture[place.bottom + place.px(150) :] == red).all(axis=-1).any() == seeded
        assert ("NOT PRIVATE: made with a seed" in place.notes) == seeded


def test_a_map_without_signal_says_so_and_does_not_glow(make_heat: MakeHeat) -> None:
    heat = make_heat(Domain.unit(4), np.ones((16, 16)), empty=True)
    assert layout_of(heat).notes[0] == "No signal above the noise: every cell has the same share"
    assert np.abs(values_of(map_of(heat)) - 0.25).max() < 0.01


def test_the_notes_say_what_was_promised(make_heat: MakeHeat) -> None:
    city = make_heat(EXTREMES["city"], sigma=200.0, loss=PureLoss(Fraction(1)))
    promise = "epsilon = 1 per person · smoothing 200 m · made with dpheatmap, 2026-01-31"
    assert layout_of(city).notes == (promise, "Map: Natural Earth · GeoNames, CC BY 4.0")
    assert layout_of(city, basemap=False).notes == (promise,)
    assert layout_of(make_heat(EXTREMES["tall"])).notes[0] == "epsilon = 1/3 per person"


def test_a_scale_bar_has_its_length_on_the_ground(make_heat: MakeHeat) -> None:
    place = layout_of(make_heat(EXTREMES["city"]))
    assert place.scale_bar is not None
    assert place.scale_bar.label == "5 km"
    width = (place.domain.bounds.x1 - place.domain.bounds.x0) * 111_319.49 * np.cos(np.radians(40.75))
    assert 5000 / width * (place.right - place.left) == pytest.approx(place.scale_bar.length, abs=1)
    south = layout_of(make_heat(EXTREMES["south"])).scale_bar
    assert south is not None
    assert south.label.endswith("°S")
    assert layout_of(make_heat(EXTREMES["image"])).scale_bar is None


def test_pictures_grow_with_the_map(make_heat: MakeHeat) -> None:
    small, large = (png.draw(make_heat(Domain.unit(0), np.ones((n, n)))) for n in (1100, 2200))
    assert large.size == pytest.approx(np.multiply(small.size, 2), abs=8)


def test_the_file_holds_the_picture_and_nothing_else(make_heat: MakeHeat, tmp_path: Path) -> None:
    heat = make_heat(EXTREMES["image"])
    heat.save(tmp_path / "map.png")
    with Image.open(tmp_path / "map.png") as picture:
        assert picture.format == "PNG"
        assert picture.mode == "RGB"
        assert picture.info == {}
        assert (np.asarray(picture) == np.asarray(png.draw(heat))).all()
