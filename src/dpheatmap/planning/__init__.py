"""Expected errors, bounds and advice, before any data is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap._util.lazy import lazy_names

if TYPE_CHECKING:
    from dpheatmap.planning.plans import Plan, plan
    from dpheatmap.planning.release_series import ReleasesPlan, plan_releases
    from dpheatmap.planning.slice_plans import SlicePlan

__all__ = [
    "Plan",
    "ReleasesPlan",
    "SlicePlan",
    "plan",
    "plan_releases",
]

_HOMES = {
    "Plan": f"{__name__}.plans",
    "ReleasesPlan": f"{__name__}.release_series",
    "SlicePlan": f"{__name__}.slice_plans",
    "plan": f"{__name__}.plans",
    "plan_releases": f"{__name__}.release_series",
}
__getattr__ = lazy_names(__name__, _HOMES)
