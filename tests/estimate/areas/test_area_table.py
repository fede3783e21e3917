"""The table of areas agrees with the map, adds up, and says where it has little to say."""

from __future__ import annotations

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.errors import DataError
from dpheatmap.estimate.areas.area_estimate import finest_level_for
from dpheatmap.testing import generated_people, seeded_release

SQUARE = dph.Domain.unit(7)
QUARTERS = {
    name: (x, y, x + 0.5, y + 0.5) for name, x, y in (("nw", 0, 0), ("ne", 0.5, 0), ("sw", 0, 0.5), ("se", 0.5, 0.5))
}


@pytest.fixture(scope="module")
def release() -> dph.Release:
    counts = dph.aggregate(generated_people(3000), SQUARE, user="person", x="x", y="y")
    return seeded_release(counts, seed=5, epsilon=1)


def test_parts_of_the_place_add_up_to_all(release: dph.Release) -> None:
    table = release.areas(QUARTERS)
    assert table["area"].tolist() == list(QUARTERS)
    assert table["share"].sum() == pytest.approx(1.0)
    assert table["people"].sum() == pytest.approx(release.distribution().total, abs=25), "one deviation, by folding"
    assert sorted(table["rank"]) == [1, 2, 3, 4]
    assert table["people"].to_numpy()[np.argsort(table["rank"])].tolist() == sorted(table["people"], reverse=True)
    assert (table["note"] == "").all()


def test_shares_are_those_of_the_distribution(release: dph.Release) -> None:
    """Small areas go to full depth, where the posterior's mean is known cell by cell."""
    level = 4
    table, shown = release.areas(level), release.distribution().coarser(level)
    raster = shown.raster(2**level, 2**level)
    columns, rows = np.array([name.split("/") for name in table["area"]]).T.astype(int)
    assert np.allclose(table["share"], raster[rows, columns], atol=1e-3)


def test_intervals_hold_their_means_and_grow_with_confidence(release: dph.Release) -> None:
    narrow, wide = release.areas(QUARTERS, confidence=0.6), release.areas(QUARTERS, confidence=0.99)
    for low, mean, high in (("low", "share", "high"), ("people_low", "people", "people_high"),
                            ("rank_low", "rank", "rank_high")):  # fmt: skip
        assert (narrow[low] <= narrow[mean]).all()
        assert (narrow[mean] <= narrow[high]).all()
        assert (wide[low] <= narrow[low]).all()
        assert (narrow[high] <= wide[high]).all()
    assert ((wide["low"] >= 0) & (wide["high"] <= 1)).all()


def test_an_area_and_the_rest_err_together(release: dph.Release) -> None:
    """Their shares add up to 1, so their errors are equal; as if independent, the whole would have an error."""
    two = release.areas({"left": (0, 0, 0.5, 1), "right": (0.5, 0, 1, 1)})
    assert two["standard_error"][0] == pytest.approx(two["standard_error"][1])
    whole = release.areas({"all": (0, 0, 1, 1)})
    assert whole["standard_error"][0] == pytest.approx(0.0, abs=1e-9)
    assert (whole["low"][0], whole["high"][0]) == pytest.approx((1.0, 1.0))
    assert whole["people_low"][0] < whole["people"][0] < whole["people_high"][0], (
        "the number is not known, the share is"
    )


def test_overlapping_areas_count_people_in_each(release: dph.Release) -> None:
    table = release.areas({"all": (0, 0, 1, 1), "again": (0, 0, 1, 1), "half": (0, 0, 0.5, 1)})
    assert table["share"][:2].tolist() == pytest.approx([1.0, 1.0])


def test_notes_say_what_is_outside_and_what_can_not_be_told(release: dph.Release) -> None:
    table = release.areas({"out": (2, 2, 3, 3), "edge": (0.5, 0, 1.5, 1), "speck": (0.001, 0.001, 0.003, 0.003)})
    assert table["note"].tolist() == [
        "outside the place: not counted", "partly outside the place: 50 % inside", "too small to tell",
    ]  # fmt: skip


def test_what_is_outside_is_not_counted_and_has_no_rank(release: dph.Release) -> None:
    table, inside = release.areas({"out": (2, 2, 3, 3), **QUARTERS}), release.areas(QUARTERS)
    numbers = table.drop(columns=["area", "note", "geometry"])
    assert numbers.loc[0].isna().all(), "nothing is known of it, not that nobody is there"
    assert table["rank"].dropna().tolist() == inside["rank"].tolist()
    assert table["rank_low"].dropna().tolist() == inside["rank_low"].tolist()
    assert table["people"].dropna().tolist() == pytest.approx(inside["people"].tolist())
    more = release.exceeds({"out": (2, 2, 3, 3), **QUARTERS})
    assert more["out"].isna().all()
    assert more.loc["out"].isna().all()


def test_a_sliver_inside_is_not_outside(release: dph.Release) -> None:
    table = release.areas({"sliver": [(0.1, 0.5), (0.9, 0.5), (0.9, 0.5 + 1e-13)], "low": (0, 0.6, 1, 1)})
    assert table["note"][0] == "too small to tell"


def test_areas_all_outside_are_refused(release: dph.Release) -> None:
    with pytest.raises(DataError, match="All of the areas lie outside the place"):
        release.areas({"out": (2, 2, 3, 3)})
    city = dph.Domain.bbox(7.3, 46.9, 7.5, 47.02, resolution=400)
    made = seeded_release(dph.Counts.from_cells(city, *np.zeros((3, 0), np.int64)), seed=1, epsilon=1)
    with pytest.raises(DataError, match="x and y are swapped"):
        made.areas({"swapped": (46.92, 7.35, 46.98, 7.45)})
    with pytest.raises(DataError, match="another place, or in another system of coordinates"):
        made.exceeds({"a": (8, 46, 9, 46.5), "b": (8, 45, 9, 46)})


def test_the_same_release_gives_the_same_numbers(release: dph.Release) -> None:
    assert release.areas(QUARTERS).equals(release.areas(QUARTERS))


def test_probabilities_of_having_more(release: dph.Release) -> None:
    more = release.exceeds({**QUARTERS, "same": QUARTERS["nw"]})
    assert np.allclose(more + more.T, 1.0)
    assert more.loc["nw", "same"] == 0.5
    table = release.areas(QUARTERS)
    most, least = table["area"][table["rank"].idxmin()], table["area"][table["rank"].idxmax()]
    assert more.loc[most, least] > 0.9


def test_probabilities_never_claim_certainty(release: dph.Release) -> None:
    more = release.exceeds({"all": (0, 0, 1, 1), "corner": (0, 0, 0.01, 0.01)})
    assert more.loc["all", "corner"] == pytest.approx(0.999)
    assert more.loc["corner", "all"] == pytest.approx(0.001)


def test_errors_do_not_depend_on_confidence(release: dph.Release) -> None:
    usual, sure = release.areas(QUARTERS), release.areas(QUARTERS, confidence=0.99)
    for column in ("standard_error", "people_standard_error"):
        assert usual[column].tolist() == sure[column].tolist()
    assert (usual["people_standard_error"] > 0).all()


def test_a_place_without_anybody_has_nobody_in_its_areas() -> None:
    nobody = dph.Counts.from_cells(SQUARE, *np.zeros((3, 0), np.int64))
    table = seeded_release(nobody, seed=1, epsilon=1).areas(QUARTERS)
    assert (table["people_low"] < 5).all()
    assert np.isfinite(table["share"]).all()


def test_depth_follows_the_areas_and_not_their_slivers() -> None:
    domain = dph.Domain.unit(12)
    large = np.full(100, 512.0**2)
    assert finest_level_for(domain, large) == 8, "6 would do for 512 finest cells across: it is that of the default map"
    assert finest_level_for(domain, np.append(large, 0.01)) == 8
    assert finest_level_for(domain, np.full(9, 4.0)) == 12
