"""Plans: arithmetic that can be checked by hand, and advice that follows it."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.collect.local import LocalTerms
from dpheatmap.collect.randomised_response import NOTHING
from dpheatmap.collect.simulate import simulate_locally
from dpheatmap.design.dense import DenseDesign
from dpheatmap.design.paper import PaperDesign, all_at_once
from dpheatmap.design.registry import DESIGNS, FORECASTS
from dpheatmap.design.shares import UNITS, part
from dpheatmap.place.quadtree import encode
from dpheatmap.planning.expected_error import USUAL_PLACES, error_by_places
from dpheatmap.releases.trust import TRUSTED
from dpheatmap.testing import seeded_release


def nobody(domain: dph.Domain) -> dph.Counts:
    none = np.zeros(0, dtype=np.int64)
    return dph.Counts.from_cells(domain, none, none, none)


def test_levels_of_the_papers_design_are_those_of_its_release() -> None:
    domain = dph.Domain.bbox(-74.1, 40.6, -73.8, 40.9)
    plan = dph.plan(domain, epsilon="1/3", users=1000, width=30, design="paper")
    design = dph.release(nobody(domain), epsilon="1/3", width=30, design="paper").design
    assert isinstance(design, PaperDesign)
    assert sum(level.epsilon for level in plan.levels) == Fraction(1, 3)
    assert [level.level for level in plan.levels] == sorted(design.shares)
    for level in plan.levels:
        assert level.epsilon == part(Fraction(1, 3), design.shares[level.level])
        assert level.noise == pytest.approx(math.sqrt(2) / float(level.epsilon))


@pytest.mark.parametrize("people", [50, 3000, 10**6])
def test_levels_of_the_adaptive_design_are_those_of_a_path_to_the_end(people: int) -> None:
    """All people in one cell, next to no noise: that cell's path takes what the plan says, after the total."""
    domain, epsilon = dph.Domain.unit(7), 100
    weight = np.array([people * UNITS])
    counts = dph.Counts.from_cells(domain, np.array([77]), np.array([20]), weight)
    m = seeded_release(counts, seed=1, epsilon=epsilon).measurements
    plan = dph.plan(domain, epsilon=epsilon, users=people)
    code = int(encode(np.array([77]), np.array([20]))[0])
    on_path = [
        (int(level), part(Fraction(epsilon), int(share)))
        for level, cell, share in zip(m.levels, m.codes, m.shares, strict=True)
        if cell == code >> 2 * (7 - level)
    ]
    total = Fraction(epsilon) - sum(level.epsilon for level in plan.levels)
    assert on_path == [(0, total), *((level.level, level.epsilon) for level in plan.levels)]


def test_a_busy_place_ends_where_the_release_ends_it() -> None:
    """Without noise the smallest feature is the size of the cell in which 5 % of the people are finished or closed."""
    domain, users = dph.Domain.unit(9), 4000
    people = np.array([users // 20, *np.full(19, users // 20)]) * UNITS
    places = np.array([5, *range(300, 490, 10)])
    counts = dph.Counts.from_cells(domain, places, places, people)
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(8)):
        plan = dph.plan(domain, epsilon=epsilon, users=users)
        deepest = []
        for seed in range(7):
            m = seeded_release(counts, seed=seed, epsilon=epsilon).measurements
            code = int(encode(places[:1], places[:1])[0])
            deepest.append(max(int(k) for k, c in zip(m.levels, m.codes, strict=True) if c == code >> 2 * (9 - k)))
        assert plan.smallest_feature is not None
        assert abs(-math.log2(plan.smallest_feature) - np.median(deepest)) <= 1


def test_cells_are_measured_on_the_ground() -> None:
    plan = dph.plan(dph.Domain.bbox(7, 60, 8, 61, depth=12), epsilon=1, users=100)
    finest = plan.levels[-1]
    assert finest.cell == pytest.approx(40_075_017 * math.cos(math.radians(60.5)) / 2**12, rel=1e-3)


@given(st.floats(0.01, 20), st.integers(1, 10**7))
def test_more_people_and_more_epsilon_never_show_less(epsilon: float, users: int) -> None:
    domain = dph.Domain.unit(8)
    here = dph.plan(domain, epsilon=epsilon, users=users)
    for better in (
        dph.plan(domain, epsilon=2 * epsilon, users=users),
        dph.plan(domain, epsilon=epsilon, users=2 * users),
    ):
        assert better.expected_emd <= here.expected_emd
        assert (better.smallest_feature or math.inf) <= (here.smallest_feature or math.inf)
    assert 0 < here.expected_emd <= 0.35


@pytest.mark.parametrize("south", [0, 40, 75])
def test_the_finest_level_is_said_to_be_reached_where_it_is(south: int) -> None:
    for depth in range(12, 18):
        plan = dph.plan(dph.Domain.bbox(7, south, 8, south + 0.5, depth=depth), epsilon=1, users=3000)
        reached = plan.smallest_feature is not None and plan.smallest_feature == plan.levels[-1].cell
        assert ("finest level is reached" in plan.advice) == reached


def test_noise_without_a_curator_is_that_of_the_releases() -> None:
    """A shuffler's people add one Laplace, two servers two; a local count has the deviations of simulated ones."""
    domain, users = dph.Domain.unit(6), 200_000
    plans = {who: dph.plan(domain, epsilon=2, users=users, trusted=who) for who in TRUSTED}
    for level in plans["shuffler"].levels:
        assert level.epsilon == part(Fraction(2), all_at_once(domain).shares[level.level])
        assert level.noise == pytest.approx(math.sqrt(2) / float(level.epsilon))
    assert plans["servers"].design == "adaptive"
    for level in plans["servers"].levels:
        assert level.noise == pytest.approx(2 / float(level.epsilon))
    nobody_there = np.full(users, NOTHING)
    m = simulate_locally(
        LocalTerms.of(domain, epsilon=2, n_max=users), nobody_there, np.random.default_rng(1)
    ).measurements
    assert m.deviations is not None
    for level in plans["nobody"].levels:
        assert level.epsilon == 2
        assert m.deviations[m.levels == level.level].mean() / UNITS == pytest.approx(level.noise, rel=0.02)
    errors = [plans[who].expected_emd for who in ("curator", "servers", "shuffler", "nobody")]
    assert errors == sorted(errors)
    assert plans["nobody"].to_dict()["trusted"] == "nobody"
    assert "who trust nobody" in plans["nobody"].advice


def test_a_plan_needs_a_domain() -> None:
    with pytest.raises(dph.errors.DomainError, match=r"Domain\.bbox"):
        dph.plan("New York", epsilon=1, users=100)  # type: ignore[arg-type]


def test_the_dense_plan_is_what_its_release_measures() -> None:
    domain = dph.Domain.image(640, 480)
    plan = dph.plan(domain, epsilon="1/2", users=4000, design="dense")
    release = seeded_release(nobody(domain), epsilon="1/2", design="dense", seed=1, users=4000)
    [level] = plan.levels
    assert level.level == release.measured_levels[1]
    assert level.epsilon == part(Fraction(1, 2), DenseDesign(0, 1).begin(domain).left)
    assert plan.smallest_feature == level.cell
    assert dph.plan(dph.Domain.unit(0), epsilon=1, users=9, design="dense").levels[0].epsilon == 1


def test_a_plan_names_the_better_design_and_its_reason() -> None:
    domain = dph.Domain.unit(8)
    for users in (50, 2000, 10**6):
        adaptive, dense = (dph.plan(domain, epsilon=1, users=users, design=design) for design in ("ladder", "dense"))
        assert adaptive.expected_emd < 1.1 * dense.expected_emd, "with very many people they are equal"
        assert (adaptive.better, adaptive.why) == (dense.better, dense.why)
        assert adaptive.better == "ladder"
        assert "16 to 4096 places" in adaptive.why
    small = dph.plan(dph.Domain.unit(2), epsilon=1, users=10)
    assert (small.better, small.why) == (
        "ladder",
        "The domain has so few cells that every design measures all of them.",
    )


def test_people_in_few_places_are_for_the_papers_design() -> None:
    """Of the paper's two designs; the adaptive one does not need to be told."""
    domain = dph.Domain.unit(8)
    told, untold = (dph.plan(domain, epsilon=1, users=5000, design="paper", places=places) for places in (10, None))
    assert (told.better, untold.better) == ("paper", "dense")
    assert "about 10 places" in told.why
    assert told.expected_emd < untold.expected_emd
    assert told.bounds.lower == dph.bounds.lower(domain, 1, 5000, places=10) < untold.bounds.lower
    assert dph.plan(domain, epsilon=1, users=1000, design="paper", places=200).better == "dense"
    assert dph.plan(domain, epsilon=1, users=1000, places=10).better == "ladder"


def test_between_the_papers_designs_simulated_errors_decide() -> None:
    """Little signal is best spent at once, much shows more than 20 cells a level; between is the paper's."""
    domain = dph.Domain.unit(8)
    for users, better in ((50, "dense"), (800, "paper"), (12_800, "dense")):
        for places in (None, 1, 3, 40, 500, 10**6):
            plan = dph.plan(domain, epsilon=1, users=users, design="paper", places=places)
            numbers = USUAL_PLACES if places is None else (places,)
            errors = {
                design: np.mean([error_by_places(users, k, design) for k in numbers]) for design in ("paper", "dense")
            }
            assert plan.better == min(errors, key=errors.__getitem__), "as many cells a signal as simulated"
            said = [f"{domain.length_in_words(float(error))} with {design}" for design, error in errors.items()]
            assert f"the error was {said[0]}, {said[1]}." in plan.why
            assert "if you know it" not in plan.why or places is None
        assert dph.plan(domain, epsilon=1, users=users, design="paper").better == better


def test_a_grid_of_many_cells_is_good_for_few_places_only() -> None:
    """At a signal of 512 the grid jumps from 256 cells to 1024; a deep tree has none of that."""

    def errors(users: int, places: int) -> list[float]:
        why = dph.plan(dph.Domain.unit(8), epsilon=1, users=users, design="paper", places=places).why
        return [float(number) for number in re.findall(r"0\.\d+", why)]

    for places, finer_is_better in ((2, True), (2000, False)):
        (paper, coarse), (later, fine) = errors(511, places), errors(512, places)
        assert paper == pytest.approx(later, rel=0.003), "nearly as many people"
        assert (fine < coarse) == finer_is_better


@pytest.mark.parametrize("design", DESIGNS)
def test_simulated_errors_lie_between_those_of_their_neighbours(design: str) -> None:
    """At a simulated signal and number of places the error is the table's; beyond the table, that of its edge."""
    assert error_by_places(200, 16, design) == pytest.approx(FORECASTS[design].errors_by_places[200][2])
    between = error_by_places(300, 100, design)
    around = [FORECASTS[design].errors_by_places[signal][k] for signal in (200, 800) for k in (3, 4)]
    assert min(around) < between < max(around)
    assert error_by_places(1, 10**9, design) == FORECASTS[design].errors_by_places[50][-1]


def test_a_plan_shows_the_bounds() -> None:
    domain = dph.Domain.unit(8)
    plan = dph.plan(domain, epsilon=1, users=5000, width=30)
    assert plan.bounds.sparse == dph.bounds.sparse(domain, 1, 5000, width=30).value
    assert plan.bounds.dense == dph.bounds.dense(domain, 1, 5000).value
    assert plan.bounds.lower == dph.bounds.lower(domain, 1, 5000)
    assert plan.to_dict()["bounds"] == vars(plan.bounds)


def test_advice_in_plain_words() -> None:
    domain = dph.Domain.unit(8)
    assert "little more than the outline" in dph.plan(domain, epsilon=0.1, users=200).advice
    assert "main centres" in dph.plan(domain, epsilon=1, users=300).advice
    assert "good map" in dph.plan(domain, epsilon=2, users=5000).advice


def test_a_plan_prints_as_a_table_and_sentences() -> None:
    made = dph.plan(dph.Domain.bbox(-74.1, 40.6, -73.8, 40.9), epsilon=1, users=5000)
    table, _, rest = str(made).partition("\n\n")
    heading, *rows = table.splitlines()
    assert heading.split()[:3] == ["level", "cell", "epsilon"]
    assert [int(row.split()[0]) for row in rows] == [level.level for level in made.levels]
    for words in (made.advice, made.why, made.bounds.in_words(made.domain), "people are misplaced by"):
        assert words in rest
    assert "Better" not in str(dph.plan(dph.Domain.unit(4), epsilon=1, users=5000, trusted="nobody"))


def test_a_notebook_shows_the_table_and_not_the_fields() -> None:
    foreseen = dph.plan(dph.Domain.unit(8), epsilon=1, users=5000)
    assert repr(foreseen) == str(foreseen)
    assert "Expected error:" in repr(foreseen)


@pytest.mark.parametrize("domain", [dph.Domain.bbox(-10, 35, 30, 60), dph.Domain.image(800, 560), dph.Domain.unit()])
@pytest.mark.parametrize(("epsilon", "users"), [("1/1000", 12), (1, 5000), (10, 10**7)])
def test_a_plan_has_one_unit_and_no_scientific_notation(domain: dph.Domain, epsilon: object, users: int) -> None:
    said = str(dph.plan(domain, epsilon=epsilon, users=users))
    assert not re.search(r"\de[+-]?\d", said)
    assert (" of the side" in said) == (domain.kind == "unit")
