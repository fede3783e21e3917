"""Heatmaps of where people are, not who they are: user-level differential privacy from a table to a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap._util import interrupt as _interrupt  # isort: skip  # noqa: F401  # before what takes long to load
from dpheatmap._util.lazy import lazy_names

if TYPE_CHECKING:
    from dpheatmap import collect, errors
    from dpheatmap.curator import (
        Counts,
        Ledger,
        aggregate,
        discover,
        read_counts,
        release,
        release_images,
        sql,
    )
    from dpheatmap.estimate.kmedian import Places, kmedian
    from dpheatmap.evaluate import metrics
    from dpheatmap.evaluate.baselines import baseline
    from dpheatmap.heatmap.difference import Difference, difference
    from dpheatmap.heatmap.heatmap import Heatmap
    from dpheatmap.place.domain import Domain
    from dpheatmap.planning import bounds
    from dpheatmap.planning.plan import Plan, plan
    from dpheatmap.releases.discovery import Discovery
    from dpheatmap.releases.release import Release, load

__version__ = "0.1.0"

__all__ = [
    "Counts",
    "Difference",
    "Discovery",
    "Domain",
    "Heatmap",
    "Ledger",
    "Places",
    "Plan",
    "Release",
    "aggregate",
    "baseline",
    "bounds",
    "collect",
    "difference",
    "discover",
    "errors",
    "kmedian",
    "load",
    "metrics",
    "plan",
    "read_counts",
    "release",
    "release_images",
    "sql",
]

_HOMES = {
    "Counts": "dpheatmap.curator",
    "Difference": "dpheatmap.heatmap.difference",
    "Discovery": "dpheatmap.releases.discovery",
    "Domain": "dpheatmap.place.domain",
    "Heatmap": "dpheatmap.heatmap.heatmap",
    "Ledger": "dpheatmap.curator",
    "Places": "dpheatmap.estimate.kmedian",
    "Plan": "dpheatmap.planning.plan",
    "Release": "dpheatmap.releases.release",
    "aggregate": "dpheatmap.curator",
    "baseline": "dpheatmap.evaluate.baselines",
    "bounds": ":dpheatmap.planning.bounds",
    "collect": ":dpheatmap.collect",
    "difference": "dpheatmap.heatmap.difference",
    "discover": "dpheatmap.curator",
    "errors": ":dpheatmap.errors",
    "kmedian": "dpheatmap.estimate.kmedian",
    "load": "dpheatmap.releases.release",
    "metrics": ":dpheatmap.evaluate.metrics",
    "plan": "dpheatmap.planning.plan",
    "read_counts": "dpheatmap.curator",
    "release": "dpheatmap.curator",
    "release_images": "dpheatmap.curator",
    "sql": "dpheatmap.curator",
}
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    """What completion offers: the public names, and not the modules that they come from."""
    return [*__all__, "__doc__", "__file__", "__version__"]
