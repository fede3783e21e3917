"""Tables of comparisons: for the terminal, as CSV and as records."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dpheatmap.evaluate.method_variants import TITLES
from dpheatmap.evaluate.scores import METRICS, Mean, Scores, means

Series = Mapping[str, Mapping[float, Mapping[str, Mean]]]
"""Means by method, place on the axis, and metric."""


def series_of(scores: Mapping[str, Mapping[float, Sequence[Scores]]]) -> Series:
    """Compute the means of scores."""
    return {name: {place: means(runs) for place, runs in line.items()} for name, line in scores.items()}


def records(series: Series, axis: str, **constants: object) -> list[dict[str, Any]]:
    """A record for each method and place on the axis; half-widths are those of 95 % intervals, null for one run."""
    found = []
    for name, line in series.items():
        for place, marks in line.items():
            record = {**constants, "method": name, axis: place, "runs": marks["emd"].runs}
            for metric in METRICS:
                mark = marks[metric.name]
                record[metric.name] = mark.mean
                record[f"{metric.name}_95"] = mark.half_width if math.isfinite(mark.half_width) else None
            found.append(record)
    return found


def as_csv(rows: Sequence[Mapping[str, Any]], comments: Sequence[str] = ()) -> str:
    """Write records as CSV, after comment lines."""
    text = io.StringIO()
    text.writelines(f"# {comment}\n" for comment in comments)
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_text(series: Series, axis: str) -> str:
    """Write a block for each place on the axis: a line a method, the best of each metric marked with a star."""
    places = sorted({place for line in series.values() for place in line})
    return "\n\n".join(_block({n: line[place] for n, line in series.items() if place in line}, f"{axis} {place:g}")
                       for place in places)  # fmt: skip


def _block(marks: Mapping[str, Mapping[str, Mean]], heading: str) -> str:
    width = max(len(heading), *(len(TITLES[name]) for name in marks))
    lines = [heading.ljust(width) + "".join(f"{metric.title:>25}" for metric in METRICS)]
    best = {
        metric.name: (max if metric.more_is_better else min)(mark[metric.name].mean for mark in marks.values())
        for metric in METRICS
    }
    for name, mark in marks.items():
        cells = "".join(
            f"{_number(mark[metric.name]) + ('*' if mark[metric.name].mean == best[metric.name] else ' '):>25}"
            for metric in METRICS
        )
        lines.append(TITLES[name].ljust(width) + cells)
    return "\n".join(lines)


def _number(mark: Mean) -> str:
    return f"{mark.mean:.4f} ± {mark.half_width:.4f}" if math.isfinite(mark.half_width) else f"{mark.mean:.4f}"
