"""DAWA (Li, Hay, Miklau, Wang 2014, "A Data- and Workload-Aware Algorithm for Range Queries")."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpheatmap.curator import Curator
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.baselines import finest_grid
from dpheatmap.evaluate.peers.non_negative import nearest_non_negative
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints, encode

PARTITION = Fraction(1, 4)
GROWTH = 2.0**0.2


def dawa(curator: Curator) -> Distribution:
    """Find buckets along a Hilbert curve within which people are spread evenly, privately, and count them.

    *Stage 1* takes a quarter of epsilon, as the authors recommend. It cuts the curve so that the sum of
    ``deviation(b) + 1 / eps_2`` over buckets b is least: the error of spreading b's people evenly, plus the noise of
    counting b. As in their fast version, lengths are powers of two, and a noisy deviation below 0 counts as 0:
    otherwise the least of very many noisy sums consists of noise.

    *Stage 2* takes the rest of epsilon. The buckets are disjoint, so counting them is one question. A map weighs all
    cells equally. For this workload GreedyH, their choice of what to count, is to count each bucket once: sums of
    buckets would only take epsilon from them. A bucket's people are spread evenly over its cells.

    *What is different, and why it is private.* The authors' code draws noise for every bucket that starts anywhere,
    none for single cells, clips, and publishes the best partition. The usual argument for publishing only the best
    one (shift the noise of the one bucket that holds the cell) needs noise on all buckets and no clipping, and the
    result is useless here: EMD .25 and more on city maps at epsilon 1. So all noisy deviations are answers of the
    curator, and the partition, clipped or not, is a function of them. To keep them few, a bucket of 2^k cells starts at
    a multiple of 2^k: a cell is in one bucket of each length, and the lengths share epsilon_1. Single cells deviate by
    0, which needs no question. The part of length 2^k grows as 2^(k/5), set on public maps (long buckets are few, and
    wrong ones harm more); buckets of more than a quarter of the curve are not tried. On the same maps this is about as
    good as the authors' own code.
    """
    domain = curator.domain
    finest = domain.cells(domain.depth)
    rows, columns = finest_grid(domain)
    y, x = (place.ravel() for place in np.indices((rows, columns)))
    doublings = (max(rows, columns) - 1).bit_length()
    place = hilbert(x, y, doublings)
    order = np.argsort(place)
    codes = encode(x + finest.x0, y + finest.y0)[order]
    bucket = _buckets(curator, codes, place[order], 2 * doublings - 2)
    labels = np.empty(rows * columns, np.int64)
    labels[order] = bucket
    people = nearest_non_negative(curator.regions(labels.reshape(rows, columns), curator.rest))
    each = (people / np.bincount(bucket))[labels]
    return Distribution.from_raster(domain, each.reshape(rows, columns))


def _buckets(curator: Curator, codes: Ints, place: Ints, longest: int) -> Ints:
    """Stage 1: find the number of each cell's bucket along the curve, with buckets of up to 2^longest places."""
    if longest < 1:
        return np.arange(len(codes))
    epsilon = curator.part(PARTITION)
    growth = GROWTH ** np.arange(longest)
    shares = [Fraction(share).limit_denominator(2**32) for share in (growth / growth.sum())[:-1]]
    prices = [epsilon * share for share in shares]
    prices.append(epsilon - sum(prices, Fraction(0)))
    # Deviations are halved, and so is the cost of counting a bucket with noise of scale 1 / eps_2.
    price = 0.5 / float(curator.epsilon - epsilon)
    starts, deviations = [np.arange(len(codes))], [np.zeros(len(codes))]
    for k, paid in enumerate(prices, 1):
        starts.append(np.flatnonzero(np.diff(place >> k, prepend=-1)))
        noisy = curator.deviations(codes, starts[k], paid)
        alone = np.diff(np.append(starts[k], len(codes))) == 1  # at the domain's edge: known to be 0
        deviations.append(np.where(alone, 0.0, np.maximum(noisy, 0.0)))
    return least_cost(starts, deviations, price)


def least_cost(starts: list[Ints], deviations: list[Floats], price: float) -> Ints:
    """Find each cell's bucket in the partition with the least sum of deviations, plus a price for each bucket.

    ``starts[k]`` are the first cells of the buckets of order k, each of which is a union of buckets of order k - 1;
    those of order 0 are the cells. From the bottom up, a bucket is kept whole if it costs no more than its best
    partition; from the top down, the first whole bucket that holds a cell is its bucket.

    >>> starts = [np.arange(4), np.array([0, 2]), np.array([0])]
    >>> least_cost(starts, [np.zeros(4), np.array([0.0, 5.0]), np.array([6.0])], 1.0).tolist()
    [0, 0, 1, 2]
    """
    cells = len(starts[0])
    best = deviations[0] + price
    whole = [np.ones(cells, np.bool_)]
    for k in range(1, len(starts)):
        parts = np.add.reduceat(best, np.searchsorted(starts[k - 1], starts[k]))
        whole.append(deviations[k] + price <= parts)
        best = np.minimum(deviations[k] + price, parts)
    begins = np.zeros(cells, np.bool_)
    decided: NDArray[np.bool_] = np.zeros(cells, np.bool_)
    for first, kept in zip(reversed(starts), reversed(whole), strict=True):
        begins[first[kept & ~decided[first]]] = True
        decided |= np.repeat(kept, np.diff(np.append(first, cells)))
    bucket: Ints = np.cumsum(begins) - 1
    return bucket


def hilbert(x: Ints, y: Ints, doublings: int) -> Ints:
    """Compute the positions of cells along Hilbert's curve through a square of side ``2**doublings``.

    From the coarsest bit to the finest: the quarter gives two bits of the position, and the rest is the curve of a
    quarter, flipped along its diagonal in the first quarter and along the other diagonal in the last.

    >>> hilbert(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), 1).tolist()
    [0, 1, 2, 3]
    """
    place = np.zeros(len(x), np.int64)
    for bit in range(doublings - 1, -1, -1):
        right, down = x >> bit & 1, y >> bit & 1
        place = place << 2 | (3 * right ^ down)
        rest = (1 << bit) - 1
        x, y = x & rest, y & rest
        flipped = (down == 0) & (right == 1)
        x, y = np.where(flipped, rest - x, x), np.where(flipped, rest - y, y)
        x, y = np.where(down == 0, y, x), np.where(down == 0, x, y)
    return place
