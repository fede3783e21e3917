"""Shapes of the audit for the ladder, whose decisions are secret: do they tell more than what is published after them?

Cells of the start level are looked at apart from each other, so every start cell of one release is a run of its own:
thousands of runs at once. They lie on a strip, where a cell has two children and four grandchildren, which leaves less
noise to hide in than four children with four each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.evenness import each_if_even
from dpheatmap.curator import Counts, release
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.shares import SHARES, UNITS
from dpheatmap.evaluate.audit.shapes import MOST, Cell, Sample, Shape
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, decode

TREE = Domain.image(4, 1)
"""A cell with two children and four grandchildren."""
LEVEL = 14
"""The start level: 2^14 cells, so many that a map is not measured as an even one."""
NODES = (0, 1, 3, 7)
"""The place of the first cell of each level of a tree, and the number of its cells."""
FAR = 1e18
"""A statistic's value in runs that it is not about."""


class Trees(NamedTuple):
    """What was published of each tree of a release, by its cells from the top: noisy counts and shares, 0 if none."""

    counts: Ints
    shares: Ints


@dataclass(frozen=True)
class LooksShape(Shape):
    """Others and the person by grandchild of one cell; each start cell of a release is such a cell, and a run."""

    def sample(self, added: bool, epsilon: Fraction, runs: int) -> Sample:
        """Release many cells at once, again and again, and return the statistics of each."""
        columns: dict[str, list[Any]] = {}
        for trees in self._trees(added, epsilon, runs):
            for name, value in self._statistics(trees).items():
                columns.setdefault(name, []).append(value)
        return {name: np.concatenate(values)[:runs] for name, values in columns.items()}

    def _trees(self, added: bool, epsilon: Fraction, runs: int) -> Iterator[Trees]:
        cells = 2**LEVEL
        weights = self.weights(added)
        each = np.array([weights.get((x, 0), 0) for x in range(4)], np.int64)
        domain, x = Domain.image(4 * cells, 1), np.arange(4 * cells)
        counts = Counts.from_cells(domain, x, np.zeros_like(x), np.tile(each, cells))
        for _ in range(-(-runs // cells)):
            m = release(counts, epsilon=epsilon, first_level=LEVEL, **self.options).measurements
            trees = Trees(*np.zeros((2, cells, NODES[-1]), np.int64))
            deeper, (columns, _) = m.levels - LEVEL, decode(m.codes)
            at = columns >> deeper, np.array(NODES)[deeper] + (columns & (1 << deeper) - 1)
            trees.counts[at], trees.shares[at] = m.counts, m.shares
            yield trees

    def _truth(self, added: bool) -> Ints:
        """The true count of each cell of a tree."""
        weights = self.weights(added)
        each = [weights.get((x, 0), 0) for x in range(4)]
        return np.array([sum(each), sum(each[:2]), sum(each[2:]), *each])

    def _statistics(self, trees: Trees) -> dict[str, NDArray[Any]]:
        """The statistics of each tree.

        * *likelihood*: the likelihood ratio, with the person to without, under the documented noise; of all trees, and
          of those that went one way: does the way tell more?
        * *cells*: which were measured, with which shares;
        * *differences* of siblings: do they share noise?
        * *sum* of all that is published of an opened tree: is the noise of its look in it?
        """
        counts, shares = trees
        there = shares > 0
        c0, c1 = self._truth(False), self._truth(True)
        parts = shares / (SHARES * UNITS)
        likelihood = (parts * (np.abs(counts - c0) - np.abs(counts - c1))).sum(axis=1)
        opened = there[:, 0] & there[:, 1:].any(axis=1)
        ways = {
            "closed": there[:, 0] & ~opened,
            "finished": ~there[:, 0] & there[:, 1:3].all(axis=1),
            "split": ~there[:, 0] & there[:, 3:5].all(axis=1),
            "opened": opened,
        }
        found: dict[str, NDArray[Any]] = {"likelihood": likelihood, "cells": (shares * np.arange(1, 8)).sum(axis=1)}
        for name, way in ways.items():
            found[f"likelihood, at least, if {name}"] = np.where(way, likelihood, -FAR)
            found[f"likelihood, at most, if {name}"] = np.where(way, likelihood, FAR)
        for name, one, other in (("children", 1, 2), ("grandchildren", 3, 5)):
            both = there[:, one] & there[:, other]
            found[f"differences of {name}"] = np.where(both, counts[:, other] - counts[:, one], np.iinfo(np.int64).min)
        known = opened & there[:, 3:].all(axis=1)
        found["sum, if opened"] = np.where(known, counts.sum(axis=1) / UNITS, FAR)
        return found


@dataclass(frozen=True)
class OpenedShape(LooksShape):
    """What is published of an opened cell itself, without what is below: its part of epsilon is all that may show."""

    def _statistics(self, trees: Trees) -> dict[str, NDArray[Any]]:
        """The noisy counts of opened cells, in people."""
        opened = (trees.shares[:, 0] > 0) & (trees.shares[:, 1:] > 0).any(axis=1)
        return {"people, if opened": np.where(opened, trees.counts[:, 0] / UNITS, -FAR)}


def look_shapes(design: str, epsilon: Fraction) -> list[Shape]:
    """The shapes of a ladder's looks: cells with about as many people as make the difference between two ways."""
    if design != LadderDesign.name:
        return []
    rule, options = LadderDesign(2, 4, total=Fraction(0)), {"design": design}

    def others(first: Fraction, second: Fraction) -> dict[Cell, float]:
        """People in the two halves of a cell, by their signals."""
        return {(0, 0): float(first / epsilon), (2, 0): float(second / epsilon)}

    few, many, person, runs = (rule.closing + 2) / 2, rule.opening / 2, {(0, 0): 1.0}, 2**18
    return [
        LooksShape("looks at few", "cells that are closed though more people are in them than a look lets pass", TREE,
                   others(few, few), person, options, 4 * runs),
        LooksShape("looks at halves", "cells whose halves are looked at by themselves, the person in the emptier one",
                   TREE, others(Fraction(2), rule.deepening), person, options, runs),
        LooksShape("looks at many", "cells that are opened or not, and what is below them", TREE,
                   others(many, many), person, options, runs),
        OpenedShape("opened cells", "the counts of opened cells alone: what their part of epsilon allows", TREE,
                    others(many - 2, many - 2), person, options, runs, rule.spent),
        _nearly_alike(rule, epsilon, {**options, "first_level": rule.first}),
    ]  # fmt: skip


def _nearly_alike(rule: LadderDesign, epsilon: Fraction, options: dict[str, Any]) -> Shape:
    """Four start cells, one of them with as many people as make, without noise, a map uneven with one more."""
    domain, (left, taken) = Domain.image(16, 1), rule.rungs[0]
    own, each = (2 * Fraction(UNITS * SHARES, epsilon * share) ** 2 for share in (taken, left))
    noise = domain.count(rule.first) * own + domain.count(rule.last) * each
    fewer = round(rule.even_once / epsilon)

    def uneven(people: int) -> bool:
        return each_if_even([UNITS * number for number in (people, fewer, fewer, fewer)], noise, rule.evenness) is None

    most = bisect_left(range(fewer, MOST), True, key=lambda people: uneven(people + 1)) + fewer
    why = "start cells with as many people as make the difference between an even map and one that is not"
    others: dict[Cell, float] = {(0, 0): most, (4, 0): fewer, (8, 0): fewer, (12, 0): fewer}
    return Shape("nearly alike", why, domain, others, {(0, 0): 1}, options, runs=3_000)
