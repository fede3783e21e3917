"""Heatmaps of where people are, not who they are: user-level differential privacy from a table to a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap._util import interrupt as _interrupt  # isort: skip  # noqa: F401  # before what takes long to load
from dpheatmap._util.lazy import lazy_names

if TYPE_CHECKING:
    from dpheatmap import collect, errors
    from dpheatmap.curator import (
        Counts,
        DailyReleases,
        Ledger,
        SlicedCounts,
        aggregate,
        discover,
        read_counts,
        release,
        release_images,
        sql,
    )
    from dpheatmap.estimate import Places, kmedian
    from dpheatmap.evaluate import metrics
    from dpheatmap.evaluate.baselines import baseline
    from dpheatmap.heatmap import Combination, Difference, Heatmap, Series, combine, difference
    from dpheatmap.place import Domain
    from dpheatmap.planning import Plan, ReleasesPlan, SlicePlan, bounds, plan, plan_releases
    from dpheatmap.releases import Discovery, Release, Slice, SlicedRelease, load

__version__ = "0.2.0"

__all__ = [
    "Combination",
    "Counts",
    "DailyReleases",
    "Difference",
    "Discovery",
    "Domain",
    "Heatmap",
    "Ledger",
    "Places",
    "Plan",
    "Release",
    "ReleasesPlan",
    "Series",
    "Slice",
    "SlicePlan",
    "SlicedCounts",
    "SlicedRelease",
    "aggregate",
    "baseline",
    "bounds",
    "collect",
    "combine",
    "difference",
    "discover",
    "errors",
    "kmedian",
    "load",
    "metrics",
    "plan",
    "plan_releases",
    "read_counts",
    "release",
    "release_images",
    "sql",
]

_HOMES = {
    "Combination": "dpheatmap.heatmap",
    "Counts": "dpheatmap.curator",
    "DailyReleases": "dpheatmap.curator",
    "Difference": "dpheatmap.heatmap",
    "Discovery": "dpheatmap.releases",
    "Domain": "dpheatmap.place",
    "Heatmap": "dpheatmap.heatmap",
    "Ledger": "dpheatmap.curator",
    "Places": "dpheatmap.estimate",
    "Plan": "dpheatmap.planning",
    "Release": "dpheatmap.releases",
    "ReleasesPlan": "dpheatmap.planning",
    "Series": "dpheatmap.heatmap",
    "Slice": "dpheatmap.releases",
    "SlicePlan": "dpheatmap.planning",
    "SlicedCounts": "dpheatmap.curator",
    "SlicedRelease": "dpheatmap.releases",
    "aggregate": "dpheatmap.curator",
    "baseline": "dpheatmap.evaluate.baselines",
    "bounds": ":dpheatmap.planning.bounds",
    "collect": ":dpheatmap.collect",
    "combine": "dpheatmap.heatmap",
    "difference": "dpheatmap.heatmap",
    "discover": "dpheatmap.curator",
    "errors": ":dpheatmap.errors",
    "kmedian": "dpheatmap.estimate",
    "load": "dpheatmap.releases",
    "metrics": ":dpheatmap.evaluate.metrics",
    "plan": "dpheatmap.planning",
    "plan_releases": "dpheatmap.planning",
    "read_counts": "dpheatmap.curator",
    "release": "dpheatmap.curator",
    "release_images": "dpheatmap.curator",
    "sql": "dpheatmap.curator",
}
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    """What completion offers: the public names, and not the modules that they come from."""
    return [*__all__, "__doc__", "__file__", "__version__"]
