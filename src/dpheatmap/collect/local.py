"""The local model: nobody is trusted, each device adds noise to its only report.

**A report.** A device draws a level, with public probabilities (`one_level_each`), and one of its points in the domain.
It answers for the cell of that level which the point lies in, by randomised response with all of epsilon. Who has
nothing in the domain answers for nothing, by the same rule.

**Why it is private.** The level is drawn whatever the data is, so it tells nothing. Given the level, a device's data
decides with which probabilities each value is handed to the response. For any two values, or none, the probabilities of
an answer differ by a factor of at most e^epsilon (`randomised_response.py`), hence also those of any two mixtures of
values. So for any two people's data, or none, ``P(report) <= e^epsilon P'(report)``: epsilon-DP against everybody, the
collector included, for one report. A second report of the same person costs epsilon again; `report` can't know of the
first.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpheatmap._util.parameters import check
from dpheatmap.collect.polya import uniform_below
from dpheatmap.collect.randomised_response import NOTHING, Hadamard, Unary, malformed_report, response
from dpheatmap.collect.tree import Tree, tree_of
from dpheatmap.curator import Source, random_words
from dpheatmap.design.budget import read_epsilon
from dpheatmap.design.paper import PaperDesign, one_level_each
from dpheatmap.design.settings import PAPER_WIDTH
from dpheatmap.errors import DomainError, ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.place.selection import all_cells

EPSILONS = Fraction(1, 100), Fraction(50)
MOST_CELLS = 2**20
MOST_PEOPLE = 2**20


@dataclass(frozen=True)
class LocalTerms:
    """What every device has to know: made by :meth:`of`.

    The promise holds whoever else takes part. ``n_min`` is the number of reports below which a collection publishes
    nothing, because nothing could be seen in it, and ``n_max`` the number that it has room for.
    """

    domain: Domain
    design: PaperDesign
    epsilon: Fraction
    n_min: int = 2
    n_max: int = MOST_PEOPLE
    model: ClassVar[str] = "local"
    roles: ClassVar[tuple[str, ...]] = ("server",)

    @classmethod
    def of(
        cls,
        domain: Domain,
        *,
        epsilon: object,
        n_min: int = 2,
        n_max: int = MOST_PEOPLE,
        width: int = PAPER_WIDTH,
        depth: int | None = None,
    ) -> LocalTerms:
        """The terms for a place down to ``depth``, by default the domain's.

        >>> LocalTerms.of(Domain.unit(8), epsilon=1).answer_bytes
        {2: 2, 3: 8, 4: 32, 5: 128, 6: 512, 7: 2, 8: 3}
        """
        if not isinstance(domain, Domain):
            raise DomainError("A collection is about a domain. Make one with Domain.bbox, Domain.image or Domain.unit.")
        exact = read_epsilon(epsilon)
        check(width=width, n_min=n_min, n_max=n_max)
        if depth is not None:
            check(depth=depth)
        check_numbers(n_min, n_max)
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
        return cls(domain, one_level_each(domain, width=int(width), depth=last), exact, int(n_min), int(n_max))

    @property
    def tree(self) -> Tree:
        """The cells that devices answer for."""
        return tree_of(self.domain, self.design.first, self.design.last)

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

    @property
    def payload_bytes(self) -> int:
        """What one person sends, before any encryption: a report, made as long as the longest."""
        return 1 + max(self.answer_bytes.values())

    @property
    def published_words(self) -> int:
        """The 64-bit words of a tally."""
        return sum(1 + how.symbols for how in self.responses.values())

    def to_dict(self) -> dict[str, Any]:
        """A description that :meth:`from_dict` reads back."""
        return {
            "model": self.model, "domain": self.domain.to_dict(), "epsilon": str(self.epsilon), "n_min": self.n_min,
            "n_max": self.n_max, "width": self.design.width, "depth": self.design.last,
            "levels": [{"level": level, "share": share} for level, share in sorted(self.design.shares.items())],
        }  # fmt: skip

    @classmethod
    def from_dict(cls, description: dict[str, Any]) -> LocalTerms:
        """The terms that :meth:`to_dict` described."""
        place = Domain.from_dict(description["domain"])
        return cls.of(
            place, epsilon=description["epsilon"], n_min=description["n_min"], n_max=description["n_max"],
            width=description["width"], depth=description["depth"],
        )  # fmt: skip

    def drawn_levels(self, number: int, source: Source) -> Ints:
        """Levels for so many people, drawn with exactly the probabilities of the design."""
        levels = sorted(self.design.shares)
        ends = np.cumsum([self.design.shares[level] for level in levels])
        words = random_words(number, 32, source).astype(np.int64)
        return np.array(levels)[np.searchsorted(ends, words, side="right")]

    def values(self, level: int, cells: Ints) -> Ints:
        """What to tell of a level: the positions of those that cells of the last level, or `NOTHING`, lie in."""
        at = np.searchsorted(self.cells[level], cells >> 2 * (self.design.last - level))
        return np.where(cells == NOTHING, NOTHING, at)


def check_numbers(n_min: int, n_max: int) -> None:
    """Refuse a collection that waits for more people than it has room for."""
    if n_min > n_max:
        raise ParameterError(f"n_min must be at most n_max; they were {n_min} and {n_max}. Swap them.")


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

    def to_padded_bytes(self, terms: LocalTerms) -> bytes:
        """The report as it is sealed, as long as any other."""
        return self.to_bytes().ljust(terms.payload_bytes, b"\0")

    @classmethod
    def from_padded_bytes(cls, text: bytes, terms: LocalTerms) -> Report:
        """The report that was sealed; what none of these terms can be is an error."""
        level, size = text[0], 1 + terms.answer_bytes.get(text[0], 0)
        if level not in terms.responses or text[size:].strip(b"\0"):
            raise malformed_report()
        terms.responses[level].unpack(text[1:size])
        return cls(level, text[1:size])


def report(terms: LocalTerms, x: ArrayLike, y: ArrayLike, source: Source = os.urandom) -> Report:
    """One person's only report, from all of their points; epsilon-DP against everybody. Send one, and never another.

    >>> terms = LocalTerms.of(Domain.unit(4), epsilon=1)
    >>> sent = report(terms, [0.2, 0.3, 7.0], [0.2, 0.2, 0.2])
    >>> len(sent.answer) == terms.answer_bytes[sent.level]
    True
    """
    return report_of(terms, *terms.tree.leaves(x, y), source)


def report_of(terms: LocalTerms, cells: Ints, points: Ints, source: Source = os.urandom) -> Report:
    """The same from cells of the last level and how many points, or which weight, lie in each."""
    level = int(terms.drawn_levels(1, source)[0])
    told = np.array([NOTHING])
    if points.any():
        told = cells[np.searchsorted(np.cumsum(points), uniform_below(points.sum(keepdims=True), source), side="right")]
    how = terms.responses[level]
    return Report(level, how.pack(how.answers(terms.values(level, told), source)[0]))
