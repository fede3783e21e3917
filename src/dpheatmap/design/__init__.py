"""Designs: which cells are measured with which part of the budget, and how that is decided. The core checks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap._util.lazy import lazy_names

if TYPE_CHECKING:
    from dpheatmap.design.design import Design
    from dpheatmap.design.privacy_loss import ApproximateLoss, PrivacyLoss, PureLoss
    from dpheatmap.design.registry import DESIGNS
    from dpheatmap.design.settings import Settings

__all__ = [
    "DESIGNS",
    "ApproximateLoss",
    "Design",
    "PrivacyLoss",
    "PureLoss",
    "Settings",
]

_HOMES = {
    "ApproximateLoss": f"{__name__}.privacy_loss",
    "DESIGNS": f"{__name__}.registry",
    "Design": f"{__name__}.design",
    "PrivacyLoss": f"{__name__}.privacy_loss",
    "PureLoss": f"{__name__}.privacy_loss",
    "Settings": f"{__name__}.settings",
}
__getattr__ = lazy_names(__name__, _HOMES)
