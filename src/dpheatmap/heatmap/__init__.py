"""Values on a grid: heatmaps, their smoothing and uncertainty, and differences between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap._util.lazy import lazy_names

if TYPE_CHECKING:
    from dpheatmap.heatmap.differences import Difference, difference
    from dpheatmap.heatmap.heatmap import Heatmap

__all__ = [
    "Difference",
    "Heatmap",
    "difference",
]

_HOMES = {
    "Difference": f"{__name__}.differences",
    "Heatmap": f"{__name__}.heatmap",
    "difference": f"{__name__}.differences",
}
__getattr__ = lazy_names(__name__, _HOMES)
