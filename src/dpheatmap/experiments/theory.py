"""Measured errors over epsilon, people and places, between the guarantees and the lower bounds of theory.

People are in a fixed number of cells of a grid of 64 x 64, each in one: the sparse data of the paper's theorem. The
paper's algorithm keeps as many cells a level as there are places, and at least 4, so that its guarantee holds without
a term for misfit. Maps are compared without smoothing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpheatmap.evaluate.chart import DENSE_COLOUR, GREY, INK, PAPER_COLOUR, new_figure, styles
from dpheatmap.evaluate.method_variants import EVERY_METHOD, WIDTHS
from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.experiments.claims import mean
from dpheatmap.experiments.populations import Dataset, Place
from dpheatmap.experiments.study import Data, Finding, Job, Study, panels_of
from dpheatmap.place.domain import Domain
from dpheatmap.planning import bounds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOMAIN = Domain.unit(6)
UNSMOOTHED = 1e-9
PEOPLE, EPSILON, PLACES, DRAWS = 2000, Fraction(1), 16, 4
EPSILONS = ("0.1", "0.3", "1", "3", "10", "30")
CROWDS = (200, 600, 2000, 6000, 20_000)
GRID_ENDS = 2000  # beyond that many people the dense grid is the finest one, and grows no more
AXES = {"epsilon": "epsilon", "people": "number of people", "places": "places that people are in"}


def jobs(data: Data) -> tuple[list[Job], Dataset]:
    """The jobs: three panels, each of which varies one of epsilon, people and places; 4 draws."""
    settings = [
        *(("epsilon", float(epsilon), PEOPLE, Fraction(epsilon), PLACES) for epsilon in EPSILONS),
        *(("people", float(people), people, EPSILON, PLACES) for people in CROWDS),
        *(("places", float(places), PEOPLE, EPSILON, places) for places in WIDTHS),
    ]
    found = []
    for panel, at, people, epsilon, places in settings:
        for draw in range(DRAWS):
            place, methods = few_places(places, people, draw), ("ladder", f"paper-{places}", "dense")
            found.append(Job(panel, at, place, draw, people, epsilon, methods, UNSMOOTHED))
    return found, Dataset((), "Generated people in a few cells each", stand_in=False)


def few_places(places: int, people: int, draw: int) -> Place:
    """Put ``people`` people, each in one cell, into ``places`` different cells, some busier than others."""
    rng = np.random.default_rng(seed_of("few places", places, people, draw))
    side = 2**DOMAIN.depth
    cells = rng.choice(side * side, places, replace=False)
    here = cells[np.concatenate([np.arange(places), rng.choice(places, people, p=rng.dirichlet(np.ones(places)))])]
    here = here[:people]
    x, y = (here % side + 0.5) / side, (here // side + 0.5) / side
    return Place(f"{places} places, {people} people", DOMAIN, np.arange(people), x, y)


def merge_lines(series: Series) -> Series:
    """Merge the paper's algorithm into one line, for all its widths along the axis."""
    ours = {name: line for name, line in series.items() if not name.startswith("paper-")}
    papers = {at: mark for name, line in series.items() if name not in ours for at, mark in line.items()}
    return {"ladder": ours["ladder"], "paper": dict(sorted(papers.items())), "dense": ours["dense"]}


def limits(panel: str) -> dict[str, Callable[[float], float]]:
    """The lines of theory in a panel, as functions of its axis."""

    def settings(at: float) -> tuple[Fraction, int, int]:
        return (
            Fraction(at).limit_denominator(10**6) if panel == "epsilon" else EPSILON,
            round(at) if panel == "people" else PEOPLE,
            round(at) if panel == "places" else PLACES,
        )

    def guarantee(at: float, every_level: bool) -> float:
        epsilon, people, places = settings(at)
        return bounds.sparse(DOMAIN, epsilon, people, width=places, every_level=every_level).value

    def impossible(at: float) -> float:
        epsilon, people, places = settings(at)
        return bounds.lower(DOMAIN, epsilon, people, places=places)

    return {
        "guarantee of the paper's design": lambda at: guarantee(at, False),
        "guarantee of the paper's theorem": lambda at: guarantee(at, True),
        "guarantee of the dense design": lambda at: bounds.dense(DOMAIN, *settings(at)[:2]).value,
        "impossible below, for the worst people": impossible,
    }


LINES: dict[str, dict[str, Any]] = {
    "guarantee of the paper's design": {"color": PAPER_COLOUR, "linestyle": "--"},
    "guarantee of the paper's theorem": {"color": PAPER_COLOUR, "linestyle": ":"},
    "guarantee of the dense design": {"color": DENSE_COLOUR, "linestyle": "--"},
    "impossible below, for the worst people": {"color": INK, "linestyle": "-."},
}


def figure(panels: dict[str, Series], dataset: Dataset) -> list[tuple[str, Figure]]:
    """Draw three panels on logarithmic axes: measured errors, guarantees, and lower bounds."""
    made, look = new_figure(), styles()
    made.set_size_inches(15, 6.6)
    for number, (panel, series) in enumerate(panels.items()):
        axes = made.add_subplot(1, 3, number + 1)
        for name, line in merge_lines(series).items():
            x = sorted(line)
            middle, half = (np.array([getattr(line[at]["emd"], part) for at in x]) for part in ("mean", "half_width"))
            style = look[name]
            axes.fill_between(x, np.maximum(middle - half, middle / 3), middle + half, color=style.colour, alpha=0.13)
            axes.plot(x, middle, color=style.colour, marker=style.marker, linewidth=2, label=EVERY_METHOD[name].title)
        for name, limit in limits(panel).items():
            axes.plot(x, [limit(at) or np.nan for at in x], linewidth=1.4, label=name, **LINES[name])
        axes.axhline(2.0, color=GREY, linewidth=0.8)
        left = panel == "places"  # where no line crosses the words
        words = "no two maps are further apart"
        axes.text(x[0 if left else -1], 2.15, words, color=GREY, fontsize=8.5, ha="left" if left else "right")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks([], minor=True)
        axes.set_xticks(x, [f"{at:g}" for at in x], fontsize=9)
        axes.set_xlabel(AXES[panel], fontsize=10, color=INK)
        axes.set_ylabel("earth mover's distance in sides", fontsize=10, color=INK)
        axes.grid(color="#e4e4e8", linewidth=0.7)
        axes.set_axisbelow(True)
    lines, labels = axes.get_legend_handles_labels()
    made.suptitle("Theory and measurement", x=0.01, ha="left", fontsize=12, weight="bold", color=INK)
    made.legend(lines, labels, loc="lower center", ncols=4, frameon=False, fontsize=9.5, bbox_to_anchor=(0.5, 0.035))
    note = (
        f"Means of {DRAWS} draws, shaded: 95 % intervals. {PLACES} places, {PEOPLE} people, epsilon {EPSILON} where "
        "they don't vary. 64 x 64 cells, unsmoothed. The paper's algorithm keeps as many cells a level as there are "
        "places."
    )
    made.text(0.01, 0.012, note, color=GREY, fontsize=8.5)
    made.tight_layout(rect=(0, 0.12, 1, 0.97), w_pad=1.6)
    return [("bounds.png", made)]


def findings(panels: dict[str, Series]) -> list[Finding]:
    """Whether theory and measurement agree."""
    lines = {panel: merge_lines(series) for panel, series in panels.items()}
    above = [
        f"{name} at {panel} {at:g}"
        for panel, series in lines.items()
        for name, limit in (("paper", "guarantee of the paper's design"), ("dense", "guarantee of the dense design"))
        for at in series[name]
        if mean(series, name, at) > min(2.0, limits(panel)[limit](at))
    ]
    exponents = {
        panel: ", ".join(f"{name} {_slope(lines[panel], name, most):.2f}" for name in ("ladder", "paper", "dense"))
        for panel, most in (("places", np.inf), ("people", GRID_ENDS))
    }
    by_people = {name: _slope(lines["people"], name, GRID_ENDS) for name in ("paper", "dense")}
    return [
        Finding(
            "every measured error is below its guarantee", not above, f"above: {', '.join(above) or 'none'}", ours=True
        ),
        Finding(
            "the paper's error grows about like the square root of the number of places",
            0.25 <= _slope(lines["places"], "paper") <= 0.75,
            f"exponents of places: {exponents['places']}",
            ours=True,
        ),
        Finding(
            "with more people the paper's error falls about like 1 / n, its dense algorithm's like 1 / sqrt n",
            by_people["paper"] <= -0.75 and -0.7 <= by_people["dense"] <= -0.3,
            f"exponents of people up to {GRID_ENDS}: {exponents['people']}",
            ours=True,
        ),
    ]


def _slope(series: Series, name: str, most: float = np.inf) -> float:
    """The exponent of a power law fitted to the means."""
    at = sorted(k for k in series[name] if k <= most)
    return float(np.polyfit(np.log(at), np.log([mean(series, name, k) for k in at]), 1)[0])


STUDY = Study(
    name="bounds",
    title="Theory and measurement: people in a few places, 64 x 64 cells",
    axis="at",
    jobs=jobs,
    findings=findings,
    figures=lambda jobs, results, dataset: figure(panels_of(jobs, results), dataset),
)
