"""The figures of the shuffle experiment: communication and quality against B; the cost of rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpheatmap.evaluate.chart import GREY, INK, OUR_COLOUR, PAPER_COLOUR, dress, frame, new_figure
from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.scores import METRICS, Mean
from dpheatmap.experiments.shuffle import NAMES, SCALINGS, Pairs, megabytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WAYS = (("posterior", OUR_COLOUR, "o"), ("paper's algorithm", PAPER_COLOUR, "s"))
"""The two reconstructions: title, colour, marker."""


def metrics_figure(series: Series, title: str, about: str) -> Figure:
    """Draw one row: communication, then the four metrics, with the curator's as a horizontal line."""
    figure = new_figure()
    first, *rest = figure.subplots(1, 1 + len(METRICS))
    _draw_communication(first)
    for panel, metric in zip(rest, METRICS, strict=True):
        for way, (name, colour, _) in enumerate(WAYS):
            line = series[NAMES["shuffle"][way]]
            _draw_line(panel, SCALINGS, [line[units][metric.name] for units in SCALINGS], way, f"shuffle model, {name}")
            panel.axhline(
                series[NAMES["curator"][way]][math.inf][metric.name].mean,
                color=colour, linestyle=(0, (4, 2)), linewidth=1.2, label=f"curator, {name}",
            )  # fmt: skip
        dress(panel, metric, "B", SCALINGS, logarithmic=True)
        panel.set_yscale("linear")
        panel.set_title(panel.get_title().replace("  (", "\n("), fontsize=10.5, color=INK)
    runs = series[NAMES["shuffle"][0]][256]["emd"].runs
    notes = [f"Means of {runs} runs, all with the same people and noise; shaded: 95 % intervals. {about}"]
    frame(figure, rest[0], title, notes, "")
    return figure


def ratio_figure(pairs: Pairs, about: str) -> Figure:
    """Draw the ratio of EMD to the curator's with the same people and noise, over B."""
    figure = new_figure()
    over_b = figure.subplots()
    for way, (name, _, _) in enumerate(WAYS):
        _draw_line(over_b, SCALINGS, [pairs.ratio_to_curator("shuffle", way, units) for units in SCALINGS], way, name)
    dress(over_b, None, "B", SCALINGS, logarithmic=True)
    over_b.set_title("Shuffle model: EMD over a curator's", fontsize=10.5, color=INK)
    over_b.axhline(1.1, color=GREY, linewidth=1, linestyle="--")
    over_b.annotate("bar at B = 256: 1.1", (SCALINGS[-1], 1.1), (0, 4), textcoords="offset points", ha="right",
                    fontsize=9, color=GREY)  # fmt: skip
    notes = [f"Ratios of mean EMDs over pairs with the same people and noise, shaded: 95 % intervals. {about}"]
    frame(figure, over_b, "What rounding costs", notes, "")
    return figure


def _draw_line(panel: Any, places: Sequence[float], marks: Sequence[Mean], way: int, label: str) -> None:
    _, colour, marker = WAYS[way]
    low, high = ([mark.mean + side * mark.half_width for mark in marks] for side in (-1, 1))
    panel.fill_between(places, low, high, color=colour, alpha=0.13, linewidth=0)
    panel.plot(
        places, [mark.mean for mark in marks], color=colour, marker=marker, markersize=4.5, linewidth=1.8, label=label
    )


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
