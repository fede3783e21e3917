"""What can be told: the clarity of places, without crumbs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import ndimage

from dpheatmap.place.domain import Domain
from dpheatmap.render.content.clarity import (
    MOST_CLEAR,
    _blur,
    _pieces,
    clarity_of,
    coarsen,
    noise_floor,
    without_crumbs,
)
from dpheatmap.render.content.resampling import average, is_smooth, resize
from render.conftest import bell, heat_of

SQUARE = Domain.unit(6)
FIELDS = arrays.arrays(np.float64, arrays.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.floats(0, 4))


@given(inside=arrays.arrays(np.bool_, arrays.array_shapes(min_dims=2, max_dims=2, max_side=12)))
def test_pieces_are_those_of_scipy(inside: np.ndarray) -> None:
    pieces = _pieces(inside)
    expected, count = ndimage.label(inside)
    assert ((pieces > 0) == inside).all()
    pairs = {(a, b) for a, b in zip(pieces.ravel().tolist(), expected.ravel().tolist(), strict=True) if a}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) == count


def test_a_long_piece_is_one() -> None:
    """A spiral, along which a number has to travel far."""
    inside = np.zeros((41, 41), bool)
    row, column, down, across = 20, 20, 0, 1
    for turn in range(1, 19):
        for _ in range(2 * (turn + 1) // 2):
            inside[row, column] = True
            row, column = row + down, column + across
        down, across = across, -down
    assert len(np.unique(_pieces(inside))) == ndimage.label(inside)[1] + 1


@given(clear=FIELDS, sigma=st.floats(0.01, 0.5))
def test_only_pieces_smaller_than_the_smoothing_are_dropped(clear: np.ndarray, sigma: float) -> None:
    kept = without_crumbs(clear, sigma, SQUARE)
    pieces, count = ndimage.label(clear >= 1.0)
    smallest = (sigma * max(clear.shape)) ** 2
    for piece in range(1, count + 1):
        here = pieces == piece
        if here.sum() < smallest:
            assert (kept[here] < 1.0).all()
        else:
            assert (kept[here] == clear[here]).all()
    assert (kept[pieces == 0] == clear[pieces == 0]).all()


@given(value=st.floats(0, 4), rows=st.integers(1, 9), columns=st.integers(1, 9))
def test_a_blur_keeps_an_even_field(value: float, rows: int, columns: int) -> None:
    assert _blur(np.full((rows, columns), value)) == pytest.approx(np.full((rows, columns), value), abs=1e-12)


def test_a_blur_is_that_of_scipy() -> None:
    field = np.random.default_rng(0).random((20, 30))
    assert _blur(field) == pytest.approx(ndimage.gaussian_filter(field, 1.0, truncate=3.0, mode="nearest"))


@pytest.mark.parametrize(("spread", "clarity"), [(0.5, 1 / (0.5 * 1.645)), (1.0, 1 / 1.645), (0.001, MOST_CLEAR)])
def test_clarity_is_the_value_over_half_its_range(spread: float, clarity: float) -> None:
    """Painted from 1 on: 1.645 relative standard deviations are 1. Hatched below 2: they are more than 1/2."""
    found = clarity_of(bell(SQUARE, spread=spread))
    assert found is not None
    assert found == pytest.approx(np.full(found.shape, clarity))


def test_clarity_where_nothing_is_known() -> None:
    assert clarity_of(heat_of(SQUARE)) is None
    empty = clarity_of(heat_of(SQUARE, uniform=True))
    assert empty is not None
    assert not empty.any()


def test_fields_are_coarse() -> None:
    wide = np.random.default_rng(0).random((100, 1000))
    assert coarsen(wide).shape == (26, 256)
    assert coarsen(wide).mean() == pytest.approx(wide.mean())
    assert coarsen(wide[:, :256]) is not wide
    assert (coarsen(wide[:, :256]) == wide[:, :256]).all()


def test_the_noise_floor_is_above_most_of_what_can_not_be_told() -> None:
    values = blob_with_noise()
    std = np.where(np.arange(64) < 32, 1.0, 1e-9) * np.ones((64, 1))
    heat = heat_of(SQUARE, values, std=std)
    clarity = clarity_of(heat)
    assert clarity is not None
    floor = noise_floor(heat, clarity)
    assert (heat.density[clarity < 1.0] <= floor).mean() == pytest.approx(0.95, abs=0.01)
    assert floor < 0.5 * heat.density.max(), "the clear half is higher"
    assert noise_floor(heat, None) == 0.0
    assert noise_floor(heat, np.full((64, 64), 2.0)) == 0.0


def blob_with_noise() -> np.ndarray:
    values = np.random.default_rng(0).random((64, 64))
    values[:, 40:] += 5.0
    return values


# On other grids


@given(field=FIELDS, rows=st.integers(1, 9), columns=st.integers(1, 9))
def test_fewer_pixels_keep_the_mean(field: np.ndarray, rows: int, columns: int) -> None:
    smaller = average(field, min(rows, field.shape[0]), min(columns, field.shape[1]))
    assert smaller.mean() == pytest.approx(field.mean(), abs=1e-9)
    assert smaller.min() >= field.min() - 1e-9
    assert smaller.max() <= field.max() + 1e-9


@given(field=FIELDS, times=st.integers(1, 5))
def test_more_pixels_invent_nothing(field: np.ndarray, times: int) -> None:
    rows, columns = field.shape
    for smooth in (True, False):
        larger = resize(field, times * columns, times * rows, smooth=smooth)
        assert larger.min() >= field.min() - 1e-5
        assert larger.max() <= field.max() + 1e-5
    assert larger == pytest.approx(np.kron(field, np.ones((times, times))), abs=1e-5), "equal blocks"


def test_only_a_wide_kernel_is_interpolated() -> None:
    assert is_smooth(SQUARE, 2 / 64, np.ones((64, 64)))
    assert not is_smooth(SQUARE, 1.9 / 64, np.ones((64, 64)))
