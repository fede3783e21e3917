"""Designs: which cells are measured, and with which share of epsilon, as a function of published values alone.

A design asks *questions*: the noisy counts of some cells of a level, each for the same share of epsilon. It starts with
one question, and every answer leads to further ones about the same cells or cells inside them. Both sides of the wall
walk through the same questions: the curator to answer them, and whoever reads a release to check it.

**What every design keeps**, and the proof in `curator/measure.py` rests on: along each path from the top of the tree
down to a finest cell, the shares of all measurements add up to at most SHARES, which stands for epsilon. It is kept
locally. A question says what each path through its cells has left after it; what follows may use no more than that,
and no cell may be followed by two questions side by side. The walk checks this at every step, whatever the design.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from dpheatmap.budget import PAPER_DECAY, SHARES, split_over_levels
from dpheatmap.domain import Domain
from dpheatmap.quadtree import Ints, largest
from dpheatmap.selection import all_cells, children_inside

PAPER_WIDTH = 20


class Question(NamedTuple):
    """Cells of a level, codes ascending, the share of epsilon spent on each, and what their paths have left then."""

    level: int
    cells: Ints
    share: int
    left: int


class Design(Protocol):
    """The first question, and which questions follow from an answer."""

    @property
    def name(self) -> str:
        """What it is called in options and files."""

    @property
    def last(self) -> int:
        """The deepest level that may be measured."""

    def begin(self, domain: Domain) -> Question:
        """The question that every release starts with."""

    def after(self, domain: Domain, epsilon: Fraction, asked: Question, noisy: Ints) -> list[Question]:
        """The questions that follow from the noisy counts."""

    def possible_shares(self, domain: Domain) -> set[int]:
        """Every share that a measurement may have."""


EVERYTHING = Question(0, np.zeros(1, np.int64), 0, SHARES)
"""Where every path starts: the root, of which nothing was asked yet."""


def walk(design: Design, domain: Domain, epsilon: Fraction, answer: Callable[[Question], Ints]) -> None:
    """Ask all questions of a design, each before those that follow from it."""
    waiting = deque([design.begin(domain)])
    check_paths(EVERYTHING, [waiting[0]])
    while waiting:
        asked = waiting.popleft()
        following = design.after(domain, epsilon, asked, answer(asked))
        check_paths(asked, following)
        waiting.extend(question for question in following if len(question.cells))


def check_paths(asked: Question, following: Sequence[Question]) -> None:
    """Stop if questions that follow another would overspend a path: a fault of the design, not of the data.

    None may spend more than the paths have left; all cells must lie in those asked about before, and each of these in
    at most one of the questions. Cells are in order, which is checked, so it takes no more than comparing neighbours.
    """
    entered = [asked.cells[:0]]
    for question in following:
        if not 0 < question.share <= question.share + question.left <= asked.left:
            raise AssertionError("a design would spend more on a path than it has left; please report this")
        if (question.cells[1:] <= question.cells[:-1]).any():
            raise AssertionError("a design would measure a cell twice in one question; please report this")
        if question.level < asked.level:
            raise AssertionError("a design would go back up a path; please report this")
        above = question.cells >> 2 * (question.level - asked.level)
        entered += [above[:1], above[1:][above[1:] != above[:-1]]]
    together = np.sort(np.concatenate(entered))
    known = asked.cells.searchsorted(together, side="left") < asked.cells.searchsorted(together, side="right")
    if (together[1:] == together[:-1]).any() or not known.all():
        raise AssertionError("a design would measure a path on two ways; please report this")


@dataclass(frozen=True)
class PaperDesign:
    """The paper's: all children of the ``width`` largest cells; the levels' shares fall by ``decay``.

    ``at_once`` is its form for devices that can't be asked twice: all cells of every level are measured, and the width
    is what the paper's reconstruction then looks at. Where nobody is trusted, each device answers for one level with
    all of epsilon, and the shares are those of the people.
    """

    shares: Mapping[int, int]
    width: int
    decay: Fraction
    at_once: bool = False
    name: ClassVar[str] = "paper"

    @property
    def last(self) -> int:
        """The deepest level."""
        return max(self.shares)

    @property
    def first(self) -> int:
        """The first level."""
        return min(self.shares)

    def begin(self, domain: Domain) -> Question:
        """All cells of the first level."""
        share = self.shares[self.first]
        return Question(self.first, all_cells(domain, self.first), share, SHARES - share)

    def after(self, domain: Domain, epsilon: Fraction, asked: Question, noisy: Ints) -> list[Question]:
        """The children of all cells of the first level, then of the largest ones, or of all again."""
        if asked.level == self.last:
            return []
        every = self.at_once or asked.level == self.first
        kept = asked.cells if every else asked.cells[largest(asked.cells, noisy, self.width)]
        share = self.shares[asked.level + 1]
        return [Question(asked.level + 1, children_inside(domain, asked.level, kept), share, asked.left - share)]

    def possible_shares(self, domain: Domain) -> set[int]:
        """Those of the levels."""
        return set(self.shares.values())

    def coordinates(self, domain: Domain) -> tuple[Ints, Ints]:
        """Levels and codes of all cells of all levels, in the order of a release: what is measured at once."""
        cells = [all_cells(domain, level) for level in sorted(self.shares)]
        return np.repeat(sorted(self.shares), [len(codes) for codes in cells]), np.concatenate(cells)


def all_at_once(
    domain: Domain, *, width: int = PAPER_WIDTH, decay: Fraction = PAPER_DECAY, depth: int | None = None
) -> PaperDesign:
    """The paper's levels down to ``depth`` (default: the domain's) for devices that can't be asked twice.

    >>> levels, codes = all_at_once(Domain.unit(3)).coordinates(Domain.unit(3))
    >>> levels.tolist().count(2), levels.tolist().count(3)
    (16, 64)
    """
    levels = _levels(domain, width, depth)
    return PaperDesign(split_over_levels(levels[0], levels[-1], decay), width, decay, at_once=True)


def one_level_each(domain: Domain, *, width: int = PAPER_WIDTH, depth: int | None = None) -> PaperDesign:
    """The same levels where each device answers for one of them, drawn with the probability of its share.

    The error of a map is the sum over levels of 2^-i times the errors of the cells that matter, at most 4 w of them,
    each about 1 / sqrt(people who answer for the level). Given the number of people, it is least for probabilities
    proportional to ``(2^-i min(cells, 4 w))^(2/3)``: cube roots of whole numbers, the same on every machine. The first
    level takes what whole shares leave over.
    """
    levels = _levels(domain, width, depth)
    weights = [_cube_root((min(domain.cells(level).count, 4 * width) << 96 >> level) ** 2) for level in levels]
    shares = {level: max(1, SHARES * w // sum(weights)) for level, w in zip(levels, weights, strict=True)}
    shares[levels[0]] += SHARES - sum(shares.values())
    return PaperDesign(shares, width, Fraction(1), at_once=True)


def _cube_root(number: int) -> int:
    """The largest whole number whose cube is not larger: Newton's method, from above.

    >>> [_cube_root(number) for number in (0, 7, 8, 26, 10**60)] == [0, 1, 2, 2, 10**20]
    True
    """
    root = 1 << -(-number.bit_length() // 3)
    while root**3 > number:
        root = (2 * root + number // root**2) // 3
    return root


def _levels(domain: Domain, width: int, depth: int | None) -> range:
    last = domain.depth if depth is None else min(depth, domain.depth)
    return range(min(domain.first_level(width), last), last + 1)
