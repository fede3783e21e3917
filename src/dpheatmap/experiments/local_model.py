"""The local model, in which nobody is trusted, against a curator, over the number of people. The paper leaves it open.

A city cell has some hundred people, so a crowd is drawn from them with replacement: many people with the habits of few.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpheatmap.collect import LocalTerms, simulate_locally
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.scores import Scores, score
from dpheatmap.evaluate.trial import Trial, run_trial, seed_of
from dpheatmap.experiments.claims import mean
from dpheatmap.experiments.populations import Dataset
from dpheatmap.experiments.study import SIGMA, Data, Finding, Job, Study
from dpheatmap.heatmap.smoothing import smooth

EPSILONS = ("0.5", "1", "2", "4")
PEOPLE = (1000, 10_000, 100_000, 1_000_000)
CITIES, TRIALS = 5, 2
SIZE = 64
OF_CURATOR = ("ladder", "paper")
MOST_WITH_A_CURATOR = 100_000
"""The most people for whom a curator's map is made: with more, it is as good as the true one and only takes time."""
OUTLINE, GOOD = 0.12, 0.03
"""EMD, in sides: above the first a map shows little more than the outline, below the second it is good (`plan`)."""


@dataclass(frozen=True, eq=False)
class LocalJob(Job):
    """A crowd in the local model, and the same crowd with a curator."""

    def run(self, seed: int) -> dict[str, Scores]:
        """Run one local collection with both reconstructions, and the curator's."""
        rng = self.people_of(seed_of(seed, self.people))
        place, drawn = self.place, rng.integers(0, self.place.people, self.people)
        counts = place.counts_of(place.times(drawn))
        true = smooth(true_distribution(counts), self.sigma, self.size)
        terms = LocalTerms.of(place.domain, epsilon=self.epsilon, n_max=self.people)
        release = simulate_locally(terms, place.one_cell_each(drawn, rng), rng)
        estimates = {"local": release.distribution(), "local-paper": release.distribution(method="paper")}
        found = {name: score(true, smooth(one, self.sigma, self.size)) for name, one in estimates.items()}
        noise = seed_of(seed, self.key)
        return found | run_trial(Trial(counts, self.epsilon, self.methods[2:], self.sigma, self.size, noise))


def jobs(data: Data) -> tuple[list[Job], Dataset]:
    """The jobs: 5 cities x 2 trials x 4 numbers of people x 4 epsilons."""
    cities = data.cities()
    places = sorted(cities.places, key=lambda place: -place.people)[:CITIES]
    return [
        LocalJob(f"epsilon {epsilon}", people, place, trial, people, Fraction(epsilon), _methods(people), SIGMA, SIZE)
        for epsilon in EPSILONS
        for people in PEOPLE
        for place in places
        for trial in range(TRIALS)
    ], cities


def _methods(people: int) -> tuple[str, ...]:
    return ("local", "local-paper", *(OF_CURATOR if people <= MOST_WITH_A_CURATOR else ()))


def findings(panels: dict[str, Series]) -> list[Finding]:
    """The number of people from which on the local model is of use."""
    found = []
    for panel, series in panels.items():
        emds = {people: mean(series, "local", people) for people in sorted(series["local"])}
        useful = [people for people, emd in emds.items() if emd <= OUTLINE]
        good = [people for people, emd in emds.items() if emd <= GOOD]
        told = ", ".join(f"{emd:.4f} with {people:,.0f} people" for people, emd in emds.items())
        curator = ", ".join(f"{mean(series, 'ladder', people):.4f}" for people in sorted(series["ladder"]))
        found.append(
            Finding(
                f"{panel}: the local model shows the main centres from {_number(useful)} on, and is good from "
                f"{_number(good)} on",
                bool(useful),
                f"EMD {told}; a curator's {curator}",
                ours=True,
            )
        )
    return found


def _number(enough: list[float]) -> str:
    return f"{enough[0]:,.0f} people" if enough else f"more than {PEOPLE[-1]:,} people"


STUDY = Study(
    name="local",
    title="The local model against a curator: city cells",
    axis="number of people",
    jobs=jobs,
    findings=findings,
    logarithmic=True,
)
