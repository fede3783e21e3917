"""The people of one map, and the maps of one experiment.

The curator's aggregation reads any table with DuckDB; an experiment draws new people from the same few maps hundreds of
times. So a place keeps its events in memory, already placed in cells, and adds a draw up with the aggregation's own
integer rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap.budget import UNITS
from dpheatmap.curator.api import Counts
from dpheatmap.domain import Domain, Floats
from dpheatmap.errors import ParameterError
from dpheatmap.quadtree import Ints


@dataclass(frozen=True, eq=False)
class Place:
    """One map's worth of people: the events of a city cell or of an image.

    ``user`` numbers the people from 0 on without gaps. Events may lie outside the domain: they weigh nothing, but whose
    they are is still a person. In city cells x grows eastward and y northward, so row 0 of a raster is the south; in
    images row 0 is the top.
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
        """A place whose people are told apart by any ids.

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
        """All events of so many different people, drawn at random, added up as ``aggregate`` does it.

        An event inside the domain weighs ``W // t``, where t is the number of its person's events inside.
        """
        if not 1 <= people <= self.people:
            raise ParameterError(
                f"people must be a whole number from 1 to {self.people}, as many as {self.name} has; it was {people}. "
                "Draw fewer, or leave the place out."
            )
        drawn = np.zeros(self.people, dtype=bool)
        drawn[rng.choice(self.people, people, replace=False)] = True
        user, cell, share = self._placed
        mine = drawn[user]
        cells, position = np.unique(cell[mine], return_inverse=True)
        weight = np.zeros(len(cells), dtype=np.int64)
        np.add.at(weight, position, share[user[mine]])
        depth = self.domain.depth
        return Counts.from_cells(self.domain, cells & (2**depth - 1), cells >> depth, weight)

    @cached_property
    def _placed(self) -> tuple[Ints, Ints, Ints]:
        """Person and cell of the events inside, and what an event of each person weighs."""
        column, row, inside = self.domain.locate(self.x, self.y)
        user = self.user[inside]
        events = np.bincount(user, minlength=self.people)
        cell = (row[inside] << self.domain.depth) | column[inside]
        return user, cell, UNITS // np.maximum(events, 1)


@dataclass(frozen=True)
class Dataset:
    """The places that an experiment runs over, and what has to be said about them.

    ``title`` is for figures. ``notes`` are lines to print: what the filters left beside the paper's numbers, and known
    biases.
    """

    places: tuple[Place, ...]
    title: str
    stand_in: bool
    notes: tuple[str, ...] = ()
