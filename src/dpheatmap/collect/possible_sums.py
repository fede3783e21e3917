"""Checks that cost nothing: answers that no honest devices and servers can have led to are refused.

With n honest participants of B units each, and honest servers,

* a cell holds 0 to n B units, and so do all cells of a question together, as no two of them overlap;
* a cell holds what its parts hold, or what it held when it was asked for before: the answers to both differ by noise.

Answers have noise, so these hold up to a bound that the noise stays within. The bounds are such that honest devices and
servers are refused with a probability of at most ALARM, in one collection, whatever is in it.

What this finds: a device that adds a crowd, or takes one away where nobody is; a server that answers with other numbers
than its own. What it can't find: a device that adds fewer people than the noise hides (some 300 / epsilon with two
servers), or that takes people away where there are many and puts them elsewhere. Nothing here is needed for the
promise, which holds whoever lies (`share_sums.py`). Only published numbers are used, so refusing tells nothing new.

**The bounds.** Let T be a sum of independent Laplaces with scales s_i. For any t below all 1 / s_i, ``P(T > x) <=
exp(-t x) prod 1 / (1 - t^2 s_i^2)`` (Chernoff). Discrete Laplaces have lighter tails: with rate a their moment
generating function is ``(cosh a - 1) / (cosh a - cosh t)``, and as ``cosh x - 1`` is a convex function of x^2 that is 0
at 0, this is at most ``a^2 / (a^2 - t^2)``, that of the Laplace of scale 1 / a. The i-th question has ``ALARM / (i (i +
1))``, which add up to ALARM, a third for each kind of check, and each of its cells an equal part on each side. Cells
are compared with what they were before only if their answer then led there, so that answer is no fresh draw. But all
cells of the earlier question, with whichever of three questions might have followed, have their part of the third."""

from __future__ import annotations

import math

import numpy as np

from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.design.design import Question
from dpheatmap.errors import DataError
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

ALARM = 1e-9
"""The probability, at most, that honest devices and servers are refused."""
_WAYS = 3
"""What may follow a cell: it is closed, finished or opened."""


class SpoiltError(DataError):
    """Answers that show that somebody lies or is broken: there will never be a result."""


class PossibleSums:
    """The answers to a collection's questions so far, each checked against those before it."""

    def __init__(self, terms: ServerTerms, participants: int) -> None:
        self._terms, self._most = terms, float(participants) * terms.units
        self._found: list[tuple[Question, Floats]] = []

    def check(self, asked: Question, noisy: Ints) -> None:
        """Refuse answers that can't be."""
        counts = noisy.astype(np.float64)
        number = len(self._found) + 1
        third = ALARM / (number * (number + 1)) / 3
        each = self._bound([(asked.share, 1)], third / (2 * len(counts)))
        together = self._bound([(asked.share, len(counts))], third / 2)
        if np.any(counts < -each) or np.any(counts > self._most + each):
            raise impossible("a place holds more people than took part, or fewer than none")
        if not -together <= counts.sum() <= self._most + together:
            raise impossible("there are more people in all places than took part, or fewer than none")
        self._compare(asked, counts, third)
        self._found.append((asked, counts))

    def _compare(self, asked: Question, counts: Floats, probability: float) -> None:
        """Compare cells with what they held when they, or the cell that they are parts of, were asked for before."""
        for earlier, known in reversed(self._found):
            above = asked.cells >> 2 * max(0, asked.level - earlier.level)
            at = np.searchsorted(earlier.cells, above)
            if asked.level >= earlier.level and np.array_equal(earlier.cells[np.minimum(at, len(known) - 1)], above):
                parts = np.bincount(at, minlength=len(known))
                noise = [(earlier.share, 1), (asked.share, int(parts.max()))]
                change = np.bincount(at, weights=counts, minlength=len(known)) - known
                if np.any(np.abs(change[parts > 0]) > self._bound(noise, probability / (2 * _WAYS * len(known)))):
                    raise impossible("a place does not hold what its parts hold")
                return

    def _bound(self, answers: list[tuple[int, int]], probability: float) -> float:
        """What so many answers of each share exceed together, by noise, with at most this probability."""
        scales = [(1 / float(self._terms.rate(share)), self._terms.servers * many) for share, many in answers]
        return farthest(scales, probability)


def farthest(scales: list[tuple[float, int]], probability: float) -> float:
    """A bound that a sum of Laplaces, so many of each scale, exceeds with at most this probability.

    >>> round(farthest([(1.0, 1)], 1e-9), 1)  # one Laplace: 20.0
    24.2
    """
    widest = max(scale for scale, _ in scales)
    needed = -math.log(probability)
    found: float = min(
        (needed - sum(many * math.log1p(-((t * scale / widest) ** 2)) for scale, many in scales)) * widest / t
        for t in np.linspace(0.01, 0.99, 99).tolist()
    )
    return found


def impossible(why: str) -> SpoiltError:
    """The error about sums that can't be."""
    return SpoiltError(
        f"The published sums can't be: {why}. A device or a server lies or is broken, and nothing tells which. "
        "Collect again."
    )
