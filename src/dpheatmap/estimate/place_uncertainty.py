"""Uncertainty of the numbers of people near places, from posterior draws.

The centres are fixed. In each draw, every cell has another number of people, and so has the catchment of each centre.
If people were themselves a draw from the model, the true numbers would lie between quantiles of the draws as often as
the quantiles say. This holds however the centres were found, because they and the posterior follow from the release
alone.

The model is not exact: on generated and real cities, intervals of 90 % from the draws held 83 % of the true numbers.
So draws are moved away from their mean by the factor WIDER; `docs/guides/places.md` has its coverage on other people's
data. The average distance from the nearest centre has no such interval. The posterior is biased there by more than its
draws vary: outwards where it puts a few people into empty cells, inwards where people are farther out than it knows.
"""

from __future__ import annotations

import numpy as np

from dpheatmap.estimate.estimates import estimate_from
from dpheatmap.estimate.places import Plane, nearest_centre, points_of
from dpheatmap.place.domain import Floats
from dpheatmap.releases.estimable import Estimable

DRAWS = 100
WIDER = 1.5


def draws_of_people(release: Estimable, centres: Floats, metric: str) -> Floats:
    """Draw the numbers of people nearest to each centre, a row a draw; the same release gives the same draws."""
    estimate = estimate_from(release)
    levels, codes, masses = estimate.draws(DRAWS, np.random.default_rng(estimate.seed))
    points, plane = points_of(release.domain, levels, codes), Plane(release.domain)
    nearest, _ = nearest_centre(*plane.of(points.x, points.y), plane, centres, metric)
    people = np.array([np.bincount(nearest, mass[points.cell] * points.part, len(centres)) for mass in masses])
    mean = people.mean(axis=0)
    widened: Floats = np.maximum(mean + WIDER * (people - mean), 0.0)
    return widened
