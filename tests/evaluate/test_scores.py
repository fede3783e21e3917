"""Means, bands and tables of scores."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpheatmap.evaluate import metrics
from dpheatmap.evaluate.methods import METHODS
from dpheatmap.evaluate.score_table import as_csv, as_text, records, series_of
from dpheatmap.evaluate.scores import METRICS, Scores, mean_of, ratio_of, score
from dpheatmap.evaluate.trial import group_scores, seed_of


def test_the_four_metrics() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random((12, 20)), rng.random((12, 20))
    found = score(a, b)
    assert found.similarity == metrics.similarity(a, b)
    assert found.pearson == metrics.pearson(a, b)
    assert found.kl == metrics.kl(a, b)
    assert found.emd == pytest.approx(metrics.emd(a, b), rel=0.0006)
    assert tuple(m.name for m in METRICS) == Scores._fields


def test_a_ratio_of_pairs_covers_the_truth() -> None:
    """4000 draws of 20 pairs whose means have the ratio 1.3: a 95 % interval holds it in 92 to 97 % of the draws.

    The number of draws that it misses is binomial, and 6 deviations of that are 2.1 %; the rest is for the first order.
    """
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(4000):
        theirs = rng.gamma(9.0, 0.1, 20)
        found = ratio_of((theirs * 1.3 + rng.normal(0, 0.05, 20)).tolist(), theirs.tolist())
        held += abs(found.mean - 1.3) <= found.half_width
    assert 0.92 < held / 4000 < 0.975


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=70))
def test_the_band_is_students(values: list[float]) -> None:
    found = mean_of(values)
    assert found.mean == pytest.approx(np.mean(values), abs=1e-9)
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values))
    assert found.half_width == pytest.approx(half, rel=0.003, abs=1e-9)


def test_one_run_has_no_band() -> None:
    assert mean_of([0.5]) == (0.5, math.inf, 1)


RESULTS = [
    (1.0, {"baseline": Scores(0.1, 0.2, 3.0, 0.4), "paper": Scores(0.5, 0.6, 1.0, 0.2)}),
    (1.0, {"baseline": Scores(0.3, 0.2, 3.0, 0.2), "paper": Scores(0.7, 0.6, 1.0, 0.2)}),
    (5.0, {"baseline": Scores(0.9, 0.9, 0.1, 0.01), "paper": Scores(0.8, 0.8, 0.2, 0.02)}),
]


def test_records_hold_means_and_bands_and_survive_csv() -> None:
    rows = records(series_of(group_scores(RESULTS)), "epsilon", panel="")
    assert [row["method"] for row in rows] == ["paper", "paper", "baseline", "baseline"]
    text = as_csv(rows, ["PRIVATE"])
    assert text.startswith("# PRIVATE\n")
    read = list(csv.DictReader(io.StringIO(text.split("\n", 1)[1])))
    assert float(read[2]["emd"]) == pytest.approx(0.3)
    assert float(read[2]["emd_95"]) == pytest.approx(0.1 * stats.t.ppf(0.975, 1), rel=1e-3)
    assert read[1]["emd_95"] == ""
    assert read[1]["runs"] == "1"


def test_the_text_marks_the_best_of_each_metric() -> None:
    first, second = as_text(series_of(group_scores(RESULTS)), "epsilon").split("\n\n")
    assert "epsilon 1" in first
    assert [line.count("*") for line in first.splitlines()] == [0, 4, 0]
    assert [line.count("*") for line in second.splitlines()] == [0, 0, 4]
    assert METHODS["baseline"].title in second
    assert "0.3000 ± 1.27" in first


def test_seeds_depend_on_every_part() -> None:
    seeds = {seed_of(*parts) for parts in [(0, "a"), (0, "b"), (1, "a"), ("0a",), (0, "a", "")]}
    assert len(seeds) == 5
