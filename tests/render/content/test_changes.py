"""What changed: named sides, areas of more and fewer, and nothing painted where no change can be told."""

from __future__ import annotations

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.differences import Difference
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.changes import picture_of_difference
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.resampling import resize
from render.conftest import CITY, KINDS, SCREEN, bell, every_kind, heat_of

NAMES = ("by day", "at night")
SQUARE = KINDS["unit square"]


def halves(
    domain: Domain, names: tuple[str, str] | None = NAMES, spread: float | np.ndarray = 0.01, **facts: object
) -> Difference:
    """More people in the left quarter, fewer in the right one, and no change between."""
    finest = domain.cells(domain.depth)
    quarter = finest.columns // 4
    both = np.ones((2, finest.rows, finest.columns))
    both[1, :, :quarter], both[1, :, -quarter:] = 1.75, 0.25
    before, after = (heat_of(domain, each, std=spread * each / each.sum(), sigma=1e-9, **facts) for each in both)
    return Difference(before, after, given_names=names)


def test_both_sides_have_names() -> None:
    words = picture_of_difference(halves(CITY)).words
    assert words.title == "By day and at night: what changed"
    assert (words.legend.less, words.legend.more) == ("← Fewer at night", "More at night →")
    assert words.legend.under == "can't tell"
    assert words.takeaway.startswith("At night there are more people than by day in ")
    assert any(fact.startswith("By day: epsilon = 1/3 per person, 31\xa0Jan\xa02026") for fact in words.facts)
    assert any(fact.startswith("At night: epsilon = 1/3 per person") for fact in words.facts)
    assert words.badge == "Private · ε = 2/3 per person for both maps"


def test_sides_without_names_are_before_and_after() -> None:
    words = picture_of_difference(halves(CITY, None)).words
    assert words.title == "What changed"
    assert (words.legend.less, words.legend.more) == ("← Fewer than before", "More than before →")
    assert words.takeaway.startswith("There are more people than before in ")
    assert "B minus A" not in repr(words)


def test_the_maker_of_the_map_has_the_first_word() -> None:
    words = picture_of_difference(halves(CITY), Look(title="Bikes", subtitle="In June", source="the town")).words
    assert (words.title, words.subtitle) == ("Bikes", "In June")
    assert "Data: the town." in words.facts


def test_the_takeaway_tells_the_areas() -> None:
    change = halves(CITY)
    part = CITY.cells(CITY.depth).columns // 4 / CITY.cells(CITY.depth).columns
    whole = float(change.after.pixel_areas.sum()) * change.values.shape[1] / 1e6
    said = picture_of_difference(change).words.takeaway
    more, fewer = (float(said.split(f"{word} ")[1].split(" km²")[0]) for word in ("by day in", "fewer in"))
    assert (more, fewer) == pytest.approx((part * whole, part * whole), rel=0.05)
    assert said.endswith(f"In the rest of the {whole:.0f} km² no change can be told from the noise.")
    said = picture_of_difference(halves(SQUARE)).words.takeaway
    assert "in 25 % of the area, fewer in 25 %. Elsewhere no change" in said


def test_one_side_may_be_nowhere() -> None:
    """Where there are fewer people, the noise is too large to tell."""
    columns = CITY.cells(CITY.depth).columns
    change = halves(CITY, spread=np.where(np.arange(columns) < columns // 2, 0.01, 10.0))
    assert ", fewer in no place. " in picture_of_difference(change).words.takeaway


@every_kind
def test_a_place_is_told_where_its_change_is_significant(domain: Domain) -> None:
    change = halves(domain)
    picture = picture_of_difference(change)
    assert picture.signed
    assert picture.clarity is not None
    rows, columns = change.values.shape
    told = resize(picture.clarity, columns, rows) >= 1.0
    assert (told == change.significant())[:, columns // 16 : -columns // 16].mean() > 0.97
    assert not told[:, 3 * columns // 8 : 5 * columns // 8].any()
    assert 1 <= len(picture.edges) <= 4
    assert picture.edges[-1] < np.abs(picture.values).max()


def test_no_change_that_can_be_told_is_no_map() -> None:
    picture = picture_of_difference(halves(SQUARE, spread=5.0))
    assert not picture.painted
    assert picture.words.takeaway == "No change can be told from the noise."
    assert picture.words.nothing is not None
    assert picture.words.nothing.text.startswith("This does not mean that nothing changed.")


@every_kind
def test_without_uncertainty_everything_is_painted(domain: Domain) -> None:
    a, b = (heat_of(domain, bell(domain, wide).values) for wide in (0.1, 0.3))
    picture = picture_of_difference(Difference(a, b))
    assert picture.clarity is None
    assert picture.words.legend.notes == ("How sure this is, is not known.",)
    assert picture.words.legend.under == f"under {picture.edges[0]:.10g}"
    assert picture.ranges() is None
    assert not any(fact.startswith("Coloured:") for fact in picture.words.facts)


@every_kind
def test_equal_maps_have_no_change(domain: Domain) -> None:
    a, b = (heat_of(domain) for _ in "ab")
    picture = picture_of_difference(Difference(a, b))
    assert not picture.painted
    assert not picture.values.any()


def test_ranges_are_changes() -> None:
    change = halves(SCREEN, spread=0.1)
    picture = picture_of_difference(change)
    found = picture.ranges()
    assert found is not None
    assert change.std is not None
    half = 1.645 * change.std * picture.unit.factor / change.after.pixel_areas[:, None]
    assert found[0] == pytest.approx(picture.values - half)
    assert found[1] == pytest.approx(picture.values + half)


def test_a_change_with_a_seeded_side_is_not_private() -> None:
    words = picture_of_difference(halves(SCREEN, seeded=True)).words
    assert words.badge == "Not private"
    assert words.warnings


def test_people_per_area_are_those_of_the_maps() -> None:
    """The unit is that of the maps, so that a change can be held against them."""
    picture = picture_of_difference(halves(CITY))
    assert picture.unit.area is not None
    assert picture.words.legend.title == (
        f"Change in how many of every {picture.unit.base:,} people are in {picture.unit.area.long}"
    )
    assert picture.values.sum() == pytest.approx(0, abs=1e-6 * np.abs(picture.values).sum())


@pytest.mark.parametrize("names", [("a",), ("a", ""), "ab", ("a", 1), ("a", "b", "c")])
def test_names_are_two_texts(names: object) -> None:
    a, b = (bell(SCREEN, wide) for wide in (0.1, 0.2))
    with pytest.raises(ParameterError, match="names must be two texts"):
        dph.difference(b, a, names=names)  # type: ignore[arg-type]
    assert dph.difference(b, a, names=NAMES).names == NAMES
