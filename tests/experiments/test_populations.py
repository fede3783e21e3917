"""What is drawn from a place is what the aggregation makes of the same people."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.experiments.populations import Place

# Edges, points just off them, and points outside of every domain used here
COORDINATES = st.one_of(
    st.floats(-0.5, 1.5), st.sampled_from([0.0, -1e-12, 0.125, 0.5, 1.0, 1.0 + 1e-12, 320.0, 240.0, 17.3, float("nan")])
)
EVENTS = st.lists(st.tuples(st.integers(0, 6), COORDINATES, COORDINATES), min_size=1, max_size=40)
DOMAINS = st.sampled_from([dph.Domain.unit(0), dph.Domain.unit(3), dph.Domain.unit(8), dph.Domain.image(320, 240)])


def a_place(people: int, seed: int = 0, domain: dph.Domain | None = None) -> Place:
    """People with one to nine events each, some of them outside."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(people), rng.integers(1, 10, people))
    x, y = rng.uniform(-0.1, 1.1, (2, len(user)))
    return Place("here", domain or dph.Domain.unit(6), user, x, y)


def aggregated(place: Place, chosen: list[int] | None = None) -> dph.Counts:
    table = pd.DataFrame({"user": place.user, "x": place.x, "y": place.y})
    table = table if chosen is None else table[table["user"].isin(chosen)]
    return dph.aggregate(table, place.domain, user="user", x="x", y="y")


@settings(max_examples=60)
@given(events=EVENTS, domain=DOMAINS)
def test_everybody_is_added_up_as_aggregate_does(events: list[tuple[int, float, float]], domain: dph.Domain) -> None:
    ids, x, y = zip(*events, strict=True)
    place = Place.of_events("here", domain, ids, x, y)
    drawn, expected = place.sample(place.people, np.random.default_rng(0)), aggregated(place)
    assert drawn.codes.tolist() == expected.codes.tolist()
    assert drawn.sums.tolist() == expected.sums.tolist()
    assert drawn.domain == domain


def test_a_draw_is_that_of_so_many_different_people_with_all_their_events() -> None:
    place = a_place(40)
    for seed in range(10):
        # What sample is known to use the generator for: one choice without replacement
        chosen = np.random.default_rng(seed).choice(40, 15, replace=False)
        assert len(set(chosen.tolist())) == 15
        drawn, expected = place.sample(15, np.random.default_rng(seed)), aggregated(place, chosen.tolist())
        assert drawn.codes.tolist() == expected.codes.tolist()
        assert drawn.sums.tolist() == expected.sums.tolist()


def test_nobody_is_drawn_twice() -> None:
    """One event each, in a cell of their own: each cell of a draw weighs one person."""
    centres = (np.arange(64) + 0.5) / 64
    place = Place("row", dph.Domain.unit(6), np.arange(64), centres, np.full(64, 0.5))
    seen = set()
    rng = np.random.default_rng(0)
    for _ in range(30):
        drawn = place.sample(20, rng)
        assert np.diff(drawn.sums).tolist() == [UNITS] * 20
        seen |= set(drawn.codes.tolist())
    assert len(seen) == 64


def test_draws_are_repeated_by_the_seed_and_differ_otherwise() -> None:
    place = a_place(100)
    first, again, other = (place.sample(30, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.sums.tolist() == again.sums.tolist()
    assert first.codes.tolist() == again.codes.tolist()
    assert first.codes.tolist() != other.codes.tolist()


def test_people_with_nothing_inside_weigh_nothing_but_are_people() -> None:
    place = Place.of_events("here", dph.Domain.unit(2), ["a", "b", "b"], [2.0, 0.1, 3.0], [0.5, 0.1, 0.5])
    assert place.people == 2
    assert place.sample(2, np.random.default_rng(0)).sums.tolist() == [0, UNITS]


@pytest.mark.parametrize("people", [0, -1, 11])
def test_more_people_than_there_are_cannot_be_drawn(people: int) -> None:
    with pytest.raises(ParameterError, match=f"from 1 to 10, as many as here has; it was {people}"):
        a_place(10).sample(people, np.random.default_rng(0))


def test_a_place_without_events_has_nobody() -> None:
    nobody = Place.of_events("desert", dph.Domain.unit(2), [], [], [])
    assert nobody.people == 0
    with pytest.raises(ParameterError, match="as many as desert has"):
        nobody.sample(1, np.random.default_rng(0))


def test_another_depth_has_the_same_people_in_coarser_cells() -> None:
    fine = a_place(30)
    coarse = fine.at_depth(3)
    drawn = [place.sample(30, np.random.default_rng(0)) for place in (fine, coarse)]
    assert coarse.domain == dph.Domain.unit(3)
    assert drawn[1].codes.tolist() == np.unique(drawn[0].codes >> 6).tolist()
    assert drawn[0].at(3, drawn[1].codes).tolist() == np.diff(drawn[1].sums).tolist()


def test_images_keep_their_resolution() -> None:
    with pytest.raises(ParameterError, match="Only unit squares"):
        a_place(3, domain=dph.Domain.image(320, 240)).at_depth(4)
