"""The cells that a design measures and what it spends on them, against sets of plain pairs and sums along paths."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designs import paper_design
from dpheatmap.budget import SHARES, UNITS, split_over_levels, split_over_paths
from dpheatmap.design import CLOSING, OPENING, AdaptiveDesign, Design, measured
from dpheatmap.domain import Domain
from dpheatmap.quadtree import Ints, decode, encode
from dpheatmap.release import Measurements
from dpheatmap.selection import all_cells

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

DOMAINS = [
    Domain.unit(4), Domain.unit(0), Domain.image(11, 6), Domain.image(1, 16), Domain.image(100, 3, depth=5),
    Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=12), Domain.bbox(-1, -1, 1, 1, depth=9),
]  # fmt: skip
ONE = Fraction(1)


def designs(domain: Domain, width: int = 3) -> list[Design]:
    first = domain.first_level(width)
    paths = split_over_paths(first, domain.depth, Fraction(1, 5))
    return [paper_design(split_over_levels(first, domain.depth), width), AdaptiveDesign(paths, CLOSING, OPENING)]


def pairs(codes: Ints) -> list[tuple[int, int]]:
    x, y = decode(codes)
    return list(zip(x.tolist(), y.tolist(), strict=True))


def meeting(domain: Domain, level: int) -> set[tuple[int, int]]:
    r = domain.cells(level)
    return {(x, y) for x in range(r.x0, r.x1) for y in range(r.y0, r.y1)}


def children_of(cells: list[tuple[int, int]], domain: Domain, level: int) -> set[tuple[int, int]]:
    four = {(2 * x + dx, 2 * y + dy) for x, y in cells for dx in (0, 1) for dy in (0, 1)}
    return four & meeting(domain, level + 1)


@pytest.mark.parametrize("domain", DOMAINS)
def test_all_cells_are_those_that_meet_the_domain_in_order(domain: Domain) -> None:
    for level in range(min(domain.depth, 9) + 1):
        codes = all_cells(domain, level)
        assert np.all(np.diff(codes) > 0)
        assert set(pairs(codes)) == meeting(domain, level)


@pytest.mark.parametrize("domain", [domain for domain in DOMAINS if domain.depth > 1])
@given(data=st.data())
def test_the_papers_next_cells_are_the_children_of_the_largest(domain: Domain, data: st.DataObject) -> None:
    level = data.draw(st.integers(1, min(domain.depth - 1, 6)))
    cells = all_cells(domain, level)
    cells = cells[data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells)))]
    noisy = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=len(cells), max_size=len(cells))), dtype=np.int64)
    width = data.draw(st.integers(1, 30))
    for first, kept in ((0, width), (level, None)):
        ranked = sorted(zip((-noisy).tolist(), cells.tolist(), pairs(cells), strict=True))[:kept]
        design = paper_design(split_over_levels(first, domain.depth), width)
        closed, finished, below = design.decide(domain, ONE, level, cells, noisy)
        assert set(pairs(below)) == children_of([pair for _, _, pair in ranked], domain, level)
        assert np.all(np.diff(below) > 0)
        assert len(closed) == len(finished) == 0


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2), Fraction(1, 10**9)])
@pytest.mark.parametrize("last", [2, 3, 4])
def test_what_a_count_decides_just_at_the_thresholds(epsilon: Fraction, last: int) -> None:
    """count * rest <= c W, in whole numbers: at the threshold a cell is still closed, or finished; one unit on, not.

    One level above the last one there is nothing between closed and opened.
    """
    domain = Domain.unit(5)
    design = AdaptiveDesign(split_over_paths(1, last, Fraction(1, 5)), Fraction(5), Fraction(10))
    for c in (5, 10):
        at = Fraction(c * UNITS * SHARES) / (epsilon * design.rest(1))
        count = min(int(at), 2**61 - 2)
        noisy = np.array([count - 1, count, count + 1, -count])
        closed, finished, below = design.decide(domain, epsilon, 1, np.arange(4), noisy)
        value = [Fraction(int(y)) * epsilon * design.rest(1) / SHARES / UNITS for y in noisy]
        wanted = ["closed" if v <= 5 else "finished" if v <= 10 and last > 2 else "opened" for v in value]
        assert closed.tolist() == [k for k in range(4) if wanted[k] == "closed"]
        assert finished.tolist() == [4 * k + j for k in range(4) if wanted[k] == "finished" for j in range(4)]
        assert below.tolist() == [4 * k + j for k in range(4) if wanted[k] == "opened" for j in range(4)]
        if epsilon > Fraction(1, 10**6):
            assert wanted[1] != wanted[2] or (c == 10 and last == 2)


@pytest.mark.parametrize("domain", DOMAINS)
@given(seed=st.integers(0, 2**32), scale=st.sampled_from([1, 20, 400]), epsilon=st.sampled_from(["1/7", "1", "30"]))
def test_along_every_path_the_shares_add_up_to_epsilon(domain: Domain, seed: int, scale: int, epsilon: str) -> None:
    """What the proof of the measurement rests on, for made-up noisy values; adaptive, exactly."""
    rng = np.random.default_rng(seed)
    for design in designs(domain):
        spent: dict[tuple[int, int], int] = {}
        ended: list[int] = []
        cells = all_cells(domain, min(design.shares))
        before = dict.fromkeys(cells.tolist(), 0)
        for level, share in sorted(design.shares.items()):
            noisy = rng.integers(-scale * UNITS, scale * UNITS, len(cells))
            closed, finished, below = design.decide(domain, Fraction(epsilon), level, cells, noisy)
            spent = {(level, code): before[code] + share for code in cells.tolist()}
            for code in closed.tolist():
                spent[level, code] += design.rest(level)
            ended += [spent[level, code >> 2] + design.rest(level) for code in finished.tolist()]
            parents = [set((codes >> 2).tolist()) for codes in (below, finished)]
            assert parents[0].isdisjoint(parents[1])
            assert parents[0].union(parents[1]).isdisjoint(closed.tolist())
            ended += [total for (_, code), total in spent.items() if code not in parents[0] | parents[1]]
            before = {code: spent[level, code >> 2] for code in below.tolist()}
            cells = below
        assert len(cells) == 0
        assert max(ended) <= SHARES
        if design.closes:
            assert set(ended) == {SHARES}


@pytest.mark.parametrize("domain", DOMAINS)
def test_what_was_measured_follows_from_published_values_alone(domain: Domain) -> None:
    """Values made up for whatever cells come next: what is said to be measured is what the design decides."""
    rng = np.random.default_rng(5)
    for design in designs(domain):
        rows = made_up(design, domain, rng)
        found = list(measured(design, domain, ONE, rows))
        assert [level for level, *_ in found] == sorted(design.shares)
        for level, codes, shares in found:
            assert np.array_equal(rows.at(level)[0], codes)
            assert np.array_equal(rows.shares[rows.levels == level], shares)
        # A row of the first level too few: the walk stops there, for below it the values tell nothing.
        short = Measurements(*(column[1:] for column in (rows.levels, rows.codes, rows.counts, rows.shares)))
        if np.sum(rows.codes[rows.levels == rows.levels[0]] == rows.codes[0]) == 1:
            assert len(list(measured(design, domain, ONE, short))) == 1


def made_up(design: Design, domain: Domain, rng: np.random.Generator) -> Measurements:
    cells, found = all_cells(domain, min(design.shares)), []
    for level, share in sorted(design.shares.items()):
        noisy = rng.integers(-10 * UNITS, 60 * UNITS, len(cells))
        found.append((np.full(len(cells), level), cells, noisy, np.full(len(cells), share)))
        closed, finished, cells = design.decide(domain, ONE, level, cells, noisy)
        for at, last in ((level, closed), (level + 1, finished)):
            zeros = np.zeros(len(last), np.int64)
            found.append((zeros + at, last, zeros, zeros + design.rest(level)))
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    order = np.lexsort((columns[1], columns[0]))
    return Measurements(*(column[order] for column in columns))


def test_ties_go_to_the_smaller_code_whatever_the_order_of_the_data() -> None:
    domain, design = Domain.unit(3), paper_design(split_over_levels(0, 3), 1)
    below = design.decide(domain, ONE, 1, np.arange(4), np.zeros(4, dtype=np.int64)).below
    assert pairs(below) == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert design.decide(domain, ONE, 3, np.arange(64), np.zeros(64, dtype=np.int64)).below.tolist() == []
    assert encode(np.array([1]), np.array([0])).tolist() == [1]
