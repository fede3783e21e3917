"""Visits per tile: the counts of tiles, square ones as far as possible, and one question."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpheatmap.curator import Counts
from dpheatmap.design.shares import UNITS
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.peers.tiles import tiles
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.testing import seeded_curator
from helpers.people import nobody_in, on_finest_cells, people_in


def on_tiles(values: Floats, down: int, across: int) -> Floats:
    """The sums of blocks; the raster must divide evenly."""
    rows, columns = values.shape
    sums: Floats = values.reshape(down, rows // down, across, columns // across).sum(axis=(1, 3))
    return sums


@pytest.mark.parametrize(("domain", "down", "across"), [(Domain.image(80, 40), 5, 10), (Domain.image(30, 120), 10, 3)])
def test_without_noise_the_masses_of_tiles_are_the_true_ones_and_even_inside(
    domain: Domain, down: int, across: int
) -> None:
    counts = people_in(domain, 400)
    found = on_finest_cells(tiles(seeded_curator(counts, 10**6, seed=1)))
    truth = on_tiles(on_finest_cells(true_distribution(counts)), down, across)
    assert on_tiles(found, down, across) == pytest.approx(truth, abs=1e-4)
    rows, columns = found.shape
    even = np.repeat(np.repeat(truth, rows // down, axis=0), columns // across, axis=1) * truth.size / found.size
    assert found == pytest.approx(even, abs=1e-4)


def test_tiles_are_never_finer_than_cells() -> None:
    domain = Domain.image(7, 2)
    counts = people_in(domain, 50)
    found, truth = (
        on_finest_cells(d) for d in (tiles(seeded_curator(counts, 10**6, seed=1)), true_distribution(counts))
    )
    assert found == pytest.approx(truth, abs=1e-4)


def test_one_question_costs_all_of_epsilon(spent: list[Fraction]) -> None:
    tiles(seeded_curator(people_in(Domain.unit(6)), "0.7", seed=2))
    assert spent == [Fraction(7, 10)]


def test_negative_counts_become_zero_and_positive_noise_stays() -> None:
    """Half of the tiles of an empty map have people, each one about, at epsilon 1: as the package does it."""
    totals = [tiles(seeded_curator(nobody_in(Domain.unit(6)), 1, seed=seed)).total for seed in range(30)]
    assert np.mean(totals) == pytest.approx(100 / 2, rel=0.15)


def test_a_crowd_in_one_cell_is_spread_over_its_tile() -> None:
    crowd = Counts.from_cells(Domain.image(100, 100), np.array([42]), np.array([17]), np.array([5000 * UNITS]))
    found = on_finest_cells(tiles(seeded_curator(crowd, 100, seed=3)))
    assert found[10:20, 40:50] == pytest.approx(np.full((10, 10), 0.01), rel=1e-2)
