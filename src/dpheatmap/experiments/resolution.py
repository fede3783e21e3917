"""Resolution: the paper's third experiment, one city cell, side 64 to 512, at epsilon 10 and 1."""

from __future__ import annotations

from fractions import Fraction

from dpheatmap.evaluate.score_table import Series
from dpheatmap.experiments.claims import listing, mean, trend, worsens
from dpheatmap.experiments.populations import Dataset
from dpheatmap.experiments.study import SIGMA, WITH_RIVALS, Data, Finding, Job, Study
from dpheatmap.experiments.users import one_cell

DEPTHS = (6, 7, 8, 9)
EPSILONS = ("10", "1")
PEOPLE, TRIALS = 200, 10


def jobs(data: Data) -> tuple[list[Job], Dataset]:
    """The jobs: one cell x 10 trials x 4 sides x 2 epsilons."""
    cities = data.cities()
    place = one_cell(cities)
    return [
        Job(f"epsilon {epsilon}", 2**depth, place.at_depth(depth), trial, PEOPLE, Fraction(epsilon), WITH_RIVALS, SIGMA)
        for epsilon in EPSILONS
        for trial in range(TRIALS)
        for depth in DEPTHS
    ], cities


def findings(panels: dict[str, Series]) -> list[Finding]:
    """The paper's claims about the resolution."""
    found = []
    for panel, series in panels.items():
        values = [mean(series, "paper", at) for at in series["paper"]]
        spread = max(values) / min(values) - 1
        found.append(
            Finding(
                f"{panel}: the paper's algorithm stays nearly the same as cells get finer",
                spread < 0.25,
                f"{trend(series, 'paper')}, which differ by {spread:.0%} (up to 25% count as nearly the same); "
                f"{trend(series, 'paper', 'kl')}",
            )
        )
        found.append(
            Finding(
                f"{panel}: the baseline gets worse in all metrics as cells get finer",
                worsens(series, "baseline"),
                f"{trend(series, 'baseline')}; {trend(series, 'baseline', 'similarity')}",
            )
        )
    high = panels["epsilon 10"]
    below = [name for name in ("top-0.001", "top-0.01") if mean(high, name, 64) > mean(high, "baseline", 64)]
    found.append(
        Finding(
            "epsilon 10: on coarse cells the top 0.001 % and 0.01 % are worse than the baseline",
            len(below) == 2,
            f"at side 64: {listing(below)} worse; EMD {mean(high, 'top-0.001', 64):.3g} and "
            f"{mean(high, 'top-0.01', 64):.3g} against {mean(high, 'baseline', 64):.3g}",
        )
    )
    found.append(
        Finding(
            "epsilon 10: the top 0.01 % gets worse from side 256 to 512",
            mean(high, "top-0.01", 512) > mean(high, "top-0.01", 256),
            trend(high, "top-0.01"),
        )
    )
    return found


STUDY = Study(
    name="resolution",
    title="Finer cells: one city cell, 200 people",
    axis="cells on a side",
    jobs=jobs,
    findings=findings,
    logarithmic=True,
)
