"""The public part of the ladder: levels, shares, thresholds and forecasts, in whole numbers."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.looks import climb
from dpheatmap.design.design import asks
from dpheatmap.design.forecast import AdaptiveForecast, LadderForecast
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.registry import DESIGNS, FORECASTS, choose_design, read_design
from dpheatmap.design.settings import Settings
from dpheatmap.design.shares import FARTHEST, SHARES, UNITS
from dpheatmap.design.start import MOST_AT_ONCE
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain

SQUARE = Domain.unit(8)
DESIGN = LadderDesign(2, 8)
TOTAL_SHARE = SHARES // 100


def test_it_asks_no_questions() -> None:
    """Its decisions are secret, so it can't be walked through."""
    assert not asks(DESIGN)
    assert DESIGNS["ladder"] is LadderDesign
    assert not LadderDesign.at_once


# Shares


def test_a_path_spends_three_tenths_of_what_is_left_for_each_opened_cell() -> None:
    left = SHARES - TOTAL_SHARE
    for rung in DESIGN.rungs:
        assert rung == (left, left * 3 // 10)
        left -= left * 3 // 10
    assert len(DESIGN.rungs) == 7


@given(
    st.integers(0, 10),
    st.integers(0, 18),
    st.fractions(0, Fraction(9, 10)),
    st.fractions(Fraction(1, 9), Fraction(8, 9)),
)
def test_however_many_cells_were_opened_a_path_spends_what_there_is(
    first: int, levels: int, total: Fraction, spent: Fraction
) -> None:
    try:
        design = LadderDesign(first, first + levels, total=total, spent=spent)
    except ValueError:  # a share would be less than one
        reject()
    domain = Domain.unit(first + levels)
    asked = design.total_question(domain)
    before = 0 if asked is None else asked.share
    for rung in design.rungs:
        assert 1 <= rung.taken < rung.left
        assert before + rung.left == SHARES
        before += rung.taken
    shares = {share for rung in design.rungs for share in rung}
    assert design.possible_shares(domain) == shares | ({asked.share} if asked else set())
    assert (asked is None) == (levels == 0 or total == 0)


def test_the_total_is_that_of_the_deepest_cell_with_everybody() -> None:
    for domain in (SQUARE, Domain.image(300, 100), Domain.bbox(7.3, 46.9, 7.5, 47.02, depth=16)):
        design = LadderDesign.choose(domain, Fraction(1), Settings())
        asked = design.total_question(domain)
        assert asked is not None
        assert len(asked.cells) == 1 == domain.count(asked.level)
        assert (asked.share, asked.left) == (TOTAL_SHARE, SHARES - TOTAL_SHARE)
        assert asked.level == domain.first_level(1)


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2), Fraction(1, 10**9)], ids=str)
@pytest.mark.parametrize("level", range(3, 8))
def test_the_start_is_the_deepest_level_with_24_people_times_epsilon_a_cell(epsilon: Fraction, level: int) -> None:
    least = -(-24 * 4**level * UNITS // epsilon)
    for count, start in ((least - 1, level - 1), (least, level)):
        assert DESIGN.start_of(SQUARE, epsilon * count / UNITS) == start


def test_the_start_has_at_most_so_many_cells_and_is_above_the_last_level() -> None:
    deep = Domain.unit(20)
    for last, start in ((20, 7), (8, 7), (7, 6), (3, 2)):
        assert LadderDesign(2, last).start_of(deep, Fraction(FARTHEST)) == start
    assert deep.count(7) == MOST_AT_ONCE
    assert LadderDesign(9, 20).start_of(deep, Fraction(FARTHEST)) == 9
    assert DESIGN.start_of(SQUARE, Fraction(-FARTHEST)) == 2


@given(
    st.fractions(Fraction(1, 100), 100), st.fractions(Fraction(1, 10**9), 10**6), st.integers(1, SHARES),
)  # fmt: skip
def test_a_threshold_is_the_largest_count_whose_signal_is_no_larger(
    signal: Fraction, epsilon: Fraction, left: int
) -> None:
    count = DESIGN.threshold(signal, epsilon, left)
    part = epsilon * left / SHARES / UNITS
    assert count * part <= signal < (count + 1) * part
    assert count == int(count)


def test_even_maps_are_measured_deeper_only_where_there_are_few_cells() -> None:
    assert [len(DESIGN.even_signals(SQUARE, level)) for level in range(7)] == [0, 2, 2, 2, 2, 2, 1]
    deep = Domain.unit(12)
    assert [len(DESIGN.even_signals(deep, level)) for level in (6, 7)] == [1, 0]
    assert DESIGN.even_signals(SQUARE, 1) == [10, 40]


# Choosing, refusing, and the form in files


def test_it_is_chosen_by_name() -> None:
    assert choose_design(SQUARE, Fraction(1), Settings(design="ladder")) == LadderDesign(2, 8)
    assert choose_design(SQUARE, Fraction(1), Settings(design="ladder", depth=5)) == LadderDesign(2, 5)
    given_first = choose_design(SQUARE, Fraction(1), Settings(design="ladder", first_level=3))
    assert given_first == LadderDesign(3, 8, total=Fraction(0))
    assert given_first.possible_shares(SQUARE) == {
        share for rung in LadderDesign(3, 8, Fraction(0)).rungs for share in rung
    }
    with pytest.raises(ParameterError, match="users is for the design 'dense'"):
        choose_design(SQUARE, Fraction(1), Settings(design="ladder", users=5))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"first": -1}, "out of range"),
        ({"first": 9}, "out of range"),
        ({"last": 29}, "out of range"),
        ({"total": Fraction(-1, 10)}, "out of range"),
        ({"total": Fraction(1)}, "out of range"),
        ({"spent": Fraction(0)}, "out of range"),
        ({"spent": Fraction(1)}, "out of range"),
        ({"closing": Fraction(0)}, "opened whatever"),
        ({"closing": Fraction(15)}, "opened whatever"),
        ({"deepening": Fraction(29)}, "opened whatever"),
        ({"opening": Fraction(13)}, "opened whatever"),
        ({"splitting": Fraction(0)}, "opened whatever"),
        ({"start": Fraction(0)}, "as fine as can be"),
        ({"evenness": Fraction(0)}, "as fine as can be"),
        ({"even_once": Fraction(0)}, "as fine as can be"),
        ({"even_twice": Fraction(9)}, "as fine as can be"),
        ({"total": Fraction(1, 2**33)}, "nothing of epsilon"),
        ({"spent": Fraction(1, 2**33)}, "nothing of epsilon"),
        ({"spent": Fraction(99, 100)}, "nothing of epsilon"),
    ],
)
def test_what_can_not_work_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(DESIGN, **changes)


def test_thresholds_may_coincide() -> None:
    same = replace(DESIGN, closing=Fraction(9), deepening=Fraction(9), opening=Fraction(9), even_twice=Fraction(10))
    assert same.opening == same.closing


@pytest.mark.parametrize(
    "design", [DESIGN, LadderDesign(0, 0), LadderDesign(1, 28, Fraction(0), evenness=Fraction(7, 9))]
)
def test_a_file_s_metadata_gives_it_back(design: LadderDesign) -> None:
    rule = design.to_dict(lambda share: Fraction(share))
    assert rule == {"rule": {field.name: str(getattr(design, field.name)) for field in fields(LadderDesign)}}
    assert read_design({"design": "ladder", **rule}) == design
    for name in rule["rule"]:
        lacking = {"rule": {key: value for key, value in rule["rule"].items() if key != name}}
        with pytest.raises(KeyError, match=name):
            LadderDesign.from_dict(lacking)
    with pytest.raises(ValueError, match="more to the rule"):
        LadderDesign.from_dict({"rule": {**rule["rule"], "even_signal": "5"}})
    with pytest.raises(ValueError, match="whole number"):
        LadderDesign.from_dict({"rule": {**rule["rule"], "first": "1/2"}})


# Forecasts

FORECAST = LadderForecast()


@pytest.mark.parametrize(
    "domain", [Domain.unit(8), Domain.unit(3), Domain.unit(1), Domain.unit(0), Domain.image(90, 20)]
)
def test_the_planned_path_spends_all_but_the_total(domain: Domain) -> None:
    """Every level is opened down to the last but two; the level above the last is not measured."""
    for users in (1, 1000, 10**6):
        shares = FORECAST.planned_shares(domain, Fraction(1), users, Settings(design="ladder"))
        design = LadderDesign.choose(domain, Fraction(1), Settings())
        total = design.total_question(domain)
        assert sum(shares.values()) + (total.share if total else 0) == SHARES
        *opened, last = shares
        assert last == domain.depth
        start = design.first if total is None else design.start_of(domain, Fraction(users))
        assert opened == list(range(start, max(domain.depth - 1, start)))
        assert set(shares.values()) <= design.possible_shares(domain)


def deepest_leaf(domain: Domain, epsilon: Fraction, people: int) -> int:
    """The level of the leaf at a place that so many people are in, without noise; nobody is elsewhere."""
    counts = Counts.in_order(domain, np.array([0]), np.array([people * UNITS]))
    design = LadderDesign.choose(domain, epsilon, Settings())
    found = climb(design, counts, PureLoss(epsilon), lambda share, size: np.zeros(size, np.int64))
    leaves = [asked.level for asked, _ in found if asked.left == 0 and asked.cells[0] == 0]
    return max(leaves)


def test_the_finest_visible_level_is_where_the_walk_ends_without_noise() -> None:
    """To the level, but for the last two, of which only the last one is planned."""
    domain, ends = Domain.unit(9), set()
    for people in (5, 8, 12, 20, 30, 60, 150, 400, 2000, 10**5):
        shares = FORECAST.planned_shares(domain, Fraction(1), people, Settings(design="ladder"))
        parts = [Fraction(share, SHARES) for share in shares.values()]
        seen = FORECAST.finest_visible(Fraction(people), parts, [True] * len(parts))
        assert seen is not None
        level, leaf = list(shares)[seen], deepest_leaf(domain, Fraction(1), people)
        assert level == leaf or (level == domain.depth and leaf == domain.depth - 1), (people, level, leaf)
        ends.add(leaf)
    assert len(ends) >= 5
    assert FORECAST.finest_visible(Fraction(3), [Fraction(1, 3)] * 3, [True] * 3) is None


def test_more_people_are_never_seen_less() -> None:
    shares = FORECAST.planned_shares(Domain.unit(9), Fraction(1), 1, Settings(design="ladder"))
    parts = [Fraction(share, SHARES) for share in shares.values()]
    levels = [FORECAST.finest_visible(Fraction(people), parts, []) for people in range(5, 2000, 5)]
    assert all(level is not None for level in levels)
    assert levels == sorted(levels, key=lambda level: level or 0)
    assert levels[-1] == len(parts) - 1


def test_errors_are_forecast_by_signal() -> None:
    assert FORECASTS["ladder"].why != AdaptiveForecast.why
    settings = Settings(design="ladder")
    errors = [FORECAST.expected_error(SQUARE, Fraction(2), users, settings, None) for users in (5, 50, 500, 5000)]
    assert errors == sorted(errors, reverse=True)
    assert FORECAST.expected_error(SQUARE, Fraction(4), 50, settings, None) == pytest.approx(
        FORECAST.expected_error(SQUARE, Fraction(2), 100, settings, None)
    )
