"""Heatmaps of where people are, not who they are: user-level differential privacy from a table to a map."""

from dpheatmap import starting  # isort: skip  # noqa: F401  # before what takes long to load
from dpheatmap import bounds, errors
from dpheatmap.difference import Difference, difference
from dpheatmap.discovery import Discovery
from dpheatmap.domain import Domain
from dpheatmap.estimate.cluster import Places, kmedian
from dpheatmap.heatmap import Heatmap
from dpheatmap.plan import Plan, plan
from dpheatmap.release import Release, load

from dpheatmap.curator.api import Counts, aggregate, release  # isort: skip
from dpheatmap.curator.images import release_images  # isort: skip
from dpheatmap.curator.ledger import Ledger  # isort: skip
from dpheatmap.curator.warehouses import read_counts, sql  # isort: skip
from dpheatmap import collect  # isort: skip
from dpheatmap.evaluate import metrics  # isort: skip
from dpheatmap.evaluate.baselines import baseline  # isort: skip

# `plan`, `release` and `difference` are also modules; their functions are bound after them, so `dpheatmap.release` is
# the function.

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


def __dir__() -> list[str]:
    """What completion offers: the public names, and not the modules that they come from."""
    return [*__all__, "__doc__", "__file__", "__version__"]
