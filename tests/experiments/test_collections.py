"""Experiments without a curator: the simulations have the law they stand for, and the findings would tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.budget import UNITS
from dpheatmap.collect.simulate import simulated, simulated_together
from dpheatmap.collect.terms import Terms
from dpheatmap.evaluate.scores import METRICS, Mean
from dpheatmap.evaluate.table import Series
from dpheatmap.experiments import local, shuffle
from dpheatmap.experiments.figures import Sources
from dpheatmap.experiments.places import Dataset, Place
from dpheatmap.experiments.study import Job
from dpheatmap.quadtree import encode
from dpheatmap.release import Release
from dpheatmap.testing import SeededSource

INVENTED = Sources(invented=True)
FIVE = [([0.1], [0.1]), ([0.1, 0.9], [0.1, 0.9]), ([], []), ([0.6], [0.2]), ([0.6], [0.2])]


@pytest.mark.parametrize("how", [simulated, simulated_together])
def test_noise_drawn_together_has_the_law_of_the_parts(how: Callable[..., Release]) -> None:
    """16 + 64 cells, 60 collections: the mean square is that of a discrete Laplace, within 6 standard errors."""
    terms = Terms.of("shuffle", dph.Domain.unit(3), epsilon=2, delta=1e-3, n_min=5, n_max=5, units=64)
    truth = None
    squares: dict[int, list[float]] = {2: [], 3: []}
    for seed in range(60):
        m = how(terms, FIVE, SeededSource(seed)).measurements
        truth = np.zeros(len(m)) if truth is None else truth
        for level in squares:
            far = (m.levels == level) & (m.codes >> 2 * (level - 2) > 12) & (m.codes >> 2 * (level - 2) < 15)
            squares[level] += (m.counts[far].astype(float) ** 2).tolist()
    for level, found in squares.items():
        q = math.exp(-float(terms.rates[level]))
        expected = 2 * q / (1 - q) ** 2
        assert abs(np.mean(found) / expected - 1) < 6 * math.sqrt(5 / len(found)), level


def test_only_as_many_people_as_needed_have_a_whole_laplace() -> None:
    terms = Terms.of("shuffle", dph.Domain.unit(3), epsilon=2, delta=1e-3, n_min=4, n_max=5, units=64)
    with pytest.raises(ValueError, match="only n_min people"):
        simulated_together(terms, FIVE, SeededSource(1))


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


def line(errors: Mapping[int, float] | Mapping[float, float]) -> dict[float, dict[str, Mean]]:
    return {at: {m.name: Mean(error, 0.01, 9) for m in METRICS} for at, error in errors.items()}


def shuffled(at_256: float, elsewhere: float, central: float) -> dict[str, Series]:
    errors = {units: at_256 if units == 256 else elsewhere for units in shuffle.SCALINGS}
    series = {name: line(errors) for name in shuffle.CENTRAL}
    return {"": series | {name: line({math.inf: central}) for name in shuffle.CENTRAL.values()}}


def test_findings_about_the_shuffle_model_would_tell() -> None:
    def held(*errors: float) -> list[bool]:
        return [finding.held for finding in shuffle.findings(shuffled(*errors))]

    assert held(0.1, 0.1, 0.1) == [True, True, True]
    assert held(0.12, 0.1, 0.12) == [False, True, True]
    assert held(0.12, 0.12, 0.1) == [True, True, False]


def test_communication_is_that_of_the_specification() -> None:
    ours, papers = shuffle.megabytes(256)
    assert ours == pytest.approx(6.96, abs=0.01)
    assert papers == pytest.approx(7.14, abs=0.01)


def test_the_figure_shows_communication_utility_and_the_curator() -> None:
    ((name, figure),) = shuffle.figures(shuffled(0.1, 0.2, 0.1), Dataset((), "no data", stand_in=True))
    assert name == "shuffle.png"
    assert len(figure.axes) == 5
    assert "MB" in figure.axes[0].get_title()
    assert len(figure.legends[0].get_texts()) == 4


def test_the_local_model_is_said_to_be_of_use_where_it_is() -> None:
    panels: dict[str, Series] = {
        "epsilon 1": {
            "local": line({1000.0: 0.3, 10_000.0: 0.1, 100_000.0: 0.02}),
            "adaptive": line({1000.0: 0.02, 10_000.0: 0.01}),
        },
        "epsilon 0.5": {"local": line({1000.0: 0.3}), "adaptive": line({1000.0: 0.1})},
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
