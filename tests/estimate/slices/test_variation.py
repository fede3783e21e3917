"""The posterior of slices against formulas written out, its draws against its moments, and what it does at extremes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpheatmap.estimate.slices.variation import Measured, SlicesPosterior, Variation, in_time, infer_slices
from dpheatmap.slicing.period import Period

HOURS = Period.of("hour-of-day", "UTC")


def measured(
    slices: int, blocks: int, seed: int, deviation: float = 3.0, spread: float = 0.3
) -> tuple[Measured, np.ndarray]:
    """Generated blocks, whose slices differ by a smooth factor in time, and the truth."""
    rng = np.random.default_rng(seed)
    pooled = rng.uniform(200, 2000, blocks)
    moves = spread * np.sin(2 * np.pi * (np.arange(slices)[:, None] / slices + rng.random(blocks)))
    truth = pooled / slices * (1 + moves)
    noisy = truth + rng.laplace(scale=deviation / np.sqrt(2), size=truth.shape)
    x, y = rng.random((2, blocks))
    known = Measured(
        noisy, np.full(truth.shape, deviation), pooled, (0.02 * pooled) ** 2, x, y, [np.arange(blocks) // 2]
    )
    return known, truth


def test_means_and_deviations_are_those_of_conditioned_normal_variables() -> None:
    """An independent oracle: block inversion of the joint covariance of numbers and noisy counts, one by one."""
    known, _ = measured(5, 4, 1)
    posterior = SlicesPosterior(known, in_time(HOURS, 5), Variation(0.3, 0.2, 2.0, 0.1))
    expected = known.expected.ravel()
    size = len(expected)
    prior = np.zeros((size, size))
    steps = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    share = known.expected.sum(axis=1) / known.expected.sum()
    less = np.eye(5) - np.outer(np.ones(5), share)
    alike = less @ np.exp(-np.minimum(steps, 5 - steps) / 2.0) @ less.T
    alike /= sum(share[t] * alike[t, t] for t in range(5))
    assert np.allclose(share @ alike, 0.0)
    for i in range(size):
        for j in range(size):
            (t, b), (s, c) = divmod(i, 4), divmod(j, 4)
            near = np.exp(-np.hypot(known.x[b] - known.x[c], known.y[b] - known.y[c]) / 0.2)
            own = (t == s) * 1.0 + (b == c) * known.variances[b] / known.pooled[b] ** 2
            found = 0.3**2 * alike[t, s] * near + own
            prior[i, j] = expected[i] * expected[j] * found + (i == j) * 0.1 * expected[i]
    assert np.allclose(posterior.prior_covariance, prior)
    noise = np.diag(known.deviations.ravel() ** 2)
    inverse = np.linalg.inv(np.linalg.inv(prior) + np.linalg.inv(noise))
    mean = inverse @ (np.linalg.inv(prior) @ expected + np.linalg.inv(noise) @ known.noisy.ravel())
    assert np.allclose(posterior.means.ravel(), mean, rtol=1e-6)
    assert np.allclose(posterior.deviations.ravel(), np.sqrt(np.diag(inverse)), rtol=1e-5)
    whole = prior + noise
    beyond = known.noisy.ravel() - expected
    height = -0.5 * beyond @ np.linalg.inv(whole) @ beyond - 0.5 * np.linalg.slogdet(whole)[1]
    assert posterior.log_evidence == pytest.approx(height, rel=1e-6)


def test_draws_have_the_moments_of_the_posterior() -> None:
    """6 standard errors of 4000 draws, for each of 24 numbers: false alarms below 1e-6."""
    known, _ = measured(4, 6, 2)
    posterior = SlicesPosterior(known, in_time(HOURS, 4), Variation(0.3, 0.2, 2.0, 0.1))
    rng = np.random.default_rng(3)
    drawn = np.stack([posterior.draw(rng) for _ in range(4000)])
    error = posterior.deviations / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - posterior.means) < 6 * error).all()
    assert np.allclose(drawn.std(axis=0), posterior.deviations, rtol=6 / np.sqrt(2 * len(drawn)))


def test_slices_are_drawn_together() -> None:
    """Where the pooled map is wrong, all slices are wrong alike: the change between them is known better."""
    known, _ = measured(4, 6, 2, deviation=40.0)
    known = replace(known, variances=(0.3 * known.pooled) ** 2)
    posterior = SlicesPosterior(known, in_time(HOURS, 4), Variation(0.02, 0.2, 8.0, 0.0))
    rng = np.random.default_rng(3)
    drawn = np.stack([posterior.draw(rng) for _ in range(500)])
    share = drawn[:, :2, 0] / drawn[:, :2].sum(axis=2)
    assert (share[:, 1] - share[:, 0]).std() < 0.5 * np.hypot(*share.std(axis=0))


def test_slices_that_do_not_differ_are_shrunk_to_the_pooled_map() -> None:
    known, truth = measured(24, 6, 4, deviation=6.0, spread=0.0)
    found = infer_slices(known, HOURS)
    assert found.variation.amplitude <= 0.05
    away = np.abs(found.means - truth).mean()
    assert away < 0.5 * np.abs(known.noisy - truth).mean()


def test_what_all_slices_share_is_left_to_the_pooled_map() -> None:
    """The noise of one block in both slices, however large, is no move: the pooled map knows the block well."""
    known, truth = measured(2, 6, 8, deviation=6.0, spread=0.0)
    lifted = known.noisy.copy()
    lifted[:, 0] += 150.0
    found = SlicesPosterior(
        replace(known, noisy=lifted, variances=(1e-3 * known.pooled) ** 2),
        in_time(Period.of("12 hours", "UTC", "2024-06-03", "2024-06-03"), 2),
        Variation(0.4, 0.03, 8.0, 0.0),
    )
    share, true = found.means.sum(axis=0) / found.means.sum(), truth.sum(axis=0) / truth.sum()
    assert np.allclose(share, true, rtol=0.02)


def test_with_little_evidence_slices_are_alike_and_visits_weigh_what_they_usually_do() -> None:
    known, _ = measured(4, 3, 9, deviation=4000.0)
    found = infer_slices(known, HOURS)
    assert found.variation.amplitude == 0.02
    assert found.variation.scatter == 0.0
    assert 0.15 < found.mean_scatter < 0.3


def test_slices_that_differ_are_told_apart_and_neighbours_in_time_help() -> None:
    known, truth = measured(24, 8, 5, deviation=15.0, spread=0.6)
    found = infer_slices(known, HOURS)
    assert found.variation.amplitude >= 0.2
    assert found.variation.memory >= 1.0
    alone = SlicesPosterior(known, in_time(HOURS, 24), found.variation._replace(memory=0.0))
    assert np.abs(found.means - truth).mean() < 0.9 * np.abs(alone.means - truth).mean()
    assert np.abs(found.means - truth).mean() < 0.7 * np.abs(known.noisy - truth).mean()


def test_the_last_hour_is_next_to_the_first() -> None:
    correlation = in_time(HOURS, 24)(3.0)
    assert correlation[0, 23] == correlation[0, 1] > correlation[0, 2]
    days = Period.of("day", "UTC", "2024-06-03", "2024-06-30")
    line = in_time(days, 28)(2.0)
    assert line[0, 27] < line[0, 1]
    assert line[0, 7] > line[0, 4]  # the same weekday a week later
    assert (np.linalg.eigvalsh(line) > -1e-9).all()
    assert (in_time(None, 3)(5.0) == np.eye(3)).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 6), st.floats(0.1, 1e4), st.integers(0, 10**6))
def test_nothing_is_negative_or_not_finite(slices: int, blocks: int, deviation: float, seed: int) -> None:
    """Also where noise drowns everything, or nobody is there."""
    rng = np.random.default_rng(seed)
    pooled = np.maximum(rng.normal(0, 100, blocks), 1e-6)
    noisy = rng.laplace(scale=deviation, size=(slices, blocks))
    x, y = rng.random((2, blocks))
    joined = [np.zeros(blocks, np.int64)]
    known = Measured(noisy, np.full(noisy.shape, deviation), pooled, pooled**2 + 1.0, x, y, joined)
    found = infer_slices(known, None)
    assert np.isfinite(found.means).all()
    assert (found.means >= 0).all()
    assert np.isfinite(found.draw(rng)).all()


def test_joined_blocks_keep_sums() -> None:
    known, _ = measured(3, 8, 6)
    joined = known.join(12)
    assert joined.noisy.shape == (3, 4)
    assert np.allclose(joined.noisy.sum(axis=1), known.noisy.sum(axis=1))
    assert joined.pooled.sum() == pytest.approx(known.pooled.sum())
    assert np.allclose(joined.deviations, np.sqrt(2) * 3.0)
