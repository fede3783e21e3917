"""Shapes for the audit of `test_privacy.py`: pairs of neighbouring data sets, and what to look for in outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

import dpheatmap as dph
from dpheatmap.curator.core.looks import climb
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.dense import DenseDesign
from dpheatmap.design.design import AskingDesign, Question
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import UNITS, split_over_levels
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, encode
from helpers.designs import paper_design, walked

EPSILON = Fraction(2)
HALF = Fraction(1, 2)
NONE = Fraction(0)
TIMES = 3  # how often a cell is measured at most: with the total, with its level, and once more
UNVISITED = np.iinfo(np.int64).min

Cell = tuple[int, int]
Event = Callable[[Ints], NDArray[np.bool_]]


@dataclass(frozen=True)
class Shape:
    """A data set of others, a person who is added to it, and how it is measured; weights in units, by finest cell."""

    domain: Domain
    others: Mapping[Cell, int]
    person: Mapping[Cell, int]
    design: AskingDesign | LadderDesign

    def weights(self, *, added: bool) -> dict[Cell, int]:
        """The weight of each occupied cell."""
        return dict(Counter(self.others) + Counter(self.person if added else {}))

    def counts(self, *, added: bool) -> dph.Counts:
        """What the mechanism is run on."""
        weights = self.weights(added=added)
        return dph.Counts.from_cells(
            self.domain, *_columns_and_rows(weights), np.array(list(weights.values()), dtype=np.int64)
        )

    def truth(self, *, added: bool) -> Ints:
        """The true weight of every cell of every level, in a row: level 0, level 1, ..., by Morton code; and again.

        Further parts of a row are for cells that are measured a second and a third time.
        """
        weights = self.weights(added=added)
        x, y = _columns_and_rows(weights)
        row = np.zeros(first_place(self.domain.depth + 1), dtype=np.int64)
        for level in range(self.domain.depth + 1):
            shift = self.domain.depth - level
            np.add.at(row, first_place(level) + encode(x >> shift, y >> shift), list(weights.values()))
        return np.tile(row, TIMES)

    @property
    def theirs(self) -> Ints:
        """The places of the cells, measured if they are reached, in which the person has weight."""
        changed = np.flatnonzero(self.truth(added=True) != self.truth(added=False))
        return changed[changed % self.cells >= first_place(self.top)]

    @property
    def top(self) -> int:
        """The level of the first measurement."""
        if isinstance(self.design, LadderDesign):
            total = self.design.total_question(self.domain)
            return self.design.first if total is None else total.level
        return self.design.begin(self.domain).level

    @property
    def cells(self) -> int:
        """The number of cells of all levels: the length of a part of a row."""
        return first_place(self.domain.depth + 1)

    def visited(self, *, added: bool) -> NDArray[np.bool_]:
        """The cells that would be visited without noise."""
        times = np.zeros(self.cells, dtype=np.int64)
        row = self.truth(added=added)
        visited = np.zeros(len(row), dtype=bool)

        def answer(asked: Question) -> Ints:
            places = first_place(asked.level) + asked.cells
            visited[places + self.cells * times[places]] = True
            times[places] += 1
            return row[places]

        if isinstance(self.design, LadderDesign):
            silent = climb(self.design, self.counts(added=added), PureLoss(EPSILON), lambda _, n: np.zeros(n, np.int64))
            for asked, _ in silent:
                answer(asked)
        else:
            walked(self.design, self.domain, EPSILON, answer)
        return visited


def first_place(level: int) -> int:
    """How many cells the levels above one have: the place of its first cell in a row."""
    return int((4**level - 1) // 3)


def _columns_and_rows(cells: Collection[Cell]) -> tuple[Ints, Ints]:
    x, y = np.array(list(cells), dtype=np.int64).reshape(-1, 2).T
    return x, y


def people(**cells: int) -> dict[Cell, int]:
    """Whole people by cell: ``x1y0=3`` are three of them in column 1, row 0."""
    return {(int(name[1]), int(name[3])): n * UNITS for name, n in cells.items()}


def paper(last: int, first: int = 0, width: int = 20) -> PaperDesign:
    return paper_design(split_over_levels(first, last), width)


SPREAD = people(x0y0=12, x2y2=4, x6y1=5, x1y5=1)
THEIRS = {(0, 0): UNITS // 4, (3, 3): UNITS // 4, (7, 0): UNITS // 4, (0, 7): UNITS // 4}
SPREAD_OUT = {(1, 1): UNITS // 2, (3, 0): UNITS // 4, (2, 3): UNITS // 4}
SHAPES = {
    "one level": Shape(Domain.unit(0), {}, people(x0y0=1), paper(0)),
    "two levels": Shape(Domain.unit(1), people(x0y0=2, x1y0=1), people(x1y0=1), paper(1)),
    "two cells": Shape(Domain.image(2, 1), people(x0y0=1), {(0, 0): UNITS // 2, (1, 0): UNITS // 2}, paper(1, 1)),
    "empty cell": Shape(Domain.unit(2), people(x0y0=2, x3y1=1), people(x2y3=1), paper(2, width=2)),
    "tight competitor": Shape(Domain.unit(2), people(x0y0=2, x2y0=2), people(x3y1=1), paper(2, width=1)),
    "several cells": Shape(
        Domain.unit(2),
        people(x0y0=1, x3y0=1, x1y3=1),
        {(1, 1): UNITS // 2, (3, 0): UNITS // 4, (2, 1): UNITS // 4},
        paper(2, width=2),
    ),
    "many rows": Shape(Domain.unit(1), people(x0y0=1), people(x1y1=1), paper(1, 1)),
    "closed": Shape(Domain.unit(1), {}, people(x1y0=1), AdaptiveDesign(0, 1, total=NONE, spent=HALF)),
    "total": Shape(Domain.unit(1), {}, people(x1y0=1), AdaptiveDesign(0, 1, total=HALF)),
    "closed or finished": Shape(
        Domain.unit(2), people(x0y0=3, x3y0=14), people(x0y0=1), AdaptiveDesign(1, 2, total=NONE)
    ),
    "start": Shape(Domain.unit(3), people(x0y0=191), people(x5y5=1), AdaptiveDesign(1, 3, total=HALF)),
    "uneven": Shape(
        Domain.unit(3), people(x0y0=15, x4y0=4, x0y4=4, x4y4=4), people(x0y0=1), AdaptiveDesign(1, 3, total=NONE)
    ),
    "spread": Shape(Domain.unit(3), SPREAD, THEIRS, AdaptiveDesign(1, 3)),
    "spread, as released": Shape(Domain.unit(3), SPREAD, THEIRS, AdaptiveDesign(2, 3)),
    "looks at one": Shape(Domain.unit(1), people(x0y0=3), people(x0y0=1), LadderDesign(0, 1, total=NONE)),
    "looks at a strip": Shape(
        Domain.image(4, 1),
        people(x0y0=7, x2y0=7),
        people(x0y0=1),
        LadderDesign(0, 2, total=NONE, even_once=Fraction(10**9), even_twice=Fraction(10**9)),
    ),
    "looks at an even map": Shape(
        Domain.image(8, 1),
        people(x0y0=20, x4y0=3, x6y0=2),
        people(x0y0=1),
        LadderDesign(1, 3, total=NONE, evenness=Fraction(3, 4)),
    ),
    "looks, as released": Shape(Domain.unit(3), SPREAD, THEIRS, LadderDesign(2, 3)),
    "grid": Shape(Domain.unit(1), {}, people(x1y0=1), DenseDesign(0, 1, total=HALF)),
    "grid, as released": Shape(Domain.unit(2), people(x0y0=2, x3y1=1), SPREAD_OUT, DenseDesign(0, 2)),
}
"""Of the one with many rows, the cells say what the table should come to.

Of the adaptive design: with a quarter for the first level, cells of level 1 are closed up to 3.3 people and opened
above 6.7, and the person tips the balance; with 192 people or more, it starts at level 2, not 1; with 15 people in one
quarter and 4 in each of the others a map is even, with 16 it is not; or the person is spread over quarters that are
opened, finished and closed, and over cells of an opened one that are finished and closed.

Of the ladder: a cell is finished above 3.5 people and opened above 14; with 20 people in one half and 5 in the other a
map is even, with 21 it is not; or the person is spread.

Of the dense design: one person or more make the grid of level 1, fewer that of level 0; four make that of level 2."""


def events(shape: Shape) -> dict[str, Event]:
    """What to look for in rows of noisy values, UNVISITED where a cell was not measured."""
    without, added = shape.truth(added=False), shape.truth(added=True)
    as_without, as_added = shape.visited(added=False), shape.visited(added=True)
    theirs = shape.theirs
    finest = theirs[(theirs >= first_place(shape.domain.depth)) & (theirs < shape.cells)]
    first = shape.design.first
    top = theirs[theirs < first_place(first + 1)]
    start = top[top >= first_place(first)]
    # A cell of theirs, and a cell without them, on the lowest level that is measured as a whole.
    whole = min(first + 1, shape.domain.depth)
    places = first_place(whole) + shape.domain.codes(whole)
    changed = added[places] - without[places]
    most, least = places[np.argmax(changed)], places[np.argmin(changed)]

    def above(places: Ints) -> Event:
        return lambda rows: every((rows[:, places] >= added[places]) | ~measured(rows)[:, places])

    def differ(a: np.int64, b: np.int64) -> Event:
        """Exactly as they do with the person, if that is not how they differ without."""
        if added[a] - added[b] == without[a] - without[b]:
            return lambda rows: np.zeros(len(rows), dtype=bool)
        return lambda rows: rows[:, a] - rows[:, b] == added[a] - added[b]

    return {
        "all of theirs above": above(theirs),
        "all of theirs below": lambda rows: every((rows <= without)[:, theirs]),
        "first level above": above(top),
        "finest level above": above(finest),
        "first level visited": lambda rows: every(measured(rows)[:, start]),
        "first level not visited": lambda rows: ~every(measured(rows)[:, start]),
        "some finest visited": lambda rows: ~every(~measured(rows)[:, finest]),
        "all finest visited": lambda rows: every(measured(rows)[:, finest]),
        "no finest visited": lambda rows: every(~measured(rows)[:, finest]),
        "visited as with them": lambda rows: every(measured(rows) == as_added),
        "visited as without": lambda rows: every(measured(rows) == as_without),
        "difference of cells": differ(most, least),
        "difference of levels": differ(top[0], least),
    }


def measured(rows: Ints) -> NDArray[np.bool_]:
    """Which cells were."""
    visited: NDArray[np.bool_] = rows != UNVISITED
    return visited


def every(hits: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows hold throughout."""
    return np.asarray(hits.all(axis=1))
