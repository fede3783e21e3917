"""Estimates of masses and places from a release; nothing here can reach people's data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap._util.lazy import lazy_names

if TYPE_CHECKING:
    from dpheatmap.estimate.distribution import Distribution
    from dpheatmap.estimate.places import Places, kmedian

__all__ = [
    "Distribution",
    "Places",
    "kmedian",
]

_HOMES = {
    "Distribution": f"{__name__}.distribution",
    "Places": f"{__name__}.places",
    "kmedian": f"{__name__}.places",
}
__getattr__ = lazy_names(__name__, _HOMES)
