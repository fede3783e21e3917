"""Visits per tile, as `dp_mobility_report` publishes them (Kapp, Nuñez von Voigt, Mihaljević, Tschorsch 2022)."""

from __future__ import annotations

import numpy as np

from dpheatmap.curator import Curator
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.baselines import finest_grid

TILES = 10
"""Tiles along the longer side of the place."""


def tiles(curator: Curator) -> Distribution:
    """Add noise to the count of every tile of a fixed tessellation, and set negative counts to 0.

    The tessellation is the user's choice, before any data is read. The package's example makes tiles of about 1 km;
    the city cells of the experiments are about 20 km wide. Ten tiles a side, of 2 km, have about half of the EMD of
    the example's there, and of eleven numbers tried the least product of EMD and KL. So ten it is.

    *Privacy.* Tiles are disjoint, so their counts are one question.

    *What is different.* The package draws at most M trips of a person, counts both ends of each, and adds noise of
    scale 2 M / eps. Here a person's weight of 1 is shared by all of their places, and the noise has scale 1 / eps. That
    is the package's noise if everybody has M trips, and less otherwise. The package divides epsilon among all of its
    analyses; here this one gets all of it. The package rounds counts to whole visits; here they stay as they are.
    All of this flatters it. Tiles are square here; its example's are hexagons of the same size.
    """
    rows, columns = finest_grid(curator.domain)
    longer = max(rows, columns)
    down, across = (-(-min(TILES, longer) * length // longer) for length in (rows, columns))
    row, column = (np.arange(length) * parts // length for length, parts in ((rows, down), (columns, across)))
    labels = row[:, None] * across + column[None, :]
    people = np.maximum(curator.regions(labels, curator.rest), 0.0)
    return Distribution.from_raster(curator.domain, (people / np.bincount(labels.ravel()))[labels])
