"""Messages, means, variances and draws on small trees, against dense quadrature and against limits known by hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from dpheatmap.estimate.posterior.descent import draw, moments
from dpheatmap.estimate.posterior.likelihood import GAUSSIAN, LAPLACE, REACH, laplace_sum, log_density
from dpheatmap.estimate.posterior.message_tree import Messages, Tree
from dpheatmap.estimate.posterior.messages import log_evidence, upward_messages
from dpheatmap.place.domain import Floats

LAWS = {"laplace": LAPLACE, "two laplaces": laplace_sum(2), "gaussian": GAUSSIAN}
Measured = dict[int, list[tuple[float, float]]]
"""The measurements, value and scale, of each node."""

PAIR = [1, -1, -1], [2, -1, -1]
CELL = [1, 3, 5, -1, -1, -1, -1], [2, 4, 6, -1, -1, -1, -1]
"""Left and right children: a root with two leaves, and a cell that splits in x and then in y."""


def tree_of(shape: tuple[list[int], list[int]], powers: Floats, measured: Measured, law: Floats = LAPLACE) -> Tree:
    """A tree with Beta powers (one row a node) and measurements."""
    left, right = (np.array(column, np.int64) for column in shape)
    rows = [measured.get(node, []) for node in range(len(left))]
    values, scales = (np.array([pair[k] for row in rows for pair in row], np.float64) for k in (0, 1))
    start = np.cumsum([0, *(len(row) for row in rows)])
    bound = float((np.maximum(values, 0) + REACH * scales).sum())
    powers = np.broadcast_to(np.asarray(powers, np.float64), (len(left), 2))
    return Tree(left, right, powers[:, 0].copy(), powers[:, 1].copy(), start, values, scales, law, bound)


def own(tree: Tree, node: int, mass: Floats) -> Floats:
    """The log-likelihood of a node's own measurements, from scipy's densities where it has them."""
    total = np.zeros_like(mass)
    for i in range(tree.start[node], tree.start[node + 1]):
        d = (mass - tree.values[i]) / tree.scales[i]
        if len(tree.law) == 0:
            total += stats.norm.logpdf(d)
        else:
            total += stats.laplace.logpdf(d) if len(tree.law) == 1 else np.log1p(np.abs(d)) - np.abs(d)
    return total


class Dense(NamedTuple):
    """A node on a dense grid of masses: log-message, and E[x], E[x^2] of the nodes at and below it given its mass."""

    masses: Floats
    log_message: Floats
    first: dict[int, Floats]
    second: dict[int, Floats]


def dense(tree: Tree, node: int, high: float, points: int = 1200, fractions: int = 1500) -> Dense:
    """Everything about a node by plain sums: masses at midpoints, fractions at midpoints of the Beta's probability."""
    masses = (np.arange(points) + 0.5) / points * high
    first, second = {node: masses}, {node: masses**2}
    if tree.left[node] < 0:
        return Dense(masses, own(tree, node, masses), first, second)
    b = stats.beta.ppf((np.arange(fractions) + 0.5) / fractions, tree.left_power[node], tree.right_power[node])
    parts = masses[:, None] * b, masses[:, None] * (1.0 - b)
    log_weight = np.zeros((points, fractions))
    below = []
    for child, part in zip((tree.left[node], tree.right[node]), parts, strict=True):
        if tree.left[child] < 0:
            log_weight += own(tree, child, part)
            below.append((part, {child: part}, {child: part**2}))
        else:
            found = dense(tree, child, high, points, fractions)
            log_weight += np.interp(part, found.masses, found.log_message)
            below.append((part, found.first, found.second))
    peak = log_weight.max(axis=1, keepdims=True)
    weight = np.exp(log_weight - peak)
    total = weight.sum(axis=1)
    for part, means, squares in below:
        for into, moment in ((first, means), (second, squares)):
            for key, values in moment.items():
                at = values if values.ndim == 2 else np.interp(part, [0.0, *masses], [0.0, *values])
                into[key] = (weight * at).sum(axis=1) / total
    message = own(tree, node, masses) + peak[:, 0] + np.log(total / fractions)
    return Dense(masses, message, first, second)


def exact_moments(tree: Tree, high: float) -> tuple[Floats, Floats]:
    """Posterior means and variances of all nodes by the dense sums."""
    root = dense(tree, 0, high)
    weight = np.exp(root.log_message - root.log_message.max())
    weight /= weight.sum()
    means = np.array([(weight * root.first[node]).sum() for node in range(len(tree.left))])
    squares = np.array([(weight * root.second[node]).sum() for node in range(len(tree.left))])
    return means, squares - means**2


def solved(tree: Tree) -> tuple[Messages, Floats, Floats]:
    messages = upward_messages(tree)
    return messages, *moments(tree, messages)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("powers", [(0.5, 0.5), (0.2, 0.1), (2.0, 0.3), (2.5, 2.5)])
@pytest.mark.parametrize(
    "measured",
    [
        {0: [(5.0, 2.0)], 1: [(1.0, 1.0)], 2: [(3.0, 1.0)]},
        {1: [(-3.0, 1.0)], 2: [(2.0, 0.5)]},
        {0: [(3.0, 1.0), (4.0, 0.5)], 1: [(9.0, 2.0)], 2: [(-2.0, 2.0)]},
    ],
)
def test_a_split_as_by_dense_quadrature(law: Floats, powers: tuple[float, float], measured: Measured) -> None:
    tree = tree_of(PAIR, np.array(powers), measured, law)
    _, means, variances = solved(tree)
    exact_means, exact_variances = exact_moments(tree, 45.0)
    np.testing.assert_allclose(means, exact_means, rtol=0.01)
    np.testing.assert_allclose(variances, exact_variances, rtol=0.01)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("concentration", [0.3, 1.0, 2.5])
@pytest.mark.parametrize(
    "values",
    [(6.0, 2.0, 0.5, 3.0, -1.0), (2.0, -1.0, 0.5, 0.2, 1.5), (12.0, 9.0, 0.1, 2.0, 0.3)],
)
def test_a_cell_of_four_as_by_dense_quadrature(law: Floats, concentration: float, values: tuple[float, ...]) -> None:
    measured: Measured = {0: [(values[0], 1.5)], **{3 + k: [(values[1 + k], 1.0)] for k in range(4)}}
    shares = np.array([[0.4, 0.6], [0.5, 0.5], [0.7, 0.3], *[[0.5, 0.5]] * 4])
    tree = tree_of(CELL, 2.0 * concentration * shares, measured, law)
    _, means, variances = solved(tree)
    exact_means, exact_variances = exact_moments(tree, 45.0)
    np.testing.assert_allclose(means, exact_means, rtol=0.01)
    np.testing.assert_allclose(variances, exact_variances, rtol=0.01)


def test_the_evidence_as_by_dense_quadrature() -> None:
    tree = tree_of(PAIR, np.array([0.7, 1.3]), {0: [(5.0, 2.0)], 1: [(1.0, 1.0)], 2: [(3.0, 1.0)]})
    root = dense(tree, 0, 45.0)
    log_densities = root.log_message + 3 * np.log(2.0)  # ours leave out the constants of the three likelihoods
    exact = np.log(np.exp(log_densities).sum() * (root.masses[1] - root.masses[0]))
    assert log_evidence(tree, upward_messages(tree)) == pytest.approx(exact, abs=0.01)


def test_without_noise_the_data() -> None:
    truth = [10.0, 4.0, 6.0, 1.0, 3.0, 0.0, 6.0]
    tree = tree_of(CELL, np.array([0.5, 0.5]), {node: [(truth[node], 1e-7)] for node in (0, 3, 4, 5, 6)})
    _, means, variances = solved(tree)
    np.testing.assert_allclose(means, truth, atol=1e-6)
    assert (variances < 1e-12).all()


def test_without_data_the_prior() -> None:
    powers = np.array([[0.4, 1.2], [0.3, 0.6], [2.0, 1.0], *[[1.0, 1.0]] * 4])
    measured: Measured = {0: [(100.0, 1e-3)], **{node: [(7.0, 1e7)] for node in (3, 4, 5, 6)}}
    _, means, variances = solved(tree_of(CELL, powers, measured))
    split = [stats.beta(*row) for row in powers[:3]]
    west, north, east = (law.mean() for law in split)
    expected = [1.0, west, 1 - west, west * north, west * (1 - north), (1 - west) * east, (1 - west) * (1 - east)]
    np.testing.assert_allclose(means, 100.0 * np.array(expected), rtol=0.005)
    assert variances[1] == pytest.approx(1e4 * split[0].var(), rel=0.01)
    second = (split[0].var() + west**2) * (split[1].var() + north**2)
    assert variances[3] == pytest.approx(1e4 * (second - (west * north) ** 2), rel=0.01)


def random_tree(rng: np.random.Generator, law: Floats = LAPLACE) -> Tree:
    """A tree of some tens of nodes with measurements at most of them, like those of true masses."""
    left, right, measured, masses = [-1], [-1], {}, [float(rng.exponential(50.0))]
    for node in range(25):
        if node >= len(left):
            break
        left[node], right[node] = len(left), len(left) + 1
        part = masses[node] * rng.beta(0.5, 0.5)
        for mass in (part, masses[node] - part):
            left.append(-1)
            right.append(-1)
            masses.append(mass)
    for node, mass in enumerate(masses):
        if left[node] < 0 or rng.random() < 0.5:
            scales = [1.0, 4.0][: rng.integers(1, 3)]
            measured[node] = [(mass + float(rng.laplace(0.0, scale)), scale) for scale in scales]
    return tree_of((left, right), rng.uniform(0.2, 1.5, (len(left), 2)), measured, law)


@pytest.mark.parametrize("seed", range(5))
def test_childrens_means_add_up_to_the_parents(seed: int) -> None:
    tree = random_tree(np.random.default_rng(seed))
    _, means, _ = solved(tree)
    inner = tree.left >= 0
    np.testing.assert_allclose(means[tree.left[inner]] + means[tree.right[inner]], means[inner], rtol=1e-9)
    assert (means >= 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_finer_grids_change_little(seed: int) -> None:
    tree = random_tree(np.random.default_rng(100 + seed))
    means, variances = moments(tree, upward_messages(tree))
    fine_means, fine_variances = moments(tree, upward_messages(tree, 80, 48), 28, 48)
    spread = np.sqrt(fine_variances)
    assert (np.abs(means - fine_means) <= 0.005 * np.maximum(fine_means, spread) + 0.01 * spread).all()
    np.testing.assert_allclose(variances[0], fine_variances[0], rtol=0.01)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e4])
@pytest.mark.parametrize("value", [0.0, -1e6, 1e9])
def test_extremes_stay_finite(law: Floats, scale: float, value: float) -> None:
    measured: Measured = {
        0: [(value, scale)],
        **{node: [(value / 4, 3 * scale), (0.1, scale)] for node in (3, 4, 5, 6)},
    }
    tree = tree_of(CELL, np.array([0.05, 3.0]), measured, law)
    messages, means, variances = solved(tree)
    for found in (*messages, means, variances):
        assert np.isfinite(found).all()
    assert (means >= 0).all()
    assert (variances >= 0).all()
    for exact in (1, 7):
        assert np.isfinite(draw(tree, messages, (means, variances), exact, np.random.default_rng(1))).all()


def test_draws_have_the_exact_means_and_variances() -> None:
    """Each of the 28 comparisons fails by chance with a probability below 1e-7: 5.5 standard errors."""
    tree = tree_of(CELL, np.array([0.6, 0.4]), {0: [(6.0, 1.5)], 3: [(2.0, 1.0)], 4: [(0.5, 1.0)], 6: [(3.0, 2.0)]})
    messages, means, variances = solved(tree)
    rng = np.random.default_rng(3)
    drawn = np.array([draw(tree, messages, (means, variances), 7, rng) for _ in range(20_000)])
    np.testing.assert_allclose(drawn[:, 1] + drawn[:, 2], drawn[:, 0], rtol=1e-12)
    assert (drawn >= 0).all()
    error = np.sqrt(variances / len(drawn))
    assert (np.abs(drawn.mean(axis=0) - means) <= 5.5 * error + 0.005 * means).all()
    squares = (drawn - means) ** 2
    error = squares.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(squares.mean(axis=0) - variances) <= 5.5 * error + 0.01 * variances).all()


@pytest.mark.parametrize("exact", [1, 2, 3])
def test_normal_draws_have_them_too_where_masses_are_far_from_zero(exact: int) -> None:
    """Nothing is cut off there. 5.5 standard errors, as above; variances are those of normal laws to within 2 %."""
    people = {0: [(1200.0, 4.0)], 3: [(200.0, 3.0)], 4: [(300.0, 5.0)], 5: [(400.0, 3.0)], 6: [(290.0, 8.0)]}
    tree = tree_of(CELL, np.array([2.0, 3.0]), people)
    messages, means, variances = solved(tree)
    rng = np.random.default_rng(4)
    drawn = np.array([draw(tree, messages, (means, variances), exact, rng) for _ in range(20_000)])
    np.testing.assert_allclose(drawn[:, 1] + drawn[:, 2], drawn[:, 0], rtol=1e-12)
    assert (np.abs(drawn.mean(axis=0) - means) <= 5.5 * np.sqrt(variances / len(drawn)) + 1e-4 * means).all()
    squares = (drawn - means) ** 2
    error = squares.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(squares.mean(axis=0) - variances) <= 5.5 * error + 0.02 * variances).all()


def test_laplace_sums_have_their_density() -> None:
    """The sum of three Laplaces, by numerical convolution of two and one."""
    x = np.linspace(-40, 40, 4001)
    one = 0.5 * np.exp(-np.abs(x))
    three = np.convolve(np.convolve(one, one, "same"), one, "same") * (x[1] - x[0]) ** 2
    law = laplace_sum(3)
    ours = np.exp([log_density(law, abs(at)) for at in x])
    near = np.abs(x) < 10
    np.testing.assert_allclose((ours / ours.max())[near], (three / three.max())[near], rtol=1e-3)
