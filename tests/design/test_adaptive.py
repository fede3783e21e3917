"""The adaptive design: what each noisy count decides, exactly at the thresholds, in whole numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpheatmap._util.parameters import DEEPEST
from dpheatmap.design import adaptive
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.design import Question
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import FARTHEST, SHARES, UNITS
from dpheatmap.design.start import FIRST_CELLS, MOST_AT_ONCE
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from helpers.designs import walked

EPSILONS = [Fraction(1, 3), Fraction(2), Fraction(1, 10**9)]
SQUARE = Domain.unit(8)
DESIGN = AdaptiveDesign(2, 8)
TOTAL_SHARE = SHARES // 100
by_epsilon = pytest.mark.parametrize("epsilon", EPSILONS, ids=str)


def at_start(level: int, design: AdaptiveDesign = DESIGN, domain: Domain = SQUARE) -> Question:
    """The question about all cells of the level that was chosen to start at."""
    left = SHARES - int(SHARES * design.total)
    share = int(left * design.spent)
    return Question(level, domain.codes(level), share, left - share)


def later(level: int, cells: Ints) -> Question:
    """A question about cells that were opened: less is left than at any start."""
    return Question(level, cells, SHARES // 8, SHARES // 2)


# The total


def test_it_begins_with_everybody() -> None:
    for domain in (SQUARE, Domain.image(300, 100), Domain.bbox(7.3, 46.9, 7.5, 47.02, depth=16)):
        first = domain.first_level(FIRST_CELLS)
        begin = AdaptiveDesign(first, domain.depth).begin(domain)
        assert len(begin.cells) == 1 == domain.cells(begin.level).count
        assert (begin.share, begin.left) == (TOTAL_SHARE, SHARES - TOTAL_SHARE)
        assert begin.level == domain.first_level(1)


@pytest.mark.parametrize("total", [Fraction(0), Fraction(1, 100)])
def test_the_only_level_takes_everything_at_once(total: Fraction) -> None:
    begin = AdaptiveDesign(2, 2, total=total).begin(SQUARE)
    assert begin.cells.tolist() == list(range(16))
    assert (begin.level, begin.share, begin.left) == (2, SHARES, 0)
    assert AdaptiveDesign(2, 2, total=total).after(SQUARE, PureLoss(Fraction(1)), begin, np.full(16, 10**15)) == []


def test_without_a_total_it_starts_at_the_first_level() -> None:
    design = AdaptiveDesign(3, 8, total=Fraction(0))
    begin = design.begin(SQUARE)
    assert (begin.level, begin.share, begin.left) == (3, SHARES // 4, SHARES - SHARES // 4)
    assert len(begin.cells) == 64
    assert design.possible_shares(SQUARE) >= {begin.share, begin.left}


@by_epsilon
@pytest.mark.parametrize("level", range(3, 8))
def test_the_start_is_the_deepest_level_with_24_people_times_epsilon_a_cell(epsilon: Fraction, level: int) -> None:
    """count * epsilon >= 24 cells, exactly at the count where it begins to hold; not the last level."""
    begin = DESIGN.begin(SQUARE)
    least = -(-24 * 4**level * UNITS // epsilon)
    for count, start in ((least - 1, level - 1), (least, level)):
        [after] = DESIGN.after(SQUARE, PureLoss(epsilon), begin, np.array([count if count < 2**63 else FARTHEST]))
        reached = start if count < 2**63 else after.level
        assert after.level == reached
        assert after.cells.tolist() == SQUARE.codes(reached).tolist()
        assert (after.share, after.left) == at_start(reached)[2:]


@pytest.mark.parametrize("count", [-FARTHEST, -1, 0, 1])
def test_few_or_none_start_at_the_first_level(count: int) -> None:
    [after] = DESIGN.after(SQUARE, PureLoss(Fraction(1)), DESIGN.begin(SQUARE), np.array([count]))
    assert after.level == 2


def test_the_start_has_at_most_so_many_cells_and_is_above_the_last_level() -> None:
    deep = Domain.unit(20)
    for last, start in ((20, 7), (8, 7), (7, 6), (3, 2)):
        design = AdaptiveDesign(2, last)
        [after] = design.after(deep, PureLoss(Fraction(10**6)), design.begin(deep), np.array([FARTHEST]))
        assert after.level == start
    assert deep.cells(7).count == MOST_AT_ONCE
    given = AdaptiveDesign(9, 20)  # a first level with more cells than that is what was asked for
    [after] = given.after(deep, PureLoss(Fraction(1)), given.begin(deep), np.array([FARTHEST]))
    assert after.level == 9


# A level


@by_epsilon
@pytest.mark.parametrize("last", [2, 3, 4])
def test_what_a_count_decides_just_at_the_thresholds(epsilon: Fraction, last: int) -> None:
    """count * left <= c W, in whole numbers: at the threshold a cell is still closed, or finished; one unit on, not.

    One level above the last one, to open is to finish.
    """
    design = AdaptiveDesign(0, last)
    asked = later(1, np.arange(4))
    for c in (5, 10):
        count = min(int(Fraction(c * UNITS * SHARES) / (epsilon * asked.left)), FARTHEST - 2)
        noisy = np.array([count - 1, count, count + 1, -count])
        closed, finished, opened = design.after(Domain.unit(5), PureLoss(epsilon), asked, noisy)
        signals = [Fraction(int(y)) * epsilon * asked.left / SHARES / UNITS for y in noisy]
        wanted = ["closed" if s <= 5 else "finished" if s <= 10 or last == 2 else "opened" for s in signals]
        assert closed.cells.tolist() == [k for k in range(4) if wanted[k] == "closed"]
        assert finished.cells.tolist() == [4 * k + j for k in range(4) if wanted[k] == "finished" for j in range(4)]
        assert opened.cells.tolist() == [4 * k + j for k in range(4) if wanted[k] == "opened" for j in range(4)]
        assert closed[::2] + closed[3:] == (1, asked.left, 0)
        assert finished[::2] + finished[3:] == (2, asked.left, 0)
        share = asked.left if last == 2 else asked.left // 4
        assert opened[::2] + opened[3:] == (2, share, asked.left - share)
        if epsilon > Fraction(1, 10**6):
            assert wanted[1] != wanted[2] or (c == 10 and last == 2)


def test_the_last_level_takes_all_that_is_left_and_nothing_follows() -> None:
    """One cell of everybody is opened all the way down."""
    design = replace(DESIGN, last=5)
    asked = walked(design, SQUARE, Fraction(1), lambda asked: np.where(asked.cells == 0, 20 * 10**3 * UNITS, -UNITS))
    last = [question for question in asked if question.level == 5]
    assert [question.left for question in last] == [0]
    assert last[0].cells.tolist() == [0, 1, 2, 3]
    on_path = [q.share for q in asked if 0 in q.cells]
    assert sum(on_path) == SHARES
    assert design.after(SQUARE, PureLoss(Fraction(1)), last[0], np.full(4, FARTHEST)) == []


def test_depth_follows_epsilon_times_mass() -> None:
    """What is opened has a signal above 10 of its own, so there are few cells however deep the domain is."""
    deep = Domain.unit(DEEPEST)
    rng = np.random.default_rng(1)

    def answer(asked: Question) -> Ints:
        here = np.zeros(len(asked.cells), np.int64)  # 1000 people at four places
        for place in (0, 4**27, 2 * 4**27 + 5, 4**28 - 1):
            here[asked.cells == place >> 2 * (DEEPEST - asked.level)] += 250 * UNITS
        return here + rng.integers(-UNITS // 9, UNITS // 9, len(here))

    asked = walked(AdaptiveDesign(2, DEEPEST), deep, Fraction(10), answer)
    assert max(q.level for q in asked) > 20
    assert sum(len(q.cells) for q in asked) < 2 * 4**7


# Even maps


@pytest.mark.parametrize(("times", "deeper"), [(9.99, 0), (10, 1), (39.99, 1), (40, 2), (159.99, 2), (160, 3)])
def test_an_even_map_is_finished_at_the_nearest_level_to_a_signal_of_5(times: float, deeper: int) -> None:
    """From twice, 8 times, 32 times 5 on, one, two, three levels deeper: the middles between powers of 4."""
    asked = at_start(2)
    epsilon = Fraction(1)
    people = Fraction(str(times)) * SHARES / (epsilon * asked.left)
    each = -(-people * UNITS // 1)  # the least count with that signal
    [after] = DESIGN.after(SQUARE, PureLoss(epsilon), asked, np.full(16, each))
    assert (after.level, after.share, after.left) == (2 + deeper, asked.left, 0)
    assert after.cells.tolist() == SQUARE.codes(2 + deeper).tolist()


def test_evenness_just_below_and_above_its_threshold() -> None:
    """Half of the cells hold less than the others: a unit more in each of them, and the map is even."""
    asked = at_start(2)
    epsilon = Fraction(100)
    noise = 2 * (UNITS * SHARES / (epsilon * asked.share)) ** 2

    def evenness(noisy: list[int]) -> Fraction:
        return Fraction(sum(noisy) ** 2) / (len(noisy) * (sum(y * y for y in noisy) - len(noisy) * noise))

    high = 10**9
    low, above = 0, high  # the least equal count of the other half of the cells with which the map is even
    while above - low > 1:
        middle = (low + above) // 2
        low, above = (low, middle) if evenness([high] * 8 + [middle] * 8) > Fraction(3, 4) else (middle, above)
    for y, even in ((low, False), (above, True)):
        noisy = [high] * 8 + [y] * 8
        assert (evenness(noisy) > Fraction(3, 4)) == even
        assert (len(DESIGN.after(SQUARE, PureLoss(epsilon), asked, np.array(noisy))) == 1) == even


def test_the_evenness_of_an_exact_tie_is_not_even() -> None:
    asked = at_start(1)
    epsilon, noisy = Fraction(1), np.array([9, 9, 9, 1]) * 10**12
    noise = 2 * (UNITS * SHARES / (epsilon * asked.share)) ** 2
    squares = sum(int(y) ** 2 for y in noisy) - 4 * noise
    tie = Fraction(int(noisy.sum()) ** 2) / (4 * squares)
    assert 0 < tie < 1
    design = AdaptiveDesign(1, 8)
    assert len(replace(design, evenness=tie).after(SQUARE, PureLoss(epsilon), asked, noisy)) == 3
    assert len(replace(design, evenness=tie - Fraction(1, 10**30)).after(SQUARE, PureLoss(epsilon), asked, noisy)) == 1


def test_an_even_map_is_not_finished_with_more_than_so_many_cells() -> None:
    deep = Domain.unit(12)
    for first, most in ((2, 7), (3, 7), (7, 7)):
        design = AdaptiveDesign(first, 12)
        asked = at_start(first, design, deep)
        for level in range(first, 12):
            signal = 5 * 4 ** (level - first)
            each = int(signal * UNITS * SHARES / Fraction(asked.left)) + 1
            following = design.after(deep, PureLoss(Fraction(1)), asked, np.full(len(asked.cells), each))
            if level <= most:
                assert [q.level for q in following] == [level]
            else:
                assert [q.level for q in following] == [first, first + 1, first + 1], "cells are opened instead"
    assert deep.cells(7).count == MOST_AT_ONCE


def test_an_even_map_stops_at_the_last_level() -> None:
    design = AdaptiveDesign(2, 3)
    [after] = design.after(SQUARE, PureLoss(Fraction(1)), at_start(2), np.full(16, FARTHEST))
    assert (after.level, after.left) == (3, 0)


def test_evenness_is_asked_at_the_start_only() -> None:
    asked = later(3, np.arange(64))
    noisy = np.full(64, 6 * UNITS * 2)
    assert len(DESIGN.after(SQUARE, PureLoss(Fraction(1)), asked, noisy)) == 3


def test_nobody_at_all_is_an_even_map_measured_again() -> None:
    [after] = DESIGN.after(SQUARE, PureLoss(Fraction(1)), at_start(2), np.zeros(16, np.int64))
    assert (after.level, after.share, after.left) == (2, at_start(2).left, 0)


# Constants


@pytest.mark.parametrize(
    "change",
    [
        {"first": -1}, {"first": 9}, {"last": 1}, {"last": DEEPEST + 1}, {"last": 10**100},
        {"total": Fraction(-1, 100)}, {"total": Fraction(1)}, {"total": Fraction(1, 2**33)},
        {"total": 1 - Fraction(1, 2**32)}, {"spent": Fraction(0)}, {"spent": Fraction(1)},
        {"spent": Fraction(1, 2**33)}, {"spent": 1 - Fraction(1, 2**20)}, {"closing": Fraction(0)},
        {"closing": Fraction(-1)},
        {"closing": Fraction(11)}, {"opening": Fraction(4)}, {"start": Fraction(0)}, {"start": Fraction(-24)},
        {"evenness": Fraction(0)}, {"even_signal": Fraction(0)}, {"even_signal": Fraction(-1)},
    ],
    ids=str,
)  # fmt: skip
def test_constants_out_of_range_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"out of range|whatever is in it|nothing of epsilon"):
        replace(DESIGN, **change)


def test_constants_just_in_range_are_not() -> None:
    changes: list[dict[str, Any]] = [
        {"first": 0}, {"first": 8}, {"last": DEEPEST}, {"total": Fraction(0)}, {"closing": Fraction(10)},
        {"opening": Fraction(5)}, {"total": Fraction(1, 2**32)},
    ]  # fmt: skip
    for change in changes:
        shares = replace(DESIGN, **change).possible_shares(Domain.unit(DEEPEST))
        assert all(0 < share <= SHARES for share in shares)


def test_the_constants_are_those_of_the_docstring() -> None:
    words = " ".join((adaptive.__doc__ or "").split())
    assert "with a hundredth of epsilon" in words
    assert Fraction(1, 100) == DESIGN.total
    assert "with a quarter of what is left" in words
    assert Fraction(1, 4) == DESIGN.spent
