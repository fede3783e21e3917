from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpheatmap.place.domain import Floats
from dpheatmap.render.content.resampling import average
from dpheatmap.render.web.layers import layer


def decoded(packed: dict[str, Any], rows: int, columns: int) -> Floats:
    """Read a layer as its description says, by running sums."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(packed["data"])), dtype=np.uint8).reshape(2, rows, columns)
    folded = planes[0].astype(np.int64) | planes[1].astype(np.int64) << 8
    differences = (folded >> 1) ^ -(folded & 1)
    steps = np.cumsum(np.cumsum(differences, axis=0), axis=1).astype(np.uint16).view(np.int16)
    values: Floats = packed["unit"] * np.sinh(packed["step"] * steps.astype(np.float64))
    return values


shapes = arrays.array_shapes(min_dims=2, max_dims=2, max_side=12)
numbers = st.floats(-1e12, 1e12) | st.sampled_from([0.0, 1e-300, -1e-9])


@given(arrays.arrays(np.float64, shapes, elements=numbers))
def test_values_come_back_to_three_digits_and_more(values: Floats) -> None:
    packed = layer(values)
    found = decoded(packed, *values.shape)
    top = np.abs(values).max()
    assert (packed["rows"], packed["columns"]) == values.shape
    assert (np.abs(found - values) <= 1e-300 + 3e-4 * (np.abs(values) + 1e-7 * top)).all()


def test_a_smooth_map_takes_little_room() -> None:
    x = np.linspace(-3, 3, 1024)
    bell = np.exp(-(x**2))[:, None] * np.exp(-((x - 1) ** 2)) + 1e-4
    assert len(layer(bell)["data"]) < 600_000


@given(arrays.arrays(np.float64, shapes, elements=st.floats(0, 1)), st.data())
def test_averages_keep_the_mean_and_the_range(values: Floats, data: st.DataObject) -> None:
    rows, columns = (data.draw(st.integers(1, side)) for side in values.shape)
    smaller = average(values, rows, columns)
    assert smaller.shape == (rows, columns)
    assert smaller.mean() == pytest.approx(values.mean(), abs=1e-12)
    assert smaller.min() >= values.min() - 1e-12
    assert smaller.max() <= values.max() + 1e-12


def test_averages_of_whole_blocks_are_their_means() -> None:
    values = np.arange(24.0).reshape(4, 6)
    assert average(values, 2, 3) == pytest.approx(values.reshape(2, 2, 3, 2).mean(axis=(1, 3)))
