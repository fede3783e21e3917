"""Areas slice by slice: they agree with the slices' maps and volumes, and changes come from draws of both slices."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.errors import ParameterError
from helpers.sliced import sliced

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
HALVES = {"left": (0, 0, 0.5, 1), "right": (0.5, 0, 1, 1)}


@cache
def days(people: int = 2000) -> dph.SlicedRelease:
    return sliced(dph.Domain.unit(7), people=people)


def test_a_row_for_each_area_in_each_slice_with_the_columns_of_a_release() -> None:
    table = days().areas(HALVES, confidence=0.8)
    assert table["slice"].tolist() == [day for day in DAYS for _ in HALVES]
    assert table["area"].tolist() == [*HALVES] * 7
    assert table.attrs["confidence"] == 0.8
    one = days().slice("fri").areas(HALVES, confidence=0.8)
    assert table.attrs["columns"] == ["slice", *one.attrs["columns"]]
    own = table[table["slice"] == "fri"].drop(columns="slice").reset_index(drop=True)
    for column in one.attrs["columns"]:
        assert own[column].tolist() == one[column].tolist()
    assert (table["low"] <= table["share"]).all()
    assert (table["share"] <= table["high"]).all()


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 127), min_size=1, max_size=4, unique=True))
def test_areas_that_cover_the_place_add_up_to_the_volumes(cuts: list[int]) -> None:
    """Wherever the place is cut, shares add up to 1 and people to the slice's volume."""
    edges = [0.0, *(cut / 128 for cut in sorted(cuts)), 1.0]
    strips = {str(k): (edges[k], 0.0, edges[k + 1], 1.0) for k in range(len(edges) - 1)}
    table, volumes = days().areas(strips), days().heatmap().volumes
    sums = table.groupby("slice", sort=False)[["share", "people"]].sum()
    np.testing.assert_allclose(sums["share"], 1.0)
    np.testing.assert_allclose(sums["people"], volumes.people, rtol=0.01)


@pytest.mark.parametrize("people", [2000, 40_000])
def test_areas_agree_with_the_map_of_the_slice(people: int) -> None:
    """Measured in blocks, and each slice by itself: the pixels of a half have its share, nearly."""
    release = days(people)
    apart = len(release.trees(0)) > 1
    assert apart == (people > 2000)
    heat = release.heatmap(sigma=1e-3, size=64)["fri"]
    share = release.slice("fri").areas(HALVES)["share"].tolist()
    assert share[0] == pytest.approx(heat.values[:, :32].sum(), abs=0.01)


def test_slices_of_groups_have_areas_each_by_itself() -> None:
    made = sliced(dph.Domain.unit(6), groups=("bike", "walk"), times=False)
    table = made.areas(HALVES)
    assert table["slice"].tolist() == ["bike", "bike", "walk", "walk"]


def test_a_change_is_after_minus_before_and_turns_with_the_slices() -> None:
    table = days().areas(HALVES)
    there, back = days().area_changes(HALVES, "mon", "fri"), days().area_changes(HALVES, "fri", "mon")
    share = {day: table[table["slice"] == day]["share"].to_numpy() for day in ("mon", "fri")}
    np.testing.assert_allclose(there["share_change"], share["fri"] - share["mon"])
    np.testing.assert_allclose(there["share_change"], -back["share_change"])
    np.testing.assert_allclose(there["low"], -back["high"])
    np.testing.assert_allclose(there["people_standard_error"], back["people_standard_error"])
    assert (there["people_low"] <= there["people_change"]).all()
    assert there["share_change"].sum() == pytest.approx(0.0, abs=1e-9)


def test_the_errors_of_slices_are_related() -> None:
    """Slices share the pooled map: their change is surer than that of two releases with such errors would be."""
    strips = {str(k): (k / 8, 0.0, (k + 1) / 8, 1.0) for k in range(8)}
    change, table = days().area_changes(strips, "mon", "tue"), days().areas(strips)
    apart = [table[table["slice"] == day]["standard_error"].to_numpy() for day in ("mon", "tue")]
    assert (change["standard_error"] < 1.2 * np.hypot(*apart)).mean() > 0.5


def test_what_moves_is_significant_and_what_stays_is_not() -> None:
    """On fridays everybody is in the left half, and on mondays in both."""
    from dpheatmap.curator.sliced_publish import release_slices, slices_of
    from dpheatmap.testing import SeededSource, generated_people

    day = "CASE WHEN x < 0.5 AND hash(x, y) % 2 = 0 THEN 4 ELSE 0 END"
    moved = generated_people(4000).project(
        f"*, TIMESTAMP '2024-06-03 08:30:00' + INTERVAL (CAST({day} AS BIGINT)) DAY AS started"
    )
    slices = slices_of("started", "weekday", "UTC", None, None, None, None)
    made = release_slices(SeededSource(1), moved, dph.Domain.unit(6), slices, epsilon=4, user="person", x="x", y="y")
    found = made.area_changes(HALVES, "mon", "fri")
    assert found["significant"].tolist() == [True, True]
    assert found["share_change"].tolist()[0] > 0.2
    assert not made.area_changes({"upper": (0, 0.5, 1, 1), "lower": (0, 0, 1, 0.5)}, "mon", "fri")["significant"].all()


def test_areas_outside_have_no_numbers() -> None:
    found = days().area_changes({**HALVES, "away": (2, 2, 3, 3)}, "mon", "fri").iloc[2]
    assert np.isnan(found["share_change"])
    assert not found["significant"]
    assert found["note"] == "outside the place: not counted"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: days().area_changes(HALVES, "mon", "mon"), "was given 'mon' twice"),
        (lambda: days().area_changes(HALVES, "mon", "mo"), "There is no slice 'mo'"),
        (lambda: days().slice("mo"), "There is no slice 'mo'"),
        (lambda: days().slice("mon").heatmap(method="paper"), "The method 'paper' is for releases of the design"),
    ],
)
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        call()
