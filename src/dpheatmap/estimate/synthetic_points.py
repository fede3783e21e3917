"""Synthetic points: places where somebody may be, drawn from the estimate. They are nobody's, and make no journeys.

Each point is drawn by itself: a cell by its share of people, and a place in it. The points tell no more than the map
does, so they are as public as the release, however many are drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import check
from dpheatmap.estimate.areas.coverage import boxes_of_cells
from dpheatmap.estimate.inside_cells import cut_at_boundary
from dpheatmap.estimate.posterior.posterior import posterior, seed_of
from dpheatmap.releases.release import Release

ABOUT = (
    "Synthetic points from a differentially private map: places, not people. No point is a person, and two points "
    "have nothing to do with each other; there are no journeys in them."
)


def sample_points(release: Release, count: int, *, seed: int | None, uncertain: bool) -> Any:
    """Draw points from the posterior mean, or from one draw of the posterior; a frame of pandas."""
    check(points=count, uncertain=uncertain)
    if seed is not None:
        check(seed=seed)
    pandas = import_extra("pandas", "geo", "Synthetic points")
    rng = np.random.default_rng(seed_of(release) if seed is None else [*seed_of(release), int(seed)])
    found = posterior(release)
    levels, codes = found.layout.levels, found.layout.codes
    if uncertain:
        (people,) = found.draws(1, rng).masses
    else:
        people = found.layout.masses(found.node_means)
    cells = cut_at_boundary(release.domain, levels, codes, release.domain.depth)
    people = np.maximum(people, 0.0)[cells.holder] * cells.part
    chosen = rng.choice(len(people), int(count), p=people / people.sum())
    left, top, right, bottom = boxes_of_cells(release.domain, cells.levels[chosen], cells.codes[chosen]).T
    side = 2.0**release.domain.depth
    u = rng.uniform(left, right) / side
    v = rng.uniform(top, bottom) / side
    x, y = release.domain.place.from_root(u, v)
    x0, y0, x1, y1 = release.domain.extent
    x = release.domain.place.customary(np.clip(x, x0, x1))
    frame = pandas.DataFrame({"x": x, "y": np.clip(y, y0, y1)})
    frame.attrs = {"about": ABOUT, "epsilon": str(release.epsilon), "ground": release.domain.geographic}
    return frame
