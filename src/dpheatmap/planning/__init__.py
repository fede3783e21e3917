"""Expected errors, bounds and advice, before any data is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap._util.lazy import lazy_names

if TYPE_CHECKING:
    from dpheatmap.planning.plans import Plan, plan

__all__ = [
    "Plan",
    "plan",
]

_HOMES = {
    "Plan": f"{__name__}.plans",
    "plan": f"{__name__}.plans",
}
__getattr__ = lazy_names(__name__, _HOMES)
