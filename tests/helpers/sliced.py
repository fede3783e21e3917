"""Releases of slices about invented people: many on fridays, some on other days, and nobody on sundays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpheatmap.curator.sliced_publish import release_slices, slices_of
from dpheatmap.heatmap.series import Series
from dpheatmap.place.domain import Domain
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.testing import SeededSource, generated_people

DAY = "CASE WHEN hash(x, y) % 3 = 0 THEN 4 ELSE hash(y, x) % 6 END"
COLUMNS = (
    f"*, TIMESTAMP '2024-06-03 08:30:00' + INTERVAL (CAST({DAY} AS BIGINT)) DAY AS started, "
    "CASE WHEN person % 3 = 0 THEN 'bike' ELSE 'walk' END AS mode"
)


def sliced(domain: Domain, *, people: int = 2000, groups: tuple[str, ...] = (), times: bool = True) -> SlicedRelease:
    """A release of the days of the week, of groups, or of both, with a seed."""
    table = generated_people(people, extent=domain.extent).project(COLUMNS)
    time, every, zone = ("started", "weekday", "UTC") if times else (None, None, None)
    slices = slices_of(time, every, zone, None, None, "mode" if groups else None, groups or None)
    return release_slices(SeededSource(1), table, domain, slices, epsilon=2, user="person", x="x", y="y")


def series_of_days(domain: Domain, size: int) -> Series:
    """The maps of the days of the week; that of sundays is even, whatever the noise is."""
    made = sliced(domain).heatmap(size=size)
    nobody = made["sun"]
    even = np.full_like(nobody.values, 1.0 / nobody.values.size)
    made._maps["sun"] = replace(nobody, values=even, uniform=True, uncertainty=None)
    return made
