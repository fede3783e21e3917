"""Public places, and the quadtree of cells over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap._util.lazy import lazy_names

if TYPE_CHECKING:
    from dpheatmap.place.domain import Domain
    from dpheatmap.place.mask import CellRange
    from dpheatmap.place.place import Bounds, Place

__all__ = [
    "Bounds",
    "CellRange",
    "Domain",
    "Place",
]

_HOMES = {
    "Bounds": f"{__name__}.place",
    "CellRange": f"{__name__}.mask",
    "Domain": f"{__name__}.domain",
    "Place": f"{__name__}.place",
}
__getattr__ = lazy_names(__name__, _HOMES)
