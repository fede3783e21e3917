"""The people of one map, and the maps of one experiment.

The curator's aggregation reads any table with DuckDB, but an experiment draws new people from the same few maps
hundreds of times. So a place keeps its events in memory, already placed in cells, and sums a draw by the aggregation's
own integer rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap.curator import Counts
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, encode


@dataclass(frozen=True, eq=False)
class Place:
    """The people of one map: the events of a city cell or of an image.

    ``user`` numbers the people from 0 on without gaps. Events outside the domain have no weight, but their owners still
    count as people. In city cells x grows eastward and y northward, so row 0 of a raster is the south; in images row 0
    is the top.
    """

    name: str
    domain: Domain
    user: Ints
    x: Floats
    y: Floats
    picture: Path | None = None

    @classmethod
    def of_events(
        cls, name: str, domain: Domain, ids: ArrayLike, x: ArrayLike, y: ArrayLike, picture: Path | None = None
    ) -> Place:
        """Make a place from events with any ids of people.

        >>> Place.of_events("here", Domain.unit(2), [70, 7, 70], [0.1, 0.2, 0.3], [0.5, 0.5, 0.5]).user.tolist()
        [1, 0, 1]
        """
        user = np.unique(np.asarray(ids), return_inverse=True)[1].astype(np.int64)
        return cls(name, domain, user, np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64), picture)

    @cached_property
    def people(self) -> int:
        """The number of people."""
        return int(self.user.max()) + 1 if len(self.user) else 0

    def at_depth(self, depth: int) -> Place:
        """The same events at another resolution, for unit squares."""
        if self.domain.kind != "unit":
            raise ParameterError(
                f"Only unit squares change their depth, and {self.name} is of kind {self.domain.kind!r}. "
                "Make the place anew with the domain that you want."
            )
        return replace(self, domain=Domain.unit(depth))

    def sample(self, people: int, rng: np.random.Generator) -> Counts:
        """Draw different people at random and sum all their events as ``aggregate`` does.

        An event inside the domain has weight ``W // t``, where t is the number of its person's events inside.
        """
        if not 1 <= people <= self.people:
            raise ParameterError(
                f"people must be a whole number from 1 to {self.people}, as many as {self.name} has; it was {people}. "
                "Draw fewer, or leave the place out."
            )
        return self.counts_of(self.times(rng.choice(self.people, people, replace=False)))

    def times(self, drawn: Ints) -> Ints:
        """How often each person is among those drawn."""
        return np.bincount(drawn, minlength=self.people)

    def points_of(self, person: int) -> tuple[Floats, Floats]:
        """All events of one person."""
        mine = self.user == person
        return self.x[mine], self.y[mine]

    def counts_of(self, times: Ints) -> Counts:
        """The counts of a crowd in which each person occurs ``times`` times."""
        user, cell, share = self._placed
        cells, position = np.unique(cell[times[user] > 0], return_inverse=True)
        weight = np.zeros(len(cells), dtype=np.int64)
        mine = user[times[user] > 0]
        np.add.at(weight, position, times[mine] * share[mine])
        depth = self.domain.depth
        return Counts.from_cells(self.domain, cells & (2**depth - 1), cells >> depth, weight)

    def one_cell_each(self, people: Ints, rng: np.random.Generator) -> Ints:
        """For each of these people, the code of the finest cell of one of their events inside; -1 for those without."""
        user, cell, _ = self._placed
        order = np.argsort(user, kind="stable")
        events = np.bincount(user, minlength=self.people)
        first = np.cumsum(events) - events
        chosen = first[people] + (rng.random(len(people)) * events[people]).astype(np.int64)
        depth = self.domain.depth
        picked = cell[order[np.minimum(chosen, len(order) - 1)]] if len(order) else np.zeros(len(people), np.int64)
        return np.where(events[people] > 0, encode(picked & (2**depth - 1), picked >> depth), -1)

    @cached_property
    def _placed(self) -> tuple[Ints, Ints, Ints]:
        """The person and cell of the events inside, and the weight of an event of each person."""
        column, row, inside = self.domain.locate(self.x, self.y)
        user = self.user[inside]
        events = np.bincount(user, minlength=self.people)
        cell = (row[inside] << self.domain.depth) | column[inside]
        return user, cell, UNITS // np.maximum(events, 1)


@dataclass(frozen=True)
class Dataset:
    """The places of an experiment, and notes about them.

    ``title`` is for figures. ``notes`` are lines to print: the numbers left by the filters and the paper's, and known
    biases.
    """

    places: tuple[Place, ...]
    title: str
    stand_in: bool
    notes: tuple[str, ...] = ()
