"""The paper's synthetic data: people whose events come from a mixture of Gaussians on the unit square.

The paper draws the means and covariances at random, deals with 200 people, and says that "the number of Gaussians,
their covariances, and the number of samples from the mixture, are changed to control the sparsity of data", the share
of the cells of the grid that anybody visits. It does not give the laws. Here means are uniform, axes have uniform
directions, and standard deviations along them are log-uniform from half to twice a spread. Points are drawn until the
share is reached, and assigned to the people in turn. If this takes more than four points a cell of the grid, the spread
grows by half until it does not: a few narrow Gaussians never fill most of a square.

With the same seed, two sparsities that need the same spread have the same mixture, and the points of one are the first
points of the other. As in the paper's experiment with 20 Gaussians, only the number of samples changes.
"""

from __future__ import annotations

import numpy as np

from dpheatmap.errors import ParameterError
from dpheatmap.experiments.populations import Place
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, encode

SPREAD = 0.05
DENSEST = 0.9
_POINTS_PER_CELL = 4
_WIDENINGS = 8


def mixture(gaussians: int, sparsity: float, *, people: int = 200, depth: int = 8, rng: np.random.Generator) -> Place:
    """Generate people whose events fill that share of the cells, rounded to whole cells.

    >>> place = mixture(20, 0.15, rng=np.random.default_rng(0))
    >>> cells = place.sample(200, np.random.default_rng(0)).codes
    >>> place.people, round(len(cells) / 256**2, 3)
    (200, 0.15)
    """
    domain = Domain.unit(depth)
    if gaussians < 1 or people < 1:
        raise ParameterError(f"gaussians and people must be at least 1; they were {gaussians} and {people}. Give more.")
    cells = domain.count(depth)
    wanted = round(sparsity * cells)
    if not 1 <= wanted <= DENSEST * cells:
        raise ParameterError(
            f"sparsity must be the share of occupied cells, from one cell of {cells} to {DENSEST:g}; it was "
            f"{sparsity:g}. Give one such as 0.15."
        )
    means, roots = _components(gaussians, rng)
    seed = int(rng.integers(2**63))  # every spread is tried on the same draws
    for widening in range(_WIDENINGS):
        x, y = _points(means, roots * 1.5**widening, _POINTS_PER_CELL * cells, np.random.default_rng(seed))
        needed = _first_to_fill(domain, x, y, wanted)
        if needed:
            events = np.arange(max(needed, people))  # fewer points than people: some people share theirs
            return Place(
                f"{gaussians} Gaussians, {100 * sparsity:g} % of cells",
                domain,
                events % people,
                x[events % needed],
                y[events % needed],
            )
    raise ParameterError(
        f"{gaussians} Gaussians did not fill {100 * sparsity:g} % of {cells} cells, however wide. "
        "Take more Gaussians or a smaller sparsity."
    )


def _components(gaussians: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Means, and square roots of the covariances: a rotation times the standard deviations along the axes."""
    means = rng.random((gaussians, 2))
    angle = rng.uniform(0, np.pi, gaussians)
    deviations = SPREAD * 2 ** rng.uniform(-1, 1, (gaussians, 2))
    rotations = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]).transpose(2, 0, 1)
    return means, rotations * deviations[:, None, :]


def _points(means: Floats, roots: Floats, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The points on the unit square, of ``count`` draws from the mixture."""
    component = rng.integers(len(means), size=count)
    points = means[component] + np.einsum("nij,nj->ni", roots[component], rng.standard_normal((count, 2)))
    x, y = points[np.all((points >= 0) & (points < 1), axis=1)].T
    return x, y


def _first_to_fill(domain: Domain, x: Floats, y: Floats, wanted: int) -> int:
    """The number of first points that occupy ``wanted`` cells; 0 if all points occupy fewer."""
    column, row, _ = domain.locate(x, y)
    first_visits: Ints = np.sort(np.unique(encode(column, row), return_index=True)[1])
    return int(first_visits[wanted - 1]) + 1 if len(first_visits) >= wanted else 0
