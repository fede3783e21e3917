"""Morton codes against digits spelled out, and the rule of the largest against sorting in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpheatmap.place.quadtree import children, decode, encode, largest

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

SIDE = 2**28
coordinates = st.integers(0, SIDE - 1)


def interleaved(x: int, y: int) -> int:
    """Base-4 digits: 1 for the right half, 2 for the lower half, from the root down."""
    return int("".join(str(int(a) + 2 * int(b)) for a, b in zip(f"{x:028b}", f"{y:028b}", strict=True)), 4)


@given(st.lists(st.tuples(coordinates, coordinates)))
def test_codes_are_interleaved_bits_and_decode_undoes_them(cells: list[tuple[int, int]]) -> None:
    x, y = np.array(cells, dtype=np.int64).reshape(-1, 2).T
    codes = encode(x, y)
    assert codes.dtype == np.int64
    assert codes.tolist() == [interleaved(*cell) for cell in cells]
    again = decode(codes)
    assert list(zip(again[0].tolist(), again[1].tolist(), strict=True)) == cells


def test_every_single_bit_goes_to_its_place() -> None:
    bits = np.left_shift(1, np.arange(28))
    nothing = np.zeros_like(bits)
    assert encode(bits, nothing).tolist() == [4**k for k in range(28)]
    assert encode(nothing, bits).tolist() == [2 * 4**k for k in range(28)]
    assert encode(np.array([SIDE - 1]), np.array([SIDE - 1])).tolist() == [4**28 - 1]


@given(coordinates, coordinates)
def test_children_are_the_four_quarters_in_order(x: int, y: int) -> None:
    x, y = x >> 1, y >> 1
    columns, rows = decode(children(encode(np.array([x]), np.array([y]))))
    quarters = [(2 * x, 2 * y), (2 * x + 1, 2 * y), (2 * x, 2 * y + 1), (2 * x + 1, 2 * y + 1)]
    assert list(zip(columns.tolist(), rows.tolist(), strict=True)) == quarters


@given(coordinates, coordinates, st.integers(0, 28))
def test_descendants_are_one_range(x: int, y: int, up: int) -> None:
    above = encode(np.array([x >> up]), np.array([y >> up]))[0]
    assert above << 2 * up <= interleaved(x, y) < (above + 1) << 2 * up


@given(hnp.arrays(np.int64, st.integers(0, 40), elements=st.integers(-3, 3)), st.integers(1, 45))
def test_largest_is_a_sort_by_value_then_code(values: np.ndarray, width: int) -> None:
    codes = np.sort(np.random.default_rng(len(values)).choice(1000, len(values), replace=False))
    by_hand = sorted(range(len(codes)), key=lambda i: (-values[i], codes[i]))[:width]
    assert largest(codes, values, width).tolist() == sorted(by_hand)


@pytest.mark.parametrize("extreme", [2**61, -(2**61)])
def test_largest_takes_the_bounds_of_noisy_counts(extreme: int) -> None:
    values = np.array([0, extreme, 1], dtype=np.int64)
    assert largest(np.arange(3), values, 1).tolist() == [1 if extreme > 0 else 2]
    assert largest(np.arange(3), values, 2).tolist() == ([1, 2] if extreme > 0 else [0, 2])
