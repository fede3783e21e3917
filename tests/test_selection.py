"""The cells that a design measures, against sets of plain pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpheatmap.domain import Domain
from dpheatmap.quadtree import Ints, decode, encode
from dpheatmap.release import Measurements
from dpheatmap.selection import all_cells, next_cells, visited

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

DOMAINS = [
    Domain.unit(4), Domain.unit(0), Domain.image(11, 6), Domain.image(1, 16), Domain.image(100, 3, depth=5),
    Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=12), Domain.bbox(-1, -1, 1, 1, depth=9),
]  # fmt: skip


def pairs(codes: Ints) -> list[tuple[int, int]]:
    x, y = decode(codes)
    return list(zip(x.tolist(), y.tolist(), strict=True))


def meeting(domain: Domain, level: int) -> set[tuple[int, int]]:
    r = domain.cells(level)
    return {(x, y) for x in range(r.x0, r.x1) for y in range(r.y0, r.y1)}


@pytest.mark.parametrize("domain", DOMAINS)
def test_all_cells_are_those_that_meet_the_domain_in_order(domain: Domain) -> None:
    for level in range(min(domain.depth, 9) + 1):
        codes = all_cells(domain, level)
        assert np.all(np.diff(codes) > 0)
        assert set(pairs(codes)) == meeting(domain, level)


@pytest.mark.parametrize("domain", DOMAINS)
@given(data=st.data())
def test_next_are_the_children_of_the_largest_that_meet_the_domain(domain: Domain, data: st.DataObject) -> None:
    level = data.draw(st.integers(0, min(domain.depth, 6)))
    cells = all_cells(domain, level)
    cells = cells[data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells)))]
    noisy = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=len(cells), max_size=len(cells))), dtype=np.int64)
    width = data.draw(st.one_of(st.none(), st.integers(1, 30)))
    ranked = sorted(zip((-noisy).tolist(), cells.tolist(), pairs(cells), strict=True))[:width]
    expected = {
        child
        for _, _, (x, y) in ranked
        for child in ((2 * x + dx, 2 * y + dy) for dx in (0, 1) for dy in (0, 1))
        if level < domain.depth and child in meeting(domain, level + 1)
    }
    got = next_cells(domain, level, cells, noisy, width)
    assert set(pairs(got)) == expected
    assert len(got) == len(expected)
    assert np.all(np.diff(got) > 0)


@pytest.mark.parametrize("domain", DOMAINS)
def test_visited_follows_published_values_alone(domain: Domain) -> None:
    """Values made up for whatever cells come next: what is visited is what the rule above asks for."""
    rng = np.random.default_rng(5)
    width, first = 3, domain.first_level(3)
    cells, rows = all_cells(domain, first), []
    for level in range(first, domain.depth + 1):
        noisy = rng.integers(-4, 5, len(cells))
        rows.append((np.full(len(cells), level), cells, noisy, np.ones(len(cells), dtype=np.int64)))
        cells = next_cells(domain, level, cells, noisy, None if level == first else width)
    measured = Measurements(*(np.concatenate(column) for column in zip(*rows, strict=True)))
    found = dict(visited(domain, range(first, domain.depth + 1), width, measured))
    assert list(found) == list(range(first, domain.depth + 1))
    for (_, codes, *_), visit in zip(rows, found.values(), strict=True):
        assert np.array_equal(codes, visit)
    # A level with a row too few: the walk stops there, for below it the values tell nothing.
    if domain.depth > first:
        short = Measurements(
            *(column[:-1] for column in (measured.levels, measured.codes, measured.counts, measured.shares))
        )
        assert len(short) == len(measured) - 1
        assert list(visited(domain, range(first, domain.depth + 1), width, short)) != []


def test_ties_go_to_the_smaller_code_whatever_the_order_of_the_data() -> None:
    domain = Domain.unit(2)
    cells = all_cells(domain, 1)
    assert pairs(next_cells(domain, 1, cells, np.zeros(4, dtype=np.int64), 1)) == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert next_cells(domain, 2, all_cells(domain, 2), np.zeros(16, dtype=np.int64), 5).tolist() == []
    assert encode(np.array([1]), np.array([0])).tolist() == [1]
