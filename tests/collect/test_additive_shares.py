"""Shares: uniform each and together, and adding up; and sums of messages by coordinate."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.collect.additive_shares import signed_integers, split
from dpheatmap.collect.message_sums import add_messages
from helpers.audit import chi_square
from helpers.collecting import ALPHA

SIZE = 2**17


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=20), st.integers(2, 9), st.sampled_from([48, 64]))
def test_shares_add_up(values: list[int], shares: int, bits: int) -> None:
    rows = split(np.array(values), shares, bits)
    assert rows.shape == (shares, len(values))
    assert rows.max() < 2**bits
    assert signed_integers(rows.sum(axis=0, dtype=np.uint64), bits, 2**40).tolist() == values
    assert signed_integers(rows[1:].sum(axis=0, dtype=np.uint64), bits, 2**40).tolist() != values, "one is missing"


@pytest.mark.parametrize("bits", [12, 17, 64])
def test_shares_alone_and_all_but_one_together_are_uniform(bits: int) -> None:
    """4 shares of one value: each of them, in its low and high bits, and each three of them together."""
    rows = split(np.full(SIZE, 12_345 % 2**bits), 4, bits)
    for row in rows:
        for shift in (0, bits - 8):
            low = (row >> np.uint64(shift)) & np.uint64(255)
            assert chi_square(np.bincount(low.astype(np.int64), minlength=256), [1 / 256] * 256) > ALPHA
    three = [np.uint64(2**3 - 1) & row for row in rows]
    for one, two, other in combinations(three, 3):
        together = ((one * np.uint64(8) + two) * np.uint64(8) + other).astype(np.int64)
        assert chi_square(np.bincount(together, minlength=512), [1 / 512] * 512) > ALPHA


def test_a_share_that_tells_of_the_value_would_be_seen() -> None:
    """The planted bug: shares of 16 bits of a modulus of 17."""
    rows = split(np.full(SIZE, 12_345), 4, 16)
    high = (rows[0] >> np.uint64(9)).astype(np.int64)
    assert chi_square(np.bincount(high, minlength=256), [1 / 256] * 256) < ALPHA


def test_messages_are_summed_by_coordinate_and_strange_ones_ignored() -> None:
    sums, numbers = np.zeros(3, dtype=np.uint64), np.zeros(3, dtype=np.int64)
    found = [(0 << 4) | 9, (2 << 4) | 15, (0 << 4) | 9, (3 << 4) | 1, (1 << 50) | 1]
    add_messages(np.array(found, dtype=np.uint64), 4, sums, numbers)
    assert sums.tolist() == [18, 0, 15]
    assert numbers.tolist() == [2, 0, 1]
