"""Kinds of people for the benchmarks of the dense design: points on the unit square, from one place to everywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import dpheatmap as dph
from dpheatmap.experiments.mixtures import mixture
from dpheatmap.experiments.populations import Place
from dpheatmap.place.domain import Floats

SEED, SIDE = 20_262, 128
GAUSSIANS = {"2 Gaussians": 0.01, "6 Gaussians": 0.04, "30 Gaussians": 0.2, "120 Gaussians": 0.7}
"""And the share of cells that they fill."""
PLACES = {f"{count} places": count for count in (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)}
SQUARE, BOX = "square", "box"
DOMAINS = {SQUARE: dph.Domain.unit(7), BOX: dph.Domain.bbox(-10, 40, -4, 42, depth=13)}
"""Of about 128 cells on the longer side; the box is more than twice as wide as it is high."""


def everywhere(people: int, rng: np.random.Generator) -> Floats:
    """Evenly."""
    return rng.random((people, 2))


def roads(people: int, rng: np.random.Generator) -> Floats:
    """Along twelve straight roads between random places."""
    ends, road = rng.random((12, 2, 2)), rng.integers(12, size=people)
    points: Floats = ends[road, 0] + rng.random((people, 1)) * (ends[road, 1] - ends[road, 0])
    return points


def ring(people: int, rng: np.random.Generator) -> Floats:
    """Around an empty middle."""
    turn, radius = rng.uniform(0, 2 * np.pi, people), rng.normal(0.3, 0.02, people)
    points: Floats = 0.5 + radius[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return points


def slope(people: int, rng: np.random.Generator) -> Floats:
    """Everywhere, more and more to one side."""
    return np.stack([np.sqrt(rng.random(people)), rng.random(people)], axis=1)


def towns(people: int, rng: np.random.Generator) -> Floats:
    """In sixty towns whose sizes fall as 1 / rank."""
    shares = 1 / np.arange(1, 61)
    return rng.random((60, 2))[rng.choice(60, people, p=shares / shares.sum())] + rng.normal(0, 0.006, (people, 2))


def half_a_crowd(people: int, rng: np.random.Generator) -> Floats:
    """Half of them in one place, the others anywhere."""
    points = rng.random((people, 2))
    points[: people // 2] = points[-1]
    return points


def spiral(people: int, rng: np.random.Generator) -> Floats:
    """Along a line that winds outwards three times."""
    way = np.sqrt(rng.random(people))
    at = 6 * np.pi * way
    turns = np.stack([np.cos(at), np.sin(at)], axis=1)
    points: Floats = 0.5 + 0.45 * way[:, None] * turns + rng.normal(0, 0.004, (people, 2))
    return points


def coast(people: int, rng: np.random.Generator) -> Floats:
    """Inland of a wavy shore, most of them near it."""
    x = rng.random(people)
    return np.stack([x, 0.4 + 0.1 * np.sin(9 * x) + rng.exponential(0.06, people)], axis=1)


def villages(people: int, rng: np.random.Generator) -> Floats:
    """In 8 x 8 villages of one size."""
    points: Floats = (rng.integers(8, size=(people, 2)) + 0.5) / 8 + rng.normal(0, 0.008, (people, 2))
    return points


def crossing(people: int, rng: np.random.Generator) -> Floats:
    """On two broad streets, and a few anywhere."""
    points = rng.random((people, 2))
    street = rng.integers(5, size=people)
    for axis in (0, 1):
        mine = (street % 2 == axis) & (street < 4)
        points[mine, axis] = rng.normal(0.3 + 0.4 * axis, 0.01, int(mine.sum()))
    return points


def checkers(people: int, rng: np.random.Generator) -> Floats:
    """On the black squares of a chessboard."""
    row, black = rng.integers(8, size=people), rng.integers(4, size=people)
    points: Floats = (np.stack([2 * black + row % 2, row], axis=1) + rng.random((people, 2))) / 8
    return points


def islands(people: int, rng: np.random.Generator) -> Floats:
    """Evenly on nine round islands."""
    middles, radii = rng.random((9, 2)), rng.uniform(0.02, 0.12, 9)
    island = rng.choice(9, people, p=radii**2 / np.sum(radii**2))
    turn, away = rng.uniform(0, 2 * np.pi, people), radii[island] * np.sqrt(rng.random(people))
    points: Floats = middles[island] + away[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return points


def border(people: int, rng: np.random.Generator) -> Floats:
    """Along the edge."""
    along, inwards, side = rng.random(people), rng.exponential(0.02, people), rng.integers(4, size=people)
    x = np.choose(side, [along, along, inwards, 1 - inwards])
    return np.stack([x, np.choose(side, [inwards, 1 - inwards, along, along])], axis=1)


def streets(people: int, rng: np.random.Generator) -> Floats:
    """On ten streets each way."""
    points = rng.random((people, 2))
    points[np.arange(people), rng.integers(2, size=people)] = (rng.integers(10, size=people) + 0.5) / 10
    return points


def hill(people: int, rng: np.random.Generator) -> Floats:
    """Around one middle, fewer and fewer outwards."""
    return rng.normal(0.5, 0.15, (people, 2))


def commuters(people: int, rng: np.random.Generator) -> Floats:
    """Some in a centre, most all around it."""
    return np.where(
        rng.random((people, 1)) < 0.3, rng.normal(0.5, 0.02, (people, 2)), rng.normal(0.5, 0.22, (people, 2))
    )


def cascade(people: int, rng: np.random.Generator) -> Floats:
    """Split in four by the same uneven shares over and over."""
    points = rng.random((people, 2)) / SIDE
    for level in range(1, 8):
        quarter = rng.choice(4, people, p=[0.55, 0.25, 0.15, 0.05])
        points += np.stack([quarter % 2, quarter // 2], axis=1) / 2**level
    return points


Shapes = dict[str, Callable[[int, np.random.Generator], Floats]]
SHAPES: Shapes = {
    "everywhere": everywhere, "roads": roads, "a ring": ring, "a slope": slope, "towns": towns,
    "half a crowd": half_a_crowd, "a spiral": spiral, "a coast": coast, "villages": villages, "a crossing": crossing,
}  # fmt: skip
NEW_SHAPES: Shapes = {
    "checkers": checkers, "islands": islands, "a border": border, "streets": streets, "a hill": hill,
    "commuters": commuters, "a cascade": cascade,
}  # fmt: skip
"""Shapes that no constant of the package was set with."""


def scattered(count: int, people: int, rng: np.random.Generator) -> Floats:
    """In so many different cells of 128 x 128, some busier than others."""
    cells = rng.choice(SIDE * SIDE, count, replace=False)
    here = cells[rng.choice(count, people, p=rng.dirichlet(np.ones(count)))]
    points: Floats = (np.stack([here % SIDE, here // SIDE], axis=1) + 0.5) / SIDE
    return points


def people_of(kind: str, people: int, draw: int, where: str = SQUARE, seed: int = SEED) -> dph.Counts:
    """So many people of a kind, on the square or stretched over the box."""
    rng = np.random.default_rng([seed, people, draw, *kind.encode()])
    domain = DOMAINS[where]
    if kind in GAUSSIANS:
        return mixture(int(kind.split()[0]), GAUSSIANS[kind], people=people, depth=7, rng=rng).sample(people, rng)
    points = scattered(PLACES[kind], people, rng) if kind in PLACES else {**SHAPES, **NEW_SHAPES}[kind](people, rng)
    west, south, east, north = domain.extent
    x, y = np.clip(points, 0, 1 - 1e-9).T
    place = Place(kind, domain, np.arange(people), west + x * (east - west), south + y * (north - south))
    return place.sample(people, rng)
