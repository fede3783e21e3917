"""The local model: nobody is trusted, each device adds noise to its only report.

**A report.** A device draws a level, with public probabilities (`one_level_each`), and one of its points in the domain.
It answers for the cell of that level which the point lies in, by randomised response with all of epsilon. Who has
nothing in the domain answers for nothing, by the same rule.

**Why it is private.** The level is drawn whatever the data is, so it tells nothing. Given the level, a device's data
decides with which probabilities each value is handed to the response. For any two values, or none, the probabilities of
an answer differ by a factor of at most e^epsilon (`responses.py`), hence also those of any two mixtures of values. So
for any two people's data, or none, ``P(report) <= e^epsilon P'(report)``: epsilon-DP against everybody, the collector
included, for one report. A second report of the same person costs epsilon again; `report` can't know of the first.

**The tree.** With n reports, of which n_i are of level i, a cell's part of the n_i people is estimated without bias,
and n times that is its noisy count. Its variance is that of the responses *and* of which people, and which of their
points, were drawn for the level: the answers are independent draws, and their variance is estimated by what was seen.
The sums are over many reports, so their law is nearly normal.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap.budget import UNITS, read_epsilon
from dpheatmap.collect.polya import uniform_below
from dpheatmap.collect.responses import NOTHING, Hadamard, Unary, malformed, response
from dpheatmap.collect.tree import tree_of
from dpheatmap.curator.noise import Source, random_words
from dpheatmap.design import PAPER_WIDTH, PaperDesign, one_level_each
from dpheatmap.domain import Domain
from dpheatmap.errors import DomainError, ParameterError
from dpheatmap.mechanism import local
from dpheatmap.parameters import check
from dpheatmap.quadtree import Ints
from dpheatmap.release import Release
from dpheatmap.selection import all_cells

EPSILONS = Fraction(1, 100), Fraction(50)
MOST_CELLS = 2**20
_UNKNOWN = 10.0
"""The standard deviation, in all people, of the cells of a level that nobody reported."""


@dataclass(frozen=True)
class LocalTerms:
    """What every device has to know: made by :meth:`of`."""

    domain: Domain
    design: PaperDesign
    epsilon: Fraction

    @classmethod
    def of(cls, domain: Domain, *, epsilon: object, width: int = PAPER_WIDTH, depth: int | None = None) -> LocalTerms:
        """The terms for a place down to ``depth``, by default the domain's.

        >>> LocalTerms.of(Domain.unit(8), epsilon=1).answer_bytes
        {2: 2, 3: 8, 4: 32, 5: 128, 6: 512, 7: 2, 8: 3}
        """
        if not isinstance(domain, Domain):
            raise DomainError("A collection is about a domain. Make one with Domain.bbox, Domain.image or Domain.unit.")
        exact = read_epsilon(epsilon)
        check(width=width)
        if depth is not None:
            check(depth=depth)
        if not EPSILONS[0] <= exact <= EPSILONS[1]:
            raise ParameterError(
                f"A local collection's epsilon must be from {EPSILONS[0]} to {EPSILONS[1]}; it was {exact}. Below that "
                "nothing can be learnt, and above it nobody is protected."
            )
        last = domain.depth if depth is None else min(int(depth), domain.depth)
        if domain.cells(last).count > MOST_CELLS:
            raise ParameterError(
                f"A local collection's last level must have at most {MOST_CELLS} cells; level {last} has "
                f"{domain.cells(last).count}. Use a smaller depth."
            )
        return cls(domain, one_level_each(domain, width=int(width), depth=last), exact)

    @cached_property
    def responses(self) -> dict[int, Unary | Hadamard]:
        """How devices answer for each level."""
        return {k: response(self.domain.cells(k).count, self.epsilon) for k in sorted(self.design.shares)}

    @cached_property
    def cells(self) -> dict[int, Ints]:
        """The codes of the cells of each level; a device answers for the position of its own."""
        return {k: all_cells(self.domain, k) for k in sorted(self.design.shares)}

    @property
    def answer_bytes(self) -> dict[int, int]:
        """The bytes of an answer for each level."""
        return {level: how.answer_bytes for level, how in self.responses.items()}

    def to_dict(self) -> dict[str, Any]:
        """A description that :meth:`from_dict` reads back."""
        return {
            "domain": self.domain.to_dict(), "epsilon": str(self.epsilon), "width": self.design.width,
            "depth": self.design.last,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, description: dict[str, Any]) -> LocalTerms:
        """The terms that :meth:`to_dict` described."""
        place = Domain.from_dict(description["domain"])
        return cls.of(
            place, epsilon=description["epsilon"], width=description["width"], depth=description["depth"]
        )  # fmt: skip

    def drawn_levels(self, size: int, source: Source) -> Ints:
        """Levels for so many people, drawn with exactly the probabilities of the design."""
        levels = sorted(self.design.shares)
        ends = np.cumsum([self.design.shares[level] for level in levels])
        words = random_words(size, 32, source).astype(np.int64)
        return np.array(levels)[np.searchsorted(ends, words, side="right")]

    def values(self, level: int, cells: Ints) -> Ints:
        """What to tell of a level: the positions of those that cells of the last level, or `NOTHING`, lie in."""
        at = np.searchsorted(self.cells[level], cells >> 2 * (self.design.last - level))
        return np.where(cells == NOTHING, NOTHING, at)


class Report(NamedTuple):
    """What a device sends: the level that it answers for, and its answer."""

    level: int
    answer: bytes

    def to_bytes(self) -> bytes:
        """The report as it is sent."""
        return bytes([self.level]) + self.answer

    @classmethod
    def from_bytes(cls, sent: bytes) -> Report:
        """The report that was sent; whether it is one of a collection is found out by the tally."""
        return cls(sent[0], sent[1:]) if sent else cls(-1, b"")


def report(terms: LocalTerms, x: ArrayLike, y: ArrayLike, source: Source = os.urandom) -> Report:
    """One person's only report, from all of their points; epsilon-DP against everybody. Send one, and never another.

    >>> terms = LocalTerms.of(Domain.unit(4), epsilon=1)
    >>> tally = Tally(terms)
    >>> tally.add(report(terms, [0.2, 0.3, 7.0], [0.2, 0.2, 0.2]))
    >>> tally.release().mechanism.trusted
    'nobody'
    """
    cells, points = tree_of(terms.domain, terms.design.first, terms.design.last).leaves(x, y)
    level = int(terms.drawn_levels(1, source)[0])
    told = np.array([NOTHING])
    if len(cells):
        told = cells[np.searchsorted(np.cumsum(points), uniform_below(points.sum(keepdims=True), source), side="right")]
    how = terms.responses[level]
    return Report(level, how.packed(how.answers(terms.values(level, told), source)[0]))


class Tally:
    """The collector's sums of reports; knows no more of anybody than their report."""

    def __init__(self, terms: LocalTerms) -> None:
        self.terms = terms
        self.numbers = dict.fromkeys(terms.responses, 0)
        self.tallies = {level: np.zeros(how.symbols, np.int64) for level, how in terms.responses.items()}

    def add(self, sent: Report) -> None:
        """Add a report; one that is none of this collection is an error and changes nothing."""
        how = self.terms.responses.get(sent.level)
        if how is None:
            raise malformed()
        self.add_many(sent.level, how.tally(np.array([how.unpacked(sent.answer)])), 1)

    def add_many(self, level: int, tally: Ints, number: int) -> None:
        """Add the tally of so many reports of a level."""
        self.tallies[level] = self.tallies[level] + tally
        self.numbers[level] += number

    @property
    def participants(self) -> int:
        """How many reports were added."""
        return sum(self.numbers.values())

    def release(self, *, seeded: bool = False) -> Release:
        """The noisy tree, with the deviations of its noise; reports that come later need a new one."""
        people = self.participants
        if people == 0:
            raise ParameterError("A tally must have one report at least to be released; it had none. Add reports.")
        counts, deviations = [], []
        for level, how in self.terms.responses.items():
            number = self.numbers[level]
            if number:
                part, deviation = how.estimate(self.tallies[level], number)
            else:
                part, deviation = np.zeros(how.size), np.full(how.size, _UNKNOWN)
            counts.append(np.rint(part * people * UNITS).astype(np.int64))
            deviations.append(np.ceil(deviation * people * UNITS).astype(np.int64))
        return Release.collected(
            self.terms.domain, self.terms.design, np.concatenate(counts), epsilon=self.terms.epsilon,
            mechanism=local(people), deviations=np.concatenate(deviations), seeded=seeded,
        )  # fmt: skip


def simulated(terms: LocalTerms, finest: Ints, rng: np.random.Generator) -> Release:
    """The release of so many people, given by the code of one finest cell each or `NOTHING`, all at once; not private.

    >>> terms = LocalTerms.of(Domain.unit(3), epsilon=4)
    >>> r = simulated(terms, np.zeros(100_000, np.int64), np.random.default_rng(0))
    >>> bool(abs(r.measurements.counts[0] / r.units - 100_000) < 5000)
    True
    """
    tally = Tally(terms)
    cells = finest >> 2 * (terms.domain.depth - terms.design.last)  # which leaves `NOTHING` as it is
    levels = terms.drawn_levels(len(cells), rng.bytes)
    for level, how in terms.responses.items():
        told = terms.values(level, cells[levels == level])
        tally.add_many(level, how.simulated_tally(told, rng), len(told))
    return tally.release(seeded=True)
