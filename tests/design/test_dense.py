"""The dense design: which grid it takes, what it asks, and what it is told at release time."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.design.dense import MOST_CELLS, DenseDesign, grid_level
from dpheatmap.design.design import Question
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import SHARES, UNITS
from dpheatmap.place.domain import Domain
from dpheatmap.releases.release_file import problem_of
from dpheatmap.testing import seeded_release

SQUARE = Domain.unit(8)


def crowd(people: int, domain: Domain = SQUARE) -> dph.Counts:
    rng = np.random.default_rng(people)
    finest = domain.cells(domain.depth)
    x, y = rng.integers(finest.x0, finest.x1, people), rng.integers(finest.y0, finest.y1, people)
    return dph.Counts.from_cells(domain, x, y, np.full(people, UNITS))


@given(st.fractions(min_value=Fraction(1, 100), max_value=10**7))
def test_on_a_square_the_side_is_the_papers(signal: Fraction) -> None:
    wanted = math.log2(math.sqrt(signal))
    level = grid_level(Domain.unit(20), signal, 0, 8)
    assert level == min(max(math.floor(wanted + 0.5), 0), 8) or abs(wanted % 1 - 0.5) < 1e-9


@pytest.mark.parametrize("domain", [Domain.image(640, 480), Domain.image(1, 256), Domain.bbox(7.3, 46.9, 7.5, 47.02)])
def test_elsewhere_it_has_as_many_cells_as_comes_nearest(domain: Domain) -> None:
    first = domain.first_level(1)
    for signal in (1, 7, 50, 3000, 20_000):
        level = grid_level(domain, Fraction(signal), first, domain.depth)
        ratio = {k: abs(math.log(domain.cells(k).count / signal)) for k in range(first, domain.depth + 1)}
        assert ratio[level] == pytest.approx(min(ratio.values()))


def test_the_grid_is_bounded_by_the_levels_and_by_its_number_of_cells() -> None:
    assert grid_level(SQUARE, Fraction(10**12), 0, 5) == 5
    assert grid_level(SQUARE, Fraction(-(10**12)), 3, 5) == grid_level(SQUARE, Fraction(0), 3, 5) == 3
    assert 4 ** grid_level(Domain.unit(28), Fraction(10**30), 0, 28) == MOST_CELLS


def test_it_asks_for_everybody_then_for_all_cells_of_the_grid_with_all_that_is_left() -> None:
    design = DenseDesign(0, 8)
    begin = design.begin(SQUARE)
    share = SHARES // 20
    assert str(begin) == str(Question(0, np.zeros(1, np.int64), share, SHARES - share))
    [grid] = design.after(SQUARE, PureLoss(Fraction(1)), begin, np.array([300 * UNITS]))
    assert (grid.level, grid.share, grid.left) == (4, SHARES - share, 0)
    assert grid.cells.tolist() == list(range(256))
    assert design.after(SQUARE, PureLoss(Fraction(1)), grid, np.full(256, UNITS)) == []
    assert design.possible_shares(SQUARE) == {share, SHARES - share}
    alone = DenseDesign(4, 4)
    assert np.array_equal(alone.begin(SQUARE).cells, SQUARE.codes(4))
    assert (alone.begin(SQUARE).share, alone.begin(SQUARE).left, alone.possible_shares(SQUARE)) == (SHARES, 0, {SHARES})


@pytest.mark.parametrize("wrong", [(-1, 3), (4, 3), (0, 29)])
def test_levels_out_of_range_are_no_design(wrong: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="out of range"):
        DenseDesign(*wrong)
    for total in (Fraction(0), Fraction(1), Fraction(-1)):
        with pytest.raises(ValueError, match="out of range"):
            DenseDesign(0, 3, total)
    with pytest.raises(ValueError, match="nothing of epsilon"):
        DenseDesign(0, 3, Fraction(1, 2**40))


def test_a_declared_number_of_people_costs_nothing() -> None:
    """The grid then has all of epsilon; it follows what was declared, not how many there are."""
    for people in (3, 5000):
        release = dph.release(crowd(people), epsilon=2, design="dense", users=500)
        assert release.design == DenseDesign(5, 5)
        assert len(release.measurements) == 4**5
        assert set(release.measurements.shares.tolist()) == {SHARES}
    noisy = seeded_release(crowd(5000), epsilon=2, design="dense", seed=1)
    assert noisy.design == DenseDesign(0, 8)
    assert noisy.measured_levels == (0, 7)
    assert sorted(set(noisy.measurements.shares.tolist())) == [SHARES // 20, SHARES - SHARES // 20]


def test_depth_sigma_and_first_level_bound_the_grid() -> None:
    counts = crowd(50_000)
    for options, level in (({"depth": 3}, 3), ({"sigma": 0.25}, 4), ({"users": 10**6, "depth": 6}, 6)):
        assert dph.release(counts, epsilon=1, design="dense", **options).measured_levels[1] == level
    few = dph.release(crowd(0), epsilon=1, design="dense", first_level=6, users=1)
    assert few.design == DenseDesign(6, 6)


def altered(release: dph.Release, **columns: Any) -> str | None:
    return problem_of(replace(release, measurements=replace(release.measurements, **columns)))


def test_altered_files_are_found_out() -> None:
    """The total decides which grid must be there; the grid must be whole; nothing has another share."""
    release = seeded_release(crowd(300), epsilon=1, design="dense", seed=2)
    m = release.measurements
    assert problem_of(release) is None
    for total, level in ((2**60, 8), (-(2**60), 0), (40 * UNITS, 3)):
        assert altered(release, counts=np.append(total, m.counts[1:])) == (
            f"the cells measured at level {level} are not those that its design measures"
        )
    shorter = {name: getattr(m, name)[:-1] for name in ("levels", "codes", "counts", "shares")}
    assert altered(release, **shorter) == "the cells measured at level 4 are not those that its design measures"
    assert altered(release, shares=np.append(m.shares[:-1], SHARES)) is not None
    assert altered(release, shares=np.append(SHARES // 10, m.shares[1:])) is not None
    further = {name: np.append(getattr(m, name), getattr(m, name)[-1:]) for name in shorter}
    assert altered(release, **further) == "it has measurements that its design does not make"
    declared = replace(release, design=DenseDesign(4, 4))
    assert problem_of(declared) == "the cells measured at level 4 are not those that its design measures"


def test_images_have_dense_releases_too() -> None:
    from dpheatmap.testing import generated_people

    looks = generated_people(60).project("*, 'a' AS stimulus")
    columns: dict[str, Any] = {"image": "stimulus", "user": "person", "x": "x", "y": "y"}
    made = dph.release_images(looks, Domain.unit(6), images=["a"], epsilon=1, design="dense", users=60, **columns)
    assert made["a"].design == DenseDesign(3, 3)
