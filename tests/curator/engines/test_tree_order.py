"""Rows that come in pieces, in any order: encoded and sorted as NumPy would."""

from __future__ import annotations

from threading import Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpheatmap.curator.engines.answer import Answer
from dpheatmap.curator.engines.tree_order import encode_rows, in_tree_order
from dpheatmap.place.quadtree import Ints, encode

DEEPEST = 2**28 - 1
"""The last column and row of the finest level that there is."""
SIDES = st.one_of(st.integers(0, DEEPEST), st.integers(0, 3), st.integers(DEEPEST - 3, DEEPEST))
GROUPS = st.one_of(st.integers(0, 2), st.integers(0, 9999))
"""With the last ones and the deepest cells, group and code together don't fit into 64 bits."""
PLACES = st.tuples(GROUPS, SIDES, SIDES)


def columns_of(cells: dict[tuple[int, int, int], int], grouped: bool, seed: int) -> dict[str, Ints]:
    """The rows of cells and six counters, shuffled."""
    rows = [(*place, weight) for place, weight in cells.items()] + [(-1, -1, k, 10 + k) for k in range(6)]
    table = np.random.default_rng(seed).permutation(np.array(rows, dtype=np.int64))
    columns = dict(zip(("group_number", "cx", "cy", "weight"), table.T.copy(), strict=True))
    return columns if grouped else {name: values for name, values in columns.items() if name != "group_number"}


def pieces_of(columns: dict[str, Ints], size: int) -> list[dict[str, Ints]]:
    rows = len(columns["weight"])
    return [{name: values[k : k + size] for name, values in columns.items()} for k in range(0, rows, size)]


@settings(deadline=None)
@given(
    st.dictionaries(PLACES, st.integers(0, 2**62), max_size=60), st.booleans(), st.integers(1, 70), st.integers(0, 99)
)
def test_it_is_the_order_of_numpy(cells: dict[tuple[int, int, int], int], grouped: bool, size: int, seed: int) -> None:
    if not grouped:
        cells = {(0, x, y): weight for (_, x, y), weight in cells.items()}
    columns = columns_of(cells, grouped, seed)
    found = in_tree_order(len(columns["weight"]), pieces_of(columns, size), Event())
    expected = Answer.of(columns)
    assert np.array_equal(found.codes, expected.codes)
    assert np.array_equal(found.weights, expected.weights)
    assert (found.groups is not None) == grouped
    if found.groups is not None and expected.groups is not None:
        assert np.array_equal(found.groups, expected.groups)
    assert found.counters == list(range(10, 16))


@pytest.mark.parametrize("groups", [1, 40, 5000])
@pytest.mark.parametrize("first", [0, DEEPEST - 500])
def test_many_rows(groups: int, first: int) -> None:
    drawn = np.random.default_rng(1).integers(0, [groups, 500, 500], (50_000, 3)) + np.array([0, first, first])
    places = np.unique(drawn, axis=0).tolist()
    columns = columns_of({(g, x, y): 500 * (x - first) + y + g for g, x, y in places}, True, 2)
    found, expected = in_tree_order(len(places) + 6, pieces_of(columns, 1000), Event()), Answer.of(columns)
    for name in ("groups", "codes", "weights"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))


@given(st.lists(st.tuples(SIDES, SIDES), max_size=20))
def test_codes_are_those_of_the_quadtree(cells: list[tuple[int, int]]) -> None:
    columns, rows = np.array(cells, dtype=np.int64).reshape(-1, 2).T.copy()
    codes = np.empty(len(cells), dtype=np.int64)
    encode_rows(columns, rows, codes)
    assert np.array_equal(codes, encode(columns, rows))


@pytest.mark.parametrize("rows", [5, 7])
def test_lost_rows_stop_it(rows: int) -> None:
    columns = columns_of({}, False, 0)
    with pytest.raises((AssertionError, ValueError)):
        in_tree_order(rows, pieces_of(columns, 4), Event())


@pytest.mark.parametrize("grouped", [False, True])
def test_it_ends_when_told_to(grouped: bool) -> None:
    stop = Event()
    stop.set()
    columns = columns_of({}, grouped, 0)
    with pytest.raises(KeyboardInterrupt):
        in_tree_order(6, pieces_of(columns, 4), stop)
