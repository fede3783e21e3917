"""The metrics against formulas written out, against pysaliency where it is installed, and what they refuse."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpheatmap.errors import ParameterError
from dpheatmap.evaluate.metrics import Bracket, emd, emd_norm, kl, pearson, similarity
from dpheatmap.place.domain import Floats
from helpers.grids import maps

PAIRS: list[Callable[[Floats, Floats], object]] = [similarity, pearson, kl, emd]
shapes = st.tuples(st.integers(1, 7), st.integers(1, 7))


def varies(values: Floats) -> bool:
    """Whether a map differs from a constant one by more than rounding errors."""
    return bool(values.std() > 1e-6 * values.max())


two_maps = shapes.flatmap(lambda shape: st.tuples(maps(shape), maps(shape)))


@given(two_maps)
def test_similarity_is_the_shared_mass(pair: tuple[Floats, Floats]) -> None:
    a, b = pair
    shared = math.fsum(min(x / math.fsum(a.flat), y / math.fsum(b.flat)) for x, y in zip(a.flat, b.flat, strict=True))
    assert similarity(a, b) == pytest.approx(shared, abs=1e-12)
    assert similarity(a, b) == similarity(b, a)
    assert similarity(a, a) == pytest.approx(1)


@given(two_maps)
def test_kl_is_the_formula(pair: tuple[Floats, Floats]) -> None:
    a, b = pair
    expected, tiny = 0.0, 2.2204e-16
    for x, y in zip(a.flat, b.flat, strict=True):
        h, guess = x / math.fsum(a.flat), y / math.fsum(b.flat)
        expected += h * math.log(tiny + h / (guess + tiny))
    assert kl(a, b) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_kl_takes_the_true_map_first() -> None:
    assert kl([[1, 0]], [[1, 1]]) == pytest.approx(math.log(2))
    assert kl([[1, 1]], [[1, 0]]) == pytest.approx(math.log(1 / 2) / 2 + math.log(0.5 / 2.2204e-16) / 2)


@given(two_maps)
def test_pearson_is_the_correlation(pair: tuple[Floats, Floats]) -> None:
    a, b = pair
    assert -1 <= pearson(a, b) <= 1
    assert pearson(a, b) == pytest.approx(pearson(b, a), abs=1e-12)
    if varies(a) and varies(b):
        assert pearson(a, b) == pytest.approx(np.corrcoef(a.ravel(), b.ravel())[0, 1], abs=1e-6)


def test_pearson_of_a_constant_map_is_0() -> None:
    assert pearson(np.full((3, 3), 0.1), np.arange(9).reshape(3, 3)) == 0
    assert pearson(np.arange(9).reshape(3, 3), np.full((3, 3), 0.1)) == 0
    assert pearson([[1]], [[2]]) == 0


def test_same_as_pysaliency() -> None:
    """Not among the development packages: it needs PyTorch to be imported."""
    theirs = pytest.importorskip("pysaliency.metrics", exc_type=ImportError)
    rng = np.random.default_rng(1)
    for _ in range(5):
        a, b = rng.random((20, 30)) ** 8, rng.random((20, 30)) ** 8
        assert similarity(a, b) == pytest.approx(theirs.SIM(a, b), rel=1e-12)
        assert pearson(a, b) == pytest.approx(theirs.CC(a, b), rel=1e-9)
        assert kl(a, b) == pytest.approx(theirs.MIT_KLDiv(b, a), rel=1e-9)


@settings(deadline=None)
@given(two_maps, st.floats(1e-3, 1e3))
def test_scale_does_not_matter(pair: tuple[Floats, Floats], factor: float) -> None:
    a, b = pair
    for metric in (similarity, kl, emd, *([pearson] if varies(a) and varies(b) else [])):
        assert metric(a, factor * b) == pytest.approx(metric(a, b), rel=1e-7, abs=1e-7)


@settings(deadline=None)
@given(two_maps)
def test_transposition_does_not_matter(pair: tuple[Floats, Floats]) -> None:
    a, b = pair
    for metric in (similarity, kl, emd, *([pearson] if varies(a) and varies(b) else [])):
        assert metric(a.T, b.T) == pytest.approx(metric(a, b), rel=1e-9, abs=1e-9)
    assert emd_norm((a - b).T) == pytest.approx(emd_norm(a - b), rel=1e-9)


def test_extreme_values_neither_overflow_nor_vanish() -> None:
    huge, tiny = np.array([[1e308, 1e308]]), np.array([[5e-324, 0.0]])
    assert similarity(huge, tiny) == 0.5
    assert emd(huge, tiny) == 0.25
    assert kl(tiny, huge) == pytest.approx(math.log(2))
    assert pearson(huge * [[1, 0.5]], tiny) == pytest.approx(1)


@pytest.mark.parametrize("metric", PAIRS)
@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([1, 2], [1, 2], r"(a|true) must be an array of rows and columns; its shape was \(2,\)\. "),
        (np.ones((2, 2)), np.ones((2, 2, 1)), r"(b|estimate) must be an array of rows and columns"),
        (np.ones((0, 3)), np.ones((0, 3)), r"shape was \(0, 3\)"),
        (np.ones((2, 3)), np.ones((3, 2)), r"must have one shape; they had \(2, 3\) and \(3, 2\)\. "),
        ([[1, np.nan]], [[1, 1]], r"must hold finite numbers; 1 of its values were not finite\. "),
        ([[1, 1]], [[np.inf, -np.inf]], r"(b|estimate) must hold finite numbers; 2 of its values"),
        ([[1, -0.5]], [[1, 1]], r"(a|true) must not be negative anywhere; its least value was -0\.5\. "),
        ([[1, 1]], [[0, 0]], r"(b|estimate) must have a positive total; all of its values were 0\. "),
        ([["some", "words"]], [[1, 1]], r"(a|true) must be an array of numbers; it was a list"),
        ([[1, 2], [3]], [[1, 2], [3]], r"(a|true) must be an array of numbers; it was a list"),
    ],
)
def test_refusals(metric: Callable[[object, object], object], a: object, b: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        metric(a, b)


@pytest.mark.parametrize("tolerance", [0, -1, 1e-7, math.nan, math.inf, True, "narrow"])
def test_tolerance_is_checked(tolerance: float) -> None:
    with pytest.raises(ParameterError, match=r"tolerance must be a number from 0\.000001 up; it was"):
        emd([[1, 2]], [[2, 1]], tolerance)


def test_norm_refuses_what_is_not_a_finite_plane() -> None:
    for wrong in ([1, 2], [[np.nan]], [["word"]]):
        with pytest.raises(ParameterError, match="v must "):
            emd_norm(wrong)


def test_bracket() -> None:
    assert Bracket(1.0, 2.0).middle == 1.5
    assert isinstance(emd([[1, 2]], [[2, 1]], tolerance=0.01), Bracket)
    assert isinstance(emd([[1, 2]], [[2, 1]]), float)


def test_importing_the_metrics_imports_numpy_only() -> None:
    code = "import sys, dpheatmap.evaluate.metrics; assert not {'numba', 'scipy'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
