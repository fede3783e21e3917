"""Paired tests, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpheatmap.evaluate.paired_tests import holm, paired_p, student_tail


@given(st.floats(-30, 30), st.integers(1, 200))
def test_the_tail_of_students_law(t: float, freedom: int) -> None:
    """Next to 0, scipy's own tail is off by up to 2e-9: there it is exactly a half."""
    near = abs(t) < 1e-3
    assert student_tail(t, freedom) == pytest.approx(stats.t.sf(t, freedom), abs=1e-8 if near else 1e-12)


@pytest.mark.parametrize("runs", [2, 3, 12, 61])
def test_paired_p_is_scipys_one_sided(runs: int) -> None:
    rng = np.random.default_rng(runs)
    ours, theirs = rng.normal(0.3, 1, runs), rng.normal(0, 1, runs)
    wanted = stats.ttest_rel(ours, theirs, alternative="greater").pvalue
    assert paired_p(ours.tolist(), theirs.tolist()) == pytest.approx(wanted, abs=1e-12)


def test_equal_runs_tell_nothing_and_a_constant_gap_tells_all() -> None:
    assert paired_p([1.0, 2.0], [1.0, 2.0]) == 0.5
    assert paired_p([2.0, 3.0], [1.0, 2.0]) == 0.0
    assert paired_p([1.0, 2.0], [2.0, 3.0]) == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float]) -> None:
    """By its definition as a step-down: the k smallest are rejected iff each passes at level / (those not smaller)."""
    order = sorted(range(len(p_values)), key=lambda k: p_values[k])
    passed = 0
    while passed < len(order) and p_values[order[passed]] <= 0.05 / (len(order) - passed):
        passed += 1
    assert holm(p_values) == [k in order[:passed] for k in range(len(p_values))]
