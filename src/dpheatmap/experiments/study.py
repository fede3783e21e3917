"""Definition of an experiment: jobs over an axis, and findings about the paper's claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from dpheatmap.evaluate.score_table import Series, series_of
from dpheatmap.evaluate.scores import Scores
from dpheatmap.evaluate.trial import Trial, group_scores, run_trial, seed_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpheatmap.experiments.populations import Dataset, Place

PAPER_METHODS = ("paper", "baseline", "top-0.001", "top-0.01", "top-0.1", "top-1")
"""The methods in the paper's own figures."""

WITH_RIVALS = ("ladder", *PAPER_METHODS, "uniform-grid", "adaptive-grid", "privtree")
"""The paper's methods, ours, and the most used rivals."""

SIGMA = 0.02
"""The smoothing of the city maps, in sides. The paper does not give its own."""


@dataclass(frozen=True, eq=False)
class Job:
    """One trial of an experiment: people drawn from a place, all methods on them.

    ``panel`` names its figure, ``at`` its place on the axis. ``draw`` identifies the sample: jobs of the same place and
    draw have the same people, whatever else differs.
    """

    panel: str
    at: float
    place: Place
    draw: int
    people: int
    epsilon: Fraction
    methods: tuple[str, ...]
    sigma: float
    size: int | None = None

    @property
    def key(self) -> str:
        """The key of the job in the log of finished ones."""
        return f"{self.panel}/{self.at:g}/{self.place.name}/{self.draw}"

    def people_of(self, seed: int) -> np.random.Generator:
        """The generator that draws the people: the same for jobs of the same place and draw."""
        return np.random.default_rng(seed_of(seed, "people", self.place.name, self.draw))

    def run(self, seed: int) -> dict[str, Scores]:
        """Draw the people, run the methods, and judge them; the same result for the same seed."""
        counts = self.place.sample(self.people, self.people_of(seed))
        return run_trial(Trial(counts, self.epsilon, self.methods, self.sigma, self.size, seed_of(seed, self.key)))


def over_epsilon(
    places: Sequence[Place],
    epsilons: Sequence[str],
    *,
    people: int,
    trials: int,
    methods: tuple[str, ...],
    sigma: float,
) -> list[Job]:
    """The jobs of every place, ``trials`` times, with all epsilons on the axis."""
    return [
        Job("", float(epsilon), place, trial, people, Fraction(epsilon), methods, sigma)
        for place in places
        for trial in range(trials)
        for epsilon in epsilons
    ]


Results = dict[str, dict[str, Scores]]
"""Scores by job and method."""


def run_job(seed_and_job: tuple[int, Job]) -> dict[str, Scores]:
    """Run a job; a function of a module, so that other processes can call it."""
    seed, job = seed_and_job
    return job.run(seed)


class Finding(NamedTuple):
    """A claim of the paper or a question of ours, whether it held here, and the numbers."""

    claim: str
    held: bool
    evidence: str
    ours: bool = False


class Data(Protocol):
    """The source of the places of experiments: the official downloads, or stand-ins."""

    def cities(self) -> Dataset:
        """The 30 city cells."""

    def gaze(self) -> Dataset:
        """The 38 images."""

    def football(self) -> Dataset:
        """Positions of events on a football pitch, by kind."""


@dataclass(frozen=True)
class Study:
    """An experiment of the paper.

    Each panel of its jobs becomes a figure. ``findings`` judges claims by the means of the panels, ``judge`` by the
    single results. ``figures`` replaces the default figures of four metrics a panel.
    """

    name: str
    title: str
    axis: str
    jobs: Callable[[Data], tuple[list[Job], Dataset]]
    findings: Callable[[dict[str, Series]], list[Finding]] = lambda panels: []
    judge: Callable[[Sequence[Job], Results], list[Finding]] = lambda jobs, results: []
    logarithmic: bool = False
    figures: Callable[[Sequence[Job], Results, Dataset], list[tuple[str, Figure]]] | None = None


def panels_of(jobs: Sequence[Job], results: Results) -> dict[str, Series]:
    """The means of each panel, in the order of the jobs."""
    found: dict[str, list[tuple[float, dict[str, Scores]]]] = {}
    for job in jobs:
        found.setdefault(job.panel, []).append((job.at, results[job.key]))
    return {panel: series_of(group_scores(scores)) for panel, scores in found.items()}


def paragraph(findings: Sequence[Finding]) -> str:
    """Write the findings as one paragraph."""
    return " ".join(f"{'Held' if f.held else 'NOT HELD'}: {f.claim} ({f.evidence})." for f in findings)
