"""Shapes of the audit: neighbouring data sets in which one person might show most, and statistics of outputs.

Those of single releases of counts are here; `file_shapes`, `group_shapes` and `discovery_shapes` have the others.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dpheatmap.curator import Counts, Curator, release
from dpheatmap.design.design import Design, Question, asks
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import SHARES, UNITS
from dpheatmap.evaluate.audit.confidence import epsilon_lower_bound
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, encode
from dpheatmap.releases.measurements import Measurements

Cell = tuple[int, int]
Sample = dict[str, Any]
"""The values of each statistic in all runs."""

THRESHOLD = ("likelihood", "weighted sum", "people", "depth", "sum")
"""How the names of statistics begin that are numbers; others are only compared for equality."""

CHOOSING = 5
"""One of this many runs chooses events, the others judge them."""

MOST = 10**6
"""The most people in a shape."""


@dataclass(frozen=True)
class Shape:
    """Others, and the person who is added to them, as people by finest cell; and the options of the release.

    ``allowed`` is the largest log-ratio that the promise allows, in epsilons: 1 for one person and a whole release.
    """

    name: str
    why: str
    domain: Domain
    others: Mapping[Cell, float]
    person: Mapping[Cell, float]
    options: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 8_000
    allowed: Fraction = Fraction(1)

    def weights(self, added: bool) -> dict[Cell, int]:
        """Units by occupied cell."""
        people = Counter(self.others) + Counter(self.person if added else {})
        return {cell: round(number * UNITS) for cell, number in people.items()}

    def truth(self, added: bool) -> Ints:
        """The true weight of every cell of every level, in a row: level 0, level 1, ..., by Morton code."""
        depth = self.domain.depth
        row = np.zeros(first_place(depth + 1), np.int64)
        for (x, y), weight in self.weights(added).items():
            for level in range(depth + 1):
                code = encode(np.array([x >> (depth - level)]), np.array([y >> (depth - level)]))
                row[first_place(level) + int(code[0])] += weight
        return row

    def sample(self, added: bool, epsilon: Fraction, runs: int) -> Sample:
        """Release one of the two data sets many times and return the statistics."""
        without, with_them = self.truth(False), self.truth(True)
        columns: dict[str, list[Any]] = {}
        with self._repeated_release(added, epsilon) as once:
            for _ in range(runs):
                for name, value in statistics(once(), without, with_them).items():
                    columns.setdefault(name, []).append(value)
        return {name: np.array(values) for name, values in columns.items()}

    def _repeated_release(self, added: bool, epsilon: Fraction) -> RepeatedRelease:
        return RepeatedRelease(self, added, epsilon)

    def estimate(self, hits: Ints, otherwise: Ints, runs: int) -> Floats:
        """Estimate the bound that an event will give, with margins of five standard deviations on both sides.

        Judging runs are a fixed multiple of choosing runs, and so, approximately, are the hits.
        """
        often, seldom = (CHOOSING - 1) * hits, (CHOOSING - 1) * otherwise
        least = np.maximum(often - 5 * np.sqrt(often), 1e-3)
        most = seldom + 5 * np.sqrt(seldom) + 18
        guess: Floats = np.log(least / most)
        return guess

    def bound(self, hits: int, runs: int, otherwise: int, others: int, alpha: float) -> float:
        """The epsilon that the promise needs at least: a log-ratio, divided by what the promise allows in epsilons."""
        return epsilon_lower_bound(hits, runs, otherwise, others, alpha) / float(self.allowed)


class RepeatedRelease:
    """Repeated releases of one of a shape's data sets."""

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
class FirstQuestionShape(Shape):
    """The first question alone, and several people at once, to whom the promise allows ``allowed`` epsilons.

    The first question of a release has a small part of epsilon. If it took more, the noise of all the rest would hide
    that, so it is tested alone. By the proof (`core/measure.py`) no path spends more than epsilon, and later questions
    are published with their shares. So the first count is DP for the part that they leave over; if more shows, a path
    has spent more than epsilon. Of k people the log-ratio is at most k times that of one. All are in the first cell,
    which comes first in a release: no question goes back up.
    """

    def sample(self, added: bool, epsilon: Fraction, runs: int) -> Sample:
        """The first noisy counts, in people."""
        with self._repeated_release(added, epsilon) as once:
            return {"weighted sum": np.array([once().counts[0] for _ in range(runs)]) / UNITS}


@dataclass(frozen=True)
class SamplerShape(Shape):
    """The noise alone: each finest cell is an independent run, empty or with one person, and gets all of epsilon."""

    def sample(self, added: bool, epsilon: Fraction, runs: int) -> Sample:
        """Noisy counts of many cells at once, by the sampler for many cells."""
        depth = self.domain.depth
        codes = np.arange(4**depth)
        x, y = codes & (2**depth - 1), codes >> depth
        counts = Counts.from_cells(self.domain, x, y, np.full(4**depth, UNITS * added))
        values = [Curator(counts, epsilon).cells(depth, codes, epsilon) for _ in range(-(-runs // 4**depth))]
        people = np.concatenate(values)[:runs]
        return {"likelihood": np.abs(people) - np.abs(people - 1), "weighted sum": people}


def first_place(level: int) -> int:
    """The number of cells on the levels above one."""
    return int((4**level - 1) // 3)


def statistics(m: Measurements, without: Ints, with_them: Ints) -> dict[str, Any]:
    """The statistics of one output.

    * *likelihood*: the likelihood ratio of the output, with the person to without, under the documented noise;
    * *weighted sum* of the counts in their cells, which is not bounded;
    * *cells*: which were measured, with which shares: does the choice depend on the data?
    * *start*: the first two levels that were measured: does the choice depend on the data?
    * *differences* of neighbouring counts of a level, and of the first counts of two levels: is noise used twice?
    * *everything*: does an output repeat?
    """
    likelihood, weighted_sum = likelihood_and_sum(m, without, with_them)
    first = m.counts[m.levels == m.levels[0]]
    below = m.counts[len(first) : len(first) + 1]
    return {
        "likelihood": likelihood,
        "weighted sum": weighted_sum,
        "cells": hash_of(m.levels, m.codes, m.shares),
        "start": hash_of(np.unique(m.levels)[:2]),
        "differences of cells": hash_of(np.diff(m.counts)[np.diff(m.levels) == 0]),
        "differences of levels": hash_of(below - first[0]),
        "everything": hash_of(m.levels, m.codes, m.counts),
    }


def likelihood_and_sum(m: Measurements, without: Ints, with_them: Ints) -> tuple[float, float]:
    """The *likelihood* and the *weighted sum* of `statistics`, in people times parts of epsilon."""
    places = ((1 << (2 * m.levels)) - 1) // 3 + m.codes
    c0, c1 = without[places], with_them[places]
    shares = m.shares / (SHARES * UNITS)
    likelihood = shares @ (np.abs(m.counts - c0) - np.abs(m.counts - c1)).astype(np.float64)
    return float(likelihood), float((shares * (c1 != c0)) @ m.counts.astype(np.float64))


def hash_of(*arrays: Ints) -> int:
    """A 64-bit hash: equal for equal outputs, and for others with probability 2^-64."""
    digest = hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def shapes(design: str, epsilon: Fraction) -> list[Shape]:
    """The shapes for a design: small, so that one person is a large part of the data."""
    unit = Domain.unit
    default: dict[str, Any] = {"design": design}
    every: dict[str, Any] = {"design": design, "first_level": 0}
    return [
        Shape("one cell", "nobody, and the person, in the only cell: all of epsilon on one count", unit(0), {},
              {(0, 0): 1}, default, runs=60_000),
        Shape("two levels", "counts above each other, all of which the person raises", unit(1),
              {(0, 0): 2, (1, 0): 1}, {(1, 0): 1}, every),
        Shape("alone", "the person in a region where nobody else is", unit(1), {}, {(1, 0): 1}, every,
              runs=32_000),
        Shape("several cells", "the person's weight on several paths, beside others and apart", unit(2),
              {(0, 0): 12, (1, 1): 8, (3, 0): 7, (1, 3): 1}, {(1, 1): 0.5, (3, 0): 0.25, (0, 3): 0.25}, every),
        Shape("tipping the balance", "the person decides which cells are looked into", unit(2),
              {(0, 0): 2, (2, 0): 2}, {(3, 1): 1}, {**every, "width": 1}),
        Shape("on the threshold", "as many people as make the difference between two ways to go on", unit(1),
              {(1, 0): _tipping_point(unit(1), every, epsilon)}, {(1, 0): 1}, every),
        Shape("default", "no option but the design: the person raises the total and every count below", unit(3), {},
              {(5, 2): 1}, default, runs=16_000),
        _first_question(unit(3), default, epsilon),
        Shape("start", "as many people as make the difference between two levels to start at", unit(6),
              {(0, 0): _tipping_point(unit(6), default, epsilon)}, {(20, 9): 0.5, (63, 63): 0.5}, default, runs=3_000),
    ]  # fmt: skip


def _design(domain: Domain, options: Mapping[str, Any], epsilon: Fraction) -> tuple[Design, Measurements]:
    """The design of a release, and its measurements of empty data."""
    nobody = np.zeros(0, np.int64)
    made = release(Counts.from_cells(domain, nobody, nobody, nobody), epsilon=epsilon, **options)
    return made.design, made.measurements


def _tipping_point(domain: Domain, options: Mapping[str, Any], epsilon: Fraction) -> int:
    """The number of people in the first cell at which, without noise, one more would change the next questions."""
    design, _ = _design(domain, options, epsilon)

    def decision(people: int) -> object:
        if isinstance(design, LadderDesign):
            if design.total_question(domain) is not None:
                return design.start_of(domain, epsilon * people)
            return people * UNITS > design.threshold(design.closing, epsilon, design.rungs[0].left)
        assert asks(design)
        asked = design.begin(domain)
        following = design.after(domain, PureLoss(epsilon), asked, np.full(len(asked.cells), people * UNITS))
        return [(question.level, question.cells.tolist(), question.share) for question in following]

    nobody = decision(0)
    found = bisect_left(range(MOST), True, key=lambda people: decision(people + 1) != nobody)
    return 3 if found == MOST else found


def _first_question(domain: Domain, options: Mapping[str, Any], epsilon: Fraction) -> Shape:
    """The shape with as many people as allow, with the first question's part of epsilon, a log-ratio of about 1."""
    part = _share_of_first_question(domain, options, epsilon)
    people = min(max(1, round(1 / (epsilon * part))), MOST)
    why = f"the first count alone, and several people ({people}) who are there or not: what its part of epsilon allows"
    return FirstQuestionShape("first question", why, domain, {}, {(0, 0): people}, options, 4_000, people * part)


def _share_of_first_question(domain: Domain, options: Mapping[str, Any], epsilon: Fraction) -> Fraction:
    """The part of epsilon that later questions leave over on the path where they spend most; at least one share."""
    design, m = _design(domain, options, epsilon)
    first = _first_of(design, domain)
    spent = np.zeros(4**domain.depth, np.int64)
    for level, code, share in zip(m.levels.tolist(), m.codes.tolist(), m.shares.tolist(), strict=True):
        spent[code << 2 * (domain.depth - level) : (code + 1) << 2 * (domain.depth - level)] += share
    for code in first.cells.tolist():
        spent[code << 2 * (domain.depth - first.level) : (code + 1) << 2 * (domain.depth - first.level)] -= first.share
    return Fraction(max(SHARES - int(spent.max()), 1), SHARES)


def _first_of(design: Design, domain: Domain) -> Question:
    """The first question of a release: of a ladder, the total."""
    first = design.begin(domain) if asks(design) else None
    if isinstance(design, LadderDesign):
        first = design.total_question(domain)
    assert first is not None
    return first


def sampler_shape() -> Shape:
    """The shape of the noise sampler."""
    why = "the noise alone, drawn for many cells at once: one person more in a cell, or not"
    return SamplerShape("noise sampler", why, Domain.unit(8), {}, {(0, 0): 1}, runs=2**20)
