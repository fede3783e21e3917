"""Numbers of people in areas, from the posterior: one draw after the other, so that errors are correlated as they are.

People who are in an area with a part of their events count with that part. Where an area's border cuts a cell, the
cell's people are shared by the part of it inside.

**Widening.** The posterior's model is not exact. On cities, gaze and generated maps, intervals of 90 % from its draws
held 66 to 92 % of the true shares of areas of a tenth of the map and more, least where people are in few places. So
draws of shares are moved away from their mean by the factor WIDER + SPIKY / concentration, and those of the number of
all people by WIDER. The constants were set on the maps of `benchmarks/intervals.py`; `benchmarks/areas.py` measures
what intervals hold on others.

**Depth.** What was measured in cells much smaller than the areas is folded (`folding.py`): down to an eighth of the
side of a small area, that of the tenth part. Slivers don't make it deeper. It is never coarser than the default map, so
that areas of a common size have the same numbers whatever else is in their file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpheatmap.estimate.areas.coverage import Coverage, cover
from dpheatmap.estimate.estimates import estimate_from
from dpheatmap.estimate.posterior.folding import finest_level
from dpheatmap.estimate.posterior.map_estimate import EstimateOfRelease, MapEstimate
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.place.rings import Shapes
from dpheatmap.releases.estimable import Estimable

DRAWS = 100
PAIRED_DRAWS = 1000
"""Draws of a probability that one area has more people than another, which has three decimals."""
MOST_DRAWS = 2000
WIDER, SPIKY = 1.1, 0.1
_CELLS_ACROSS = 8  # a small area
_SMALL = 0.1  # part of the areas
_MAP = 50  # the default smoothing is this part of the longer side


@dataclass(frozen=True, eq=False)
class AreaEstimate:
    """Posterior means of the numbers of people in areas and in all, and draws of them, a row a draw.

    ``widening`` is the factor by which shares are moved away from their mean.
    """

    people: Floats
    total: float
    drawn: Floats
    drawn_totals: Floats
    coverage: Coverage
    widening: float

    @cached_property
    def shares(self) -> Floats:
        """The part of all people in each area."""
        return self.people / self.total if self.total > 0.0 else np.zeros(len(self.people))

    @cached_property
    def drawn_shares(self) -> Floats:
        """Draws of the shares, widened."""
        totals = np.where(self.drawn_totals > 0.0, self.drawn_totals, 1.0)[:, None]
        return np.maximum(self.shares + self.widening * (self.drawn / totals - self.shares), 0.0)

    @cached_property
    def drawn_people(self) -> Floats:
        """Draws of the numbers of people, widened."""
        totals = np.maximum(self.total + WIDER * (self.drawn_totals - self.total), 0.0)
        return self.drawn_shares * totals[:, None]


def draws_for(confidence: float) -> int:
    """How many draws intervals need: two beyond their ends, on average.

    >>> draws_for(0.9), draws_for(0.99)
    (100, 400)
    """
    return min(max(DRAWS, math.ceil(4.0 / (1.0 - confidence))), MOST_DRAWS)


class Coverages:
    """What areas cover of the cells of estimates, of which many have the same cells."""

    def __init__(self, shapes: Shapes, domain: Domain) -> None:
        self.shapes, self.domain = shapes, domain
        self._cells: tuple[Ints, Ints] | None = None
        self._found: Coverage | None = None

    def of(self, levels: Ints, codes: Ints) -> Coverage:
        """What the areas cover of these cells; it is kept until other cells are asked for."""
        known = self._cells is not None and self._cells[0] is levels and self._cells[1] is codes
        if self._found is None or not known:
            self._cells, self._found = (levels, codes), cover(self.shapes, self.domain, levels, codes)
        return self._found


def estimate_areas(source: Estimable, coverages: Coverages, draws: int = DRAWS) -> AreaEstimate:
    """Estimate the numbers of people in areas. The same release gives the same draws, which slices share."""
    found = estimate_from(source, finest_level_for(source.domain, coverages.shapes.sizes))
    levels, codes, masses = found.draws(draws, np.random.default_rng(found.seed))
    coverage = coverages.of(levels, codes)
    drawn, totals = [], []
    for mass in masses:
        drawn.append(coverage.total(mass))
        totals.append(float(mass.sum()))
    mean = found.distribution()
    people = np.zeros(len(coverage.ground)) if mean.empty else coverage.total(mean.mass * mean.total)
    return AreaEstimate(people, found.total, np.array(drawn), np.array(totals), coverage, _widening(found))


def _widening(estimate: MapEstimate) -> float:
    """The factor for draws of shares; slices that were measured in blocks have wider numbers in blocks already."""
    return WIDER + SPIKY / estimate.concentration if isinstance(estimate, EstimateOfRelease) else WIDER


def finest_level_for(domain: Domain, sizes: Floats) -> int:
    """The level whose cells are an eighth of a small area across, or that of the default map if it is finer.

    Sizes are in finest cells.
    """
    side = math.sqrt(max(float(np.quantile(sizes, _SMALL)), 1.0))
    needed = domain.depth - int(math.log2(max(side / _CELLS_ACROSS, 1.0)))
    return min(max(needed, level_of_default_map(domain)), domain.depth)


def level_of_default_map(domain: Domain) -> int:
    """The finest level that a map with the default smoothing shows."""
    return finest_level(domain, domain.longer_side / _MAP)
