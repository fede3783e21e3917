"""Tests of the paper's claims on the means of a panel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpheatmap.evaluate.method_variants import EVERY_METHOD
from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.scores import METRICS, Metric


def mean(series: Series, method: str, at: float, metric: str = "emd") -> float:
    """One number of a panel."""
    return series[method][at][metric].mean


def error(series: Series, method: str, at: float, metric: Metric) -> float:
    """A number of a panel as an error, lower is better: 1 - x for similarity and correlation."""
    value = mean(series, method, at, metric.name)
    return 1.0 - value if metric.more_is_better else value


def better_methods(series: Series, method: str, at: float, metric: Metric, among: Iterable[str]) -> list[str]:
    """The methods in ``among`` whose mean is better than a method's, the best first."""
    others = [name for name in among if name != method and name in series]
    better = [o for o in others if error(series, o, at, metric) < error(series, method, at, metric)]
    return sorted(better, key=lambda name: error(series, name, at, metric))


def lost_cases(series: Series, method: str, among: Sequence[str]) -> tuple[list[str], int]:
    """The cases (place, metric, better method) in which a method is beaten, and the number of all cases."""
    lost, cases = [], 0
    for at in series[method]:
        for metric in METRICS:
            cases += 1
            winners = better_methods(series, method, at, metric, among)
            if winners:
                lost.append(f"{metric.name} at {at:g} by {EVERY_METHOD[winners[0]].title}")
    return lost, cases


def first_and_last(series: Series, method: str, metric: str = "emd") -> tuple[float, float]:
    """The means at the first and at the last place of the axis."""
    places = sorted(series[method])
    return mean(series, method, places[0], metric), mean(series, method, places[-1], metric)


def improvements(series: Series, method: str) -> list[str]:
    """The metrics that are better at the end of the axis than at its beginning."""
    first, last = min(series[method]), max(series[method])
    return [m.name for m in METRICS if error(series, method, last, m) < error(series, method, first, m)]


def improves(series: Series, method: str) -> bool:
    """Whether all four metrics are better at the end of the axis than at its beginning."""
    return len(improvements(series, method)) == len(METRICS)


def worsens(series: Series, method: str) -> bool:
    """Whether no metric is better at the end of the axis than at its beginning."""
    return not improvements(series, method)


def trend(series: Series, method: str, metric: str = "emd") -> str:
    """Describe a metric along the axis in words."""
    values = " ".join(f"{mean(series, method, at, metric):.3g}" for at in sorted(series[method]))
    return f"{metric.upper()} {values}"


def listing(items: Sequence[str]) -> str:
    """List items in words, or 'none'."""
    return ", ".join(items) or "none"
