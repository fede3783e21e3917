"""What all rivals have in common: they spend epsilon, all of it and no more, and what they make is a distribution."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.peers import PEERS, Peer
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import decode
from dpheatmap.testing import seeded_curator
from helpers.people import every_domain, on_finest_cells, people_in, some_in_one_cell

TREES_OF_ALL_CELLS = ("hay", "hb")
"""They measure every cell on every level, which is hopeless with few people."""
DOWN_TO_CELLS = (*TREES_OF_ALL_CELLS, "quadtree", "uniform-grid", "adaptive-grid", "htf")
"""With enough epsilon, they measure the finest cells."""
every_peer = pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
OF_ONE_SIZE = ("tiles",)
"""Their cells don't become finer with more epsilon; what they find there is tested beside them."""
DOMAINS = {
    "unit": Domain.unit(6),
    "image": Domain.image(80, 60),
    "one cell": Domain.unit(0),
    "row": Domain.image(37, 1),
    "box": Domain.bbox(-74.1, 40.6, -73.8, 40.9, depth=14),
    "box across tiles": Domain.bbox(-1.0, -1.0, 1.0, 1.0, depth=12),
}


def is_a_distribution_on_the_domain(distribution: Distribution) -> bool:
    """Masses are not negative, add up to 1 inside the domain, and lie in cells that meet it and don't overlap."""
    domain, levels, codes = distribution.domain, distribution.levels, distribution.codes
    for level in np.unique(levels):
        assert domain.meets(int(level), *decode(codes[levels == level])).all()
    begin, end = (c << 2 * (domain.depth - levels) for c in (codes, codes + 1))
    order = np.argsort(begin)
    assert np.all(end[order][:-1] <= begin[order][1:])
    return bool(np.all(distribution.mass >= 0)) and abs(float(distribution.mass.sum()) - 1) < 1e-9


@every_peer
@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())
@pytest.mark.parametrize("epsilon", ["0.01", "1", "1e5"])
def test_all_of_epsilon_is_spent_and_the_estimate_is_a_distribution(peer: Peer, domain: Domain, epsilon: str) -> None:
    for counts in (people_in(domain), some_in_one_cell(domain, UNITS), some_in_one_cell(domain, 0)):
        curator = seeded_curator(counts, epsilon, seed=1)
        assert is_a_distribution_on_the_domain(peer.algorithm(curator))
        assert curator.rest == 0


@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer.name not in OF_ONE_SIZE], ids=lambda peer: peer.name)
@pytest.mark.parametrize("domain", [DOMAINS["unit"], DOMAINS["image"], DOMAINS["box"]], ids=lambda d: d.kind)
def test_with_huge_epsilon_the_estimate_is_near_the_truth(peer: Peer, domain: Domain) -> None:
    """In total variation; MWEM's steps are too small to get there in its rounds, so it is judged more coarsely."""
    counts = people_in(domain)
    truth, estimate = (
        on_finest_cells(d) for d in (true_distribution(counts), peer.algorithm(seeded_curator(counts, 10**5, seed=2)))
    )
    if peer.name == "mwem":
        truth, estimate = (on_coarse_cells(values) for values in (truth, estimate))
    assert np.abs(truth - estimate).sum() / 2 < (0.25 if peer.name == "mwem" else 0.01)


@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer.name in DOWN_TO_CELLS], ids=lambda peer: peer.name)
@every_domain
def test_without_noise_those_that_measure_cells_are_the_truth(peer: Peer, domain: Domain) -> None:
    counts = people_in(domain, 300)
    found = peer.algorithm(seeded_curator(counts, 10**6, seed=4))
    assert np.abs(on_finest_cells(found) - on_finest_cells(true_distribution(counts))).sum() / 2 < 1e-3
    assert found.total == pytest.approx(300, abs=0.5)


def on_coarse_cells(values: Floats, side: int = 8) -> Floats:
    rows, columns = (-(-n // side) * side for n in values.shape)
    padded = np.zeros((rows, columns))
    padded[: values.shape[0], : values.shape[1]] = values
    coarse: Floats = padded.reshape(rows // side, side, columns // side, side).sum(axis=(1, 3))
    return coarse


@every_peer
def test_a_useful_epsilon_beats_the_uniform_map(peer: Peer) -> None:
    counts = people_in(Domain.unit(6), 2000)
    truth = on_coarse_cells(on_finest_cells(true_distribution(counts)))
    flat = on_coarse_cells(on_finest_cells(Distribution.uniform(counts.domain)))
    estimates = [peer.algorithm(seeded_curator(counts, 2, seed=seed)) for seed in range(3)]
    errors = [np.abs(on_coarse_cells(on_finest_cells(e)) - truth).sum() / 2 for e in estimates]
    assert np.mean(errors) < (0.9 if peer.name in TREES_OF_ALL_CELLS else 0.4) * np.abs(flat - truth).sum() / 2


@every_peer
def test_the_same_seed_gives_the_same_estimate(peer: Peer) -> None:
    counts = people_in(Domain.unit(5))
    first, second, other = (peer.algorithm(seeded_curator(counts, 1, seed=seed)) for seed in (3, 3, 4))
    assert np.array_equal(on_finest_cells(first), on_finest_cells(second))
    assert not np.array_equal(on_finest_cells(first), on_finest_cells(other))


@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer.any_depth], ids=lambda peer: peer.name)
@pytest.mark.parametrize("epsilon", ["0.1", "5"])
def test_sparse_peers_work_at_any_depth(peer: Peer, epsilon: str) -> None:
    domain = Domain.bbox(-74.1, 40.6, -73.8, 40.9, depth=22)
    curator = seeded_curator(people_in(domain), epsilon, seed=5)
    assert is_a_distribution_on_the_domain(peer.algorithm(curator))
    assert curator.rest == 0


@pytest.mark.parametrize("peer", [peer for peer in PEERS if not peer.any_depth], ids=lambda peer: peer.name)
def test_the_others_refuse_a_grid_that_is_too_fine_before_anything_is_spent(peer: Peer) -> None:
    curator = seeded_curator(some_in_one_cell(Domain.unit(14), 0), 1, seed=6)
    with pytest.raises(ParameterError, match="every finest cell"):
        peer.algorithm(curator)
    assert curator.rest == 1


@every_peer
def test_questions_cost_what_is_left_of_epsilon(peer: Peer, spent: list[Fraction]) -> None:
    """Each question costs something, and together they cost epsilon: to the last fraction."""
    peer.algorithm(seeded_curator(people_in(Domain.unit(6)), "0.3", seed=7))
    assert min(spent) > 0
    assert sum(spent) * 10 == 3
