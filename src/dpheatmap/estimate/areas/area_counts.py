"""Areas that are read once, and the people in them counted in a release, or in one slice after the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap.estimate.areas.area_checks import refuse_outside
from dpheatmap.estimate.areas.area_estimate import AreaEstimate, Coverages, estimate_areas
from dpheatmap.estimate.areas.area_source import read_areas
from dpheatmap.estimate.areas.named_areas import NamedAreas
from dpheatmap.place.domain import Domain
from dpheatmap.releases.estimable import Estimable

_SPECK = 1e-6  # finest cells: a smaller area is too small to say that it is outside


class CountedAreas(NamedTuple):
    """Areas as they were read, their numbers, and which of them lie outside the place."""

    read: NamedAreas
    found: AreaEstimate
    outside: NDArray[np.bool_]


class AreaCounter:
    """Areas of any source on a domain; ``source`` has the options of `read_areas`."""

    def __init__(self, areas: Any, domain: Domain, **source: str | None) -> None:
        self._read = read_areas(areas, domain, **source)
        self._coverages = Coverages(self._read.shapes(domain), domain)

    def count(self, source: Estimable, draws: int) -> CountedAreas:
        """Estimate the people in the areas, of which some must lie in the place."""
        found = estimate_areas(source, self._coverages, draws)
        outside = (found.coverage.inside <= 0.0) & (self._coverages.shapes.sizes > _SPECK)
        if outside.all():
            refuse_outside(self._read, source.domain)
        return CountedAreas(self._read, found, outside)
