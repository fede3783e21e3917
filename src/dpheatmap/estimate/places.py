"""Places: k centres that people are near to, from a release. This is post-processing and costs no budget.

The estimated numbers of people in cells, not normalised, are a *coreset*: for any centres, the cost of the cells is
near that of the people, because moving people to the estimate costs little (the paper's section on k-median). So any
k-median solver on the cells gives good centres for the people. It needs only the release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap._util.parameters import check
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.inside_cells import cut_at_boundary
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, decode
from dpheatmap.releases.release import Release, need_release
from dpheatmap.releases.release_slice import Slice

RANKINGS = 20
"""The most repetitions of ranking. A cell equally near to two places belongs to the first, so ranking may move it."""

FINE = 32
"""A cell larger than 1 / FINE of the domain's longer side is split before it becomes points."""


class Plane(NamedTuple):
    """The plane of distances: ground metres for a box, else the domain's own coordinates.

    Metres are exact to the north and south, and to the east and west on the middle latitude of the box.
    """

    domain: Domain

    def of(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Convert points from the domain's coordinates to the plane."""
        px, py = np.asarray(x, np.float64), np.asarray(y, np.float64)
        across, up = self.domain.place.lengths_of_units
        return px * across, py * up

    def back(self, points: Floats) -> Floats:
        """Convert points of the plane, n x 2, to the domain's coordinates."""
        back: Floats = points / np.array(self.domain.place.lengths_of_units)
        return back


@dataclass(frozen=True, eq=False)
class Places:
    """k centres that people are near to, with the busiest first; :func:`kmedian` finds them.

    They are safe to publish, because they follow from a release alone. Lengths are in ground metres, pixels or
    fractions of the side, as the domain is.

    Attributes
    ----------
    release : Release or Slice
        The release or the slice that they were found in.
    centres : array of float, k x 2
        The centres in the domain's coordinates: longitude and latitude for a box.
    weights : array of float
        The estimated number of people nearer to each centre than to all others.
    distances : array of float
        The average distance of these people from their centre.
    metric : {"l1", "euclidean"}
        How distances are measured.
    method : str
        The reconstruction that people were estimated by.
    empty : bool
        Whether nothing rose above the noise. The centres are then those of an even spread.
    """

    release: Release | Slice
    centres: Floats
    weights: Floats
    distances: Floats
    metric: str
    method: str
    empty: bool

    @property
    def domain(self) -> Domain:
        """The place of the release."""
        return self.release.domain

    @property
    def cost(self) -> float:
        """The average distance of people from their nearest centre."""
        return float(self.weights @ self.distances / self.weights.sum())

    @property
    def shares(self) -> Floats:
        """The share of people in the catchment of each centre."""
        shares: Floats = self.weights / self.weights.sum()
        return shares

    @property
    def has_intervals(self) -> bool:
        """Whether the uncertainty of the weights is known: for places from the posterior."""
        return self.method == "posterior" and not self.empty

    def intervals(self, confidence: float = 0.9) -> tuple[Floats, Floats]:
        """Compute an interval for the true number of people nearest to each place.

        Parameters
        ----------
        confidence : float, default 0.9
            The probability with which the interval of a place holds the true number.

        Returns
        -------
        low, high : array of float
            The ends of the intervals, place by place.

        Raises
        ------
        ParameterError
            If the uncertainty is not known; see :attr:`has_intervals`.

        Notes
        -----
        The intervals cover the noise and what it leaves open, for these places. They don't tell whether other places
        would be better. `docs/guides/places.md` tells how often they held in trials.
        """
        from dpheatmap.estimate.place_uncertainty import draws_of_people

        check(confidence=confidence)
        if not self.has_intervals:
            raise ParameterError(
                f"How sure these places are is not known: they were made by the method {self.method!r}, or nothing "
                "rose above the noise. Make them with method='posterior'."
            )
        tail = 0.5 * (1.0 - float(confidence))
        drawn = draws_of_people(self.release, self.centres, self.metric)
        low, high = np.quantile(drawn, [tail, 1.0 - tail], axis=0)
        return np.minimum(low, self.weights), np.maximum(high, self.weights)

    def catchment(self, x: ArrayLike, y: ArrayLike) -> Ints:
        """Find the centre that each point is nearest to.

        Parameters
        ----------
        x, y : array of float
            The points, in the domain's coordinates: longitude and latitude for a box.

        Returns
        -------
        array of int
            The number of the nearest centre, from 0, in the shape of ``x``.
        """
        nearest, _ = nearest_centre(*Plane(self.domain).of(x, y), Plane(self.domain), self.centres, self.metric)
        return nearest

    def save(self, path: str | PathLike[str]) -> None:
        """Write the places to a file in the format of its suffix.

        Parameters
        ----------
        path : path
            The file: .csv, .geojson, or a map as .png, .svg or .pdf.
        """
        from dpheatmap.render.figure.places_map import save

        save(self, path)

    def __repr__(self) -> str:
        return (
            f"<{len(self.centres)} Places, {self.domain.length_in_words(self.cost)} from people on average"
            f"{', NOT PRIVATE' if self.release.seeded else ''}>"
        )


def kmedian(release: Release | Slice, k: int, *, metric: str = "l1", method: str = "posterior") -> Places:
    """Find k centres that people are near to on average, such as places for k stations. This costs no budget.

    Parameters
    ----------
    release : Release or Slice
        The release that people are estimated from, or one slice of it.
    k : int
        The number of centres.
    metric : {"l1", "euclidean"}, default "l1"
        How distances are measured: along streets that run north and east, or as the crow flies.
    method : {"posterior", "paper", "dense"}, default "posterior"
        How people are estimated, as for :meth:`Release.distribution`. Only "posterior" comes with intervals.

    Returns
    -------
    Places
        The centres, the busiest first. The same release gives the same places.

    Examples
    --------
    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> release = dph.release(generated_people(2000), dph.Domain.unit(8), epsilon=1, user="person", x="x", y="y")
    >>> places = dph.kmedian(release, k=5)
    >>> places.centres.shape, bool(places.cost < 0.25), round(float(places.shares.sum()), 6)
    ((5, 2), True, 1.0)
    """
    from dpheatmap.estimate.median import k_median

    need_release(release, Slice)
    check(k=k, metric=metric)
    estimate = release.distribution(method=method)
    x, y, people = weighted_points(estimate)
    plane = Plane(release.domain)
    u, v = plane.of(x, y)
    found, _ = k_median(u, v, people, int(k), euclidean=metric == "euclidean")
    centres = plane.back(found)
    weights = np.zeros(int(k))
    for _ in range(RANKINGS):
        centres = centres[np.argsort(-weights, kind="stable")]
        nearest, away = nearest_centre(u, v, plane, centres, metric)
        weights = np.bincount(nearest, people, int(k)).astype(np.float64)
        if np.all(np.diff(weights) <= 0):
            break
    distances = np.bincount(nearest, people * away, int(k)) / np.where(weights > 0, weights, 1.0)
    return Places(release, centres, weights, distances, metric, method, estimate.empty)


def weighted_points(estimate: Distribution) -> tuple[Floats, Floats, Floats]:
    """The coreset: points in the domain's coordinates, and the estimated people at them.

    If nobody is estimated, a single person is spread evenly.
    """
    some = estimate.only(estimate.mass > 0)
    points = points_of(estimate.domain, some.levels, some.codes)
    people = some.mass[points.cell] * points.part * (estimate.total if estimate.total > 0 else 1.0)
    return points.x, points.y, people


class Points(NamedTuple):
    """Points that represent cells: their coordinates, the cell of each, and the part of the cell it represents."""

    x: Floats
    y: Floats
    cell: Ints
    part: Floats


def points_of(domain: Domain, levels: Ints, codes: Ints) -> Points:
    """Compute the middles of cells in the domain's coordinates; coarse cells are split first.

    People may be anywhere in a coarse cell. For a cell at the domain's edge, the middle is that of the part inside.
    """
    finest, whole = domain.cells(domain.depth), 2.0**domain.depth
    longer = max(finest.columns, finest.rows)
    inside = cut_at_boundary(domain, levels, codes, domain.depth - int(math.log2(max(1.0, longer / FINE))))
    column, row = decode(inside.codes)
    side = np.left_shift(1, domain.depth - inside.levels)
    left, top = np.maximum(column * side, finest.x0), np.maximum(row * side, finest.y0)
    wide, high = np.minimum((column + 1) * side, finest.x1) - left, np.minimum((row + 1) * side, finest.y1) - top
    across, down = (-(-length * FINE // longer) for length in (wide, high))
    cell = np.repeat(np.arange(len(inside.codes)), across * down)
    number = np.arange(len(cell)) - np.repeat(np.cumsum(across * down) - across * down, across * down)
    u = (left[cell] + wide[cell] * (number % across[cell] + 0.5) / across[cell]) / whole
    v = (top[cell] + high[cell] * (number // across[cell] + 0.5) / down[cell]) / whole
    part = (inside.part / (across * down))[cell]
    return Points(*domain.place.from_root(u, v), inside.holder[cell], part)


def nearest_centre(u: Floats, v: Floats, plane: Plane, centres: Floats, metric: str) -> tuple[Ints, Floats]:
    """Find the nearest centre to each point of the plane, and the distance to it."""
    from dpheatmap.estimate.median import assign, initial_assignment

    shape, u, v = u.shape, u.ravel(), v.ravel()
    served = initial_assignment(len(u))
    placed = np.stack(plane.of(centres[:, 0], centres[:, 1]), axis=1)
    assign(u, v, placed, metric == "euclidean", served)
    return served.nearest.reshape(shape), served.first.reshape(shape)
