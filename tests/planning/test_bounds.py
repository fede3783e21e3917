"""The theory, step by step: every inequality that a bound rests on is tried on maps and noise that might break it."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import dpheatmap as dph
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import DomainError, ParameterError
from dpheatmap.evaluate.metrics import emd, emd_norm, kl, similarity
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import largest
from dpheatmap.planning import bounds
from dpheatmap.testing import seeded_release
from helpers import ROOT

masses = st.one_of(st.integers(-3, 3).map(float), st.floats(-100, 100), st.sampled_from([0.0, 1e4, -1e4, 1e-3]))
signed_maps = st.sampled_from([2, 4, 8]).flatmap(lambda side: arrays(np.float64, (side, side), elements=masses))
weights = st.one_of(st.just(0.0), st.integers(1, 3).map(float), st.floats(1e-3, 100), st.sampled_from([1e4, 1e-3]))
maps = st.sampled_from([2, 4, 8]).flatmap(
    lambda side: st.tuples(*[arrays(np.float64, (side, side), elements=weights) for _ in "ab"])
)


def level_sums(values: Floats, first: int = 0) -> dict[int, float]:
    """|P_i z| by level, from the finest to the first one."""
    side, found = len(values), {}
    for level in range(side.bit_length() - 1, first - 1, -1):
        step = side >> level
        found[level] = float(np.abs(values.reshape(2**level, step, 2**level, step).sum(axis=(1, 3))).sum())
    return found


def pyramid(values: Floats, first: int = 0) -> float:
    """X: the sums of all levels from the first, times the sides of their cells."""
    return sum(2.0**-level * total for level, total in level_sums(values, first).items())


# From levels to distances


@settings(deadline=None)
@given(signed_maps)
def test_the_emd_norm_is_at_most_that_of_the_levels(z: Floats) -> None:
    """As `dense` uses it: |W| stays where it is. The paper's lemma, |z| <= |P z|, lacks 2^-L |W|."""
    last, total, size = len(z).bit_length() - 1, abs(float(z.sum())), float(np.abs(z).sum())
    sums = level_sums(z)
    bound = 2 * total + sum(2.0**-i * (sums[i] - total) for i in range(1, last + 1))
    assert emd_norm(z) <= bound + 1e-9 * size
    assert bound == pytest.approx(pyramid(z) + 2.0**-last * total, abs=1e-9 * (size + 1))


def test_the_papers_lemma_fails_by_the_finest_side_on_a_single_point() -> None:
    point = np.zeros((4, 4))
    point[1, 2] = 1
    assert emd_norm(point) == 2 > pyramid(point) == 2 - 1 / 4


@settings(deadline=None)
@given(maps, st.integers(0, 3))
def test_normalised_maps_are_as_near_as_the_expansion_says(pair: tuple[Floats, Floats], first: int) -> None:
    a, b = pair
    last = len(a).bit_length() - 1
    first = min(first, last)
    if min(a.sum(), b.sum()) <= 0:
        return
    factor = bounds.expansion(Domain.unit(last), first)
    assert emd(a, b) <= factor * pyramid(a - b, first) / a.sum() + 1e-9
    assert factor == pytest.approx(2 * (1 - 2.0**-last) / (2.0 ** (1 - first) - 2.0**-last)) or first == 0


def test_on_a_part_of_the_root_square_distances_are_in_sides_of_the_part() -> None:
    rng = np.random.default_rng(3)
    domain = Domain.image(8, 3)
    for _ in range(30):
        a, b = rng.random((2, 3, 8)) ** 8
        padded = np.zeros((8, 8))
        padded[:3] = a - b
        for first in range(4):
            assert emd(a, b) <= bounds.expansion(domain, first) * pyramid(padded, first) / a.sum() + 1e-9


@settings(deadline=None)
@given(maps)
def test_normalising_at_most_doubles_the_norm(pair: tuple[Floats, Floats]) -> None:
    """The paper's Lemma 2.1, |(|s| - |s^|)| <= zeta, with the constant 2 and for any zeta."""
    a, b = pair
    if min(a.sum(), b.sum()) > 0:
        zeta = emd_norm(a - b)
        assert 2 * abs(a.sum() - b.sum()) <= zeta * (1 + 1e-9) + 1e-9
        assert emd(a, b) <= 2 * zeta / a.sum() + 1e-9


# The paper's recovery, path by path


def few_places(rng: np.random.Generator, domain: Domain, places: int, people: int) -> tuple[dph.Counts, Floats]:
    side = 2**domain.depth
    x, y = rng.integers(0, side, (2, places))
    weight = rng.multinomial(people, rng.dirichlet(np.ones(places)))
    values = np.zeros((side, side))
    np.add.at(values, (y, x), weight)
    return dph.Counts.from_cells(domain, x, y, weight * UNITS), values


@pytest.mark.parametrize("seed", range(25))
def test_each_step_of_the_recovery_holds_for_the_noise_that_was_drawn(seed: int) -> None:
    rng, domain, width = np.random.default_rng(seed), Domain.unit(5), 7
    counts, values = few_places(rng, domain, width, 100)
    epsilon = [Fraction(1, 4), Fraction(2), Fraction(20)][seed % 3]
    release = seeded_release(counts, seed=seed, epsilon=epsilon, design="paper", width=width)
    assert isinstance(release.design, PaperDesign)
    first, last = release.measured_levels
    weighted, missed = 0.0, 0.0
    for level in range(first, last + 1):
        codes, noisy = release.measurements.at(level)
        true = counts.at(level, codes)
        kept = np.arange(len(codes)) if level == first else largest(codes, noisy, width)
        noise = np.sort(np.abs(noisy - true))[::-1] / UNITS
        passed = min(len(kept), len(codes) - len(kept))
        weighted += 2.0**-level * sum(float(noise[:k].sum()) for k in (len(kept) + passed, 2 * passed, passed))
        found = float(np.abs(noisy - true)[kept].sum()) / UNITS
        elsewhere = float(values.sum()) - float(true[kept].sum()) / UNITS
        missed += 2.0**-level * (found + elsewhere)
    estimate = release.distribution(method="paper")
    people = estimate.raster(32, 32) * estimate.total
    assert missed <= weighted * (1 + 1e-9), "recovery: B <= the weighted sum of the noise"
    assert pyramid(values - people, first) <= 2 * missed * (1 + 1e-9), "optimality: X <= 2 B"
    if not estimate.empty:
        factor = bounds.expansion(domain, first) / values.sum()
        assert emd(values, people) <= factor * pyramid(values - people, first) * (1 + 1e-9)


def test_the_largest_of_exponentials_add_up_as_harmonic_numbers_say() -> None:
    drawn = np.sort(np.random.default_rng(1).exponential(size=(40_000, 12)))[:, ::-1]
    for k in (0, 1, 5, 12):
        mean, error = drawn[:, :k].sum(axis=1).mean(), drawn[:, :k].sum(axis=1).std() / 200
        assert abs(bounds._sum_of_largest(12, k) - mean) <= 5.5 * error  # 4e-8 each


def test_sums_of_laplaces_have_the_mean_that_is_said() -> None:
    from scipy import integrate, stats

    for k in (1, 2, 5, 16):
        inner = stats.gamma(k)
        exact, _ = integrate.quad(lambda x, inner=inner: 4 * inner.cdf(x) * inner.sf(x) / 2, 0, np.inf)
        assert bounds._mean_of_sum(k) == pytest.approx(exact, rel=1e-7)
    assert bounds._mean_of_sum(4**14) == pytest.approx(2 * 2**14 / math.sqrt(math.pi), rel=1e-6)


# The bounds as a whole

square = Domain.unit(8)
settings_of_bounds = st.tuples(st.sampled_from(["0.01", "0.5", "1", "20"]), st.integers(1, 10**9))


@given(settings_of_bounds, st.sampled_from([square, Domain.image(320, 240), Domain.unit(0), Domain.unit(2)]))
def test_nothing_guarantees_less_than_what_is_impossible(given_: tuple[str, int], domain: Domain) -> None:
    epsilon, users = given_
    below = bounds.lower(domain, epsilon, users)
    assert 0 <= bounds.lower(domain, epsilon, users, places=20) <= below <= 1
    for bound in (bounds.sparse(domain, epsilon, users), bounds.dense(domain, epsilon, users)):
        assert bound.value == pytest.approx(sum(term.error for term in bound.terms))
    assert bounds.dense(domain, epsilon, users).value >= below
    assert bounds.sparse(domain, epsilon, users).value >= bounds.lower(domain, epsilon, users, places=20)


def test_the_sparse_bound_is_one_over_epsilon_n_and_grows_with_the_width_or_its_root() -> None:
    one = bounds.sparse(square, 1, 1000).value
    assert bounds.sparse(square, 10, 1000).value == pytest.approx(one / 10, rel=1e-6)
    assert bounds.sparse(square, 1, 10**5).value == pytest.approx(one / 100)
    deep = Domain.unit(16)
    for width in (16, 64, 256):
        for every, expected in ((True, 2), (False, 4)):
            wide, narrow = (bounds.sparse(deep, 1, 1, width=w, every_level=every).value for w in (4 * width, width))
            assert wide / narrow == pytest.approx(expected, rel=0.1)
    assert bounds.sparse(square, 1, 1, every_level=True).value < bounds.sparse(square, 1, 1).value


def test_the_dense_bound_falls_like_the_root_of_epsilon_n_times_a_logarithm() -> None:
    deep = Domain.unit(14)
    values = [bounds.dense(deep, 1, 4**k).value * 2**k / (k + 1) for k in range(2, 9)]
    assert max(values) / min(values) < 1.6
    assert bounds.dense(deep, 2, 4**6).value == pytest.approx(bounds.dense(deep, 1, 2 * 4**6).value)


def test_the_lower_bound_has_the_shape_of_the_papers() -> None:
    deep = Domain.unit(16)
    for places in (65, 1025, 4**8 + 1):
        below = bounds.lower(deep, 1, 10**9, places=places)
        assert below * 10**9 / math.sqrt(places) == pytest.approx(0.033, rel=0.1)
        assert bounds.lower(deep, 1, 10**9, places=places - 1) == pytest.approx(below / 2, rel=0.1)
    assert bounds.lower(deep, 1, 10**9, places=1) == 0
    assert bounds.lower(deep, 1, 10**4) * 10**2 == pytest.approx(bounds.lower(deep, 1, 10**6) * 10**3, rel=0.2)
    assert bounds.lower(Domain.image(16, 4), 1, 100) == bounds.lower(Domain.unit(2), 1, 100) / 4


@pytest.mark.parametrize(("t", "distance"), [(4, 2), (4, 3)])
def test_the_packing_is_there(t: int, distance: int) -> None:
    """Greedily found among all maps of the blocks: as many as the bound says, as far apart as it says."""
    blocks = t * t // 4
    words = list(itertools.product(range(4), repeat=blocks))
    code: list[tuple[int, ...]] = []
    for word in words:
        if all(sum(a != b for a, b in zip(word, other, strict=True)) >= distance for other in code):
            code.append(word)
    x = (distance - 1) / blocks
    entropy = -x * math.log(x) - (1 - x) * math.log(1 - x)
    assert math.log(len(code)) >= blocks * (math.log(4) - entropy - x * math.log(3))

    def drawn(word: tuple[int, ...]) -> Floats:
        values = np.zeros((t, t))
        for block, point in enumerate(word):
            i, j = divmod(block, t // 2)
            values[2 * i + point // 2, 2 * j + point % 2] = 1 / blocks
        return values

    some = [drawn(word) for word in code[:8]]
    for a, b in itertools.combinations(some, 2):
        assert emd(a, b) >= distance / blocks / t - 1e-12


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_the_best_algorithm_that_there_is_does_not_beat_the_lower_bound(epsilon: float) -> None:
    """Two people on 2 x 2 points, outputs in sixths: what is the least worst error under epsilon-DP? A program."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    def maps_of(total: int) -> list[tuple[int, ...]]:
        return [counts for counts in itertools.product(range(total + 1), repeat=4) if sum(counts) == total]

    people = 2
    inputs = [counts for total in range(people + 1) for counts in maps_of(total)]
    outputs = maps_of(6)
    number, worst = {counts: k * len(outputs) for k, counts in enumerate(inputs)}, len(inputs) * len(outputs)
    rows: list[tuple[int, int, float]] = []  # of A x <= 0: row, column, value
    row = 0
    for counts in inputs:
        for point in range(4):
            more = (*counts[:point], counts[point] + 1, *counts[point + 1 :])
            if more not in number:
                continue
            for k in range(len(outputs)):
                for one, other in ((counts, more), (more, counts)):
                    rows += [(row, number[one] + k, 1.0), (row, number[other] + k, -math.exp(epsilon))]
                    row += 1
    for counts in maps_of(people):
        true = np.array(counts, np.float64).reshape(2, 2)
        rows += [
            (row, number[counts] + k, emd(true, np.array(output, np.float64).reshape(2, 2)))
            for k, output in enumerate(outputs)
        ]
        rows.append((row, worst, -1.0))
        row += 1
    at, column, value = zip(*rows, strict=True)
    limits = coo_array((value, (at, column)), (row, worst + 1)).tocsr()
    whole = coo_array((np.ones(worst), (np.arange(worst) // len(outputs), np.arange(worst))), (len(inputs), worst + 1))
    found = linprog(
        np.eye(1, worst + 1, worst)[0], limits, np.zeros(row), whole.tocsr(), np.ones(len(inputs)), method="highs"
    )
    assert found.status == 0
    below = bounds.lower(Domain.unit(1), epsilon, people)
    assert 0 < below <= found.fun <= bounds.dense(Domain.unit(1), epsilon, people).value
    assert found.fun <= 12 * below, "nor is it far below"


@pytest.mark.parametrize(
    "domain", [Domain.unit(4), Domain.image(13, 5), Domain.image(3, 40), Domain.bbox(-0.3, 46.9, 0.5, 47.3, depth=13)]
)
def test_the_dense_guarantee_holds_for_the_noise_that_was_drawn(domain: Domain) -> None:
    """With the norm of that noise in place of its expectation, for every level at which it may move across."""
    from dpheatmap.design.dense import DenseDesign

    rng = np.random.default_rng(7)
    finest = domain.cells(domain.depth)
    top = domain.first_level(1)
    side = max(finest.columns, finest.rows) / 2.0**domain.depth
    for trial in range(12):
        values = rng.multinomial(40, rng.dirichlet(np.full(finest.count, 0.05))).reshape(finest.rows, finest.columns)
        rows, columns = np.nonzero(values)
        weight = values[rows, columns] * UNITS
        counts = dph.Counts.from_cells(domain, columns + finest.x0, rows + finest.y0, weight)
        epsilon = Fraction(1, 2) if trial % 2 else Fraction(4)
        release = seeded_release(counts, seed=trial, epsilon=epsilon, design="dense", users=40)
        assert isinstance(release.design, DenseDesign)
        level = release.measured_levels[1]
        codes, noisy = release.measurements.at(level)
        noise = (noisy - counts.at(level, codes)) / UNITS
        grid, total = domain.cells(level), abs(float(noise.sum()))
        cell = {i: np.unique(codes >> 2 * (level - i), return_inverse=True)[1] for i in range(top, level + 1)}
        above = {i: float(np.abs(np.bincount(inside, noise)).sum()) for i, inside in cell.items()}
        estimate = release.distribution(method="dense").raster(finest.columns, finest.rows)
        for stop in range(top, level + 1):
            cells = domain.cells(stop)
            norm = 2 * max(grid.columns, grid.rows) * 2.0**-level * total
            norm += (cells.columns + cells.rows - 2) * 2.0**-stop / 2 * (above[stop] - total)
            norm += sum(2.0**-i * (above[i] - total) for i in range(stop + 1, level + 1))
            assert emd(values, estimate) <= (2.0**-level + 4 * norm / 40) / side + 1e-9


def test_a_box_across_the_edge_of_a_tile_has_nearly_the_bounds_of_a_square() -> None:
    """The world's tiles are cut at longitude 0: what is on both sides need not meet in the tile that holds both."""
    away, across = (Domain.bbox(west, 40.98, west + 2.8, 43.0, depth=13) for west in (8.5, -1.4))
    assert across.first_level(1) < away.first_level(1) - 3
    for users in (300, 10**4):
        assert bounds.dense(across, 1, users).value == pytest.approx(bounds.dense(away, 1, users).value, rel=0.5)


def test_errors_lie_between_the_bounds() -> None:
    """On few places and many: below what is guaranteed for the design, above what nobody can be below on its worst."""
    rng, domain, epsilon = np.random.default_rng(5), Domain.unit(6), 1
    counts, values = few_places(rng, domain, 20, 20_000)
    found: dict[str, list[float]] = {"paper": [], "dense": []}
    for seed in range(3):
        for design, errors in found.items():
            release = seeded_release(counts, seed=seed, epsilon=epsilon, design=design)
            errors.append(emd(values, release.distribution(method=design).raster(64, 64)))
    assert np.mean(found["paper"]) <= bounds.sparse(domain, epsilon, 20_000).value <= 0.2
    assert np.mean(found["dense"]) <= bounds.dense(domain, epsilon, 20_000).value
    assert min(np.mean(errors) for errors in found.values()) >= bounds.lower(domain, epsilon, 20_000, places=20)


# What a distance implies for heatmaps


def infinite_heatmaps(side: int, sigma: float) -> Callable[[Floats], Floats]:
    """The filter of appendix B: no edge cuts the bells off, up to 1e-16 of them."""
    margin = math.ceil(8.5 * sigma * side)
    at = np.arange(-margin, side + margin)
    bell = np.exp(-0.5 * ((at[:, None] - np.arange(side)) / (sigma * side)) ** 2)
    whole = np.exp(-0.5 * (np.arange(-10 * margin, 10 * margin + 1) / (sigma * side)) ** 2).sum()
    bell /= whole
    return lambda values: bell @ values @ bell.T


@settings(deadline=None, max_examples=60)
@given(maps, st.sampled_from([0.06, 0.15, 0.5]))
def test_the_lemmas_of_appendix_b(pair: tuple[Floats, Floats], sigma: float) -> None:
    if min(pair[0].sum(), pair[1].sum()) <= 0:
        return
    a, b = (values / values.sum() for values in pair)
    heat = infinite_heatmaps(len(a), sigma)
    distance = emd(a, b)
    implied = bounds.from_emd(min(distance, 2.0), sigma)
    h, other = (values / values.sum() for values in (heat(a), heat(b)))
    slack = 1e-9
    there = (h > 0) & (other > 0)
    divergence = float((h[there] * np.log(h[there] / other[there])).sum())
    assert divergence <= implied.kl + slack
    assert kl(h, other) <= implied.kl + slack
    variation = float(np.abs(h - other).sum()) / 2
    assert variation <= implied.total_variation + slack <= math.sqrt(distance) / (2 * sigma) + 2 * slack
    assert similarity(h, other) >= implied.similarity - slack
    assert emd(h, other) * h.shape[0] / len(a) <= distance + 1e-7


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bounds.from_emd(-0.1, 0.1), "emd must be"),
        (lambda: bounds.from_emd(0.1, 0), "sigma must be"),
        (lambda: bounds.sparse(square, 0, 10), "epsilon must be"),
        (lambda: bounds.sparse(square, 1, 10, width=0), "width must be"),
        (lambda: bounds.dense(square, 1, 0), "users must be"),
        (lambda: bounds.lower(square, 1, 10, places=0), "places must be"),
    ],
)
def test_bad_values_are_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        call()


def test_a_bound_needs_a_domain() -> None:
    with pytest.raises(DomainError, match="A bound is for a domain"):
        bounds.lower((0, 0, 1, 1), 1, 10)  # type: ignore[arg-type]


def test_the_bounds_on_the_page_of_places_are_these() -> None:
    page = (ROOT / "docs/guides/places.md").read_text()
    rows = re.findall(r"^\| ([\d,]{5,}) \| ([\d.]+) \| ([\d. ]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert len(rows) == 2
    for people, value, terms, of_dense in rows:
        users = int(people.replace(",", ""))
        sparse, dense = bounds.sparse(Domain.unit(8), 1, users), bounds.dense(Domain.unit(8), 1, users)
        assert [f"{sparse.value:.2g}", f"{dense.value:.3f}"] == [str(float(value)), f"{float(of_dense):.3f}"]
        assert [f"{term.error:.3f}"[1:] for term in sparse.terms] == terms.split()
