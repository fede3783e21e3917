"""Number of people: the paper's second experiment, one city cell, 50 to 500 people, at epsilon 10 and 1."""

from __future__ import annotations

from fractions import Fraction

from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.scores import METRICS
from dpheatmap.experiments.claims import better_methods, improves, listing, mean, trend
from dpheatmap.experiments.epsilon import THRESHOLDED
from dpheatmap.experiments.populations import Dataset, Place
from dpheatmap.experiments.study import SIGMA, WITH_RIVALS, Data, Finding, Job, Study

PEOPLE = (50, 100, 200, 300, 400, 500)
EPSILONS = ("10", "1")
TRIALS = 10


def jobs(data: Data) -> tuple[list[Job], Dataset]:
    """The jobs: one cell x 10 trials x 6 numbers of people x 2 epsilons."""
    cities = data.cities()
    place = one_cell(cities)
    return [
        Job(f"epsilon {epsilon}", people, place, trial, people, Fraction(epsilon), WITH_RIVALS, SIGMA)
        for epsilon in EPSILONS
        for trial in range(TRIALS)
        for people in PEOPLE
    ], cities


def one_cell(cities: Dataset) -> Place:
    """The cell with the most people: the paper takes one with more than 500, and does not say which."""
    return max(cities.places, key=lambda place: place.people)


def findings(panels: dict[str, Series]) -> list[Finding]:
    """The paper's claims about the number of people."""
    found = []
    for panel, series in panels.items():
        better = [name for name in ("paper", "baseline") if improves(series, name)]
        found.append(
            Finding(
                f"{panel}: the paper's algorithm and the baseline get better with more people",
                len(better) == 2,
                f"paper's algorithm {trend(series, 'paper')}, baseline {trend(series, 'baseline')}",
            )
        )
    high, low = panels["epsilon 10"], panels["epsilon 1"]
    worse = [name for name in THRESHOLDED if _turns(high, name)]
    found.append(
        Finding(
            "epsilon 10: variants that keep the top t % can get worse with more people",
            bool(worse),
            f"EMD rises again for {listing(worse)}; "
            + "; ".join(f"{name}: {trend(high, name)}" for name in THRESHOLDED),
        )
    )
    cases = [
        "baseline" in better_methods(low, name, at, metric, ("baseline",))
        for name in THRESHOLDED
        for at in low[name]
        for metric in METRICS
    ]
    found.append(
        Finding(
            "epsilon 1: in most cases the variants are worse than the baseline",
            sum(cases) > len(cases) / 2,
            f"worse in {sum(cases)} of {len(cases)} cases",
        )
    )
    return found


def _turns(series: Series, method: str) -> bool:
    """Whether EMD at the end is more than 2 % above its least value along the axis."""
    values = [mean(series, method, at) for at in sorted(series[method])]
    return values[-1] > 1.02 * min(values)


STUDY = Study(
    name="users",
    title="More people: one city cell, 256 x 256 cells",
    axis="number of people",
    jobs=jobs,
    findings=findings,
)
