"""Sorting in place: keys in order, each with its value, in what sizes and spans they come."""

from __future__ import annotations

from itertools import pairwise
from threading import Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpheatmap._util.radix_sort import BITS, FEW, deal, sort_together
from dpheatmap.place.quadtree import Ints

FARTHEST = 2**62
KEYS = st.one_of(st.integers(-FARTHEST, FARTHEST - 1), st.integers(-1, 3), st.integers(2**56, 2**56 + 100))


def check(keys: Ints) -> None:
    """Sort keys along with their positions, which tell the keys apart and where each came from."""
    found, positions = keys.copy(), np.arange(len(keys))
    sort_together(found, positions, Event())
    assert np.array_equal(found, np.sort(keys))
    assert np.array_equal(keys[positions], found)
    assert np.array_equal(np.sort(positions), np.arange(len(keys)))


@settings(deadline=None)
@given(st.lists(KEYS, max_size=3 * FEW))
def test_any_keys_are_sorted(keys: list[int]) -> None:
    check(np.array(keys, dtype=np.int64))


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32), st.integers(0, 30_000), st.integers(0, 62), st.integers(0, 62))
def test_many_keys_are_sorted_however_clustered(seed: int, size: int, wide: int, narrow: int) -> None:
    """Few places far apart, with keys close to each other around them: the leading bits are those of few buckets."""
    rng = np.random.default_rng(seed)
    places = rng.integers(-(2**wide) // 2, 2**wide // 2, 5, endpoint=True)
    around = rng.integers(0, 2 ** min(narrow, 61), size)
    check(np.clip(rng.choice(places, size) + around, -FARTHEST, FARTHEST - 1))


@pytest.mark.parametrize("size", [0, 1, 2, FEW, FEW + 1, 2**BITS * FEW])
@pytest.mark.parametrize("kind", ["equal", "ascending", "descending", "two values"])
def test_sizes_at_the_edges(size: int, kind: str) -> None:
    keys = np.arange(size)
    check({"equal": keys * 0 - 7, "ascending": keys, "descending": -keys, "two values": keys % 2}[kind])


def test_rows_move_by_their_keys_alone() -> None:
    """Two arrays can be carried along one after the other, also where keys are equal."""
    keys = np.random.default_rng(3).integers(0, 9, 5000)
    once, twice = np.arange(5000), np.arange(5000) * -1
    sort_together(keys.copy(), once, Event())
    sort_together(keys.copy(), twice, Event())
    assert np.array_equal(once, -twice)


def test_buckets_are_in_order_and_whole() -> None:
    keys = np.random.default_rng(4).integers(0, 2**32, 100_000)
    starts = deal(keys, keys.copy())
    assert len(starts) <= 2**BITS + 1
    assert (starts[0], starts[-1]) == (0, 100_000)
    buckets = [keys[start:end] for start, end in pairwise(starts) if end > start]
    assert all(before.max() < after.min() for before, after in pairwise(buckets))


def test_it_ends_when_told_to() -> None:
    stop = Event()
    stop.set()
    keys = np.arange(1000)[::-1].copy()
    with pytest.raises(KeyboardInterrupt):
        sort_together(keys, keys.copy(), stop)
