"""The local model: nobody is trusted, and each device adds noise to its only report.

**A report.** A device draws a level, with public probabilities (`one_level_each`), and one of its points in the domain.
It answers for the cell of that level which the point lies in, by randomised response with all of epsilon. A device
without a point in the domain answers for nothing, by the same rule.

**Why it is private.** The level is drawn independently of the data, so it reveals nothing. Given the level, a device's
data decides the probability with which each value is passed to the response. For any two values, or none, the
probabilities of an answer differ by a factor of at most e^epsilon (`randomised_response.py`), hence also those of any
two mixtures of values. So for any two people's data, or none, ``P(report) <= e^epsilon P'(report)``: epsilon-DP against
everybody, the collector included, for one report. A second report of the same person costs epsilon again, and `report`
can't know of the first.
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
from dpheatmap.collect.limits import check_numbers
from dpheatmap.collect.polya import uniform_below
from dpheatmap.collect.randomised_response import NOTHING, Response, Unary, malformed_report, response
from dpheatmap.collect.tree import Tree, tree_of
from dpheatmap.curator import Source, random_words
from dpheatmap.design.paper import PaperDesign, depth_worth_asking, one_level_each
from dpheatmap.design.settings import PAPER_WIDTH
from dpheatmap.design.shares import read_epsilon
from dpheatmap.errors import DomainError, ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints

EPSILONS = Fraction(1, 100), Fraction(50)
MOST_CELLS = 2**20
MOST_PEOPLE = 2**20


@dataclass(frozen=True)
class LocalTerms:
    """The public terms of a collection in the local model, made by :meth:`of`.

    The promise holds whoever else takes part.

    Attributes
    ----------
    domain : Domain
        The public place.
    design : PaperDesign
        The levels, and the probability with which a device draws each.
    epsilon : Fraction
        How much one report may leak about a person.
    n_min : int
        The number of reports below which a collection publishes nothing, because nothing could be seen in it.
    n_max : int
        The number of reports that a collection has room for.
    model : str
        Always "local".
    roles : tuple of str
        The roles of the parties: one server.
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
        """Make the terms; refuse values that don't fit.

        Parameters
        ----------
        domain : Domain
            The public place.
        epsilon : number, str or Fraction
            How much one report may leak about a person, from 0.01 to 50.
        n_min : int, default 2
            The number of reports below which nothing is published.
        n_max : int, default 1048576
            The number of reports that there is room for.
        width : int, default 20
            For experts: the number of cells that the first level has, at most.
        depth : int, optional
            The last level; by default the last at which n_max people would show anything.

        Returns
        -------
        LocalTerms
            The terms.

        Raises
        ------
        ParameterError
            If a value lies outside its rule, or if the last level has more than 2^20 cells.

        Examples
        --------
        >>> LocalTerms.of(Domain.unit(8), epsilon=1).answer_bytes
        {2: 2, 3: 8, 4: 32, 5: 128, 6: 512}
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
        signal = n_max / Unary(1, exact).variance
        asked = depth_worth_asking(domain, signal, width=int(width)) if depth is None else int(depth)
        last = min(asked, domain.depth)
        if domain.count(last) > MOST_CELLS:
            raise ParameterError(
                f"A local collection's last level must have at most {MOST_CELLS} cells; level {last} has "
                f"{domain.count(last)}. Use a smaller depth."
            )
        return cls(domain, one_level_each(domain, width=int(width), depth=last), exact, int(n_min), int(n_max))

    @property
    def tree(self) -> Tree:
        """The cells that devices answer for."""
        return tree_of(self.domain, self.design.first, self.design.last)

    @cached_property
    def responses(self) -> dict[int, Response]:
        """The randomised response of each level."""
        return {k: response(self.domain.count(k), self.epsilon) for k in sorted(self.design.shares)}

    @cached_property
    def cells(self) -> dict[int, Ints]:
        """The Morton codes of the cells of each level. A device answers for the position of its cell in them."""
        return {k: self.domain.codes(k) for k in sorted(self.design.shares)}

    @property
    def answer_bytes(self) -> dict[int, int]:
        """The number of bytes of an answer for each level."""
        return {level: how.answer_bytes for level, how in self.responses.items()}

    @property
    def payload_bytes(self) -> int:
        """The number of bytes that one person sends, before any encryption: a report, padded to the longest one."""
        return 1 + max(self.answer_bytes.values())

    @property
    def published_words(self) -> int:
        """The number of 64-bit words of a tally."""
        return sum(1 + how.symbols for how in self.responses.values())

    def to_dict(self) -> dict[str, Any]:
        """Describe the terms by plain values, for JSON.

        Returns
        -------
        dict
            A description that :meth:`from_dict` reads back.
        """
        return {
            "model": self.model, "domain": self.domain.to_dict(), "epsilon": str(self.epsilon), "n_min": self.n_min,
            "n_max": self.n_max, "width": self.design.width, "depth": self.design.last,
            "levels": [
                {"level": level, "share": self.design.shares[level], "response": how.name}
                for level, how in self.responses.items()
            ],
        }  # fmt: skip

    @classmethod
    def from_dict(cls, description: dict[str, Any]) -> LocalTerms:
        """Make the terms from their description.

        Parameters
        ----------
        description : dict
            What :meth:`to_dict` returned.

        Returns
        -------
        LocalTerms
            The same terms.
        """
        place = Domain.from_dict(description["domain"])
        return cls.of(
            place, epsilon=description["epsilon"], n_min=description["n_min"], n_max=description["n_max"],
            width=description["width"], depth=description["depth"],
        )  # fmt: skip

    def drawn_levels(self, number: int, source: Source) -> Ints:
        """Draw the levels that people answer for, with exactly the probabilities of the design.

        Parameters
        ----------
        number : int
            The number of people.
        source : callable
            The source of random bytes.

        Returns
        -------
        array of int
            A level for each person.
        """
        levels = sorted(self.design.shares)
        ends = np.cumsum([self.design.shares[level] for level in levels])
        words = random_words(number, 32, source).astype(np.int64)
        return np.array(levels)[np.searchsorted(ends, words, side="right")]

    def values(self, level: int, cells: Ints) -> Ints:
        """Compute what people answer for at a level: the positions of the cells that their cells lie in.

        Parameters
        ----------
        level : int
            The level.
        cells : array of int
            A Morton code of the last level for each person, or `NOTHING`.

        Returns
        -------
        array of int
            A position in ``cells[level]`` for each person, or `NOTHING`.
        """
        at = np.searchsorted(self.cells[level], cells >> 2 * (self.design.last - level))
        return np.where(cells == NOTHING, NOTHING, at)


class Report(NamedTuple):
    """The report that a device sends in the local model.

    Attributes
    ----------
    level : int
        The level that it answers for.
    answer : bytes
        Its answer.
    """

    level: int
    answer: bytes

    def to_bytes(self) -> bytes:
        """Encode the report as it is sent.

        Returns
        -------
        bytes
            The level in one byte, and the answer.
        """
        return bytes([self.level]) + self.answer

    @classmethod
    def from_bytes(cls, sent: bytes) -> Report:
        """Decode a report. Whether it fits a collection is found out by the tally.

        Parameters
        ----------
        sent : bytes
            What was sent.

        Returns
        -------
        Report
            The report; its level is -1 if nothing was sent.
        """
        return cls(sent[0], sent[1:]) if sent else cls(-1, b"")

    def to_padded_bytes(self, terms: LocalTerms) -> bytes:
        """Encode the report as it is sealed, as long as any other.

        Parameters
        ----------
        terms : LocalTerms
            The terms of the collection.

        Returns
        -------
        bytes
            The report, padded with zeros.
        """
        return self.to_bytes().ljust(terms.payload_bytes, b"\0")

    @classmethod
    def from_padded_bytes(cls, text: bytes, terms: LocalTerms) -> Report:
        """Decode a report that was sealed, and refuse one that does not fit the terms.

        Parameters
        ----------
        text : bytes
            What was sealed.
        terms : LocalTerms
            The terms of the collection.

        Returns
        -------
        Report
            The report.
        """
        level, size = text[0], 1 + terms.answer_bytes.get(text[0], 0)
        if level not in terms.responses or text[size:].strip(b"\0"):
            raise malformed_report()
        terms.responses[level].unpack(text[1:size])
        return cls(level, text[1:size])


def report(terms: LocalTerms, x: ArrayLike, y: ArrayLike, source: Source = os.urandom) -> Report:
    """Make one person's only report from all of their points; epsilon-DP against everybody. Never send a second one.

    >>> terms = LocalTerms.of(Domain.unit(4), epsilon=1)
    >>> sent = report(terms, [0.2, 0.3, 7.0], [0.2, 0.2, 0.2])
    >>> len(sent.answer) == terms.answer_bytes[sent.level]
    True
    """
    return report_of(terms, *terms.tree.leaves(x, y), source)


def report_of(terms: LocalTerms, cells: Ints, points: Ints, source: Source = os.urandom) -> Report:
    """Make the report from cells of the last level and the number of points, or the weight, in each."""
    level = int(terms.drawn_levels(1, source)[0])
    told = np.array([NOTHING])
    if points.any():
        told = cells[np.searchsorted(np.cumsum(points), uniform_below(points.sum(keepdims=True), source), side="right")]
    how = terms.responses[level]
    return Report(level, how.pack(how.answers(terms.values(level, told), source)[0]))
