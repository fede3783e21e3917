"""Copies of a release: their noise is the same, not independent, so they tell nothing new."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dpheatmap.releases.release import Release


def are_copies(a: Release, b: Release) -> bool:
    """Whether two releases have the same measurements of the same place."""
    mine, other = a.columns(), b.columns()
    same = a.domain == b.domain and a.units == b.units and a.loss == b.loss and mine.keys() == other.keys()
    return same and all(np.array_equal(mine[name], other[name]) for name in mine)


def without_copies(releases: Iterable[Release]) -> tuple[Release, ...]:
    """Each release once, the oldest first; in whatever order they come, the result is the same."""
    found: list[Release] = []
    for release in sorted(releases, key=_rank):
        if not any(are_copies(release, other) for other in found):
            found.append(release)
    return tuple(found)


def _rank(release: Release) -> tuple[object, ...]:
    """The time of making, and what tells releases of one time apart."""
    return release.made, release.epsilon, len(release.measurements), release.measurements.counts.tobytes()
