"""Values on a grid: heatmaps, their smoothing and uncertainty, differences, and maps of several releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap._util.lazy import lazy_names

if TYPE_CHECKING:
    from dpheatmap.heatmap.combination import Combination, combine
    from dpheatmap.heatmap.differences import Difference, difference
    from dpheatmap.heatmap.heatmap import Heatmap
    from dpheatmap.heatmap.series import Series

__all__ = [
    "Combination",
    "Difference",
    "Heatmap",
    "Series",
    "combine",
    "difference",
]

_HOMES = {
    "Combination": f"{__name__}.combination",
    "Difference": f"{__name__}.differences",
    "Heatmap": f"{__name__}.heatmap",
    "Series": f"{__name__}.series",
    "combine": f"{__name__}.combination",
    "difference": f"{__name__}.differences",
}
__getattr__ = lazy_names(__name__, _HOMES)
