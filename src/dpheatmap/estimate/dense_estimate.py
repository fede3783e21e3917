"""The paper's reconstruction for its dense design: the non-negative map nearest to a noisy grid in the EMD norm.

Each cell of a grid has a noisy count y. The estimate is the s >= 0 with the least ||y - s||, where

    ||v|| = least of EMD(p, q) + 2 |r|  over p, q >= 0 of equal totals with p - q + r = v,

with distances in sides of the grid. Mass that can't be moved is made or destroyed at a price of 2 a unit, the diameter
of the square.

*This is one minimum-cost flow.* Let W be the sum of y.

* W > 0: filling a cell's deficit from another one's surplus costs less than 2, and all deficits can be filled so. An
  optimal s makes and destroys nothing: if some r_u < 0 then, as W > 0, some cell w keeps s_w > 0 or destroys r_w > 0,
  and moving that to u instead saves 2 less the distance, or more. Nor is there an r_u > 0: it can stay, in s_u.
  So ||y - s|| is the cost of filling the deficits, and s is the mass that stays. As a flow: y are the supplies, and a
  bank takes W in from any cell at no cost. The amount that a cell pays in is its s.
* W <= 0: by the same exchange any s_w > 0 is better used to fill one of the deficits that are left. So s = 0.

There can be many optimal maps. The one taken is that of the tree with which the network simplex ends.
"""

from __future__ import annotations

import numpy as np

from dpheatmap.design.dense import DenseDesign
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import decode
from dpheatmap.releases.release import Release

_ALPHA = 2  # the price, in sides, of making a unit of mass


def reconstruct(release: Release) -> Distribution:
    """Estimate where people are by the paper's dense aggregation; the flagged uniform map if the noisy total is <= 0.

    The grid is the last measurement. Before it there may be one other: the total count, by which the grid was chosen.
    """
    assert isinstance(release.design, DenseDesign), "the dense reconstruction needs its own design"
    m, level = release.measurements, release.measured_levels[1]
    start = len(m) - release.domain.count(level)
    codes, counts, cells = m.codes[start:], m.counts[start:], release.domain.cells(level)
    x, y = decode(codes)
    noisy = np.zeros((cells.rows, cells.columns))
    noisy[y - cells.y0, x - cells.x0] = counts / release.units
    people = nearest_map(noisy)[y - cells.y0, x - cells.x0]
    return Distribution.from_people(release.domain, np.full(len(codes), level), codes, people)


def nearest_map(noisy: Floats) -> Floats:
    """Find the non-negative map nearest to a signed one in the EMD norm; all 0 if its sum is not positive.

    >>> nearest_map(np.array([[5.0, -1.0, -1.0], [0.0, 0.0, 4.0]])).tolist()
    [[4.0, 0.0, 0.0], [0.0, 0.0, 3.0]]
    """
    from dpheatmap.flow.masses import signed_supply
    from dpheatmap.flow.network_simplex import Grid
    from dpheatmap.flow.proof import optimum

    if noisy.sum() <= 0.0:
        return np.zeros(noisy.shape)
    supply = signed_supply(noisy)
    rows, columns = noisy.shape
    grid = Grid(rows, columns, banked=True, out=0, into=_ALPHA * max(rows, columns))
    kept = optimum(np.append(supply.units, -supply.units.sum()), grid).flow.bank
    people: Floats = np.ldexp(kept.astype(np.float64), -supply.power).reshape(noisy.shape)
    return people
