"""Divisions of a domain laid over each other: the result covers the domain once and keeps all mass."""

from __future__ import annotations

import numpy as np
import pytest

from dpheatmap.estimate.cell_overlay import Division, overlay
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import decode


def random_division(domain: Domain, rng: np.random.Generator) -> Division:
    """The domain's root, cut at random."""
    done: list[tuple[int, int]] = []
    queue = [(0, 0)]
    while queue:
        level, code = queue.pop()
        if level == domain.depth or rng.random() < 0.4:
            done.append((level, code))
            continue
        four = code * 4 + np.arange(4)
        queue += [(level + 1, int(each)) for each in four[domain.meets(level + 1, *decode(four))]]
    levels, codes = np.array(done).T
    return Division(levels, codes)


@pytest.mark.parametrize("domain", [Domain.unit(5), Domain.image(20, 13)])
@pytest.mark.parametrize("seed", range(5))
def test_the_smallest_cells_cover_the_domain_once_and_keep_all_mass(domain: Domain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    divisions = [random_division(domain, rng) for _ in range(3)]
    masses = [rng.random((2, len(division.levels))) for division in divisions]
    laid = overlay(domain, divisions)
    area = sum(domain.weight(int(level), np.array([code]))[0] for level, code in zip(*laid.cells, strict=True))
    assert area == pytest.approx(domain.weight(0, np.zeros(1, np.int64))[0])
    added = laid.total(masses)
    assert added.shape == (2, len(laid.cells.levels))
    np.testing.assert_allclose(added.sum(axis=1), sum(mass.sum(axis=1) for mass in masses))
    for division, holder in zip(divisions, laid.holders, strict=True):
        up = laid.cells.levels - division.levels[holder]
        assert (up >= 0).all()
        assert np.array_equal(laid.cells.codes >> 2 * up, division.codes[holder])


def test_variances_of_parts_are_smaller_by_the_square() -> None:
    whole, quarters = Division(np.zeros(1, np.int64), np.zeros(1, np.int64)), Division(np.ones(4, int), np.arange(4))
    laid = overlay(Domain.unit(2), [whole, quarters])
    assert laid.total([np.array([16.0]), np.zeros(4)], power=2).tolist() == [1.0] * 4
