"""The start of designs that go down the quadtree: a noisy total chooses the level to start at."""

from __future__ import annotations

from fractions import Fraction

from dpheatmap.design.design import Question
from dpheatmap.design.shares import SHARES
from dpheatmap.place.domain import Domain

FIRST_CELLS = 20
"""The first level is the deepest one at which at most so many cells meet the domain."""
MOST_AT_ONCE = 2**14
"""The most cells that a start or an even map has: beyond that, cells are opened where people are."""


def total_of(domain: Domain, first: int, part: Fraction) -> Question:
    """Ask for the number of people, with a part of epsilon.

    It is a count of the deepest cell that holds the whole domain, ``first`` at most; of all cells of the level 0 there
    is only one.
    """
    level, share = min(domain.first_level(1), first), int(SHARES * part)
    return Question(level, domain.codes(level), share, SHARES - share)


def start_level(domain: Domain, first: int, last: int, cells: Fraction) -> int:
    """The deepest level with at most so many cells; at least ``first``, and above ``last`` if it can be."""
    most = min(cells, Fraction(MOST_AT_ONCE))
    return max([first, *(level for level in range(first, last) if domain.count(level) <= most)])
