"""Bands: at most six, on 1, 2 and 5, in whole numbers of an area that people can picture."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.bands import MOST, area_for, bands_of, edges_below, limited_bands
from dpheatmap.render.content.subject import FOOTBALL, GROUND, IMAGE, SQUARE, Subject, subject_of

SUBJECTS = {"ground": GROUND, "image": IMAGE, "football": FOOTBALL, "square": SQUARE}
TOPS = st.floats(1e-12, 1e6)


def is_round(edge: float) -> bool:
    """Whether a number is 1, 2 or 5 times a power of ten."""
    return f"{edge:.9e}"[0] in "125" and set(f"{edge:.9e}"[1:11]) <= {".", "0"}


@given(top=TOPS, floor=TOPS, most=st.integers(1, MOST))
def test_edges_are_round_and_lie_between_the_noise_and_the_top(top: float, floor: float, most: int) -> None:
    edges = edges_below(top, floor, most)
    assert 1 <= len(edges) <= most
    assert all(map(is_round, edges))
    assert edges == sorted(set(edges))
    assert edges[-1] < top <= 10 * edges[-1]
    assert len(edges) == 1 or edges[0] >= 0.999 * floor
    following = edges_below(10.1 * edges[-1], edges[0], 12)
    assert [edge for edge in following if edge <= edges[-1]] == edges, "none is left out between"


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)
@given(data=st.data())
def test_units_make_whole_numbers(subject: Subject, data: st.DataObject) -> None:
    top = data.draw(st.floats(1e-14 if len(subject.areas) > 1 else 1e-5, 1.0) if subject.areas else st.floats(1.0, 1e6))
    unit, edges = bands_of(subject, top, data.draw(st.floats(0.0, 1.0)) * top)
    assert len(edges) <= MOST
    assert all(map(is_round, edges))
    assert edges[-1] < top * unit.factor
    if not subject.areas:
        assert (unit.base, unit.area, unit.factor) == (None, None, 1.0)
        return
    assert unit.base is not None
    assert unit.base >= 100
    assert math.log10(unit.base) == round(math.log10(unit.base))
    assert unit.area in subject.areas
    assert all(edge == round(edge) for edge in edges)
    if unit.base > 100:
        assert edges[0] % 10, "a smaller base would do"
    smaller = [area for area in subject.areas if area.size < unit.area.size]
    assert all(top * area.size < 0.01 for area in smaller), "a smaller area would do"


@pytest.mark.parametrize(
    ("subject", "top", "legend", "short"),
    [
        (GROUND, 0.086e-6, "Of every 1,000 people, how many are in a square kilometre here",
         "Of every 1,000 people, how many per km²"),
        (GROUND, 0.3e-10, "Of every 100 people, how many are in 10,000 square kilometres here",
         "Of every 100 people, how many per 10,000 km²"),
        (IMAGE, 0.05e-4, "Of every 1,000 looks, how many fall in a square of 100 × 100 pixels here",
         "Of every 1,000 looks, per 100 × 100 px"),
        (FOOTBALL, 0.0007, "Of every 100 moments, how many are in a square of 10 × 10 m here",
         "Of every 100 moments, per 10 × 10 m"),
        (SQUARE, 9.0, "How many times denser than even", "times even"),
    ],
)  # fmt: skip
def test_legends(subject: Subject, top: float, legend: str, short: str) -> None:
    unit, edges = bands_of(subject, top, top / 50 if subject is not FOOTBALL else top / 6)
    assert (unit.legend, unit.short) == (legend, short), edges


def test_what_people_did_is_counted() -> None:
    unit, _ = bands_of(IMAGE, 0.05e-4, 0.02e-4, what="clicks")
    assert unit.legend == "Of every 100 clicks, how many fall in a square of 100 × 100 pixels here"
    assert bands_of(GROUND, 0.05e-6, 0.02e-6, what="check-ins")[0].legend.startswith("Of every 100 people, how many")


def test_maps_that_are_compared_have_one_area() -> None:
    shared = area_for(GROUND, 0.05e-6)
    assert shared is not None
    assert bands_of(GROUND, 0.05e-11, 0.0, same=shared)[0].area == shared
    assert area_for(SQUARE, 3.0) is None


def test_a_pitch_has_its_metres_whatever_its_pixels() -> None:
    (small,), (large,) = (subject_of(Domain.image(w, h), "pitch").areas for w, h in ((105, 68), (1050, 680)))
    assert (small.size, large.size) == pytest.approx((100.0, 10_000.0))
    assert subject_of(Domain.unit(4), "pitch").areas[0].size == pytest.approx(100 / (105 * 68))


@pytest.mark.parametrize(
    ("subject", "base", "area", "factor"),
    [(GROUND, 1000, "km²", 1e9), (IMAGE, 100, "100 × 100 px", 1e6), (FOOTBALL, 100, "10 × 10 m", 1e4)],
)
def test_limits_have_a_fixed_unit(subject: Subject, base: int, area: str, factor: float) -> None:
    unit, edges = limited_bands(subject, 1, 50)
    assert edges == [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
    assert (unit.base, unit.area and unit.area.short, unit.factor) == (base, area, factor)
    assert limited_bands(SQUARE, 0.5, 5)[1] == [0.5, 1.0, 2.0, 5.0]


@pytest.mark.parametrize(("low", "high", "many"), [(1, 100, 7), (3, 4, 0), (0.001, 1000, 19)])
def test_limits_with_too_many_or_no_steps_are_refused(low: float, high: float, many: int) -> None:
    with pytest.raises(ParameterError, match=f"one to 6 of the steps .* has {many}\\. Give limits such as 1 and 50"):
        limited_bands(GROUND, low, high)


@given(low=st.floats(1e-6, 1e6), times=st.floats(2.6, 40.0))
def test_limits_enclose_their_edges(low: float, times: float) -> None:
    _, edges = limited_bands(GROUND, low, low * times)
    assert all(map(is_round, edges))
    assert 0.999 * low <= edges[0] <= edges[-1] <= 1.001 * low * times
