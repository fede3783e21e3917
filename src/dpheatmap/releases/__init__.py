"""Releases, which alone cross the wall: the noisy tree, its privacy label, its file, and the trust model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpheatmap._util.lazy import lazy_names

if TYPE_CHECKING:
    from dpheatmap.releases.discovery import Discovery
    from dpheatmap.releases.measurements import Measurements
    from dpheatmap.releases.release import Release, load
    from dpheatmap.releases.release_slice import Slice
    from dpheatmap.releases.sliced_release import SlicedRelease
    from dpheatmap.releases.trust import Trust

__all__ = [
    "Discovery",
    "Measurements",
    "Release",
    "Slice",
    "SlicedRelease",
    "Trust",
    "load",
]

_HOMES = {
    "Discovery": f"{__name__}.discovery",
    "Measurements": f"{__name__}.measurements",
    "Release": f"{__name__}.release",
    "Slice": f"{__name__}.release_slice",
    "SlicedRelease": f"{__name__}.sliced_release",
    "Trust": f"{__name__}.trust",
    "load": f"{__name__}.release",
}
__getattr__ = lazy_names(__name__, _HOMES)
