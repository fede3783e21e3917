"""Algorithm 2 from end to end: releases in, distributions out, compared with the definition solved by HiGHS."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import UNITS, split_over_levels
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.paper_estimate import reconstruct
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, decode
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.release import Release
from helpers.designs import paper_design

Noisy = Callable[[int, list[int]], Ints]
"""Noisy counts of the cells, given by level and Morton codes."""


class Case(NamedTuple):
    """A release, and y^ before scaling: the noisy values, in people, of the kept cells (level, code)."""

    release: Release
    kept: dict[tuple[int, int], float]


def make(domain: Domain, width: int, noisy: Noisy, units: int = UNITS) -> Case:
    """Measure top down as Algorithms 1 and 2 prescribe, with whatever counts ``noisy`` gives."""
    first = domain.first_level(width)
    shares = split_over_levels(first, domain.depth)
    rows: list[tuple[int, int, int, int]] = []
    kept: dict[tuple[int, int], float] = {}
    cells = domain_codes(domain, first)
    for level in range(first, domain.depth + 1):
        counts = noisy(level, cells).tolist()
        rows += [(level, code, count, shares[level]) for code, count in zip(cells, counts, strict=True)]
        ranked = sorted(zip(cells, counts, strict=True), key=lambda pair: (-pair[1], pair[0]))
        selected = sorted(ranked if level == first else ranked[:width])
        kept |= {(level, code): count / units for code, count in selected}
        children = np.array([child for code, _ in selected for child in range(4 * code, 4 * code + 4)])
        cells = children[domain.meets(level + 1, *decode(children))].tolist() if level < domain.depth else []
    columns = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    release = Release(
        domain=domain,
        loss=PureLoss(Fraction(1)),
        measurements=Measurements(*columns),
        design=paper_design(shares, width),
        units=units,
    )
    return Case(release, kept)


def domain_codes(domain: Domain, level: int) -> list[int]:
    """The Morton codes of all cells of a level that meet the domain, ascending."""
    r = domain.cells(level)
    bits = range(level)
    return sorted(
        sum((x >> b & 1) << 2 * b | (y >> b & 1) << 2 * b + 1 for b in bits)
        for x in range(r.x0, r.x1)
        for y in range(r.y0, r.y1)
    )


def pyramid(release: Release) -> tuple[sparse.csr_array, Floats, list[tuple[int, int]]]:
    """P without its weights (sums of finest cells over every cell of the levels q .. L), weights 2^(q-i), cells."""
    domain, first = release.domain, release.measured_levels[0]
    finest = domain_codes(domain, domain.depth)
    cells = [(level, code) for level in range(first, domain.depth + 1) for code in domain_codes(domain, level)]
    index = {cell: row for row, cell in enumerate(cells)}
    entries = [
        (index[level, code >> 2 * (domain.depth - level)], column)
        for column, code in enumerate(finest)
        for level in range(first, domain.depth + 1)
    ]
    rows, columns = zip(*entries, strict=True)
    sums = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(cells), len(finest)))
    return sums, np.array([2.0 ** (first - level) for level, _ in cells]), cells


def on_finest_cells(distribution: Distribution) -> Floats:
    """The masses of the domain's finest cells by Morton code."""
    finest = distribution.domain.cells(distribution.domain.depth)
    x, y = decode(np.array(domain_codes(distribution.domain, distribution.domain.depth)))
    values: Floats = distribution.raster(finest.columns, finest.rows)[y - finest.y0, x - finest.x0]
    return values


def assert_optimal(case: Case) -> None:
    """The estimate's objective is the least one, by HiGHS on the whole grid of finest cells."""
    sums, weights, cells = pyramid(case.release)
    wanted = np.array([case.kept.get(cell, 0.0) for cell in cells])
    distribution = reconstruct(case.release)
    assert distribution.mass.min() >= 0
    assert distribution.mass.sum() == pytest.approx(1, rel=1e-12)
    ours = float(weights @ np.abs(wanted - sums @ (on_finest_cells(distribution) * distribution.total)))
    one = sparse.eye_array(len(cells))
    result = linprog(
        np.concatenate([np.zeros(sums.shape[1]), weights]),
        A_ub=sparse.vstack([sparse.hstack([sums, -one]), sparse.hstack([-sums, -one])], format="csc"),
        b_ub=np.concatenate([wanted, -wanted]),
        method="highs",
    )
    assert result.status == 0
    scale = float(weights @ np.abs(wanted))
    assert ours == pytest.approx(result.fun, rel=1e-9, abs=1e-12 * scale)


def assert_disjoint_cover(distribution: Distribution) -> None:
    """Each finest cell of the domain lies in exactly one cell of the distribution."""
    depth = distribution.domain.depth
    ancestors = list(zip(distribution.levels.tolist(), distribution.codes.tolist(), strict=True))
    assert len(set(ancestors)) == len(ancestors)
    for code in domain_codes(distribution.domain, depth):
        assert sum((level, code >> 2 * (depth - level)) in set(ancestors) for level in range(depth + 1)) == 1


DOMAINS = [
    Domain.unit(0),
    Domain.unit(1),
    Domain.unit(2),
    Domain.unit(3),
    Domain.unit(4),
    Domain.image(5, 3),
    Domain.image(2, 7),
    Domain.image(1, 9),
    Domain.image(9, 9),
    Domain.image(10, 6, depth=3),
    Domain.bbox(-74.1, 40.6, -73.8, 40.9, depth=12),
    Domain.bbox(-10, -10, 12, 14, depth=6),
]

KINDS = ["normal", "laplace", "ties", "negative", "zero", "constant", "sparse", "heavy"]


def random_noisy(kind: str, rng: np.random.Generator) -> Noisy:
    """Counts of one kind, drawn afresh for each level."""
    draw: dict[str, Callable[[int], Floats]] = {
        "normal": lambda n: rng.normal(1, 3, n),
        "laplace": lambda n: rng.laplace(0, 2, n),
        "ties": lambda n: rng.integers(-1, 4, n).astype(np.float64),
        "negative": lambda n: -rng.exponential(1, n),
        "zero": np.zeros,
        "constant": lambda n: np.full(n, 2.0),
        "sparse": lambda n: np.where(rng.random(n) < 0.2, rng.exponential(20, n), 0.0),
        "heavy": lambda n: rng.standard_cauchy(n).clip(-1e4, 1e4),
    }
    return lambda _, codes: np.rint(draw[kind](len(codes)) * UNITS).astype(np.int64)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda d: f"{d.kind}{d.depth}-{d.cells(d.depth).count}")
@pytest.mark.parametrize("kind", KINDS)
def test_objective_is_that_of_highs(domain: Domain, kind: str) -> None:
    rng = np.random.default_rng([len(kind), domain.depth, domain.cells(domain.depth).count])
    for width in (1, 2, 4, 7, 20):
        assert_optimal(make(domain, width, random_noisy(kind, rng)))


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(DOMAINS), st.sampled_from(KINDS), st.integers(1, 40), st.integers(0, 2**32))
def test_cells_are_disjoint_and_cover_the_domain(domain: Domain, kind: str, width: int, seed: int) -> None:
    case = make(domain, width, random_noisy(kind, np.random.default_rng(seed)))
    assert_disjoint_cover(reconstruct(case.release))


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(DOMAINS), st.sampled_from(KINDS), st.integers(1, 40), st.integers(0, 2**32))
def test_total_is_what_the_first_level_counts(domain: Domain, kind: str, width: int, seed: int) -> None:
    case = make(domain, width, random_noisy(kind, np.random.default_rng(seed)))
    distribution = reconstruct(case.release)
    people = [max(value, 0.0) for (level, _), value in case.kept.items() if level == case.release.measured_levels[0]]
    assert distribution.total == pytest.approx(sum(people), rel=1e-12)
    assert distribution.empty == (sum(people) == 0)
    assert distribution.mass.sum() == pytest.approx(1, rel=1e-12)
    assert distribution.levels.dtype == distribution.codes.dtype == np.int64


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([Domain.unit(4), Domain.image(20, 13), Domain.bbox(-10, -10, 12, 14, depth=7)]),
    st.dictionaries(st.integers(0, 10**6), st.integers(1, 1000 * UNITS), min_size=1, max_size=12),
)
def test_exact_counts_are_reproduced(domain: Domain, data: dict[int, int]) -> None:
    """With no noise and every occupied cell kept, the estimate is the data: its objective is 0."""
    finest = domain_codes(domain, domain.depth)
    truth = {finest[place % len(finest)]: units for place, units in data.items()}

    def exact(level: int, codes: list[int]) -> Ints:
        shift = 2 * (domain.depth - level)
        return np.array([sum(n for code, n in truth.items() if code >> shift == cell) for cell in codes])

    distribution = reconstruct(make(domain, 12, exact).release)
    assert distribution.total == sum(truth.values()) / UNITS
    found = dict(zip(distribution.codes.tolist(), distribution.mass.tolist(), strict=True))
    occupied = distribution.mass > 0
    assert set(distribution.levels[occupied].tolist()) == {domain.depth}
    assert {code: found[code] for code in distribution.codes[occupied].tolist()} == {
        code: units / UNITS / distribution.total for code, units in truth.items()
    }


def by_table(table: dict[int, list[float]]) -> Noisy:
    """People of the first cells of each level; the others have none."""
    return lambda level, codes: np.array([int(v * UNITS) for v in [*table[level], *[0.0] * len(codes)]][: len(codes)])


def test_surplus_is_shared_equally_with_left_out_cells() -> None:
    """One kept leaf of 5 people under a root of 8: the other 3 go to the four cells."""
    distribution = reconstruct(make(Domain.unit(1), 1, by_table({0: [8], 1: [1, 2, 5, 4]})).release)
    masses = dict(zip(distribution.codes.tolist(), (distribution.mass * 8).tolist(), strict=True))
    assert masses == {0: 0.75, 1: 0.75, 2: 5.75, 3: 0.75}
    assert distribution.total == 8


def test_surplus_goes_only_to_children_that_meet_the_domain() -> None:
    """A strip of 1 x 2 pixels: its root has two children inside."""
    distribution = reconstruct(make(Domain.image(1, 2), 1, by_table({0: [3], 1: [0, 1]})).release)
    masses = dict(zip(distribution.codes.tolist(), (distribution.mass * 3).tolist(), strict=True))
    assert masses == {0: 1, 2: 2}


def test_left_out_cells_are_spread_evenly() -> None:
    """Of 16 cells one is kept, with nobody in it: 4 people on level 1 lie evenly everywhere."""
    distribution = reconstruct(make(Domain.unit(2), 1, by_table({0: [4], 1: [-1, -1, -1, -1], 2: [-1] * 4})).release)
    np.testing.assert_array_equal(on_finest_cells(distribution), 1 / 16)
    assert not distribution.empty


@pytest.mark.parametrize("value", [0, -3])
@pytest.mark.parametrize("domain", DOMAINS)
def test_nothing_positive_gives_the_uniform_map(domain: Domain, value: int) -> None:
    case = make(domain, 4, lambda _, codes: np.full(len(codes), value * UNITS))
    distribution = reconstruct(case.release)
    assert distribution.empty
    assert distribution.total == 0
    assert_disjoint_cover(distribution)
    np.testing.assert_allclose(on_finest_cells(distribution), 1 / domain.cells(domain.depth).count, rtol=1e-12)


def test_uniform_map_goes_by_the_area_inside() -> None:
    """5 x 3 pixels in a root square of 8 x 8: each has a fifteenth, and nothing lies outside."""
    distribution = reconstruct(make(Domain.image(5, 3), 4, lambda _, codes: np.zeros(len(codes), np.int64)).release)
    np.testing.assert_allclose(distribution.raster(5, 3), np.full((3, 5), 1 / 15), rtol=1e-15)


def test_one_level_only() -> None:
    """With a width that holds all cells, the estimate is the noisy counts without the negative ones."""
    case = make(Domain.unit(1), 4, by_table({1: [3, -1, 0, 1]}))
    distribution = reconstruct(case.release)
    assert case.release.measured_levels == (1, 1)
    assert distribution.mass.tolist() == [0.75, 0, 0, 0.25]
    assert distribution.total == 4


def test_counts_near_the_end_of_the_range() -> None:
    """Counts of 2^61 on every measured cell neither overflow nor lose mass."""
    distribution = reconstruct(make(Domain.unit(3), 4, lambda _, codes: np.full(len(codes), 2**61)).release)
    assert distribution.total == 4 * 2**31
    assert distribution.mass.sum() == pytest.approx(1, rel=1e-12)


def test_other_units() -> None:
    """Counts are in the release's own units."""
    distribution = reconstruct(make(Domain.unit(1), 4, lambda _, codes: np.arange(len(codes)), units=2).release)
    assert distribution.total == 3


@pytest.mark.parametrize("domain", [Domain.unit(28), Domain.image(2**28, 3 * 2**26)], ids=["square", "clipped"])
def test_deepest_level(domain: Domain) -> None:
    """At depth 28 slopes reach 2^27 and cells 2^-28 of the side."""
    distribution = reconstruct(make(domain, 20, random_noisy("normal", np.random.default_rng(3))).release)
    assert distribution.mass.min() >= 0
    assert distribution.mass.sum() == pytest.approx(1, rel=1e-12)
    x, y = decode(distribution.codes)
    assert np.all([domain.meets(int(a), b, c) for a, b, c in zip(distribution.levels, x, y, strict=True)])
