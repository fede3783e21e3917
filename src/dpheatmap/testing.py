"""Repeatable noise and generated people, for tests, demos and documentation. Nothing made with a seed is private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpheatmap._util.duckdb_connection import connect
from dpheatmap.curator import Counts, Curator, release_from
from dpheatmap.place.domain import Domain
from dpheatmap.releases.release import Release

if TYPE_CHECKING:
    import duckdb

__all__ = ["CITY", "SeededSource", "generated_people", "seeded_curator", "seeded_release"]

CITY = (7.30, 46.90, 7.50, 47.02)
"""The box of an invented city, over the plain west of Bern; its people do not exist."""


class SeededSource:
    """Repeatable bytes instead of the operating system's: anyone who knows the seed can subtract the noise.

    Parameters
    ----------
    seed : int
        The seed of the generator.
    """

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def __call__(self, size: int) -> bytes:
        """Return ``size`` bytes."""
        return self._generator.bytes(size)


def seeded_release(events: Any, domain: Domain | None = None, *, seed: int, **options: Any) -> Release:
    """Make a release with repeatable noise, which is stamped as NOT PRIVATE.

    Parameters
    ----------
    events : path, data frame, relation, URL or Counts
        What :func:`dpheatmap.release` takes.
    domain : Domain, optional
        The public place; counts have their own.
    seed : int
        The seed of the noise.
    **options
        Epsilon and the other options of :func:`dpheatmap.release`.

    Returns
    -------
    Release
        Noisy measurements. Whoever knows the seed can subtract the noise.

    Examples
    --------
    >>> people = generated_people(200)
    >>> a, b = (seeded_release(people, Domain.unit(5), seed=1, epsilon=1, user="person", x="x", y="y") for _ in "ab")
    >>> (a.measurements.counts == b.measurements.counts).all(), a.seeded
    (np.True_, True)
    """
    return release_from(SeededSource(seed), events, domain, **options)


def seeded_curator(counts: Counts, epsilon: object, *, seed: int) -> Curator:
    """Make a curator whose noise is repeatable, for experiments with other mechanisms.

    Parameters
    ----------
    counts : Counts
        What :func:`dpheatmap.aggregate` returned.
    epsilon : number, str or Fraction
        The budget of the curator.
    seed : int
        The seed of the noise.

    Returns
    -------
    Curator
        A curator whose answers are NOT PRIVATE.
    """
    return Curator(counts, epsilon, SeededSource(seed))


def generated_people(
    people: int, *, extent: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0), seed: int = 0
) -> duckdb.DuckDBPyRelation:
    """Invent people of an invented city: each has a home, a workplace and a few haunts.

    A river bends through the extent. Homes lie on both banks in thirty quarters, work gathers in a centre, and some
    people are far more active than others.

    Parameters
    ----------
    people : int
        The number of people.
    extent : tuple of four float, default (0.0, 0.0, 1.0, 1.0)
        The box of the city: x0, y0, x1 and y1.
    seed : int, default 0
        The seed; the same seed gives the same people.

    Returns
    -------
    duckdb.DuckDBPyRelation
        A table of events with the columns person, x and y.

    Examples
    --------
    >>> generated_people(10).columns
    ['person', 'x', 'y']
    """
    rng = np.random.default_rng(seed)
    quarters = np.concatenate([rng.normal(0.5, 0.12, (10, 2)), rng.uniform(0.1, 0.9, (20, 2))])
    haunts = np.concatenate([rng.normal((0.5, 0.46), 0.08, (12, 2)), rng.uniform(0.1, 0.9, (18, 2))])
    home = quarters[rng.choice(30, people, p=_falling(30))] + rng.normal(0, 0.03, (people, 2))
    work = np.where(rng.random((people, 1)) < 0.6, (0.5, 0.46), haunts[rng.integers(0, 30, people)])
    work = work + rng.normal(0, 0.045, (people, 2))
    trips = rng.geometric(1 / 6, people) + 1
    person = np.repeat(np.arange(people), trips)
    kind = rng.random(len(person))[:, None]
    leisure = haunts[rng.choice(30, len(person), p=_falling(30))] + rng.normal(0, 0.012, (len(person), 2))
    place = np.where(kind < 0.5, home[person], np.where(kind < 0.75, work[person], leisure))
    place = np.clip(_off_the_river(place + rng.normal(0, 0.004, place.shape)), 0, 1)
    x0, y0, x1, y1 = extent
    columns = {"person": person, "x": x0 + place[:, 0] * (x1 - x0), "y": y0 + place[:, 1] * (y1 - y0)}
    con = connect()
    con.register("generated", columns)
    con.execute("CREATE TABLE people AS SELECT * FROM generated")
    return con.table("people")


def _falling(n: int) -> Any:
    weights = 1 / np.arange(1, n + 1) ** 0.6
    return weights / weights.sum()


def _off_the_river(points: Any) -> Any:
    """Move points in the water to the nearer bank."""
    middle = 0.55 + 0.12 * np.sin(5 * points[:, 0])
    away = points[:, 1] - middle
    points[:, 1] = np.where(np.abs(away) < 0.025, middle + np.where(away < 0, -0.025, 0.025), points[:, 1])
    return points
