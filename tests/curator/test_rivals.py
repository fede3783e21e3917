"""A curator's answers: right without noise to speak of, noisy with the promised scale, and never beyond epsilon."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator import Curator
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import CellRange
from dpheatmap.place.quadtree import encode
from dpheatmap.testing import generated_people, seeded_curator

HUGE = 10**6
DOMAIN = dph.Domain.unit(4)


def counts_of(cells: dict[tuple[int, int], float], domain: dph.Domain = DOMAIN) -> dph.Counts:
    x, y = (np.array([cell[k] for cell in cells], dtype=np.int64) for k in (0, 1))
    weight = np.array([round(people * UNITS) for people in cells.values()], dtype=np.int64)
    return dph.Counts.from_cells(domain, x, y, weight)


COUNTS = counts_of({(0, 0): 3, (5, 2): 1.5, (15, 15): 7})


def test_cells_of_several_levels_at_once() -> None:
    levels, codes = np.array([1, 2, 4]), np.array([3, 1, 0])
    answer = Curator(COUNTS, HUGE).cells(levels, codes, Fraction(HUGE))
    np.testing.assert_allclose(answer, [7, 1.5, 3], atol=1e-3)


def test_regions_add_up_the_cells_of_a_label() -> None:
    labels = np.where(np.arange(16)[:, None] < 8, 0, 1) + np.zeros((1, 16), np.int64)
    labels[0, 0] = -1
    np.testing.assert_allclose(Curator(COUNTS, HUGE).regions(labels, Fraction(HUGE)), [1.5, 7], atol=1e-3)


def test_regions_of_a_domain_that_starts_away_from_the_corner() -> None:
    domain = dph.Domain.bbox(7.3, 46.9, 7.5, 47.02, depth=12)
    finest = domain.cells(12)
    counts = counts_of({(finest.x0 + 1, finest.y0): 4}, domain)
    labels = np.arange(finest.count).reshape(finest.rows, finest.columns)
    answer = Curator(counts, HUGE).regions(labels, Fraction(HUGE))
    assert np.argmax(answer) == 1
    np.testing.assert_allclose(answer[1], 4, atol=1e-3)


def test_rings_part_everybody_and_cost_once() -> None:
    """Also where a box reaches beyond the one before: a cell in it but not in that one is in no box."""
    curator = Curator(COUNTS, HUGE)
    boxes = [CellRange(0, 0, 8, 8), CellRange(4, 0, 16, 16)]
    np.testing.assert_allclose(curator.rings(boxes, Fraction(HUGE, 2)), [7, 3, 1.5], atol=1e-3)
    assert curator.rest == HUGE // 2
    np.testing.assert_allclose(curator.rings([], Fraction(HUGE, 2)), [11.5], atol=1e-3)
    with pytest.raises(ParameterError, match="at most what is left"):
        curator.rings([], Fraction(1))


def test_the_total_is_the_number_of_people() -> None:
    assert Curator(COUNTS, HUGE).total(Fraction(HUGE)) == pytest.approx(11.5, abs=1e-3)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 255)), min_size=2, max_size=6))
def test_overlapping_cells_are_refused_and_disjoint_ones_are_not(cells: list[tuple[int, int]]) -> None:
    """A person in two cells of one question would be counted twice for the price of once."""
    levels = np.array([level for level, _ in cells])
    codes = np.array([code % 4**level for level, code in cells])
    covered = np.zeros(256, np.int64)
    for level, code in zip(levels, codes, strict=True):
        covered[code << 2 * (4 - level) : (code + 1) << 2 * (4 - level)] += 1
    curator = Curator(COUNTS, 1)
    if covered.max() > 1:
        with pytest.raises(ParameterError, match="disjoint"):
            curator.cells(levels, codes, Fraction(1))
        assert curator.rest == 1
    else:
        assert len(curator.cells(levels, codes, Fraction(1))) == len(cells)


def test_cells_side_by_side_are_disjoint() -> None:
    levels, codes = np.array([1, 2, 1, 2, 2]), np.array([1, 0, 3, 1, 2])
    assert len(Curator(COUNTS, 1).cells(levels, codes, Fraction(1))) == 5
    with pytest.raises(ParameterError, match="disjoint"):
        Curator(COUNTS, 1).cells(levels, np.array([1, 0, 3, 1, 7]), Fraction(1))


@pytest.mark.parametrize(("level", "code"), [(5, 0), (-1, 0), (4, -1), (4, 256), (0, 1), (2, 2**60)])
def test_what_is_not_a_cell_is_refused(level: int, code: int) -> None:
    """A code beyond its level would wrap when it is shifted, and hide an overlap."""
    curator = Curator(COUNTS, 1)
    levels, codes = np.array([level]), np.array([code])
    for ask in (
        lambda: curator.cells(levels, codes, Fraction(1)),
        lambda: curator.furthest(levels, codes, np.zeros(1), Fraction(1)),
    ):
        with pytest.raises(ParameterError, match="level from 0 to 4"):
            ask()
    assert curator.rest == 1


def test_labels_of_another_shape_are_refused() -> None:
    with pytest.raises(ParameterError, match="16 x 16"):
        Curator(COUNTS, 1).regions(np.zeros((4, 4), np.int64), Fraction(1))


def test_more_than_epsilon_is_never_spent() -> None:
    curator = Curator(COUNTS, 0.3)
    for _ in range(3):
        curator.total(Fraction(1, 10))
    assert curator.rest == 0
    for price in (Fraction(1, 10**9), Fraction(0), Fraction(-1), 0.1, None):
        with pytest.raises(ParameterError, match="what is left of epsilon"):
            curator.total(price)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="what is left"):
        curator.private_tree(Fraction(1))
    with pytest.raises(ParameterError, match="what is left"):
        curator.furthest(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1), Fraction(1))


@given(st.floats(0.001, 1), st.floats(0.001, 1))
def test_parts_never_add_up_to_more_than_the_whole(first: float, second: float) -> None:
    curator = Curator(COUNTS, Fraction(1, 3))
    for share in (first, second):
        part = curator.part(share)
        assert part <= curator.rest
        if part > 0:
            curator.total(part)
    assert curator.rest >= 0


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)])
def test_the_noise_has_the_scale_of_its_price(epsilon: Fraction) -> None:
    """The mean size of Laplace noise is its scale, 1 / epsilon people; 65,536 samples give it to 0.4 %, one sigma."""
    domain = dph.Domain.unit(8)
    counts = counts_of({(0, 0): 1}, domain)
    answer = seeded_curator(counts, 8, seed=1).regions(np.arange(65536).reshape(256, 256), epsilon)
    answer[0] -= 1
    assert np.abs(answer).mean() * float(epsilon) == pytest.approx(1, rel=0.025)


def test_the_furthest_cell_is_found() -> None:
    levels, codes = np.full(3, 4), encode(np.array([0, 5, 15]), np.array([0, 2, 15]))
    assert Curator(COUNTS, HUGE).furthest(levels, codes, np.array([3.0, 0.0, 6.5]), Fraction(HUGE)) == 1
    assert Curator(COUNTS, HUGE).furthest(levels, codes, np.array([30.0, 0.0, 6.5]), Fraction(HUGE)) == 0


def test_the_tree_is_fine_where_people_are() -> None:
    """With next to no noise, cells with people are split down to the finest level, empty ones at times."""
    levels, codes = seeded_curator(COUNTS, HUGE, seed=1).private_tree(Fraction(HUGE))
    finest = set(codes[levels == 4].tolist())
    assert set(encode(np.array([0, 5, 15]), np.array([0, 2, 15])).tolist()) <= finest
    assert len(finest) < 60
    area = (4.0 ** (4 - levels)).sum()
    assert area == 256


@pytest.mark.parametrize(
    "domain", [dph.Domain.image(20, 12), dph.Domain.bbox(7.3, 46.9, 7.5, 47.02, depth=14), dph.Domain.unit(20)]
)
def test_the_leaves_cover_the_domain_once(domain: dph.Domain) -> None:
    counts = dph.aggregate(generated_people(300, extent=domain.extent), domain, user="person", x="x", y="y")
    levels, codes = seeded_curator(counts, 2, seed=3).private_tree(Fraction(2))
    begin = codes << (2 * (domain.depth - levels))
    end = (codes + 1) << (2 * (domain.depth - levels))
    order = np.argsort(begin)
    assert np.all(end[order][:-1] <= begin[order][1:])
    x, y, _ = domain.locate(
        *(np.linspace(low, high, 50) for low, high in zip(domain.extent[:2], domain.extent[2:], strict=True))
    )
    points = encode(x, y)
    at = np.searchsorted(begin[order], points, side="right") - 1
    assert np.all(points < end[order][at])


def test_the_same_seed_gives_the_same_answers_and_another_one_others() -> None:
    answers = [seeded_curator(COUNTS, 1, seed=seed).total(Fraction(1)) for seed in (1, 1, 2)]
    assert answers[0] == answers[1] != answers[2]
    fresh = {Curator(COUNTS, 1).total(Fraction(1)) for _ in range(5)}
    assert len(fresh) == 5


def test_no_number_of_people_is_too_many() -> None:
    """Sums beyond 64 bits are held at 2^61 units instead of turning over."""
    domain, cells = dph.Domain.unit(2), np.arange(4)
    counts = dph.Counts.from_cells(domain, cells, cells, np.full(4, 2**62))
    finest = np.zeros((4, 4), np.int64)
    finest[0, 0] = -1
    assert Curator(counts, HUGE).regions(finest, Fraction(HUGE)).tolist() == pytest.approx([2**31])
    assert Curator(counts, HUGE).total(Fraction(HUGE)) == pytest.approx(2**31)
    inner = [CellRange(0, 0, 3, 3), CellRange(0, 0, 1, 1)]
    assert Curator(counts, HUGE).rings(inner, Fraction(HUGE)).tolist() == pytest.approx([2**31] * 3)
    everything = np.arange(16)
    uneven = Curator(counts, HUGE).deviations(everything, np.zeros(1, np.int64), Fraction(HUGE))
    assert uneven.tolist() == pytest.approx([2**31]), "4 cells of 2^61, 12 of none: 3 * 2^61, held"
