"""The budget of a path: what follows a question may spend no more than it left.

**Contract of `check_paths`.** Take questions that follow each other, each accepted by this check. Along each path from
the top of the tree down to a finest cell their shares add up to at most SHARES, which stands for epsilon.

**Why.** A question names cells of one level, the share of epsilon spent on each, and what is left to the paths through
them. A path is *covered* by a question if it passes through one of its cells. A question may be followed by others only
if

1. for each of them, what it spends and what it leaves add up to at most what the first one left;
2. all their cells lie in cells of the first;
3. no two of their cells are the same or lie in each other: no path passes through two of them.

By 2 and 3 a path that a question covers is covered by at most one of those that follow it, so the questions along a
path form a chain. By 1 what is left falls along the chain by at least what is spent. It starts with SHARES at the root,
and is never below 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import numpy as np

from dpheatmap._util.parameters import DEEPEST
from dpheatmap.design.design import Question
from dpheatmap.design.shares import SHARES
from dpheatmap.place.quadtree import Ints

EVERYTHING = Question(0, np.zeros(1, np.int64), 0, SHARES)
"""The start of every path: the root, about which nothing was asked yet."""


def check_paths(asked: Question, following: Sequence[Question]) -> None:
    """Stop if questions that follow another would overspend a path: a fault of the design, not of the data.

    None may spend more than the paths have left; all cells must lie in those asked about before, and apart from each
    other. Cells of a question are in order, which is checked.
    """
    deepest = max([asked.level, *(question.level for question in following)])
    if deepest > DEEPEST:
        raise AssertionError("a design would go deeper than any cell is; please report this")
    starts, ends = [asked.cells[:0]], [asked.cells[:0]]
    for question in following:
        if not 0 < question.share <= question.share + question.left <= asked.left:
            raise AssertionError("a design would spend more on a path than it has left; please report this")
        if (question.cells[1:] <= question.cells[:-1]).any():
            raise AssertionError("a design would measure a cell twice in one question; please report this")
        _check_inside(asked, question.level, question.cells)
        finer = 2 * (deepest - question.level)
        starts.append(question.cells << finer)
        ends.append((question.cells + 1) << finer)
    start, end = np.concatenate(starts), np.concatenate(ends)
    order = np.argsort(start, kind="stable")
    if (end[order][:-1] > start[order][1:]).any():
        raise AssertionError("a design would measure a path on two ways; please report this")


def _check_inside(asked: Question, level: int, cells: Ints) -> None:
    """Stop if cells of a level don't lie in those that were asked about."""
    if level < asked.level:
        raise AssertionError("a design would go back up a path; please report this")
    above = cells >> 2 * (level - asked.level)
    known = asked.cells.searchsorted(above, side="left") < asked.cells.searchsorted(above, side="right")
    if not known.all():
        raise AssertionError("a design would go on elsewhere than where it was; please report this")


def copy_question(question: Question) -> Question:
    """A question of whole numbers and cells of its own, which its design can't change after it was checked."""
    level, share, left = (index(number) for number in (question.level, question.share, question.left))
    return Question(level, np.array(question.cells, dtype=np.int64), share, left)


def refine(asked: Question, level: int, cells: Ints) -> Question:
    """The same paths, told by the deeper cells that they pass through: nothing is spent, and as much is left.

    It is no measurement, as `EVERYTHING` is none: what follows is checked by its cells. A path passes through one cell
    of a level, so it is covered by this question only if it is by the first.
    """
    _check_inside(asked, level, cells)
    return Question(level, cells, 0, asked.left)
