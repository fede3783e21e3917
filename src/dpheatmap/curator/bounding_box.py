"""The private search for a bounding box of map tiles, for a small part of the budget.

**Contract of `find_box`.** (1) Privacy: what it returns is a function of public settings and of the answers of a
:class:`~dpheatmap.curator.rivals.Curator` to questions that cost epsilon together, hence epsilon-DP for adding or
removing one person's whole data. It looks at nothing else of people, never refuses, and treats a table with nobody in
it like any other. (2) The claim: if it returns a box, then for every data set, with probability at least
``confidence`` over the noise, the box holds at least ``share`` of the weight of all people in the world.

**The walk** goes down the world's quadtree, two levels at a time. Each question is about the tiles inside those that
seemed occupied, and costs a twelfth of epsilon. A tile seems occupied if its noisy number of people is larger than
noise alone would make it. The box of a level is the one around such tiles, after stripping edges that hold next to
nobody. So the boxes are nested, and the walk ends when tiles are small beside the box, or hold too few people each to
be seen. The walk only proposes boxes: however bad the proposals, the claim holds.

**The claim** is made by one last question, for all that is left: how many people are in the innermost box, and in each
ring between a box and the next, and outside. Rings are disjoint, so one question answers for all of them. Let I be the
weight inside a box and O that outside; the box holds the share s iff ``t = (1 - s) I - s O >= 0``. The noisy t is the
true one plus ``(1 - s)`` times the noises of the inner rings minus s times those of the outer ones. It *passes* if it
is at least the ``confidence``-quantile of that. Boxes are tried from the largest one inwards, and the last one before
the first that does not pass is claimed.

*Why trying many boxes needs no correction.* Let B be the largest of the boxes that lacks the share: every box inside it
lacks it too, every one around it does not. To claim one that lacks it, B itself must have passed, and as its true t is
below 0, it does so with probability at most 1 - confidence. The boxes depend on the walk, whose noise is independent of
the last question's.

People without a row in the world have no weight: the world is that of map tiles, which end at 85 degrees north and
south. Where nobody has weight, every box holds the share. Counts are held at 2^31 people; where an answer reaches half
of that, a ring may hold more than it says, and nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from os import PathLike
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.options import shows_options, take_options
from dpheatmap._util.parameters import check
from dpheatmap.curator.aggregation import Progress, count
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.noise import discrete_laplace
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.curator.ledger.ledger import Ledger
from dpheatmap.curator.ledger.payment import Payment
from dpheatmap.curator.read.reading import Reading, ReadingOptions
from dpheatmap.curator.rivals import Curator
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import FARTHEST, UNITS
from dpheatmap.place.domain import CellRange, Domain, Floats
from dpheatmap.place.projection import NORTHERNMOST, highest_latitude, lowest_latitude
from dpheatmap.place.quadtree import Ints, decode
from dpheatmap.releases.discovery import Discovery
from dpheatmap.releases.release import LedgerEntry
from dpheatmap.releases.trust import CURATORS

DEEPEST = 14
"""The finest tiles are those of zoom 14, 2.4 km wide at the equator."""
STRIDE = 2
"""The number of levels that a question of the walk goes down."""
STEP = Fraction(1, 12)
"""The part of epsilon that a question of the walk costs; there are at most seven questions."""
ENOUGH_TILES = 8
"""The walk ends when a side of the box has so many tiles: finer ones would hardly shrink it."""
SURE = 2.0
"""Beyond ``ln K``, in units of the noise's scale: one of K empty tiles seems occupied with probability e^-2 / 2."""

MOST = FARTHEST // UNITS // 2
"""People in a ring: from this number on, it is not certain that all were counted."""

GRID, END = 64, 30
"""Steps per scale of the grid for the noise's law, and the number of scales that it reaches."""
ROUNDING = 1e-12
"""The error of a probability by floats and by the cut at the grid's ends, at most."""


@shows_options(Reading)
def discover(
    events: Any,
    *,
    epsilon: Any,
    share: float = 0.95,
    confidence: float = 0.95,
    ledger: str | PathLike[str] | Ledger | None = None,
    population: str | None = None,
    progress: Progress | None = None,
    seen: Callable[[RowReport], None] | None = None,
    **options: Unpack[ReadingOptions],
) -> Discovery:
    """Find a box around people privately, if it is not known where they are; it costs ``epsilon``.

    A box does not cross the antimeridian: people on both sides of it get one that is as wide as the world. Whoever is
    north or south of 85 degrees, where maps of tiles end, does not count. The release is paid for on top of it.

    Parameters
    ----------
    events : path, data frame, relation or URL
        What :func:`aggregate` takes; ``x`` and ``y`` are longitude and latitude.
    epsilon : number, str or Fraction
        How much the search may leak about a person.
    share : float, default 0.95
        The part of people's weight that the box is to hold.
    confidence : float, default 0.95
        The probability with which it does; if no box but the world can be claimed to, that is said.
    ledger, population
        As for :func:`release`.
    progress : callable, optional
        Called while the table is read, with the part done (below 0 if unknown) and the seconds gone by.
    seen : callable, optional
        Shown a report of the reading: exact numbers, for the data holder's eyes.
    **options
        How the table is read.

    Returns
    -------
    Discovery
        The box, of whole map tiles, and what is claimed of it.

    Examples
    --------
    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> people = generated_people(5000, extent=(13.1, 52.4, 13.7, 52.6))  # Berlin
    >>> found = dph.discover(people, epsilon=0.2, user="person", x="x", y="y")
    >>> found.found, found.domain.kind, str(found.epsilon)
    (True, 'bbox', '1/5')
    """
    loss, reading = PureLoss.read(epsilon), take_options(Reading, options, "discover")
    check(share=share, confidence=confidence)
    discrete_laplace(loss.epsilon * STEP / UNITS)  # refuses an epsilon that is too small for exact noise
    payment = Payment.prepare(ledger, population, loss, reading.people, events)
    (counts,) = count(events, searched_world(), reading, progress=progress)
    if seen is not None and counts.report is not None:
        seen(counts.report)
    entry = payment.charge()
    return box_around(counts, loss, float(share), float(confidence), entry)


def box_around(
    counts: Counts, loss: PureLoss, share: float, confidence: float, entry: LedgerEntry | None = None
) -> Discovery:
    """Make the box and the claim about it from counts of the world, for epsilon. See the contract above."""
    box, people = find_box(Curator(counts, loss.epsilon), share, confidence)
    domain = _world() if box is None else _of_tiles(box)
    return Discovery(domain, box is not None, share, confidence, loss, people, entry, trust=CURATORS[counts.unit])


def searched_world() -> Domain:
    """All of Web Mercator, down to the finest tiles of the search."""
    return _world(DEEPEST)


def find_box(curator: Curator, share: float, confidence: float) -> tuple[CellRange | None, float]:
    """Find the claimed box, in finest tiles, or None, and the noisy number of people. See the contract above."""
    boxes = _nested_boxes(curator, share)
    scale = float(1 / curator.rest)
    rings = curator.rings(boxes, curator.rest)
    known = bool((rings < MOST).all())
    claimed = None
    for k in range(len(boxes) if known else 0):
        # Rings are counted from the outside: k + 1 of them lie outside the k-th box.
        signs = np.where(np.arange(len(rings)) <= k, -share, 1 - share)
        if signs @ rings < noise_quantile(np.abs(signs) * scale, confidence):
            break
        claimed = boxes[k]
    return claimed, float(rings.sum())


def _nested_boxes(curator: Curator, share: float) -> list[CellRange]:
    """The walk: boxes in finest tiles, each smaller than the one before, the first smaller than the world."""
    domain, step = curator.domain, curator.part(STEP)
    scale, keep = float(1 / step), (1 + share) / 2
    boxes, tiles, least = [domain.cells(domain.depth)], np.zeros(1, np.int64), None
    for level in range(STRIDE, domain.depth + 1, STRIDE):
        for above in range(level - STRIDE, level):
            tiles = domain.children(above, tiles)
        people = curator.cells(level, tiles, step)
        occupied = people > scale * (np.log(len(tiles)) + SURE)
        tiles, people = tiles[occupied], people[occupied]
        least = keep * people.sum() if least is None else least
        noise = 6 * scale * np.sqrt(len(tiles))
        if len(tiles) == 0 or people.sum() < least - noise:
            break  # too many people are in tiles with too few to be seen
        box, inside = _strip_edges(tiles, people, least)
        tiles = tiles[inside]
        boxes.append(CellRange(*(edge << (domain.depth - level) for edge in (box.x0, box.y0, box.x1, box.y1))))
        if max(box.columns, box.rows) >= ENOUGH_TILES:
            break
    return [inner for outer, inner in pairwise(boxes) if inner != outer]


def _strip_edges(tiles: Ints, people: Floats, least: float) -> tuple[CellRange, NDArray[np.bool_]]:
    """The box around tiles, and which are inside, after taking off outer columns and rows that hold next to nobody.

    As long as the rest holds ``least`` people, of the four sides the one with the fewest people a tile is taken off.
    """
    x, y = decode(tiles)
    inside = np.ones(len(tiles), np.bool_)
    while True:
        box = CellRange(int(x[inside].min()), int(y[inside].min()), int(x[inside].max()) + 1, int(y[inside].max()) + 1)
        sides = [(x == box.x0, box.rows), (x == box.x1 - 1, box.rows)]
        sides += [(y == box.y0, box.columns), (y == box.y1 - 1, box.columns)]
        fewest, _ = min(sides, key=lambda side: people[inside & side[0]].sum() / side[1])
        rest = inside & ~fewest
        if not rest.any() or people[rest].sum() < least:
            return box, inside
        inside = rest


def noise_quantile(scales: Floats, confidence: float) -> float:
    """The value that a sum of noises of these scales, in people, exceeds with probability at most 1 - confidence.

    The noises are independent. Each is rounded up to a grid and its far ends are cut at the grid's, where ``e^-30`` of
    it lies, so the sum on the grid is never smaller but for that; its law is the convolution, by Fourier transform. The
    noise is discrete: its tail ``q^k / (1 + q)``, with ``q = e^-a`` and a the rate, is at most ``e^(-a (k - 1)) / 2``,
    that of continuous noise one unit further out. So a unit is added for each, at the weight that the largest has, 1 at
    most.

    >>> round(noise_quantile(np.array([1.0]), 0.95), 2), round(math.log(1 / (2 * 0.05)), 2)
    (2.31, 2.3)
    """
    return _noise_quantile(tuple(scales.tolist()), confidence)


@lru_cache(maxsize=128)
def _noise_quantile(noises: tuple[float, ...], confidence: float) -> float:
    scales = np.array(noises)
    step, reach = float(scales.max()) / GRID, END * GRID
    at = np.arange(-reach - 1, reach + 1) * step
    size = 1 << (2 * reach * len(scales) + 2).bit_length()  # room for all of the sum, so that no end meets the other
    transform = np.ones(size // 2 + 1, np.complex128)
    for scale, times in zip(*np.unique(scales, return_counts=True), strict=True):
        half = np.exp(-np.abs(at) / scale) / 2
        below = np.where(at < 0, half, 1 - half)
        below[0], below[-1] = 0.0, 1.0
        transform *= np.fft.rfft(np.diff(below), size) ** times
    enough = np.cumsum(np.fft.irfft(transform, size)) >= confidence + ROUNDING
    if not enough[-1]:
        return math.inf
    return (int(np.argmax(enough)) - reach * len(scales)) * step + len(scales) / UNITS


def _world(depth: int | None = None) -> Domain:
    """All of Web Mercator."""
    return Domain.bbox(-180, -NORTHERNMOST, 180, NORTHERNMOST, depth=depth)


def _of_tiles(box: CellRange) -> Domain:
    """The domain of whole tiles of the finest zoom: whoever is in one of them is inside, however floats are rounded."""
    side = 2.0**DEEPEST
    west, east = (360 * (column / side - 0.5) for column in (box.x0, box.x1))
    return Domain.bbox(west, lowest_latitude(box.y1 / side), east, highest_latitude(box.y0 / side))
