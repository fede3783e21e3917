"""The measurement of counts for a release: the one place where data crosses the wall.

**Contract of `measure_counts`.** Given counts in which one person weighs at most W units, and a design, the returned
measurements are epsilon-DP for adding or removing one person's whole data.

**Why.** Let v run over the cells that were measured, and let b_v be the sum of the parts of epsilon of all measurements
of v. Two things hold. The b_v along each path from the top to a finest cell add up to at most epsilon: every step
checks (`budget.py`) that no path is given more than it has left. And in designs that ask questions, which cells are
measured next, and with which part, is a function of the public domain, of epsilon and of noisy values measured before:
such a design is handed nothing else. In the ladder, the default, secret looks decide; the theorem of `looks.py` takes
the place of the second: given what is published, the probability of having decided so has no data in it.

1. *One measurement.* A count gets its own discrete Laplace noise of rate b / W. For any integer z, moving the true
   count by d units multiplies the probability of seeing z by at most ``exp(|d| b / W)``. This is exact: counts and
   noise are integers, and the noise has exactly that law (`noise.py`).
2. *The whole output.* Fix any output. By the second of the two the questions asked on the way to it are the same for
   both neighbours, so its probability is the product, over its measurements, of the probabilities of their values, in
   the ladder times a factor that is the same for both. Let
   the neighbours differ by a person with p(v) units in cell v. The ratio of the two products is at most
   ``exp(sum over v of b_v p(v) / W)``.
3. *Along the paths.* p(v) is the sum of the person's units in the finest cells under v. Exchanging sums,
   ``sum over v of b_v p(v) = sum over finest cells c of p(c) * (sum of b_v over the measured v on the path to c)``, and
   by the first of the two this is at most ``epsilon * sum of p(c) <= epsilon W``. So the ratio is at most exp(epsilon),
   for every output and in both directions.

No composition theorem is needed, and epsilon is not divided over the levels but over each path. That is what lets a
cell in which little happens be measured a second time, or its children once, with all that its path has left.

For the paper's design this is its Algorithm 1: each level has a share, a path meets each level at most once, and the
shares add up to epsilon.

**Lazy noise has the law of full noise.** Algorithm 1 as printed adds independent noise to every cell of every level;
the selection then looks at the cells it reaches only. Drawing a cell's noise when it is reached instead of beforehand
changes nothing: noise is independent of everything else, so the joint law of (measured cells, their noisy values) is
the same.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.looks import climb
from dpheatmap.curator.core.noise import DiscreteLaplace, Source, discrete_laplace
from dpheatmap.curator.core.publishing import Draw, Published, count_with_noise
from dpheatmap.curator.core.walk import walk
from dpheatmap.design.design import Design, Question, asks
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PrivacyLoss, PureLoss
from dpheatmap.design.shares import UNITS
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.measurements import Measurements


def measure_counts(counts: Counts, loss: PureLoss, design: Design, source: Source = os.urandom) -> Measurements:
    """Measure counts by a design, each with independent noise of the rate that its share stands for."""
    noise = _noise_of(loss, design, counts.domain)
    return in_rows(_publish(counts, loss, design, lambda share, size: noise[share].exact(size, source)))


def in_rows(found: list[Published]) -> Measurements:
    """The measurements of all that was published."""
    levels, cells, noisy, shares = (np.concatenate(column) for column in zip(*map(_columns, found), strict=True))
    order = np.lexsort((cells, levels))  # by level, then by code, then in time
    return Measurements(levels[order], cells[order], noisy[order], shares[order])


def rehearse(loss: PrivacyLoss, design: Design, domain: Domain) -> None:
    """Go through a design where nobody is, without noise: an error is one of the design."""
    nobody = np.zeros(0, np.int64)
    _publish(Counts.in_order(domain, nobody, nobody), loss, design, lambda share, size: np.zeros(size, np.int64))


def _publish(counts: Counts, loss: PrivacyLoss, design: Design, draw: Draw) -> list[Published]:
    """Publish what a design measures: by its secret looks, or by answers to its questions."""
    return climb(design, counts, loss, draw) if isinstance(design, LadderDesign) else ask(counts, loss, design, draw)


def ask(counts: Counts, loss: PrivacyLoss, design: Design, draw: Draw) -> list[Published]:
    """Publish the answers to a design's questions, each checked against what its paths have left."""
    if not asks(design):
        raise TypeError("a design neither asks questions nor is a ladder")
    found: list[Published] = []

    def answer(asked: Question) -> Ints:
        noisy = count_with_noise(counts, asked.level, asked.cells, asked.share, draw)
        found.append(Published(asked, noisy))
        return noisy

    walk(design, counts.domain, loss, answer)
    return found


def _columns(published: Published) -> tuple[Ints, Ints, Ints, Ints]:
    """Levels, cells, noisy counts and shares, a row for each cell."""
    asked, noisy = published
    return np.full(len(noisy), asked.level), asked.cells, noisy, np.full(len(noisy), asked.share)


def check_noise(loss: PureLoss, design: Design, domain: Domain) -> None:
    """Refuse an epsilon that is too small for exact noise, before any data is read."""
    _noise_of(loss, design, domain)


def _noise_of(loss: PureLoss, design: Design, domain: Domain) -> Mapping[int, DiscreteLaplace]:
    return noise_of_shares(loss, tuple(sorted(design.possible_shares(domain) - {0})))


@lru_cache(maxsize=16)
def noise_of_shares(loss: PureLoss, shares: tuple[int, ...]) -> Mapping[int, DiscreteLaplace]:
    """The noise of each share: rate b / W, as exact fractions."""
    return MappingProxyType({share: discrete_laplace(loss.part(share) / UNITS) for share in shares})
