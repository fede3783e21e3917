"""Experiments without a curator: the simulations have the law they stand for, and the findings would tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.collect.shuffle_terms import ShuffleTerms
from dpheatmap.collect.simulate import simulate, simulate_together
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.shares import UNITS
from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.scores import METRICS, Mean, Scores
from dpheatmap.experiments import local_model as local
from dpheatmap.experiments import shuffle
from dpheatmap.experiments.figures import Sources
from dpheatmap.experiments.populations import Dataset, Place
from dpheatmap.experiments.study import Job, Results, panels_of
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import encode
from dpheatmap.releases.release import Release
from dpheatmap.testing import SeededSource

INVENTED = Sources(invented=True)
FIVE = [([0.1], [0.1]), ([0.1, 0.9], [0.1, 0.9]), ([], []), ([0.6], [0.2]), ([0.6], [0.2])]


def together(terms: ShuffleTerms, seed: int) -> Release:
    return simulate_together(terms, FIVE, np.random.default_rng(seed))


HOW: dict[str, Callable[[ShuffleTerms, int], Release]] = {
    "in parts": lambda terms, seed: simulate(terms, FIVE, SeededSource(seed)),
    "together": together,
}


@pytest.mark.parametrize("how", HOW.values(), ids=HOW.keys())
def test_noise_drawn_together_has_the_law_of_the_parts(how: Callable[[ShuffleTerms, int], Release]) -> None:
    """16 + 64 cells, 60 collections: the mean square is that of discrete Laplaces, within 6 standard errors."""
    terms = ShuffleTerms.of(dph.Domain.unit(3), epsilon=2, delta=1e-3, n_min=5, n_max=5, units=64)
    squares: dict[int, list[float]] = {2: [], 3: []}
    for seed in range(60):
        m = how(terms, seed).measurements
        for level in squares:
            far = (m.levels == level) & (m.codes >> 2 * (level - 2) > 12) & (m.codes >> 2 * (level - 2) < 15)
            squares[level] += (m.counts[far].astype(float) ** 2).tolist()
    for level, found in squares.items():
        q = math.exp(-float(terms.rates[level]))
        expected = 2 * q / (1 - q) ** 2
        assert abs(np.mean(found) / expected - 1) < 6 * math.sqrt(5 / len(found)), level


def test_only_as_many_people_as_needed_have_a_whole_laplace() -> None:
    terms = ShuffleTerms.of(dph.Domain.unit(3), epsilon=2, delta=1e-3, n_min=4, n_max=5, units=64)
    with pytest.raises(ValueError, match="only n_min people"):
        together(terms, 1)


def counts_of(release: Release) -> Floats:
    return release.measurements.counts / release.units


def test_collections_of_one_run_share_their_noise() -> None:
    """Rounding of the people and of the noise moves a value by less than (5 + 1) / B people; other noise by far more.

    At epsilon 0.1 the noise of a cell is some 30 people, and that of other seeds is nowhere near in all 80 cells.
    """
    unit = dph.Domain.unit(3)
    options: dict[str, Any] = {"epsilon": "0.1", "n_min": 5, "n_max": 5}
    coarse, fine = (ShuffleTerms.of(unit, delta=1e-3, units=units, **options) for units in (64, 2**20))
    assert np.abs(counts_of(together(coarse, 1)) - counts_of(together(fine, 1))).max() < 6 / 64 + 6 / 2**20
    assert np.abs(counts_of(together(coarse, 1)) - counts_of(together(fine, 2))).max() > 1


def test_a_curator_asks_for_a_part_of_the_same_tree() -> None:
    """The paper's algorithm looks at no more than that, so it makes the same map of both."""
    terms = shuffle.terms_of(2**30, dph.Domain.unit(6))
    rng = np.random.default_rng(5)
    people = [tuple(rng.beta(2, 5, (2, 7))) for _ in range(50)]
    every = simulate_together(terms, people, rng)
    asked = shuffle.curator_release_of(every)
    design = asked.design
    assert isinstance(design, PaperDesign)
    assert not design.at_once
    assert asked.trust.who == "curator"
    sizes = [len(asked.measurements.at(level)[0]) for level in range(2, 7)]
    assert sizes == [16, 64, 80, 80, 80]
    maps = [release.heatmap(size=64, method="paper").values for release in (every, asked)]
    assert np.array_equal(maps[0], maps[1])


def test_a_crowd_is_the_same_to_the_curator_and_to_its_devices() -> None:
    """People with three, one and no events inside, drawn often: one event each, in the curator's proportions."""
    user, x, y = [0, 0, 0, 1, 2], [0.1, 0.1, 0.9, 0.4, 7.0], [0.1, 0.1, 0.9, 0.4, 7.0]
    place = Place.of_events("here", dph.Domain.unit(3), user, x, y)
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, 3, 60_000)
    cells = place.one_cell_each(drawn, rng)
    counts = place.counts_of(place.times(drawn))
    assert np.array_equal(cells == -1, drawn == 2)
    for column, row in ((0, 0), (7, 7), (3, 3)):
        code = encode(np.array([column]), np.array([row]))
        weight = counts.at(3, code)[0] / UNITS
        assert abs(np.sum(cells == code[0]) - weight) < 6 * math.sqrt(60_000 / 4) + 1
    assert np.all(place.one_cell_each(np.array([2, 2]), rng) == -1)


def test_jobs_run_and_repeat() -> None:
    jobs = [*shuffle.jobs(INVENTED)[0][:1], local.jobs(INVENTED)[0][0]]
    for job in jobs:
        found = job.run(3)
        assert set(found) == set(job.methods)
        assert found == job.run(3)
        assert found != job.run(4)


def test_the_same_people_send_to_a_shuffler_and_to_a_curator() -> None:
    jobs = shuffle.jobs(INVENTED)[0]
    assert len({job.key for job in jobs}) == len(jobs) == 20 * 3 * 7
    first = jobs[:7]
    assert [job.at for job in first] == [*shuffle.SCALINGS, math.inf]
    assert len({job.people_of(0).integers(10**9) for job in first}) == 1


def test_b_without_end_is_judged_with_a_curator() -> None:
    """The paper's reconstruction sees the same of all cells as of those that a curator asked for."""
    job = shuffle.jobs(INVENTED)[0][6]
    found = job.run(1)
    assert set(found) == set(job.methods) == {name for names in shuffle.NAMES.values() for name in names}
    assert found["shuffle-paper"] == found["paper"]


def line(errors: Mapping[float, float]) -> dict[float, dict[str, Mean]]:
    return {at: {m.name: Mean(error, 0.01, 9) for m in METRICS} for at, error in errors.items()}


def made_up(at_256: float, elsewhere: float, central: float) -> tuple[list[Job], Results]:
    """Results of three images: all errors are larger on some than on others, in proportion."""
    jobs = [job for job in shuffle.jobs(INVENTED)[0] if job.draw == 0][: 3 * 7]
    results = {}
    for number, job in enumerate(jobs):
        here = at_256 if job.at == 256 else elsewhere
        emds = {name: here if name.startswith("shuffle") else central for name in job.methods}
        results[job.key] = {name: Scores(0.5, 0.5, 0.1, emd * (1 + number // 7)) for name, emd in emds.items()}
    return jobs, results


def test_findings_about_the_shuffle_model_would_tell() -> None:
    def held(*errors: float) -> list[bool]:
        jobs, results = made_up(*errors)
        found = [*shuffle.findings(panels_of(jobs, results)), *shuffle.judge(jobs, results)]
        return [finding.held for finding in found]

    assert held(0.1, 0.1, 0.1) == [True, True, True]
    assert held(0.12, 0.1, 0.12) == [False, True, True]
    assert held(0.12, 0.12, 0.1) == [True, True, False]


def test_ratios_are_of_pairs() -> None:
    """Images differ by a factor of three; pairs of the same image by none, so the interval has no width."""
    pairs = shuffle.Pairs(*made_up(0.11, 0.1, 0.1))
    assert pairs.ratio_to_curator("shuffle", 0, 256) == pytest.approx((1.1, 0.0, 3), abs=1e-12)
    assert pairs.rounding_ratio(1, 256) == pytest.approx((1.1, 0.0, 3), abs=1e-12)


def test_communication_is_that_of_the_specification() -> None:
    ours, papers = shuffle.megabytes(256)
    assert ours == pytest.approx(6.96, abs=0.01)
    assert papers == pytest.approx(7.14, abs=0.01)


def test_the_figures_show_communication_utility_and_the_curator() -> None:
    figures = dict(shuffle.figures(*made_up(0.1, 0.2, 0.1), Dataset((), "no data", stand_in=True)))
    assert set(figures) == {"shuffle.png", "shuffle-paired.png"}
    against_b, paired = figures.values()
    assert len(against_b.axes) == 5
    assert "MB" in against_b.axes[0].get_title()
    assert len(against_b.legends[0].get_texts()) == 4
    assert [axes.get_title() for axes in paired.axes] == ["Shuffle model: EMD over a curator's"]


def test_the_local_model_is_said_to_be_of_use_where_it_is() -> None:
    panels: dict[str, Series] = {
        "epsilon 1": {
            "local": line({1000.0: 0.3, 10_000.0: 0.1, 100_000.0: 0.02}),
            "ladder": line({1000.0: 0.02, 10_000.0: 0.01}),
        },
        "epsilon 0.5": {"local": line({1000.0: 0.3}), "ladder": line({1000.0: 0.1})},
    }
    one, half = local.findings(panels)
    assert "main centres from 10,000 people on, and is good from 100,000 people on" in one.claim
    assert one.held
    assert "main centres from more than 1,000,000 people on" in half.claim
    assert not half.held


def test_every_local_job_has_all_its_people() -> None:
    jobs: list[Job] = local.jobs(INVENTED)[0]
    assert {job.people for job in jobs} == set(local.PEOPLE)
    assert {job.epsilon for job in jobs} == {Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4)}
