"""The shuffle model: the paper's appendix without a curator. Communication and quality of the map, against B.

B is the number of units to which one person's weight is rounded. A larger B rounds less and takes larger messages.
Without rounding, B = infinity, the noise is that of a curator with the paper's design.

**Paired.** All collections of one run have the same people and, in people, the same noise to within 1 / B
(`simulate_together`). So B = 256 and B = infinity differ by their rounding alone. A curator's measurements of the same
noisy tree are the part of it that the paper's design asks for (`curator_release_of`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpheatmap.collect import ShuffleTerms, paper_shares, simulate_together
from dpheatmap.curator import walk
from dpheatmap.design.design import Question
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.shares import UNITS
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.method_variants import TITLES
from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.scores import Mean, Scores, ratio_of, score
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.experiments.claims import mean
from dpheatmap.experiments.gaze import PEOPLE, SIGMA
from dpheatmap.experiments.populations import Dataset
from dpheatmap.experiments.salicon import MAP
from dpheatmap.experiments.study import Data, Finding, Job, Results, Study, panels_of
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.release import Release

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILON, DELTA = Fraction(5), Fraction(1, 10**5)
SCALINGS = (4, 16, 64, 256, 1024, 4096)
IMAGES, TRIALS = 20, 3
SIZE = 160
"""Pixels on the longer side of the maps that are judged; sigma is five of them."""
NAMES = {
    "shuffle": ("shuffle", "shuffle-paper"),
    "curator": ("paper-posterior", "paper"),
}
"""Names in tables of the reconstructions of each release: by the posterior, and by the paper's algorithm."""


def terms_of(units: int, domain: Domain = MAP) -> ShuffleTerms:
    """The terms of a collection with B = ``units``."""
    return ShuffleTerms.of(domain, epsilon=EPSILON, delta=DELTA, n_min=PEOPLE, n_max=PEOPLE, units=units)


def curator_release_of(release: Release) -> Release:
    """The release of a curator with the paper's design, from a noisy tree in which every cell is measured."""
    m, design = release.measurements, release.design
    assert isinstance(design, PaperDesign)
    rows: list[Ints] = []

    def answer(asked: Question) -> Ints:
        start, stop = np.searchsorted(m.levels, [asked.level, asked.level + 1])
        rows.append(start + np.searchsorted(m.codes[start:stop], asked.cells))
        return m.counts[rows[-1]]

    lazy = replace(design, at_once=False)
    walk(lazy, release.domain, release.loss, answer)
    seen = np.concatenate(rows)
    measured = Measurements(m.levels[seen], m.codes[seen], m.counts[seen], m.shares[seen])
    return Release(release.domain, release.loss, measured, lazy, units=release.units, seeded=True)


@dataclass(frozen=True, eq=False)
class ShuffleJob(Job):
    """People in a collection with B the place on the axis; at infinity, also with a curator."""

    def run(self, seed: int) -> dict[str, Scores]:
        """Run each collection with both reconstructions."""
        place = self.place
        drawn = self.people_of(seed).choice(place.people, self.people, replace=False)
        true = smooth(true_distribution(place.counts_of(place.times(drawn))), self.sigma, self.size)
        people = [place.points_of(person) for person in drawn]

        rng = np.random.default_rng(seed_of(seed, "noise", place.name, self.draw))  # the same for all B
        units = UNITS if math.isinf(self.at) else int(self.at)
        made = {"shuffle": simulate_together(terms_of(units, place.domain), people, rng)}
        if math.isinf(self.at):
            made["curator"] = curator_release_of(made["shuffle"])
        return {
            name: score(true, smooth(release.distribution(method=method), self.sigma, self.size))
            for who, release in made.items()
            for name, method in zip(NAMES[who], ("posterior", "paper"), strict=True)
        }


def jobs(data: Data) -> tuple[list[Job], Dataset]:
    """The jobs: 20 images x 3 trials x 6 values of B, and the same people and noise unrounded."""
    images = data.gaze()
    without_rounding = tuple(name for names in NAMES.values() for name in names)
    return [
        ShuffleJob("", at, place, trial, PEOPLE, EPSILON, methods, SIGMA, SIZE)
        for place in images.places[:IMAGES]
        for trial in range(TRIALS)
        for at, methods in (*((units, NAMES["shuffle"]) for units in SCALINGS), (math.inf, without_rounding))
    ], images


class Pairs:
    """Ratios of the EMDs of two methods with the same people and noise; an image's trials count as one, their mean."""

    def __init__(self, jobs: Sequence[Job], results: Results) -> None:
        emds: dict[tuple[str, float], dict[str, list[float]]] = {}
        for job in jobs:
            for name, marks in results[job.key].items():
                emds.setdefault((name, job.at), {}).setdefault(job.place.name, []).append(marks.emd)
        self._emds = {key: [math.fsum(runs) / len(runs) for runs in by.values()] for key, by in emds.items()}

    def ratio_to_curator(self, who: str, way: int, at: float = math.inf) -> Mean:
        """The ratio to a curator's release, reconstructed the same way: 0 is the posterior, 1 the paper's algorithm."""
        return ratio_of(self._emds[NAMES[who][way], at], self._emds[NAMES["curator"][way], math.inf])

    def rounding_ratio(self, way: int, at: float) -> Mean:
        """The ratio to B = infinity: the cost of rounding to B units."""
        name = NAMES["shuffle"][way]
        return ratio_of(self._emds[name, at], self._emds[name, math.inf])


def megabytes(units: int) -> tuple[float, float]:
    """The MB that one person sends: with the certified number of shares and our modulus, and by the paper's formula."""
    terms = terms_of(units)
    m, q = terms.tree.size, units * PEOPLE
    shares = paper_shares(PEOPLE, q, m, float(EPSILON), float(DELTA))
    return terms.payload_bytes / 1e6, shares * m * math.ceil(math.log2(m * q)) / 8e6


def findings(panels: dict[str, Series]) -> list[Finding]:
    """The paper's claims about B."""
    series = panels[""]
    emds = {name: {at: mean(series, name, at) for at in (*SCALINGS, math.inf)} for name in NAMES["shuffle"]}
    told = "; ".join(
        f"{TITLES[name]}: EMD {', '.join(f'{emd:.4f} at B = {at:g}' for at, emd in line.items())}, "
        f"{mean(series, of_curator, math.inf):.4f} with a curator"
        for (name, line), of_curator in zip(emds.items(), NAMES["curator"], strict=True)
    )
    ours, papers = megabytes(256)
    return [
        Finding(
            "utility is nearly maximal at B = 256",
            all(line[256] <= 1.1 * min(line.values()) for line in emds.values()),
            told,
        ),
        Finding(
            "B = 256 takes about 10 MB a person",
            7.0 <= papers <= 13.0,
            f"{papers:.2f} MB by the paper's formula, {ours:.2f} MB with the certified number of shares",
        ),
    ]


def judge(jobs: Sequence[Job], results: Results) -> list[Finding]:
    """Our requirement, by pairs; the whole interval must lie below it."""
    pairs = Pairs(jobs, results)
    near = [pairs.ratio_to_curator("shuffle", way, 256) for way in (0, 1)]
    return [
        Finding(
            "at B = 256 the EMD is within 10 % of a curator's with the same people and noise",
            all(ratio.mean + ratio.half_width <= 1.1 for ratio in near),
            f"{_both_ways(near)}; of this, rounding: {_both_ways([pairs.rounding_ratio(way, 256) for way in (0, 1)])}",
            ours=True,
        ),
    ]


def _both_ways(ratios: Sequence[Mean]) -> str:
    return ", ".join(
        f"{100 * (ratio.mean - 1):+.1f} ± {100 * ratio.half_width:.1f} % by the {way}"
        for way, ratio in zip(("posterior", "paper's algorithm"), ratios, strict=True)
    )


def figures(jobs: Sequence[Job], results: Results, dataset: Dataset) -> list[tuple[str, Figure]]:
    """The figures: communication and quality against B; and the cost of rounding."""
    from dpheatmap.experiments import shuffle_chart

    about = f"{PEOPLE} people, epsilon 5, delta 1e-5. Data: {dataset.title}."
    return [
        ("shuffle.png", shuffle_chart.metrics_figure(panels_of(jobs, results)[""], STUDY.title, about)),
        ("shuffle-paired.png", shuffle_chart.ratio_figure(Pairs(jobs, results), about)),
    ]


STUDY = Study(
    name="shuffle",
    title="The shuffle model on gaze: 50 people, 320 x 240 pixels",
    axis="B",
    jobs=jobs,
    findings=findings,
    judge=judge,
    logarithmic=True,
    figures=figures,
)
