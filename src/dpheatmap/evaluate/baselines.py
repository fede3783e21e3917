"""The paper's baselines (after Liu et al. 2019): noise on every cell of the finest level; only the largest are kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.parameters import check
from dpheatmap.curator import Counts, Curator
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.place.domain import Domain

MOST_CELLS = 2**24
TOPS = (0.001, 0.01, 0.1, 1.0)
"""The percentages that the paper tries."""


def baseline(counts: Counts, *, epsilon: object, top: float | None = None) -> Distribution:
    """Add Laplace noise to every cell of the finest level and set negative values to 0: the paper's baseline.

    Parameters
    ----------
    counts : Counts
        What :func:`aggregate` returned.
    epsilon : number, str or Fraction
        How much may leak about a person. The noise is as exact as a release's, and so is the promise: ``epsilon``-DP
        for adding or removing one person.
    top : float, optional
        The percentage of the cells that are kept, those with the largest noisy values; at least one cell is. By default
        all are kept.

    Returns
    -------
    Distribution
        Where people are, as masses of cells. It is safe to publish.

    Raises
    ------
    ParameterError
        If the domain has more than 2^24 finest cells, all of which would have to be held in memory.

    Examples
    --------
    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> counts = dph.aggregate(generated_people(500), dph.Domain.unit(5), user="person", x="x", y="y")
    >>> len(dph.baseline(counts, epsilon=1, top=0.5).mass)
    5
    """
    return noise_on_every_cell(Curator(counts, epsilon), top)


def noise_on_every_cell(curator: Curator, top: float | None = None) -> Distribution:
    """Run the baseline with a curator: one question about all cells, which costs all of epsilon."""
    if top is not None:
        check(top=top)
    rows, columns = finest_grid(curator.domain)
    people = curator.regions(np.arange(rows * columns).reshape(rows, columns), curator.rest)
    people[~_inside(curator.domain)] = 0.0
    if top is not None:
        kept = max(1, round(curator.domain.count(curator.domain.depth) * float(top) / 100))
        people[np.argpartition(people, -kept)[: len(people) - kept]] = 0.0
    return Distribution.from_raster(curator.domain, people.reshape(rows, columns))


def _inside(domain: Domain) -> NDArray[np.bool_]:
    """Which cells of the finest grid, row by row, meet the domain: outside of a boundary noise is known to be noise."""
    finest = domain.cells(domain.depth)
    y, x = np.divmod(np.arange(finest.count), finest.columns)
    return domain.meets(domain.depth, x + finest.x0, y + finest.y0)


def finest_grid(domain: Domain) -> tuple[int, int]:
    """Rows and columns of the finest cells, for methods that hold all of them; refuses a grid that is too fine."""
    finest = domain.cells(domain.depth)
    if finest.count > MOST_CELLS:
        raise ParameterError(
            f"This method holds every finest cell in memory, at most {MOST_CELLS:,}; the domain has {finest.count:,} "
            f"({finest.columns:,} x {finest.rows:,}). Use a coarser domain, or release, which does not."
        )
    return finest.rows, finest.columns
