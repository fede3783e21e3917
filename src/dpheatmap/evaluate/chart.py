"""Figures of comparisons: four metrics side by side, a line a method, 95 % bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpheatmap.errors import MissingDependency
from dpheatmap.evaluate.method_variants import TITLES
from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.scores import METRICS, Metric

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, GREY = "#1e1e26", "#6a6a74"
OUR_COLOUR, PAPER_COLOUR, DENSE_COLOUR = "#1a1a8c", "#c81020", "#d55e00"
# Few colours are distinct for all kinds of colour vision; markers distinguish the rest.
BASELINE_COLOURS = ("#3b3b44", "#8a8a94", "#8a8a94", "#8a8a94", "#8a8a94")
PEER_COLOURS = (
    "#0072b2", "#56b4e9", "#009e73", "#e69f00", "#cc79a7",
    "#7a5195", "#999933", "#66c2a5", "#17becf", "#8b4513",
)  # fmt: skip
MARKERS = "osD^v<>pPX*hd"


@dataclass(frozen=True)
class Style:
    """The style of a method's line, the same in every figure."""

    colour: str
    marker: str
    dashes: str | tuple[int, tuple[float, ...]]
    width: float


def styles() -> dict[str, Style]:
    """The style of every method."""
    found, peers, baselines = {}, 0, 0
    dashes: Sequence[Any] = ("-", (0, (1, 1)), (0, (2, 1)), (0, (4, 1)), (0, (6, 1, 1, 1)))
    for name in TITLES:
        if name == "ladder":
            found[name] = Style(OUR_COLOUR, "o", "-", 2.8)
        elif name == "paper":
            found[name] = Style(PAPER_COLOUR, "o", "-", 2.4)
        elif name == "dense":
            found[name] = Style(DENSE_COLOUR, "s", "-", 1.8)
        elif name == "baseline" or name.startswith("top-"):
            found[name] = Style(BASELINE_COLOURS[baselines], MARKERS[baselines + 1], dashes[baselines], 1.3)
            baselines += 1
        else:
            again, colour = divmod(peers, len(PEER_COLOURS))
            found[name] = Style(
                PEER_COLOURS[colour], MARKERS[peers % len(MARKERS)], dashes[2 * again % len(dashes)], 1.3
            )
            peers += 1
    return found


def four_metrics(
    series: Series, *, axis: str, title: str, notes: Sequence[str] = (), warning: str = "", logarithmic: bool = False
) -> Figure:
    """Draw the paper's arrangement: similarity, Pearson, KL and EMD over a common axis.

    ``warning`` is at the top, in red; ``notes`` are below, small.
    """
    figure, look = new_figure(), styles()
    panels = figure.subplots(1, len(METRICS))
    places = sorted({place for line in series.values() for place in line})
    for panel, metric in zip(panels, METRICS, strict=True):
        for name, line in series.items():
            x = [place for place in places if place in line]
            marks = [line[place][metric.name] for place in x]
            mean = np.array([mark.mean for mark in marks])
            half = np.array([mark.half_width if np.isfinite(mark.half_width) else 0.0 for mark in marks])
            style = look[name]
            low = mean - half if metric.more_is_better else np.maximum(mean - half, mean / 10)
            panel.fill_between(x, low, mean + half, color=style.colour, alpha=0.13, linewidth=0)
            panel.plot(
                x, mean, color=style.colour, marker=style.marker, linestyle=style.dashes, linewidth=style.width,
                markersize=4.5, label=TITLES[name], zorder=3 if name == "paper" else 2,
            )  # fmt: skip
        dress(panel, metric, axis, places, logarithmic)
    frame(figure, panels[0], title, notes, warning)
    return figure


def dress(panel: Any, metric: Metric | None, axis: str, places: Sequence[float], logarithmic: bool) -> None:
    """Add names, ticks and a light grid. Errors span orders of magnitude, so their scale is logarithmic."""
    panel.set_xlabel(axis, fontsize=10, color=INK)
    if metric is not None:
        better = "higher" if metric.more_is_better else "lower"
        panel.set_title(f"{metric.title}  ({better} is better)", fontsize=10.5, color=INK)
    if metric is not None and not metric.more_is_better:
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter(_label_of_minor_tick)
    if logarithmic:
        panel.set_xscale("log")
        panel.set_xticks([], minor=True)
    panel.set_xticks(places, [f"{place:g}" for place in places], fontsize=9)
    panel.tick_params(axis="y", labelsize=9)
    panel.grid(color="#e4e4e8", linewidth=0.7)
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def _label_of_minor_tick(value: float, position: int) -> str:
    """The label of a tick between powers of ten: only 2 and 5 have one."""
    return f"{value:g}" if f"{value:e}"[0] in "25" else ""


def frame(figure: Any, panel: Any, title: str, notes: Sequence[str], warning: str) -> None:
    """Add title and warning above, legend and notes below; nothing overlaps, for any number of methods."""
    lines, labels = panel.get_legend_handles_labels()
    columns = min(len(labels), 6)
    rows = -(-len(labels) // columns)
    below = 0.27 * rows + 0.2 * len(notes) + 0.15
    above = 0.45 + 0.3 * bool(warning)
    height = 3.6 + below + above
    figure.set_size_inches(15, height)
    for k, (text, colour) in enumerate([(warning, PAPER_COLOUR), (title, INK)] if warning else [(title, INK)]):
        figure.text(0.01, 1 - (0.1 + 0.3 * k) / height, text, color=colour, fontsize=12, weight="bold", va="top")
    for k, note in enumerate(reversed(notes)):
        figure.text(0.01, (0.08 + 0.2 * k) / height, note, color=GREY, fontsize=8.5, va="bottom")
    figure.legend(
        lines, labels, loc="lower center", ncols=columns, frameon=False, fontsize=9.5,
        bbox_to_anchor=(0.5, (0.05 + 0.2 * len(notes)) / height),
    )  # fmt: skip
    figure.tight_layout(rect=(0, below / height, 1, 1 - above / height), w_pad=1.6)


def new_figure() -> Figure:
    """Make an empty figure that needs no window; raises an error with advice if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency("matplotlib", "A figure", "plot") from error
    return Figure(figsize=(15, 5))
