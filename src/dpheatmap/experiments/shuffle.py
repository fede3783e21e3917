"""No curator: the paper's appendix on the shuffle model. What people send, and what the map is worth, against B.

B is the number of units that one person's weight is rounded to. A larger one rounds less and takes larger messages;
without rounding the noise is that of a curator with the paper's design: B = infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpheatmap.collect.shuffle_bound import paper_shares
from dpheatmap.collect.simulate import simulated_together
from dpheatmap.collect.terms import Terms
from dpheatmap.domain import Domain
from dpheatmap.evaluate.chart import GREY, INK, PAPER_COLOUR, dress, frame, new_figure, styles
from dpheatmap.evaluate.scores import METRICS, Scores, score
from dpheatmap.evaluate.table import Series
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.evaluate.truth import true_distribution
from dpheatmap.evaluate.variants import TITLES
from dpheatmap.experiments.gaze import PEOPLE, SIGMA
from dpheatmap.experiments.judging import mean
from dpheatmap.experiments.places import Dataset
from dpheatmap.experiments.salicon import MAP
from dpheatmap.experiments.study import Data, Finding, Job, Study
from dpheatmap.smoothing import smoothed
from dpheatmap.testing import SeededSource

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILON, DELTA = Fraction(5), Fraction(1, 10**5)
SCALINGS = (4, 16, 64, 256, 1024, 4096)
IMAGES, TRIALS = 20, 3
SIZE = 160
"""Pixels on the longer side of the maps that are judged; sigma is five of them."""
CENTRAL = {"shuffle": "paper-posterior", "shuffle-paper": "paper"}
"""The same reconstruction of a curator's release."""


def terms_of(units: int, domain: Domain = MAP) -> Terms:
    """The terms of a collection with B = ``units``."""
    return Terms.of("shuffle", domain, epsilon=EPSILON, delta=DELTA, n_min=PEOPLE, n_max=PEOPLE, units=units)


@dataclass(frozen=True, eq=False)
class ShuffleJob(Job):
    """People whose contributions are shuffled, B being the place on the axis."""

    def run(self, seed: int) -> dict[str, Scores]:
        """One collection, read both ways."""
        place = self.place
        drawn = self.people_of(seed).choice(place.people, self.people, replace=False)
        true = smoothed(true_distribution(place.counts_of(place.times(drawn))), self.sigma, self.size)
        people = [place.points_of(person) for person in drawn]
        source = SeededSource(seed_of(seed, self.key))
        release = simulated_together(terms_of(int(self.at), place.domain), people, source)
        estimates = {"shuffle": release.distribution(), "shuffle-paper": release.distribution(method="paper")}
        return {name: score(true, smoothed(one, self.sigma, self.size)) for name, one in estimates.items()}


def jobs(data: Data) -> tuple[list[Job], Dataset]:
    """20 images x 3 trials x 6 values of B, and the same people with a curator."""
    images = data.gaze()
    found: list[Job] = []
    for place in images.places[:IMAGES]:
        for trial in range(TRIALS):
            rest = (place, trial, PEOPLE, EPSILON)
            found += [ShuffleJob("", units, *rest, tuple(CENTRAL), SIGMA, SIZE) for units in SCALINGS]
            found.append(Job("", math.inf, *rest, tuple(CENTRAL.values()), SIGMA, SIZE))
    return found, images


def megabytes(units: int) -> tuple[float, float]:
    """What one person sends, in MB: with the certified number of shares and our modulus, and by the paper's formula."""
    terms = terms_of(units)
    m, q = terms.tree.size, units * PEOPLE
    shares = paper_shares(PEOPLE, q, m, float(EPSILON), float(DELTA))
    return terms.payload_bytes / 1e6, shares * m * math.ceil(math.log2(m * q)) / 8e6


def findings(panels: dict[str, Series]) -> list[Finding]:
    """The paper's claims about B, and our bar."""
    series = panels[""]
    kept, near = [], []
    for name, of_curator in CENTRAL.items():
        emds = {units: mean(series, name, units) for units in SCALINGS}
        central = mean(series, of_curator, math.inf)
        kept.append(emds[256] <= 1.1 * min(emds.values()))
        near.append((name, emds[256] / central - 1, emds, central))
    told = "; ".join(
        f"{TITLES[name]}: EMD {', '.join(f'{emd:.4f} at B = {units}' for units, emd in emds.items())}, "
        f"{central:.4f} with a curator"
        for name, _, emds, central in near
    )
    ours, papers = megabytes(256)
    return [
        Finding("utility is nearly maximal at B = 256", all(kept), told),
        Finding(
            "B = 256 takes about 10 MB a person",
            7.0 <= papers <= 13.0,
            f"{papers:.2f} MB by the paper's formula, {ours:.2f} MB with the certified number of shares",
        ),
        Finding(
            "at B = 256 the EMD is within 10 % of a curator's",
            all(worse <= 0.1 for _, worse, _, _ in near),
            "; ".join(f"{TITLES[name]}: {worse:+.1%}" for name, worse, _, _ in near),
            ours=True,
        ),
    ]


def figures(panels: dict[str, Series], dataset: Dataset) -> list[tuple[str, Figure]]:
    """One row: communication, then the four metrics, with the curator's as a line across."""
    series, figure, look = panels[""], new_figure(), styles()
    first, *rest = figure.subplots(1, 1 + len(METRICS))
    _draw_communication(first)
    for panel, metric in zip(rest, METRICS, strict=True):
        for name, of_curator in CENTRAL.items():
            marks = [series[name][units][metric.name] for units in SCALINGS]
            style, central = look[name], series[of_curator][math.inf][metric.name]
            low, high = ([mark.mean + side * mark.half_width for mark in marks] for side in (-1, 1))
            panel.fill_between(SCALINGS, low, high, color=style.colour, alpha=0.13, linewidth=0)
            panel.plot(
                SCALINGS, [mark.mean for mark in marks], color=style.colour, marker=style.marker, markersize=4.5,
                linewidth=1.8, label=TITLES[name],
            )  # fmt: skip
            panel.axhline(
                central.mean,
                color=style.colour,
                linestyle=(0, (4, 2)),
                linewidth=1.2,
                label=f"{TITLES[of_curator]}, curator",
            )
        dress(panel, metric, "B", SCALINGS, logarithmic=True)
        panel.set_yscale("linear")
        panel.set_title(panel.get_title().replace("  (", "\n("), fontsize=10.5, color=INK)
    runs = series["shuffle"][256]["emd"].runs
    notes = [
        f"{PEOPLE} people, epsilon 5, delta 1e-5. Means of {runs} runs, shaded: 95 % intervals; dashed: the same "
        f"reconstruction of a curator's release (B = infinity). Data: {dataset.title}.",
    ]
    frame(figure, rest[0], STUDY.title, notes, "")
    return [("shuffle.png", figure)]


def _draw_communication(panel: Any) -> None:
    ours, papers = zip(*map(megabytes, SCALINGS), strict=True)
    panel.plot(SCALINGS, papers, color=PAPER_COLOUR, marker="o", markersize=4.5, linewidth=1.8)
    panel.plot(SCALINGS, ours, color=INK, marker="s", markersize=4.5, linewidth=1.8)
    panel.annotate("paper's formula", (SCALINGS[-1], papers[-1]), (0, 7), textcoords="offset points", ha="right",
                   fontsize=9, color=PAPER_COLOUR)  # fmt: skip
    panel.annotate("certified bound", (SCALINGS[-1], ours[-1]), (0, -40), textcoords="offset points", ha="right",
                   fontsize=9, color=INK)  # fmt: skip
    panel.axhline(10, color=GREY, linestyle=":", linewidth=1)
    panel.annotate("the paper: about 10 MB at B = 256", (SCALINGS[0], 10), (0, 4), textcoords="offset points",
                   fontsize=8.5, color=GREY)  # fmt: skip
    dress(panel, None, "B", SCALINGS, logarithmic=True)
    panel.set_title("MB that each person sends\n(payload)", fontsize=10.5, color=INK)
    panel.set_ylim(0, 12)


STUDY = Study(
    name="shuffle",
    title="The shuffle model on gaze: 50 people, 320 x 240 pixels",
    axis="B",
    jobs=jobs,
    findings=findings,
    logarithmic=True,
    figures=figures,
)
