"""Heatmaps of where people are, not who they are: user-level differential privacy from a table to a map."""

from dpheatmap import errors
from dpheatmap.domain import Domain
from dpheatmap.heatmap import Heatmap

from dpheatmap.release import Release, load
from dpheatmap.curator.api import Counts, aggregate, release  # isort: skip  (binds `release` after the module of that name)

__version__ = "0.1.0"

__all__ = ["Counts", "Domain", "Heatmap", "Release", "aggregate", "errors", "load", "release"]
