"""The figure of the k-median experiment: cost ratios over epsilon, and the growth of the added cost with k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpheatmap.evaluate.chart import GREY, INK, OUR_COLOUR, PAPER_COLOUR, PEER_COLOURS, new_figure
from dpheatmap.experiments.kmedian_cost import EPSILONS, KS, RIVAL, TITLE, TITLES, Ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {
    "ladder": (OUR_COLOUR, "o"),
    "paper": (PAPER_COLOUR, "o"),
    "privtree": (PEER_COLOURS[2], "D"),
    "uniform-grid": (PEER_COLOURS[0], "s"),
    RIVAL: (PEER_COLOURS[3], "^"),
}
"""Colours and markers, those of other figures where a method is in them."""


def figure_of(ratios: Ratios, title: str) -> Figure:
    """Draw ratios over epsilon, one panel for each k, and the added cost over k, with sqrt(k) and k for comparison."""
    figure = new_figure()
    figure.set_size_inches(15, 4.9)
    panels = figure.subplots(1, len(KS) + 1)
    at = [float(epsilon) for epsilon in EPSILONS]
    for panel, k in zip(panels, KS, strict=False):
        for name in ratios.methods:
            colour, marker = LOOKS[name]
            marks = np.array([ratios.ratio(name, epsilon, k)[:2] for epsilon in EPSILONS])
            panel.fill_between(at, marks[:, 0] - marks[:, 1], marks[:, 0] + marks[:, 1], color=colour, alpha=0.13, lw=0)
            panel.plot(at, marks[:, 0], color=colour, marker=marker, markersize=4.5, label=TITLES[name])
        panel.set_title(f"k = {k}", fontsize=10.5, color=INK)
        panel.set_xscale("log")
        panel.set_xticks([], minor=True)
        panel.set_xticks(at, EPSILONS, fontsize=9)
        panel.set_xlabel("epsilon", fontsize=10, color=INK)
        panel.set_yscale("log")
        panel.set_ylim(
            0.98, 1.02 * max(ratios.ratio(n, e, j).mean for n in ratios.methods for e in EPSILONS for j in KS)
        )
        panel.yaxis.set_major_locator(_ticks())
        panel.yaxis.set_minor_formatter("")
        panel.yaxis.set_major_formatter("{x:g}")
    panels[0].set_ylabel("cost / cost without privacy", fontsize=10, color=INK)
    _draw_growth(panels[-1], ratios)
    for panel in panels:
        panel.tick_params(axis="y", labelsize=9)
        panel.grid(color="#e4e4e8", linewidth=0.7)
        panel.set_axisbelow(True)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    lines, labels = panels[0].get_legend_handles_labels()
    figure.text(0.01, 0.975, TITLE, color=INK, fontsize=12, weight="bold", va="top")
    note = f"{ratios.people} people, means of {ratios.runs} runs, shaded: 95 % intervals. L1 distances. Data: {title}."
    figure.text(0.01, 0.015, note, color=GREY, fontsize=8.5)
    figure.legend(lines, labels, loc="lower center", ncols=len(labels), frameon=False, fontsize=9.5,
                  bbox_to_anchor=(0.5, 0.045))  # fmt: skip
    figure.tight_layout(rect=(0, 0.11, 1, 0.93), w_pad=1.2)
    return figure


def _ticks() -> Any:
    from matplotlib.ticker import FixedLocator

    return FixedLocator([1, 1.1, 1.2, 1.5, 2, 3, 5])


def _draw_growth(panel: Any, ratios: Ratios) -> None:
    """Draw the added cost over k, ours at each epsilon, and two slopes through the first mark of epsilon 1."""
    shades = np.linspace(0.35, 1.0, len(EPSILONS))
    for epsilon, shade in zip(EPSILONS, shades, strict=True):
        marks = np.array([ratios.added_cost("ladder", epsilon, k)[:2] for k in KS])
        power, low, high = ratios.growth("ladder", epsilon)
        panel.errorbar(
            KS, marks[:, 0], yerr=marks[:, 1], color=OUR_COLOUR, alpha=shade, marker="o", markersize=4.5, capsize=2,
            label=f"epsilon {epsilon}: k^{power:.1f} ({low:.1f} to {high:.1f})",
        )  # fmt: skip
    start = ratios.added_cost("ladder", "1", KS[0]).mean
    panel.plot(KS, [start * (k / KS[0]) ** 0.5 for k in KS], color=GREY, linestyle="--", lw=1.2, label="sqrt(k)")
    panel.plot(KS, [start * k / KS[0] for k in KS], color=GREY, linestyle=":", lw=1.2, label="k")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xticks([], minor=True)
    panel.set_xticks(KS, [str(k) for k in KS], fontsize=9)
    panel.set_xlabel("k", fontsize=10, color=INK)
    panel.set_title("added cost, in sides (ours)", fontsize=10.5, color=INK)
    low, high = panel.get_ylim()
    panel.set_ylim(low, 60 * high)  # room for the legend
    panel.legend(frameon=False, fontsize=8, loc="upper left", labelspacing=0.3)
