"""Invented people of the same kind as those of a release, and one more whom an attacker looks for.

The others are invented from the published map alone: as many as it tells, each in a cell by its share of people. They
are drawn by an even sequence and not at random, so that the same release gives the same people. The one more is each of
three in turn: alone, in a crowd, and in many places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpheatmap.design.shares import UNITS
from dpheatmap.estimate.areas.coverage import boxes_of_cells
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.inside_cells import cut_at_boundary
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, encode
from dpheatmap.releases.measurements import SliceMeasurements
from dpheatmap.releases.release import Release
from dpheatmap.releases.sliced_release import Family, SlicedRelease

MOST_PEOPLE = 100_000
"""The most others that are invented for a release."""
PLACES = 16
"""The places of somebody who is in many; they divide a person's weight without rest."""
TARGETS = {
    "alone": "where nobody else is",
    "in a crowd": "where most people are",
    "in many places": f"in {PLACES} places of others",
}
"""Whom the attacker looks for."""
# The even sequence: multiples of powers of the root of x^3 = x + 1, modulo 1 (M. Roberts, 2018).
_STEPS = (0.7548776662466927, 0.5698402909980532)


@dataclass(frozen=True, eq=False)
class Invented:
    """People by slice, of which a plain release has one: the finest cells of all others, and those of each target.

    ``people`` is the number that the release tells; there are fewer others if that is beyond `MOST_PEOPLE`.
    """

    people: int
    others: tuple[Ints, ...]
    targets: dict[str, tuple[Ints, ...]]


def people_like(release: Release | SlicedRelease) -> Invented:
    """Invent people of the same kind as those of a release."""
    maps = list(_maps(release))
    people = [round(max(each.total, 0.0)) * (not each.empty) for each in maps]
    less = min(1.0, MOST_PEOPLE / max(sum(people), 1))
    others = [np.sort(places_of(each, int(less * many))) for each, many in zip(maps, people, strict=True)]
    loneliest, fullest = int(np.argmin(people)), int(np.argmax(people))
    spread = places_of(maps[fullest], PLACES)
    nowhere = np.zeros(0, np.int64)

    def only(number: int, code: int) -> tuple[Ints, ...]:
        return tuple(np.array([code]) if k == number else nowhere for k in range(len(maps)))

    return Invented(
        sum(people),
        tuple(others),
        {
            "alone": only(loneliest, lonely_place(release.domain, others[loneliest])),
            "in a crowd": only(fullest, busy_place(maps[fullest])),
            "in many places": tuple(np.sort(spread[k :: len(maps)]) for k in range(len(maps))),
        },
    )


def _maps(release: Release | SlicedRelease) -> Iterator[Distribution]:
    """The published map of each slice, with its number of people."""
    if isinstance(release, Release):
        yield release.distribution()
        return
    for number, family in enumerate(release.families):
        trees = [tree.distribution() for tree in release.trees(number)]
        parts = _parts_of_slices(family)
        if parts is None:
            yield from trees
        else:
            (pooled,) = trees
            for part in parts.tolist():
                yield Distribution(
                    pooled.domain, pooled.levels, pooled.codes, pooled.mass, part * pooled.total, pooled.empty
                )


def _parts_of_slices(family: Family) -> Floats | None:
    """The part of people in each slice of a pooled map; None if each slice has a map of its own."""
    if not isinstance(family, SliceMeasurements) or family.counts is None:
        return None
    sums = np.maximum(family.counts.sum(axis=1, dtype=np.float64), 0.0)
    parts: Floats = sums / sums.sum() if sums.any() else np.full(len(sums), 1.0 / len(sums))
    return parts


def places_of(chart: Distribution, many: int) -> Ints:
    """The finest cells of so many people, who are distributed as a map says.

    >>> left = Distribution(Domain.unit(2), np.array([1, 1]), np.array([0, 1]), np.array([0.75, 0.25]), 4.0)
    >>> (places_of(left, 8) >> 2).tolist()
    [0, 0, 0, 0, 0, 0, 1, 1]
    """
    domain = chart.domain
    cells = cut_at_boundary(domain, chart.levels, chart.codes, domain.depth)
    order = np.argsort(cells.codes << 2 * (domain.depth - cells.levels))
    up_to = np.cumsum((chart.mass[cells.holder] * cells.part)[order])
    turns = np.arange(many)
    chosen = order[np.minimum(np.searchsorted(up_to, (turns + 0.5) / max(many, 1) * up_to[-1]), len(order) - 1)]
    left, top, right, bottom = boxes_of_cells(domain, cells.levels[chosen], cells.codes[chosen]).T
    u, v = ((turns * step) % 1.0 for step in _STEPS)
    x, y = (np.floor(low + part * (high - low)) for low, high, part in ((left, right, u), (top, bottom, v)))
    found: Ints = encode(x.astype(np.int64), y.astype(np.int64))
    return found


def busy_place(chart: Distribution) -> int:
    """A finest cell where a map is densest."""
    shift = 2.0 * (chart.domain.depth - chart.levels)
    densest = chart.only(np.arange(len(chart.mass)) == np.argmax(chart.mass / 2.0**shift))
    return int(places_of(densest, 1)[0])


def lonely_place(domain: Domain, others: Ints) -> int:
    """A finest cell in one of the largest cells where nobody is; if there is none, where fewest are.

    >>> lonely_place(Domain.unit(2), np.array([0, 5, 15]))
    8
    """
    for level in range(domain.depth + 1):
        cells = domain.codes(level)
        there = number_in(others, domain.depth - level, cells)
        here = cells[[np.argmin(there)]]
        if level == domain.depth or not there.min():
            break
    for deeper in range(level, domain.depth):
        here = domain.children(deeper, here)[:1]
    return int(here[0])


def number_in(codes: Ints, up: Ints | int, cells: Ints) -> Ints:
    """How many of the finest cells given, in ascending order, are within cells so many levels above them."""
    found: Ints = codes.searchsorted((cells + 1) << 2 * up) - codes.searchsorted(cells << 2 * up)
    return found


def units_of(events: Sequence[Ints], split: str) -> list[int]:
    """The units of each event of a person in each slice: their weight of 1 is shared over all events, or a slice's."""
    many = [len(codes) if split == "epsilon" else sum(map(len, events)) for codes in events]
    return [UNITS // max(of, 1) for of in many]
