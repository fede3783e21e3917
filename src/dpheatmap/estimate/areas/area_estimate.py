"""Numbers of people in areas, from the posterior: one draw after the other, so that errors are correlated as they are.

People who are in an area with a part of their events count with that part. Where an area's border cuts a cell, the
cell's people are shared by the part of it inside.

**Depth.** What was measured in cells much smaller than the areas is folded (`folding.py`): down to an eighth of the
side of a small area, that of the tenth part. Slivers don't make it deeper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpheatmap.estimate.areas.area_shapes import Shapes
from dpheatmap.estimate.areas.coverage import Coverage, cover
from dpheatmap.estimate.posterior.posterior import posterior, seed_of
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.releases.release import Release

DRAWS = 100
MOST_DRAWS = 2000
_CELLS_ACROSS = 8  # a small area
_SMALL = 0.1  # part of the areas


@dataclass(frozen=True, eq=False)
class AreaEstimate:
    """Posterior means of the numbers of people in areas and in all, and draws of them, a row a draw."""

    people: Floats
    total: float
    drawn: Floats
    drawn_totals: Floats
    coverage: Coverage


def draws_for(confidence: float) -> int:
    """How many draws intervals need: two beyond their ends, on average.

    >>> draws_for(0.9), draws_for(0.99)
    (100, 400)
    """
    return min(max(DRAWS, math.ceil(4.0 / (1.0 - confidence))), MOST_DRAWS)


def estimate_areas(release: Release, shapes: Shapes, draws: int = DRAWS) -> AreaEstimate:
    """Estimate the numbers of people in areas. The same release gives the same draws."""
    found = posterior(release, None, finest_level_for(release.domain, shapes.sizes))
    levels, codes, masses = found.draws(draws, np.random.default_rng(seed_of(release)))
    coverage = cover(shapes, release.domain, levels, codes)
    drawn, totals = [], []
    for mass in masses:
        drawn.append(coverage.total(mass))
        totals.append(float(mass.sum()))
    mean = found.layout.masses(found.node_means)
    return AreaEstimate(coverage.total(mean), found.total, np.array(drawn), np.array(totals), coverage)


def finest_level_for(domain: Domain, sizes: Floats) -> int:
    """The level whose cells are an eighth of a small area across; sizes are in finest cells."""
    side = math.sqrt(max(float(np.quantile(sizes, _SMALL)), 1.0))
    return min(max(domain.depth - int(math.log2(max(side / _CELLS_ACROSS, 1.0))), 0), domain.depth)
