"""The leaves of a release: the finest measured cells, with their shares and their uncertainty.

Leaves are disjoint and cover the domain, fine where many people are and coarse elsewhere. Their shares have no
smoothing, and no layout of mass inside coarse cells: inside a leaf, nothing was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpheatmap.estimate.inside_cells import weights_of
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, decode

if TYPE_CHECKING:
    from dpheatmap.estimate.posterior.posterior import Posterior
    from dpheatmap.estimate.posterior.public_measure import PublicMeasure
    from dpheatmap.releases.release import Release


class Edges(NamedTuple):
    """Edges of rectangles in the domain's coordinates; of a box's cells, ``y0`` is the south and ``y1`` the north."""

    x0: Floats
    y0: Floats
    x1: Floats
    y1: Floats


@dataclass(frozen=True, eq=False)
class Leaves:
    """Disjoint cells that cover the domain, and the share of people in each; a cell at the edge of a rectangle is cut.

    A cell that a boundary passes through is shown whole, with the area of its part inside.

    ``share`` adds up to 1. ``std`` is its standard deviation, None where no uncertainty is known, and ``std_of_people``
    that of the number of people.
    """

    domain: Domain
    levels: Ints
    codes: Ints
    share: Floats
    std: Floats | None
    std_of_people: Floats | None = None

    def __len__(self) -> int:
        return len(self.levels)

    @cached_property
    def x(self) -> Ints:
        """The cells' columns: of a box, x of the map tile."""
        return decode(self.codes)[0]

    @cached_property
    def y(self) -> Ints:
        """The cells' rows: of a box, y of the map tile."""
        return decode(self.codes)[1]

    @cached_property
    def edges(self) -> Edges:
        """The edges of the cells, as far as they lie inside the rectangle of the domain."""
        (left, right), (top, bottom) = self._inside
        (x0, y0), (x1, y1) = (self.domain.place.from_root(*corner) for corner in ((left, top), (right, bottom)))
        return Edges(x0, np.minimum(y0, y1), x1, np.maximum(y0, y1))

    @cached_property
    def area(self) -> Floats:
        """Area inside the domain in square metres on the ground, square pixels or square sides."""
        (left, right), (top, bottom) = self._inside
        finest = (right - left) * (bottom - top) * 4.0**self.domain.depth
        within = weights_of(self.domain, self.levels, self.codes) / finest
        area: Floats = self.domain.place.area(left, top, right, bottom) * within
        return area

    @cached_property
    def _inside(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """The cells' part of the domain in fractions of the root square: across, and down."""
        finest, whole = self.domain.cells(self.domain.depth), 2.0**self.domain.depth
        side = np.left_shift(1, self.domain.depth - self.levels)
        across = np.maximum(self.x * side, finest.x0), np.minimum((self.x + 1) * side, finest.x1)
        down = np.maximum(self.y * side, finest.y0), np.minimum((self.y + 1) * side, finest.y1)
        return (across[0] / whole, across[1] / whole), (down[0] / whole, down[1] / whole)


def leaves(release: Release, *, method: str = "posterior", prior: PublicMeasure | None = None) -> Leaves:
    """Compute the leaves of a release; ``method`` and ``prior`` as for :meth:`Release.distribution`.

    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> people = generated_people(500)
    >>> found = leaves(dph.release(people, dph.Domain.unit(6), epsilon=1, user="person", x="x", y="y"))
    >>> round(float(found.share.sum()), 6), round(float(found.area.sum()), 6)
    (1.0, 1.0)
    """
    from dpheatmap.estimate.posterior.posterior import posterior

    if method == "posterior":
        found = leaves_of_posterior(posterior(release, prior))
        if found is not None:
            return found
    shown = release.distribution(method=method)
    return Leaves(release.domain, shown.levels, shown.codes, shown.mass, None)


def leaves_of_posterior(found: Posterior) -> Leaves | None:
    """Compute the leaves of a posterior's tree; None if its mean is zero everywhere."""
    cells, total = found.cells, found.total
    if total <= 0.0:
        return None
    is_leaf = [(kids < 0).all(axis=1) for kids in cells.kids]
    levels = np.concatenate([np.full(int(leaf.sum()), cells.top + i) for i, leaf in enumerate(is_leaf)])
    codes = np.concatenate([codes[leaf] for codes, leaf in zip(cells.codes, is_leaf, strict=True)])
    node = np.concatenate([node[leaf] for node, leaf in zip(cells.node, is_leaf, strict=True)])
    share = found.node_means[node] / total
    std = std_of_shares(share, found.node_variances[node], float(found.node_variances[0]), total)
    return Leaves(cells.domain, levels, codes, share, std, np.sqrt(found.node_variances[node]))


def std_of_shares(share: Floats, variances: Floats, variance_of_total: float, total: float) -> Floats:
    """Standard deviations of shares v / T from the variances of the counts v and of their total T.

    To first order, var(v / T) = (var v - 2 s cov(v, T) + s^2 var T) / T^2 with s = v / T. The inside of a cell and its
    outside were measured with independent noise, so cov(v, T) is taken as var v.
    """
    variance = (1.0 - 2.0 * share) * variances + share**2 * variance_of_total
    std: Floats = np.sqrt(np.maximum(variance, 0.0)) / total
    return std
