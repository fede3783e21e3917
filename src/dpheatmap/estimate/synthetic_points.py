"""Synthetic points: places where somebody may be, drawn from the estimate. They are nobody's, and make no journeys.

Each point is drawn by itself: a cell by its share of people, and a place in it. The points tell no more than the map
does, so they are as public as the release, however many are drawn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import check
from dpheatmap.estimate.areas.coverage import boxes_of_cells
from dpheatmap.estimate.estimates import estimate_from
from dpheatmap.estimate.inside_cells import cut_at_boundary, weights_of
from dpheatmap.estimate.posterior.map_estimate import MapEstimate
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.estimable import Estimable
from dpheatmap.releases.sliced_release import SlicedRelease

ABOUT = (
    "Synthetic points from a differentially private map: places, not people. No point is a person, and two points "
    "have nothing to do with each other; there are no journeys in them."
)


def sample_points(release: Estimable, count: int, *, seed: int | None, uncertain: bool) -> Any:
    """Draw points from the posterior mean, or from one draw of the posterior; a frame of pandas."""
    _check(count, seed, uncertain)
    estimate = estimate_from(release)
    rng = _generator(estimate, seed)
    return _frame(release, *_points(release.domain, _people(estimate, rng, uncertain), count, rng))


def sample_slices(release: SlicedRelease, count: int, *, seed: int | None, uncertain: bool) -> Any:
    """Draw points of all slices, which get them in proportion to their people; a frame with a column of slices.

    If maps are drawn, those of all slices belong together.
    """
    _check(count, seed, uncertain)
    estimates = [estimate_from(release.slice(label)) for label in release.slices]
    rng = _generator(estimates[0], seed)
    people = [_people(each, _generator(each, seed), uncertain) for each in estimates]
    totals = np.array([float(np.maximum(each.people, 0.0).sum()) for each in people])
    shares = totals / totals.sum() if totals.any() else np.full(len(totals), 1.0 / len(totals))
    many = rng.multinomial(int(count), shares)
    x, y = np.hstack([_points(release.domain, each, n, rng) for each, n in zip(people, many, strict=True)])
    frame = _frame(release, x, y)
    frame["slice"] = np.repeat(np.array(release.slices, dtype=object), many)
    return frame


class _People(NamedTuple):
    """Numbers of people in disjoint cells."""

    levels: Ints
    codes: Ints
    people: Floats


def _check(count: int, seed: int | None, uncertain: bool) -> None:
    check(sample_points=count, uncertain=uncertain)
    if seed is not None:
        check(seed=seed)


def _generator(estimate: MapEstimate, seed: int | None) -> np.random.Generator:
    return np.random.default_rng(estimate.seed if seed is None else [*estimate.seed, int(seed)])


def _people(estimate: MapEstimate, rng: np.random.Generator, uncertain: bool) -> _People:
    """The estimated people in cells, or those of one draw."""
    if uncertain:
        levels, codes, masses = estimate.draws(1, rng)
        (drawn,) = masses
        return _People(levels, codes, drawn)
    found = estimate.distribution()
    return _People(found.levels, found.codes, found.mass * (1.0 if found.empty else found.total))


def _points(domain: Domain, where: _People, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw points, each by itself, in the domain's coordinates; evenly, if nobody was drawn."""
    cells = cut_at_boundary(domain, where.levels, where.codes, domain.depth)
    somebody = where.people if (where.people > 0.0).any() else weights_of(domain, where.levels, where.codes)
    people = np.maximum(somebody, 0.0)[cells.holder] * cells.part
    chosen = rng.choice(len(people), int(count), p=people / people.sum())
    left, top, right, bottom = boxes_of_cells(domain, cells.levels[chosen], cells.codes[chosen]).T
    side = 2.0**domain.depth
    u = rng.uniform(left, right) / side
    v = rng.uniform(top, bottom) / side
    x, y = domain.place.from_root(u, v)
    x0, y0, x1, y1 = domain.extent
    return domain.place.customary(np.clip(x, x0, x1)), np.clip(y, y0, y1)


def _frame(release: Estimable | SlicedRelease, x: Floats, y: Floats) -> Any:
    pandas = import_extra("pandas", "geo", "Synthetic points")
    frame = pandas.DataFrame({"x": x, "y": y})
    frame.attrs = {"about": ABOUT, "epsilon": str(release.epsilon), "ground": release.domain.geographic}
    return frame
