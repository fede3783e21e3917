"""Mixtures of Gaussians that fill the share of cells asked for."""

from __future__ import annotations

import numpy as np
import pytest

from dpheatmap.errors import ParameterError
from dpheatmap.experiments.mixtures import mixture
from dpheatmap.experiments.populations import Place


def occupied(place: Place) -> int:
    return len(place.sample(place.people, np.random.default_rng(0)).codes)


@pytest.mark.parametrize(
    ("gaussians", "sparsity"),
    [(5, 0.01), (5, 0.04), (10, 0.05), (20, 0.01), (20, 0.15), (20, 0.3), (20, 0.75), (80, 0.01), (80, 0.75)],
)
def test_the_sparsity_is_reached_to_the_cell(gaussians: int, sparsity: float) -> None:
    for seed in range(3):
        place = mixture(gaussians, sparsity, rng=np.random.default_rng(seed))
        assert occupied(place) == round(sparsity * 256**2)
        assert place.people == 200


def test_people_have_as_many_points_as_each_other() -> None:
    place = mixture(20, 0.1, rng=np.random.default_rng(0))
    each = np.bincount(place.user)
    assert each.max() - each.min() <= 1
    assert place.domain.locate(place.x, place.y)[2].all()


def test_fewer_points_than_people_are_shared() -> None:
    place = mixture(20, 10 / 64**2, people=50, depth=6, rng=np.random.default_rng(0))
    assert place.people == 50
    assert np.bincount(place.user).tolist() == [1] * 50
    assert occupied(place) == 10


def test_mixtures_are_repeated_by_the_seed_and_differ_otherwise() -> None:
    first, again, other = (mixture(5, 0.02, rng=np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.x.tolist() == again.x.tolist()
    assert first.y.tolist() == again.y.tolist()
    assert first.x.tolist() != other.x.tolist()


def test_one_generator_makes_a_new_mixture_each_time() -> None:
    rng = np.random.default_rng(0)
    assert mixture(5, 0.02, rng=rng).x.tolist() != mixture(5, 0.02, rng=rng).x.tolist()


def test_a_sparser_set_of_the_same_seed_is_the_beginning_of_a_denser_one() -> None:
    sparse, dense = (mixture(20, sparsity, rng=np.random.default_rng(4)) for sparsity in (0.05, 0.3))
    assert sparse.x.tolist() == dense.x[: len(sparse.x)].tolist()
    assert len(dense.x) > 5 * len(sparse.x)


def test_few_gaussians_are_clusters_and_many_are_not() -> None:
    """At the same sparsity, the fullest tenth of 16 x 16 blocks holds far more of five Gaussians than of eighty."""
    held = []
    for gaussians in (5, 80):
        place = mixture(gaussians, 0.04, rng=np.random.default_rng(0))
        blocks = np.sort(np.histogram2d(place.x, place.y, bins=16, range=[[0, 1], [0, 1]])[0].ravel())
        held.append(blocks[-25:].sum() / blocks.sum())
    assert held[0] > 0.5 > held[1]


@pytest.mark.parametrize("sparsity", [0, -0.1, 1e-6, 0.95, 1.0])
def test_shares_that_cannot_be_filled_are_refused(sparsity: float) -> None:
    with pytest.raises(ParameterError, match=r"sparsity must be the share of occupied cells.* to 0\.9; it was"):
        mixture(20, sparsity, rng=np.random.default_rng(0))


@pytest.mark.parametrize(("gaussians", "people"), [(0, 200), (20, 0)])
def test_nobody_and_nothing_are_refused(gaussians: int, people: int) -> None:
    with pytest.raises(ParameterError, match="must be at least 1"):
        mixture(gaussians, 0.1, people=people, rng=np.random.default_rng(0))


def test_what_no_width_can_fill_is_told() -> None:
    """One Gaussian so wide that it fills the square throws nearly all of its points outside."""
    with pytest.raises(ParameterError, match="did not fill 90 % of 65536 cells"):
        mixture(1, 0.9, rng=np.random.default_rng(0))
