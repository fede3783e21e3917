"""The layout of mass inside leaves: how far neighbours reach, at the first cut and at later ones."""

from __future__ import annotations

import numpy as np
import pytest

from dpheatmap.estimate.posterior import leaf_layout
from dpheatmap.estimate.posterior.likelihood import LAPLACE
from dpheatmap.estimate.posterior.observations import Observations
from dpheatmap.estimate.posterior.posterior import Posterior, infer
from dpheatmap.estimate.posterior.smoothness import REACH, layers_of, quarter_weights
from dpheatmap.place.domain import Domain, Floats

QUARTERS = np.arange(4)
PEOPLE = np.array([1.0, 16.0, 81.0, 256.0])


@pytest.fixture(scope="module")
def known() -> Posterior:
    """Four leaves of the first level, known to within nothing, on a domain of four more levels."""
    observed = Observations(Domain.unit(5), np.ones(4, np.int64), QUARTERS, PEOPLE, np.full(4, 1e-6), LAPLACE)
    return infer(observed)


def first_cut(known: Posterior, reach: Floats | float) -> Floats:
    return quarter_weights(known.cells, layers_of(known.cells, known.node_means), 1, QUARTERS, reach)


def test_fourth_roots_are_interpolated_by_the_reach(known: Posterior) -> None:
    """Roots are 1 2 / 3 4, mirrored at the edge. At the default reach the weights are 25, 10, 10 and 4."""
    expected = np.array([49 * 1, 35 * 1 + 14 * 2, 35 * 1 + 14 * 3, 25 * 1 + 10 * 2 + 10 * 3 + 4 * 4]) ** 4.0
    np.testing.assert_allclose(first_cut(known, REACH)[0], expected / expected.sum(), rtol=1e-5)


def test_neighbours_out_of_reach_do_not_matter(known: Posterior) -> None:
    np.testing.assert_allclose(first_cut(known, 0.0), 0.25)


def test_each_cell_has_its_own_reach(known: Posterior) -> None:
    found = first_cut(known, np.array([0.0, 0.1, 0.2, REACH]))
    for cell, reach in enumerate((0.0, 0.1, 0.2, REACH)):
        np.testing.assert_array_equal(found[cell], first_cut(known, reach)[cell])


def test_later_cuts_of_a_leaf_reach_less_far(known: Posterior, monkeypatch: pytest.MonkeyPatch) -> None:
    shorter = leaf_layout.layout(known.cells, known.node_means, {}, 5)
    first = float(leaf_layout._REACHES[0])
    monkeypatch.setattr(leaf_layout, "_REACHES", np.full(3, first))
    as_far = leaf_layout.layout(known.cells, known.node_means, {}, 5)
    np.testing.assert_array_equal(shorter.steps[1].weights, first_cut(known, first))
    np.testing.assert_array_equal(as_far.steps[1].weights, first_cut(known, first))
    for depth in (2, 3):
        assert np.ptp(shorter.steps[depth].weights, axis=1).mean() < np.ptp(as_far.steps[depth].weights, axis=1).mean()


def test_leaves_keep_their_mass(known: Posterior) -> None:
    inside = known.layout
    assert inside.levels.max() == 4
    of_leaves = np.bincount(inside.codes >> 2 * (inside.levels - 1), inside.masses(known.node_means))
    np.testing.assert_allclose(of_leaves, PEOPLE, rtol=1e-4)
