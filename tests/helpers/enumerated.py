"""All outputs of the ladder on tiny trees with their exact probabilities: the real `climb`, with every noise there is.

The ladder treats all cells of its start level alike and apart from each other. So a domain of many start cells, each
with a copy of the same tiny tree below it, and in each copy another combination of noises, enumerates in one call what
sampling would have to hit. Noise is cut off at a *window* of each step and kind. Outputs with published noise outside
of it, for one of the neighbours, are not compared. What is not published may have any law (`looks.py`, the theorem), so
for a sound mechanism the windows change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from dpheatmap.curator.core import looks
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.publishing import Published
from dpheatmap.design.ladder import LadderDesign, Rung
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import UNITS
from dpheatmap.place.domain import Domain
from dpheatmap.place.mask import CellRange
from dpheatmap.place.quadtree import Ints
from dpheatmap.place.unit_square import UnitSquare

Floats = NDArray[np.float64]
Data = tuple[int, ...]
"""Units in each finest cell of a tree."""

RATE = Fraction(7, 5)
"""The rate, for a unit, of noise with all of epsilon: a count's probability falls by a factor of 4 with each unit."""
LOSS = PureLoss(RATE * UNITS)
NOTHING = 10**6
"""Stands for a value that is not published."""


@dataclass(frozen=True)
class CopiesMask:
    """The first cells of a level, as many as there are copies, with the same finest cells below each."""

    start: int
    finest: tuple[int, ...]
    depth: int
    copies: int
    runs: ClassVar[None] = None

    def pieces(self) -> None:
        """None: nothing is drawn here."""

    def _below(self, level: int) -> Ints:
        """The codes of a tree's cells at a level, from its start cell's on."""
        return np.unique(np.array(self.finest) >> 2 * (self.depth - level))

    def rectangle(self, level: int) -> CellRange:
        """All cells: more than those that meet the place."""
        return CellRange(0, 0, 2**level, 2**level)

    def count(self, level: int) -> int:
        """The number of cells of all copies."""
        return len(self.codes(level))

    def codes(self, level: int) -> Ints:
        """The cells of all copies."""
        starts = np.arange(self.copies)
        if level < self.start:
            return np.unique(starts >> 2 * (self.start - level))
        return (starts[:, None] << 2 * (level - self.start) | self._below(level)).ravel()

    def meets(self, level: int, codes: Ints) -> NDArray[np.bool_]:
        """Tell which cells are those of a copy."""
        return np.isin(codes, self.codes(level))

    def weight(self, level: int, codes: Ints) -> Floats:
        """How much of each cell is inside."""
        return self.meets(level, codes).astype(np.float64)


@dataclass(frozen=True)
class Copies(UnitSquare):
    """A place of many copies of a tree."""

    start: int = 0
    leaves: tuple[int, ...] = (0,)
    copies: int = 1

    def mask(self, depth: int) -> CopiesMask:
        """The cells of all copies."""
        return CopiesMask(self.start, self.leaves, depth, self.copies)


@dataclass(frozen=True, eq=False, repr=False)
class WatchedCounts(Counts):
    """Counts that keep what they are asked for: noise is drawn for it next."""

    asked: list[tuple[int, Ints]] = field(default_factory=list)

    def exact(self, level: int, codes: Ints) -> Ints:
        """The weights, kept in mind."""
        self.asked.append((level, codes))
        return super().exact(level, codes)


class Axis(NamedTuple):
    """One draw: by which step and for which cell of the tree; V, or one of the G."""

    step: int
    own: bool
    cell: int


@dataclass(frozen=True)
class Tree:
    """A tree by the codes of its finest cells, so many levels below its root; the design; the noise that is tried.

    ``windows`` has, for each step that is watched, the largest V and the largest G. Later steps get no noise, and what
    they publish is left out. The start level is that of the root, or ``top`` levels below. Where the cells of the start
    are looked at together, combinations of noises are tried one after the other instead of all at once.
    """

    finest: tuple[int, ...]
    depth: int
    design: LadderDesign
    windows: tuple[tuple[int, int], ...]
    top: int = 0

    def cells(self, level: int) -> list[int]:
        """The tree's cells so many levels below its root."""
        return sorted({code >> 2 * (self.depth - level) for code in self.finest})

    @cached_property
    def axes(self) -> dict[Axis, int]:
        """All draws of the steps that are watched, with their windows."""
        found: dict[Axis, int] = {}
        for step, (own, others) in enumerate(self.windows):
            level = self.top + step
            if level < self.depth - 1:
                found |= {Axis(step, True, cell): own for cell in self.cells(level)}
            found |= {Axis(step, False, cell): others for cell in self.cells(min(level + 2, self.depth))}
        return found

    @cached_property
    def slots(self) -> dict[tuple[int, int, int], int]:
        """Everything that a step that is watched may publish: level, cell and share, with a place in a row."""
        every = [
            (level, cell, share)
            for share in dict.fromkeys(share for rung in self.rungs for share in rung)
            for level in range(self.depth + 1)
            for cell in self.cells(level)
        ]
        return {slot: place for place, slot in enumerate(every)}

    @cached_property
    def rungs(self) -> list[Rung]:
        """The shares of the steps that are watched."""
        return self.design.rungs[: len(self.windows)]

    @cached_property
    def noises(self) -> tuple[dict[Axis, Ints], Floats]:
        """For each draw its value in every combination, and the combinations' probabilities but for a factor."""
        values = np.meshgrid(*(np.arange(-r, r + 1) for r in self.axes.values()), indexing="ij")
        drawn = {axis: value.ravel() for axis, value in zip(self.axes, values, strict=True)}
        logs = np.zeros(values[0].size)
        for axis, value in drawn.items():
            logs -= rate_of(self.rungs[axis.step][axis.own]) * np.abs(value)
        return drawn, np.exp(logs)

    def published(self, data: Data) -> Ints:
        """What is published with each combination of noises: a row each, NOTHING where a cell was not measured."""
        drawn, chances = self.noises
        copies = 1 if self.top else len(chances)
        start = math.ceil(math.log(copies, 4))
        domain = Domain(Copies(start=start, leaves=self.finest, copies=copies), start + self.depth)
        counts = WatchedCounts.in_order(domain, domain.codes(domain.depth), np.tile(np.array(data), copies))
        assert isinstance(counts, WatchedCounts)
        rows = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(looks, "BLOCK", 2**30)  # a step draws all its noise at once
            for first in range(0, len(chances), copies):
                some = {axis: values[first : first + copies] for axis, values in drawn.items()}
                rows.append(self._climb(counts, start, some))
        return np.concatenate(rows)

    def _climb(self, counts: WatchedCounts, start: int, drawn: dict[Axis, Ints]) -> Ints:
        """What is published with some combinations of noises, one for each copy."""
        steps, asked = 0, (0, np.zeros(0, np.int64))

        def draw(share: int, size: int) -> Ints:
            nonlocal steps, asked
            own = not counts.asked
            if not own:
                steps, asked = steps + 1, counts.asked.pop()
            step, (level, codes) = steps - 1, asked
            deeper = level - start
            if own:
                up = deeper - self.top - step
                deeper, codes = deeper - up, np.unique(codes >> 2 * up)
            assert len(codes) == size
            noise = np.zeros(size, np.int64)
            for cell in self.cells(deeper) if step < len(self.windows) else ():
                here = codes & (4**deeper - 1) == cell
                noise[here] = drawn[Axis(step, own, cell)][codes[here] >> 2 * deeper]
            return noise

        design = replace(self.design, first=start + self.top, last=start + self.depth)
        found = looks.climb(design, counts, LOSS, draw)
        return self._rows(found, start, counts.domain.count(start))

    def _rows(self, found: Sequence[Published], start: int, copies: int) -> Ints:
        rows = np.full((copies, len(self.slots)), NOTHING)
        watched = {share for _, _, share in self.slots}
        for (level, cells, share, _), noisy in found:
            deeper = level - start
            if share in watched:
                for cell in self.cells(deeper):
                    here = cells & (4**deeper - 1) == cell
                    rows[cells[here] >> 2 * deeper, self.slots[deeper, cell, share]] = noisy[here]
        return rows

    def law(self, data: Data) -> Law:
        """The probability of every output."""
        return Law.of(self.published(data), self.noises[1])

    def truth(self, data: Data) -> Ints:
        """The true count of each slot's cell."""
        finest = dict(zip(self.finest, data, strict=True))
        return np.array([
            sum(units for code, units in finest.items() if code >> 2 * (self.depth - level) == cell)
            for level, cell, _ in self.slots
        ])  # fmt: skip

    @property
    def widest(self) -> Ints:
        """The window of the noise in each slot."""
        wide: dict[int, int] = {}
        for (left, taken), (own, others) in zip(self.rungs, self.windows, strict=True):
            wide |= {left: others, taken: own}
        return np.array([wide[share] for _, _, share in self.slots])

    @property
    def rates(self) -> Floats:
        """The rate of each slot."""
        return np.array([rate_of(share) for _, _, share in self.slots])


def rate_of(share: int) -> float:
    """The rate of noise of a share, for a unit."""
    return float(LOSS.part(share) / UNITS)


class Law(NamedTuple):
    """Outputs in the order of their hashes, and their probabilities."""

    hashes: Ints
    rows: Ints
    chances: Floats

    @classmethod
    def of(cls, rows: Ints, chances: Floats) -> Law:
        """Add up equal outputs."""
        mixers = np.random.default_rng(1).integers(-(2**63), 2**63 - 1, rows.shape[1])
        hashes, first, place = np.unique((rows * mixers).sum(axis=1), return_index=True, return_inverse=True)
        assert (rows == rows[first][place]).all(), "two outputs have the same hash"
        return cls(hashes, rows[first], np.bincount(place, chances).astype(np.float64))


class Loss(NamedTuple):
    """What the outputs of neighbours tell: the worst log-ratio, and what it is compared with."""

    worst: float
    """The largest log-ratio, in parts of what the promise allows."""
    charged: float
    """The largest log-ratio, in parts of what the published values are charged."""
    departure: float
    """How far a log-ratio is, at most, from that of the published values alone."""
    impossible: int
    """How many outputs are possible for one of the neighbours only."""
    compared: int
    """How many outputs were compared."""

    @property
    def sound(self) -> bool:
        """Whether no output tells more than it may."""
        return self.impossible == 0 and max(self.worst, self.charged) <= 1 + 1e-9


def compare(tree: Tree, bases: Sequence[Data], people: Sequence[Data]) -> Loss:
    """Compare the laws of all bases without and with each of the people."""
    laws: dict[Data, Law] = {}
    found = [_compare(tree, laws, base, person) for base, person in product(bases, people)]
    worst, charged, departure, impossible, compared = zip(*found, strict=True)
    return Loss(max(worst), max(charged), max(departure), sum(impossible), sum(compared))


def _compare(tree: Tree, laws: dict[Data, Law], base: Data, person: Data) -> Loss:
    added = tuple(np.add(base, person).tolist())
    for data in (base, added):
        if data not in laws:
            laws[data] = tree.law(data)
    return loss_between(tree, laws[base], laws[added], (base, added))


def loss_between(tree: Tree, without: Law, with_them: Law, data: tuple[Data, Data]) -> Loss:
    """Compare two laws, where published noise is in its window for both."""
    hashes = np.union1d(without.hashes, with_them.hashes)
    rows = np.empty((len(hashes), len(tree.slots)), np.int64)
    chances = np.zeros((2, len(hashes)))
    for side, law in enumerate((without, with_them)):
        place = np.searchsorted(hashes, law.hashes)
        rows[place], chances[side, place] = law.rows, law.chances
    there = rows != NOTHING
    noise = np.stack([np.where(there, np.abs(rows - tree.truth(of)), 0) for of in data])
    inside = (noise <= tree.widest).all(axis=(0, 2))
    possible = (chances > 0).all(axis=0)
    both = inside & possible
    ratio = np.log(chances[1, both] / chances[0, both])
    moved = np.abs(tree.truth(data[1]) - tree.truth(data[0]))
    charged = (there[both] * moved) @ tree.rates
    alone = (noise[0] - noise[1])[both] @ tree.rates
    allowed = float(RATE) * np.abs(np.subtract(*data)).sum()
    excess = np.abs(ratio) / np.maximum(charged, 1e-12)
    free = np.where(charged > 0, excess, np.where(np.abs(ratio) > 1e-9, np.inf, 0))
    return Loss(
        float(np.max(np.abs(ratio), initial=0) / allowed),
        float(np.max(free, initial=0)),
        float(np.max(np.abs(ratio - alone), initial=0)),
        int((inside & ~possible).sum()),
        int(both.sum()),
    )
