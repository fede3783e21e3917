"""The integral over one split, against plain sums on a fine grid of log-odds, at all concentrations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln

from dpheatmap.estimate.posterior.descent import draw, moments
from dpheatmap.estimate.posterior.likelihood import LAPLACE
from dpheatmap.estimate.posterior.message_tree import Tree
from dpheatmap.estimate.posterior.messages import upward_messages
from dpheatmap.estimate.posterior.split import MEANS, VARIANCES, WEIGHTS, integrate, working_space
from dpheatmap.place.domain import Floats

Seen = tuple[float, float]
"""A measurement: value and scale."""


def pair(p: float, q: float, root: Seen, left: Seen, right: Seen) -> Tree:
    """A mass that is split in two, each of the three measured once."""
    values, scales = np.array([root, left, right]).T
    powers = np.array([p, 1.0, 1.0]), np.array([q, 1.0, 1.0])
    children = np.array([1, -1, -1]), np.array([2, -1, -1])
    bound = float((np.maximum(values, 0.0) + 20.0 * scales).sum())
    return Tree(*children, *powers, np.arange(4), values.copy(), scales.copy(), LAPLACE, bound)


def by_sums(p: float, q: float, mass: float, left: Seen, right: Seen) -> tuple[float, float, float]:
    """log S, and the mean and variance of the left mass, by sums over the log-odds of the fraction."""

    def logs(odds: Floats) -> Floats:
        x, rest = mass / (1.0 + np.exp(-odds)), mass / (1.0 + np.exp(odds))
        prior = -p * np.logaddexp(0.0, -odds) - q * np.logaddexp(0.0, odds)
        seen: Floats = prior - np.abs(x - left[0]) / left[1] - np.abs(rest - right[0]) / right[1]
        return seen

    end = min(45.0 / min(p, q, 1.0), 700.0)
    odds = np.linspace(-end, end, 200_001)
    for _ in range(2):
        high = np.flatnonzero(logs(odds) > logs(odds).max() - 45.0)
        odds = np.linspace(odds[max(high[0] - 1, 0)], odds[min(high[-1] + 1, len(odds) - 1)], 200_001)
    height = logs(odds)
    weight = np.exp(height - height.max())
    total, x = weight.sum(), mass / (1.0 + np.exp(-odds))
    mean = float((weight * x).sum() / total)
    log_integral = float(np.log(total * (odds[1] - odds[0])) + height.max() - betaln(p, q))
    return log_integral, mean, float((weight * (x - mean) ** 2).sum() / total)


def by_cells(p: float, q: float, mass: float, left: Seen, right: Seen) -> tuple[float, float, float]:
    """The same by the integral's own cells."""
    tree, work = pair(p, q, (mass, 1.0), left, right), working_space(20)
    count, found = integrate(tree, upward_messages(tree), 0, mass, 20, True, work)
    weights, means = work[WEIGHTS, :count], work[MEANS, :count]
    mean = float((weights * means).sum())
    variance = float((weights * (work[VARIANCES, :count] + (means - mean) ** 2)).sum())
    return found - float(betaln(p, q)), mean, variance


def check(found: tuple[float, float, float], exact: tuple[float, float, float], *, rel: float = 0.04) -> None:
    assert found[0] == pytest.approx(exact[0], abs=0.01)
    assert abs(found[1] - exact[1]) <= 0.02 * np.sqrt(exact[2])
    assert found[2] == pytest.approx(exact[2], rel=rel)


@pytest.mark.parametrize("concentration", [0.3, 1.0, 2.4, 3.2, 10.0, 60.0, 300.0, 3_000.0, 10_000.0])
@pytest.mark.parametrize("contradiction", [False, True])
def test_a_split_as_by_plain_sums(concentration: float, contradiction: bool) -> None:
    """Also where the children's data and the prior are hundreds of deviations apart."""
    rng = np.random.default_rng(int(10 * concentration))
    for _ in range(12):
        share = float(np.clip(rng.beta(0.7, 0.7), 0.03 / concentration + 1e-3, 1.0 - 0.03 / concentration - 1e-3))
        p, q = 2.0 * concentration * share, 2.0 * concentration * (1.0 - share)
        mass, scales = float(np.exp(rng.uniform(0, 9))), np.exp(rng.uniform(-1, 3, 2))
        part = rng.random() if contradiction else rng.beta(p, q)
        left, right = ((mass * b + rng.laplace(0.0, s), s) for b, s in zip((part, 1 - part), scales, strict=True))
        check(by_cells(p, q, mass, left, right), by_sums(p, q, mass, left, right))


@pytest.mark.parametrize("concentration", [3.2, 60.0, 1_000.0, 10_000.0])
def test_a_part_that_is_hardly_expected_but_seen(concentration: float) -> None:
    """A power below 1 beside a large one has a long tail, which the data pull at."""
    rng = np.random.default_rng(int(concentration))
    for k in range(25):
        small = float(np.exp(rng.uniform(np.log(0.03), 0.0)))
        mass, scales, part = float(np.exp(rng.uniform(-1, 9))), np.exp(rng.uniform(-1, 3, 2)), rng.random() ** 2
        left, right = ((mass * b + rng.laplace(0.0, s), s) for b, s in zip((part, 1 - part), scales, strict=True))
        p, q = small, 2.0 * concentration - small
        if k % 2:
            p, q, left, right = q, p, right, left
        check(by_cells(p, q, mass, left, right), by_sums(p, q, mass, left, right), rel=0.06)


@pytest.mark.parametrize(
    ("powers", "mass", "left", "right", "exact"),
    [
        ((1300.0, 0.0929), 897.5, (283.0, 10.2), (610.6, 0.858), (-771.710644, 897.017931, 2.39739285)),
        ((0.0381, 5220.0), 1660.0, (41.67, 9.5), (1616.0, 14.8), (-7.35713501, 0.0128204831, 0.004313076)),
        ((10_000.0, 10_000.0), 5000.0, (2600.0, 3.0), (2380.0, 5.0), (-21.9170589, 2597.89389, 21.0329364)),
        ((19_999.0, 1.0), 300.0, (280.0, 2.0), (22.0, 2.0), (-20.9848864, 299.984772, 0.000231880353)),
        ((0.147, 160.0), 1.709, (1.473, 0.206), (-0.8034, 1.15), (-9.32591821, 0.00166993426, 1.88178571e-05)),
        ((300.0, 5700.0), 1000.0, (900.0, 1.0), (100.0, 1.0), (-1680.1601, 72.3732351, 15.644668)),
    ],
)
def test_a_split_as_by_quadrature_of_30_digits(
    powers: Seen, mass: float, left: Seen, right: Seen, exact: tuple[float, float, float]
) -> None:
    """The exact values are those of mpmath's tanh-sinh rule over the log-odds, cut at the kinks."""
    check(by_cells(*powers, mass, left, right), exact)
    check(by_sums(*powers, mass, left, right), exact)


def wide_tree(splits: int, concentration: float) -> Tree:
    """A tree split level by level, of a mass of 1,000, with all its leaves measured."""
    rng = np.random.default_rng(5)
    nodes = 2 * splits + 1
    left, right, masses, share = np.full(nodes, -1), np.full(nodes, -1), np.full(nodes, 1000.0), np.full(nodes, 0.5)
    for k in range(splits):
        left[k], right[k] = 2 * k + 1, 2 * k + 2
        share[k] = rng.uniform(0.2, 0.8)
        masses[2 * k + 1] = masses[k] * rng.beta(2 * concentration * share[k], 2 * concentration * (1 - share[k]))
        masses[2 * k + 2] = masses[k] - masses[2 * k + 1]
    seen = left < 0
    start = np.concatenate([[0], np.cumsum(seen)])
    values = masses[seen] + rng.laplace(0.0, 2.0, int(seen.sum()))
    powers = 2 * concentration * share, 2 * concentration * (1 - share)
    return Tree(left, right, *powers, start, values, np.full(len(values), 2.0), LAPLACE, 1e5)


@pytest.mark.parametrize("concentration", [60.0, 10_000.0])
def test_hundreds_of_narrow_splits(concentration: float) -> None:
    """Finer tables change little, and 400 draws have the means (to 5 standard errors) and the variances."""
    tree = wide_tree(300, concentration)
    messages = upward_messages(tree)
    means, variances = moments(tree, messages)
    fine_means, fine_variances = moments(tree, upward_messages(tree, 80, 48), 20, 48)
    assert (np.abs(means - fine_means) <= 0.1 * np.sqrt(fine_variances)).all()
    np.testing.assert_allclose(variances, fine_variances, rtol=0.1)
    rng = np.random.default_rng(3)
    drawn = np.array([draw(tree, messages, (means, variances), len(tree.left), rng) for _ in range(400)])
    assert (np.abs(drawn.mean(axis=0) - means) <= 5.0 * np.sqrt(variances / 400)).all()
    assert np.median(drawn.var(axis=0) / variances) == pytest.approx(1.0, abs=0.05)
