"""Shapes of the audit: neighbouring data sets in which one person might show most, and what is looked at in outputs."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap.budget import SHARES, UNITS
from dpheatmap.curator.api import Counts, Curator, release
from dpheatmap.domain import Domain
from dpheatmap.quadtree import Ints, encode
from dpheatmap.release import Measurements

Cell = tuple[int, int]
Sample = dict[str, Any]
"""Of each statistic, its values in all runs."""

THRESHOLD = ("likelihood", "weighted sum")
"""Statistics that are numbers; the others are hashes, of which equality is all that counts."""


@dataclass(frozen=True)
class Shape:
    """Others, and the person who is added to them, as people by finest cell; and how they are released."""

    name: str
    why: str
    domain: Domain
    others: Mapping[Cell, float]
    person: Mapping[Cell, float]
    options: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 8_000

    def weights(self, added: bool) -> dict[Cell, int]:
        """Units by occupied cell."""
        people = Counter(self.others) + Counter(self.person if added else {})
        return {cell: round(number * UNITS) for cell, number in people.items()}

    def truth(self, added: bool) -> Ints:
        """The true weight of every cell of every level, in a row: level 0, level 1, ..., by Morton code."""
        depth = self.domain.depth
        row = np.zeros(_first_place(depth + 1), np.int64)
        for (x, y), weight in self.weights(added).items():
            for level in range(depth + 1):
                code = encode(np.array([x >> (depth - level)]), np.array([y >> (depth - level)]))
                row[_first_place(level) + int(code[0])] += weight
        return row

    def sample(self, added: bool, epsilon: Fraction, runs: int) -> Sample:
        """What so many releases of one of the two data sets look like."""
        without, with_them = self.truth(False), self.truth(True)
        columns: dict[str, list[Any]] = {}
        with self._released(added, epsilon) as once:
            for _ in range(runs):
                for name, value in _statistics(once(), without, with_them).items():
                    columns.setdefault(name, []).append(value)
        return {name: np.array(values) for name, values in columns.items()}

    def _released(self, added: bool, epsilon: Fraction) -> _Released:
        return _Released(self, added, epsilon)


class _Released:
    """A way to release one of a shape's data sets again and again."""

    def __init__(self, shape: Shape, added: bool, epsilon: Fraction) -> None:
        self.options: dict[str, Any] = {"epsilon": epsilon, **shape.options}
        weights = shape.weights(added)
        x, y = np.array(list(weights), np.int64).reshape(-1, 2).T
        self.events: Any = Counts.from_cells(shape.domain, x, y, np.array(list(weights.values()), np.int64))

    def __enter__(self) -> Callable[[], Measurements]:
        return lambda: release(self.events, **self.options).measurements

    def __exit__(self, *_: object) -> None:
        pass


@dataclass(frozen=True)
class TableShape(Shape):
    """All the way from a file: each of the others has a row, the person a hundred in each of their cells."""

    def _released(self, added: bool, epsilon: Fraction) -> _Released:
        return _FromTable(self, added, epsilon)


class _FromTable(_Released):
    def __init__(self, shape: Shape, added: bool, epsilon: Fraction) -> None:
        self.options = {"epsilon": epsilon, "user": "who", "x": "x", "y": "y", "domain": shape.domain, **shape.options}
        side = 2**shape.domain.depth
        rows = [(f"other {k}", cell) for k, cell in enumerate(shape.others)]
        rows += [("they", cell) for cell in shape.person for _ in range(100 * added)]
        self.text = "who,x,y\n" + "".join(f"{who},{(x + 0.5) / side},{(y + 0.5) / side}\n" for who, (x, y) in rows)
        self.folder = tempfile.TemporaryDirectory(prefix="dpheatmap-")

    def __enter__(self) -> Callable[[], Measurements]:
        self.events = str(Path(self.folder.name, "people.csv"))
        Path(self.events).write_text(self.text)
        return super().__enter__()

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()


@dataclass(frozen=True)
class SamplerShape(Shape):
    """The noise alone: each finest cell is a run of its own, empty or with one person, and gets all of epsilon."""

    def sample(self, added: bool, epsilon: Fraction, runs: int) -> Sample:
        """Noisy counts of many cells at once, by the way that noise for many cells is drawn."""
        depth = self.domain.depth
        codes = np.arange(4**depth)
        x, y = codes & (2**depth - 1), codes >> depth
        counts = Counts.from_cells(self.domain, x, y, np.full(4**depth, UNITS * added))
        values = [Curator(counts, epsilon).cells(depth, codes, epsilon) for _ in range(-(-runs // 4**depth))]
        people = np.concatenate(values)[:runs]
        return {"likelihood": np.abs(people) - np.abs(people - 1), "weighted sum": people}


def _first_place(level: int) -> int:
    """How many cells the levels above one have."""
    return int((4**level - 1) // 3)


def _statistics(m: Measurements, without: Ints, with_them: Ints) -> dict[str, Any]:
    """What is looked at in one output.

    * *likelihood*: how much likelier the documented noise makes it with the person than without;
    * *weighted sum* of the counts in their cells, which has no bound beyond which nothing counts;
    * *cells*: which were measured, with which shares: what was chosen in the light of the data?
    * *differences* of neighbouring counts of a level, and of the first counts of two levels: is noise used twice?
    * *everything*: does an output come again?
    """
    places = ((1 << (2 * m.levels)) - 1) // 3 + m.codes
    c0, c1 = without[places], with_them[places]
    shares = m.shares / (SHARES * UNITS)  # so that statistics are in people times parts of epsilon
    first = m.counts[m.levels == m.levels[0]]
    below = m.counts[len(first) : len(first) + 1]
    return {
        "likelihood": float(shares @ (np.abs(m.counts - c0) - np.abs(m.counts - c1)).astype(np.float64)),
        "weighted sum": float((shares * (c1 != c0)) @ m.counts.astype(np.float64)),
        "cells": _hash(m.levels, m.codes, m.shares),
        "differences of cells": _hash(np.diff(m.counts)[np.diff(m.levels) == 0]),
        "differences of levels": _hash(below - first[0]),
        "everything": _hash(m.levels, m.codes, m.counts),
    }


def _hash(*arrays: Ints) -> int:
    digest = hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def shapes(design: str, epsilon: Fraction) -> list[Shape]:
    """The shapes for a design: small, so that one person is a large part of what there is."""
    unit = Domain.unit
    every: dict[str, Any] = {"design": design, "first_level": 0}
    return [
        Shape("one cell", "nobody, and the person, in the only cell: all of epsilon on one count", unit(0), {},
              {(0, 0): 1}, {"design": design}, runs=60_000),
        Shape("two levels", "counts above each other, all of which the person raises", unit(1),
              {(0, 0): 2, (1, 0): 1}, {(1, 0): 1}, every),
        Shape("alone", "the person in a region where nobody else is", unit(1), {}, {(1, 0): 1}, every,
              runs=32_000),
        Shape("several cells", "the person's weight on several paths, beside others and apart", unit(2),
              {(0, 0): 12, (1, 1): 8, (3, 0): 7, (1, 3): 1}, {(1, 1): 0.5, (3, 0): 0.25, (0, 3): 0.25}, every),
        Shape("tipping the balance", "the person decides which cells are looked into", unit(2),
              {(0, 0): 2, (2, 0): 2}, {(3, 1): 1}, {**every, "width": 1}),
        Shape("on the threshold", "as many people as make the difference between two ways to go on", unit(1),
              {(1, 0): _tipping_point(every, epsilon)}, {(1, 0): 1}, every),
        TableShape("many rows", "from a file: the person has a hundred rows, the others one", unit(1),
                   {(0, 0): 1}, {(1, 1): 1}, {"design": design, "first_level": 1}, runs=300),
    ]  # fmt: skip


def _tipping_point(options: Mapping[str, Any], epsilon: Fraction) -> int:
    """So many people in the first cell that, without noise, one more would change what is done about it."""
    domain, first = Domain.unit(1), np.zeros(1, np.int64)
    design = release(Counts.from_cells(domain, first[:0], first[:0], first[:0]), epsilon=epsilon, **options).design

    asked = design.begin(domain)

    def decided(people: int) -> list[tuple[int, list[int], int]]:
        following = design.after(domain, epsilon, asked, np.full(len(asked.cells), people * UNITS))
        return [(question.level, question.cells.tolist(), question.share) for question in following]

    return next((people for people in range(1000) if decided(people) != decided(people + 1)), 3)


def sampler_shape() -> Shape:
    """The shape of the noise sampler."""
    why = "the noise alone, drawn for many cells at once: one person more in a cell, or not"
    return SamplerShape("noise sampler", why, Domain.unit(8), {}, {(0, 0): 1}, runs=2**20)
