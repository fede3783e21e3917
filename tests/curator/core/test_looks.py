"""The ladder against a reference of its own, cell by cell, in Python's integers: ways, thresholds, edges and sizes.

Noise is a function of the cell that it is drawn for, which both are given. So they must publish the same, to the unit,
whatever the domain, the counts' and the noise's size, and however many cells are looked at at once.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpheatmap.curator.core import looks
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.looks import climb, levels_if_even
from dpheatmap.curator.core.measure import measure_counts
from dpheatmap.curator.core.publishing import SAFE, Published, clip, count_with_noise, summable
from dpheatmap.design.ladder import EvenRule, LadderDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import FARTHEST, SHARES, UNITS
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, encode
from helpers.enumerated import WatchedCounts
from helpers.ladder_reference import LadderReference, Noise, Output

NO_TOTAL = Fraction(0)
NEVER = Fraction(10**12)


def climbed(design: LadderDesign, counts: WatchedCounts, epsilon: Fraction, noise: Noise) -> list[Published]:
    """What the real ladder publishes with these noises; each is drawn once."""
    seen: set[tuple[int, int, int]] = set()
    last: list[tuple[int, Ints]] = []

    def draw(share: int, size: int) -> Ints:
        if counts.asked:
            last[:] = [counts.asked.pop()]
            level, cells = last[0]
        else:  # V: its cells are those of the G that were just drawn
            level, cells = last[0][0] - 2, np.unique(last[0][1] >> 4)
        assert len(cells) == size
        keys = [(share, level, cell) for cell in cells.tolist()]
        assert not seen & set(keys), "noise is drawn twice"
        seen.update(keys)
        drawn = np.array([noise(*key) for key in keys], object)
        small = all(abs(number) < 2**63 for number in drawn)
        return drawn.astype(np.int64) if small else drawn

    return climb(design, counts, PureLoss(epsilon), draw)


def as_set(published: list[Published]) -> Output:
    rows = [
        (asked.level, cell, value, asked.share)
        for asked, noisy in published
        for cell, value in zip(asked.cells.tolist(), noisy.tolist(), strict=True)
    ]
    assert len(rows) == len(set(rows))
    return set(rows)


DOMAINS = [
    Domain.unit(0), Domain.unit(1), Domain.unit(2), Domain.unit(4), Domain.image(11, 6), Domain.image(1, 16),
    Domain.image(100, 3, depth=5), Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=12), Domain.bbox(-1, -1, 1, 1, depth=9),
]  # fmt: skip


def a_case(seed: int, scale: int, domain: Domain, first: int) -> tuple[LadderDesign, WatchedCounts, Fraction, Noise]:
    """Counts, noise and thresholds of a size, in units, so that all ways are taken."""
    rng = np.random.default_rng(seed)
    total = Fraction(int(rng.integers(0, 3)), 100)
    spent = Fraction(int(rng.integers(1, 9)), 10)
    evenness = Fraction(int(rng.integers(1, 20)), 20)
    design = LadderDesign(min(first, domain.depth), domain.depth, total=total, spent=spent, evenness=evenness)
    if rng.integers(0, 2):
        design = replace(design, even_once=NEVER, even_twice=NEVER)
    epsilon = Fraction(14 * UNITS, scale)  # the threshold of deepening is the scale
    r, size = domain.cells(domain.depth), rng.choice([0.02, 0.05, 0.1, 0.6])
    at = np.unique(encode(rng.integers(r.x0, r.x1, 60), rng.integers(r.y0, r.y1, 60)))
    weights = np.array([min(int(w * scale), 2**63 - 1) for w in rng.exponential(size, len(at))], np.int64)
    counts = WatchedCounts.in_order(domain, at, weights)
    assert isinstance(counts, WatchedCounts)
    salt = int(rng.integers(0, 2**31))

    def noise(share: int, level: int, cell: int) -> int:
        mixed = np.random.default_rng([salt, share, level, cell])
        return int(mixed.laplace(0, 1.0) * scale * SHARES / (14 * share))

    return design, counts, epsilon, noise


@pytest.mark.parametrize("block", [3, 2**14])
@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**32),
    scale=st.sampled_from([20, 10**6, 2**40, 2**56, 2**58, 2**61, 2**63, 2**66]),
    domain=st.sampled_from(DOMAINS),
    first=st.integers(0, 4),
)
def test_it_publishes_what_the_reference_does(block: int, seed: int, scale: int, domain: Domain, first: int) -> None:
    """In blocks of 3 cells maps are not even: the rule is for as many cells as are looked at at once."""
    if domain.depth > 6:
        first = max(first, domain.depth - 5)
    design, counts, epsilon, noise = a_case(seed, scale, domain, first)
    if block < 2**14:
        design = replace(design, even_once=NEVER, even_twice=NEVER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looks, "BLOCK", block)
        published = climbed(design, counts, epsilon, noise)
    assert as_set(published) == LadderReference(design, counts, epsilon, noise).climb()
    for asked, noisy in published:
        assert noisy.dtype == np.int64
        assert (np.diff(asked.cells) > 0).all()


def test_the_cases_take_every_way() -> None:
    """Opened, split, kept, finished, closed and even, below and above 64 bits: else the test above tells little."""
    for scale in (10**6, 2**63):
        kinds, clipped = set[tuple[int, int, int]](), False
        for seed in range(40):
            design, counts, epsilon, noise = a_case(seed, scale, Domain.unit(4), 1)
            found = LadderReference(design, counts, epsilon, noise).climb()
            start = min(level for level, _, _, share in found if share in design.rungs[0])
            for level, _, value, share in found:
                kinds |= {
                    (level - start, k, kind)
                    for k, rung in enumerate(design.rungs[:2])
                    for kind in (0, 1)
                    if share == rung[kind]
                }
                clipped |= abs(value) == FARTHEST
        assert kinds >= {(0, 0, 1), (0, 0, 0), (1, 0, 0), (2, 0, 0), (1, 1, 0), (2, 1, 0), (1, 1, 1)}
        assert clipped == (scale > 2**60)


# Thresholds, to the unit


def one_cell(count: int, noise: dict[int, int], depth: int = 2, **changes: Fraction) -> Output:
    """What becomes of one cell with people in its first quarter's quarter, without other noise than that given."""
    design = LadderDesign(0, depth, total=NO_TOTAL, even_once=NEVER, even_twice=NEVER, **changes)
    counts = Counts.in_order(Domain.unit(depth), np.array([0]), np.array([count]))
    return as_set(climb(design, counts, PureLoss(Fraction(1)), lambda share, size: np.full(size, noise.get(share, 0))))


@pytest.mark.parametrize(
    ("signal", "below", "above"),
    [
        (7, {(0, 0)}, {(1, k) for k in range(4)}),
        (14, {(1, k) for k in range(4)}, {(2, k) for k in range(4)} | {(1, k) for k in range(1, 4)}),
        (28, {(2, k) for k in range(4)} | {(1, k) for k in range(1, 4)}, {(0, 0)}),
    ],
)
def test_what_a_look_decides_just_at_the_threshold(
    signal: int, below: set[tuple[int, int]], above: set[tuple[int, int]]
) -> None:
    """A look that equals the threshold does not exceed it; one unit more does."""
    for count, cells in ((signal * UNITS, below), (signal * UNITS + 1, above)):
        found = one_cell(count, {})
        first = {(level, cell) for level, cell, _, share in found if share in LadderDesign(0, 2, NO_TOTAL).rungs[0]}
        assert first == cells


@pytest.mark.parametrize(("extra", "split"), [(0, False), (1, True)])
def test_a_child_is_split_just_above_its_threshold(extra: int, split: bool) -> None:
    found = one_cell(9 * UNITS + extra, {}, splitting=Fraction(9), deepening=Fraction(8), closing=Fraction(1))
    assert ({level for level, *_ in found} == {1, 2}) == split
    assert ({level for level, *_ in found} == {1}) != split


# Even maps


def test_an_even_map_is_judged_by_all_cells_and_all_noise() -> None:
    rule = EvenRule(Fraction(1, 2), (Fraction(10), Fraction(20)), Fraction(3), Fraction(2), None)
    assert levels_if_even(rule, np.array([10, 10, 10, 10]), 16) == 1
    assert levels_if_even(rule, np.array([20, 20, 20, 20]), 16) == 2
    assert levels_if_even(rule, np.array([9, 10, 10, 10]), 16) == 0
    assert levels_if_even(rule, np.array([-20, -20, -20, -20]), 16) == 0
    # (sum)^2 = 6400 against half of 4 (6400 - noise): even only if the variance of all noise is above 3200
    lonely = np.array([80, 0, 0, 0])
    assert levels_if_even(rule, lonely, 1594) == 0  # 4 * 3 + 1594 * 2 = 3200, and no more
    assert levels_if_even(rule, lonely, 1595) == 2
    assert levels_if_even(rule._replace(least=()), np.array([20, 20]), 4) == 0
    assert levels_if_even(rule, np.array([2**80] * 4, object), 16) == 2


def test_the_rule_knows_how_many_cells_it_may_make() -> None:
    """Up to 2^14 cells; two levels down with more than 400 only if the map is spotty."""
    design, domain = LadderDesign(0, 12, total=NO_TOTAL), Domain.unit(12)
    numbers = [len(design._even_rule(domain, Fraction(1), level).least) for level in range(8)]
    assert numbers == [0, 2, 2, 2, 2, 2, 1, 0]
    roughness = [design._even_rule(domain, Fraction(1), level).roughness for level in range(1, 6)]
    assert roughness == [None, None, *[design.roughness] * 3]
    rule = design._even_rule(domain, Fraction(2), 1)
    left, taken = design.rungs[0]
    assert rule.least == (Fraction(5 * UNITS), Fraction(20 * UNITS))
    assert rule.variance == 2 * Fraction(UNITS * SHARES, 2 * left) ** 2
    assert rule.own_variance == 2 * Fraction(UNITS * SHARES, 2 * taken) ** 2


# Exact integers, clipped at the end


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5))
def test_integers_are_pythons_own_if_sums_might_not_fit(numbers: list[int]) -> None:
    array = np.array(numbers, np.int64)
    found = summable(array)
    assert found.tolist() == numbers
    assert (found.dtype == object) == any(abs(number) >= SAFE for number in numbers)
    assert summable(array.astype(object)).dtype == object


def test_a_look_fits_into_64_bits_if_its_parts_are_safe() -> None:
    """16 counts, 16 noises G and one V, each just below the bound."""
    assert (16 + 16 + 1) * (SAFE - 1) < 2**63


@given(st.lists(st.integers(-(2**80), 2**80) | st.integers(FARTHEST - 2, FARTHEST + 2), min_size=1))
def test_published_values_are_held_within_2_to_the_61(numbers: list[int]) -> None:
    found = clip(np.array(numbers, object))
    assert found.dtype == np.int64
    assert found.tolist() == [max(-FARTHEST, min(FARTHEST, number)) for number in numbers]


@given(st.integers(0, 2**63 - 1), st.integers(-(2**70), 2**70))
def test_a_count_is_not_clipped_before_its_noise_is_added(weight: int, drawn: int) -> None:
    counts = Counts.in_order(Domain.unit(0), np.array([0]), np.array([weight]))
    noisy = count_with_noise(counts, 0, np.array([0]), 1, lambda share, size: np.array([drawn], object))
    assert noisy.tolist() == [max(-FARTHEST, min(FARTHEST, weight + drawn))]


# Where it starts, and what it is asked for


def test_a_release_spends_every_path_and_leaves_no_cell_out() -> None:
    """Each finest cell lies in cells whose shares add up to all there is, in blocks of 3 cells, too."""
    for block in (3, 2**14):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(looks, "BLOCK", block)
            for domain in (Domain.unit(5), Domain.image(21, 9)):
                codes = domain.codes(domain.depth)
                weights = np.random.default_rng(1).integers(0, 9 * UNITS, len(codes))
                for epsilon in (Fraction(1, 10), Fraction(3)):
                    counts = Counts.in_order(domain, codes, weights)
                    m = measure_counts(counts, PureLoss(epsilon), LadderDesign(1, domain.depth))
                    spent = np.zeros(len(codes), np.int64)
                    for level, code, share in zip(m.levels, m.codes, m.shares, strict=True):
                        spent[codes >> 2 * (domain.depth - level) == code] += share
                    assert set(spent.tolist()) == {SHARES}
