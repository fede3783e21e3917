"""The budget of a path: what follows a question may spend no more than it left.

**Contract of `check_paths`.** Take questions that follow each other, each accepted by this check. Along each path from
the top of the tree down to a finest cell their shares add up to at most SHARES, which stands for epsilon.

**Why.** A question names cells of one level, the share of epsilon spent on each, and what is left to the paths through
them. A path is *covered* by a question if it passes through one of its cells. A question may be followed by others only
if

1. for each of them, what it spends and what it leaves add up to at most what the first one left;
2. all their cells lie in cells of the first;
3. no cell of the first holds cells of two of them, and none of them holds a cell twice.

By 2 and 3 a path that a question covers is covered by at most one of those that follow it, so the questions along a
path form a chain. By 1 what is left falls along the chain by at least what is spent. It starts with SHARES at the root,
and is never below 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpheatmap.design.design import Question
from dpheatmap.design.shares import SHARES

EVERYTHING = Question(0, np.zeros(1, np.int64), 0, SHARES)
"""The start of every path: the root, about which nothing was asked yet."""


def check_paths(asked: Question, following: Sequence[Question]) -> None:
    """Stop if questions that follow another would overspend a path: a fault of the design, not of the data.

    None may spend more than the paths have left; all cells must lie in those asked about before, and each of these in
    at most one of the questions. Cells are in order, which is checked, so comparing neighbours is enough.
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
