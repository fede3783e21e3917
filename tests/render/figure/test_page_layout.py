"""The page of a picture: its parts in order, and none over another, whatever the words and the shape of the map."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dpheatmap.design.privacy_loss import ApproximateLoss, PureLoss
from dpheatmap.heatmap.differences import Difference
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.changes import picture_of_difference
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.content.words import keep_units
from dpheatmap.render.figure.canvas import Box
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.figure.lettering import REGULAR, SEMIBOLD, lines_of, text_width
from dpheatmap.render.figure.page_layout import SCALE, SIDE
from dpheatmap.render.palette import WARNING, rgb_of
from render.conftest import HARBOUR, SCREEN, bell, every_kind, heat_of
from render.figure.record import Record, Text, lies_in, record, touch

TOWN = Domain.bbox(7.30, 46.90, 7.50, 47.02, resolution=800)
SHAPES = {
    "unit": Domain.unit(5),
    "one cell": Domain.unit(0),
    "image": SCREEN,
    "city": TOWN,
    "world": Domain.bbox(-180, -85.05, 180, 85.05, depth=5),
    "south": Domain.bbox(-70, -60, -65, -20, depth=7),
    "wide": Domain.bbox(0, 50, 20, 50.6, depth=10),
    "tall": Domain.bbox(10, 35, 10.6, 47, depth=10),
    "wide image": Domain.image(200_000, 900, depth=9),
    "tall image": Domain.image(3, 1_000_000, depth=9),
}
LONG = PureLoss(Fraction(123456789, 1000000007))
QUICK = [Phase.explicit, Phase.generate]  # examples are read as easily as smaller ones, which take long to find
WORDS = st.lists(st.text("abcimWM漢ß{}$ .,-", min_size=1, max_size=90), max_size=12).map(" ".join)


def figures() -> dict[str, Figure]:
    made: dict[str, Figure] = {}
    for name, domain in SHAPES.items():
        sure, rough, noise = (bell(domain, spread=spread, loss=LONG) for spread in (0.05, 0.4, 5.0))
        made[f"{name}, sure"] = figure_of(sure)
        if name in ("city", "image", "wide image", "tall image"):
            made[f"{name}, rough"] = figure_of(rough)
            made[f"{name}, noise"] = figure_of(noise)
            made[f"{name}, unknown"] = figure_of(heat_of(domain, seeded=True))
            for state, heat in (("sure", sure), ("noise", noise)):
                other = replace(heat, values=np.ones_like(heat.values) / heat.values.size)
                made[f"{name}, change, {state}"] = Figure(picture_of_difference(Difference(heat, other)), Look())
    made["wide, noise"] = figure_of(bell(SHAPES["wide"], spread=5.0))
    made["tall, noise"] = figure_of(bell(SHAPES["tall"], spread=5.0))
    return made


FIGURES = figures()


def parts_of(figure: Figure, drawn: Record) -> tuple[list[Text], list[Text]]:
    """The texts on the map, and those around it."""
    box = figure.layout.map
    on_map = [text for text in drawn.texts if touch(text.area, box)]
    return on_map, [text for text in drawn.texts if text not in on_map]


def check_that_nothing_overlaps(figure: Figure) -> None:
    drawn = record(figure)
    layout, page = figure.layout, (0, 0, *drawn.size)
    assert drawn.images[-1] == layout.map or layout.map in drawn.images
    # Letters are measured at the page's size, and drawn twice as large: a long line may be a few pixels longer.
    margin = (SCALE * SIDE - 1, 0, drawn.size[0] - SCALE * SIDE + 8, drawn.size[1])
    on_map, around = parts_of(figure, drawn)
    for text in around:
        assert lies_in(text.area, margin), text
    for one, other in combinations(around, 2):
        assert not touch(one.area, other.area), (one, other)
    card = layout.card if figure.picture.words.nothing else None
    for text in on_map:
        assert lies_in(text.area, layout.map), text
        on_card = not text.halo
        assert (card is not None and lies_in(text.area, card)) == on_card, text
    for one, other in combinations(on_map, 2):
        assert not touch(one.area, other.area), (one, other)
    for box, _ in drawn.fills:
        assert lies_in(box, page)
        assert box.width > 0
        assert box.height > 0
    assert not touch(layout.badge, layout.map)
    assert card is None or lies_in(card, layout.map)
    small = [text.area for text in around if text.y > layout.map.bottom and not touch(text.area, layout.badge)]
    assert small
    swatches = [box for box in drawn.images if box != layout.map]
    assert not any(touch(box, text.area) for box in swatches for text in drawn.texts)


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_nothing_overlaps_or_leaves_the_page(figure: Figure) -> None:
    check_that_nothing_overlaps(figure)


@settings(max_examples=15, phases=QUICK)
@given(title=WORDS, subtitle=WORDS, source=WORDS, what=WORDS, spread=st.sampled_from([0.05, 0.4, 5.0]))
@pytest.mark.parametrize("domain", [TOWN, SCREEN, SHAPES["tall image"]], ids=["city", "screen", "tall"])
def test_any_words_fit(domain: Domain, title: str, subtitle: str, source: str, what: str, spread: float) -> None:
    look = Look(title=title or None, subtitle=subtitle, source=source, what=what)
    shown = HEATS[domain, spread]
    picture = picture_of(shown, look)
    check_that_nothing_overlaps(Figure(picture, look))


HEATS = {
    (domain, spread): heat_of(domain, bell(domain).values, std=spread * bell(domain).values)
    for domain in (TOWN, SCREEN, SHAPES["tall image"])
    for spread in (0.05, 0.4, 5.0)
}


@settings(max_examples=20, phases=QUICK)
@given(before=WORDS, after=WORDS)
def test_any_names_of_both_sides_fit(before: str, after: str) -> None:
    a, b = (bell(SCREEN, wide) for wide in (0.1, 0.3))
    names = (before or "x", after or "y")
    check_that_nothing_overlaps(Figure(picture_of_difference(Difference(a, b, given_names=names)), Look()))


@pytest.mark.parametrize("limits", [(1, 50), (1e6, 5e7), (1e-5, 5e-4)])
def test_any_limits_fit(limits: tuple[float, float]) -> None:
    figure = figure_of(bell(TOWN), Look(limits=limits))
    check_that_nothing_overlaps(figure)
    assert len(figure.bar) == 6
    assert figure.ticks[0][1], "the first number is told"


def test_a_promise_with_delta_fits() -> None:
    loss = ApproximateLoss(Fraction(123456789, 1000000007), Fraction(1, 10**9))
    check_that_nothing_overlaps(figure_of(bell(TOWN, loss=loss)))


@every_kind
@pytest.mark.parametrize("seeded", [False, True])
@pytest.mark.parametrize("spread", [0.05, 5.0], ids=["sure", "noise"])
def test_the_parts_come_in_order(domain: Domain, seeded: bool, spread: float) -> None:
    """A sentence before the legend, the legend before the map; the promise last."""
    look = Look(title="Bikes", subtitle="In June", source="the town")
    figure = figure_of(bell(domain, spread=spread, seeded=seeded), look)
    words, drawn = keep_units(figure.picture.words), record(figure)
    said = [words.title, words.subtitle, words.takeaway[:37]]
    said += [words.legend.title[:20]] if spread < 1 else [words.legend.bare[:20]]
    heights = [drawn.said(text).y for text in said] + [figure.layout.map.top]
    heights += [figure.layout.map.bottom, drawn.said(words.facts[0][:15]).y]
    assert heights == sorted(heights)
    assert figure.layout.badge.top > figure.layout.map.bottom
    assert drawn.said(words.badge).y > figure.layout.map.bottom
    if seeded:
        bar = figure.layout.warning * SCALE
        assert drawn.texts[0].words == "Not private: made with a seed, for tests only"
        assert (Box(0, 0, figure.layout.width, bar), rgb_of(WARNING)) in drawn.fills
        assert drawn.texts[0].area[3] < bar < drawn.said(words.title).area[1]
        assert (figure.layout.badge, rgb_of(WARNING)) in drawn.fills
    else:
        assert figure.layout.warning == 0
        assert not any(colour == rgb_of(WARNING) for _, colour in drawn.fills)
        assert (figure.layout.badge, rgb_of(figure.theme.badge)) in drawn.fills


def test_sizes_are_those_of_the_design() -> None:
    figure = figure_of(bell(HARBOUR), Look(subtitle="In June"))
    drawn, words = record(figure), figure.picture.words
    sizes = {text: drawn.said(text[:12]) for text in (words.title, words.takeaway, words.legend.title, words.badge)}
    assert [(text.size / SCALE, text.weight) for text in sizes.values()] == [
        (26, SEMIBOLD), (16, REGULAR), (13, SEMIBOLD), (12, SEMIBOLD)
    ]  # fmt: skip
    assert drawn.said(words.facts[0][:12]).size / SCALE == 11.5
    assert drawn.size[0] == 1520
    assert figure.layout.map.width == 1440
    assert {text.size / SCALE for text in drawn.texts if text.halo} <= {15, 13, 11.5, 11}


@pytest.mark.parametrize(
    ("domain", "colours"), [(TOWN, "light"), (TOWN, "dark"), (SCREEN, "dark")], ids=["light", "dark", "dark image"]
)
def test_words_have_the_colours_of_the_theme(domain: Domain, colours: str) -> None:
    figure = figure_of(bell(domain), Look(colours=colours))
    drawn, theme = record(figure), figure.theme
    assert theme.name == colours
    assert drawn.page == rgb_of(theme.page)
    assert {text.colour for text in drawn.texts} <= {
        rgb_of(colour) for colour in (theme.ink, theme.soft, theme.names, theme.badge_ink)
    }
    assert drawn.said(figure.picture.words.title).colour == rgb_of(theme.ink)
    assert drawn.said(figure.picture.words.facts[0][:12]).colour == rgb_of(theme.soft)


def test_the_legend_has_a_box_a_band_and_a_number_an_edge() -> None:
    figure = figure_of(bell(TOWN))
    boxes, ticks = figure.bar, figure.ticks
    assert len(boxes) == len(ticks) == len(figure.picture.edges)
    assert [left for left, _, _ in boxes] == pytest.approx([at for at, _ in ticks])
    assert [text for _, text in ticks] == [f"{edge:.0f}" for edge in figure.picture.edges]
    assert all(a[1] == pytest.approx(b[0]) for a, b in pairwise(boxes))
    assert (boxes[0][0], boxes[-1][1]) == pytest.approx((SIDE + figure.layout.first_box, SIDE + 400))


def test_the_legend_of_a_change_has_both_sides() -> None:
    a, b = (bell(SCREEN, wide) for wide in (0.1, 0.3))
    figure = Figure(picture_of_difference(Difference(a, b, given_names=("by day", "at night"))), Look())
    many = len(figure.picture.edges)
    assert len(figure.bar) == 2 * many
    texts = [text for _, text in figure.ticks]
    assert texts[many:] == [f"+{text[1:]}" for text in texts[:many][::-1]]
    assert all(text.startswith("\N{MINUS SIGN}") for text in texts[:many])
    drawn = record(figure)
    less, more = drawn.said("Fewer at night"), drawn.said("More at night")
    assert less.area[2] < more.area[0]
    (left, right) = figure.layout.arrows
    assert left[1] < left[0] < less.x / SCALE
    assert right[1] > right[0] > more.area[2] / SCALE


def test_a_map_that_shows_nothing_has_no_bar_but_a_card() -> None:
    figure = figure_of(bell(TOWN, spread=5.0))
    drawn = record(figure)
    assert figure.picture.words.nothing is not None
    assert not figure.layout.has_bar
    bands = {rgb_of(colour) for _, _, colour in figure.bar}
    assert not any(colour in bands for _, colour in drawn.fills)
    assert drawn.said("No place stands out from the noise").weight == SEMIBOLD
    assert drawn.said("Not known: anything below").size == 24


# Lines


@given(text=WORDS, room=st.floats(20, 700), size=st.sampled_from([11.5, 16.0, 26.0]))
def test_lines_hold_all_words_and_fit(text: str, room: float, size: float) -> None:
    lines = lines_of(text, room, size)
    assert "".join(lines).replace(" ", "") == "".join(text.split())
    assert all(text_width(line, size) <= room or len(line) == 1 for line in lines)
    whole = all(text_width(word, size) <= room for word in text.split())
    for line, after in pairwise(lines) if whole else ():
        assert text_width(f"{line} {after.split()[0]}", size) > room, "no line is broken early"


@pytest.mark.parametrize("words", range(60, 84))
def test_no_line_ends_between_a_number_and_its_unit(words: int) -> None:
    layout = figure_of(
        bell(SCREEN), Look(subtitle="I " * words + "within 10 × 10 km", source="I " * words + "5 %")
    ).layout
    lines = [line.text for line in (*layout.head, *layout.small_print)]
    assert not any(line.startswith(("×", "km", "px", "%")) or line.endswith(("×", "10", "48", "5")) for line in lines)
    assert any(line.endswith("10\xa0×\xa010\xa0km") for line in lines)
