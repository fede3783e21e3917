"""Weighted k-median in the plane: seeding, local search and medians, compiled on first use; imports numba.

**Problem.** Points with weights; find k centres anywhere in the plane that minimise the sum of weight times distance to
the nearest centre. Distances are L1 or Euclidean.

**Method**, from several starts, the best of which is kept:

1. *Seeding* (k-median++): the next centre is a point, drawn with a probability proportional to weight times distance to
   the nearest centre so far.
2. *Local search*: a point drawn in the same way replaces the centre for which this lowers the cost most, if any does.
   All k exchanges are judged in one pass. Let d1 and d2 be the distances to the nearest and the second nearest centre,
   and c that to the new one. Replacing centre j costs ``sum w min(d1, c)``, and for the points of j,
   ``w (min(d2, c) - min(d1, c))`` more.
3. *Medians*: each centre moves to the median of its points, coordinate by coordinate for L1 and by Weiszfeld's
   iteration for Euclidean distances, until nothing changes.

Steps 2 and 3 alternate. Draws use the multiples of the golden ratio modulo 1, which spread over (0, 1) more evenly than
random numbers. Nothing is random: the same points give the same centres.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

GOLDEN = 0.6180339887498949
TINY = 1e-12


@njit(cache=True)
def distance(dx: float, dy: float, euclidean: bool) -> float:
    """The length of a vector."""
    return float(np.sqrt(dx * dx + dy * dy)) if euclidean else abs(dx) + abs(dy)


class Assignment(NamedTuple):
    """For each point the nearest centre and the one after it, and the distances to them."""

    nearest: Ints
    next: Ints
    first: Floats
    second: Floats


def initial_assignment(points: int) -> Assignment:
    """The assignment before there are any centres."""
    return Assignment(np.full(points, -1), np.full(points, -1), np.full(points, np.inf), np.full(points, np.inf))


@njit(cache=True)
def assign(x: Floats, y: Floats, centres: Floats, euclidean: bool, served: Assignment) -> None:
    """Find the two nearest centres to each point; of equally near centres, the first wins."""
    for i in range(len(x)):
        assign_point(i, x, y, centres, euclidean, served)


@njit(cache=True)
def assign_point(i: int, x: Floats, y: Floats, centres: Floats, euclidean: bool, served: Assignment) -> None:
    """Find the two nearest centres to one point."""
    first = second = np.inf
    nearest = after = -1
    for j in range(len(centres)):
        away = distance(x[i] - centres[j, 0], y[i] - centres[j, 1], euclidean)
        if away < first:
            second, first, after, nearest = first, away, nearest, j
        elif away < second:
            second, after = away, j
    served.nearest[i], served.next[i], served.first[i], served.second[i] = nearest, after, first, second


@njit(cache=True)
def reassign(x: Floats, y: Floats, centres: Floats, moved: int, euclidean: bool, served: Assignment) -> None:
    """Update a correct result of :func:`assign` after one centre was added or moved.

    Points that had the centre among their two nearest are assigned anew; to others it can only have come nearer.
    """
    for i in range(len(x)):
        if moved in (served.nearest[i], served.next[i]):
            assign_point(i, x, y, centres, euclidean, served)
            continue
        away = distance(x[i] - centres[moved, 0], y[i] - centres[moved, 1], euclidean)
        if away < served.first[i] or (away == served.first[i] and moved < served.nearest[i]):
            served.second[i], served.next[i] = served.first[i], served.nearest[i]
            served.first[i], served.nearest[i] = away, moved
        elif away < served.second[i]:
            served.second[i], served.next[i] = away, moved


@njit(cache=True)
def draw_point(weight: Floats, first: Floats, uniform: float) -> int:
    """The first point, in order, at which the summed cost reaches a part of the total; -1 if there is no cost."""
    total = 0.0
    for i in range(len(weight)):
        total += weight[i] * first[i]
    if not total > 0.0:
        return -1
    rest = uniform * total
    last = -1
    for i in range(len(weight)):
        if weight[i] * first[i] > 0.0:
            last = i
            rest -= weight[i] * first[i]
            if rest < 0.0:
                break
    return last


@njit(cache=True)
def exchange(
    x: Floats, y: Floats, weight: Floats, new: int, k: int, euclidean: bool, served: Assignment
) -> tuple[int, float]:
    """The centre that is best replaced by a point, and how much this lowers the cost (negative if it raises it)."""
    more = np.zeros(k)
    gain = 0.0
    for i in range(len(x)):
        away = distance(x[i] - x[new], y[i] - y[new], euclidean)
        kept = min(served.first[i], away)
        gain += weight[i] * (served.first[i] - kept)
        more[served.nearest[i]] += weight[i] * (min(served.second[i], away) - kept)
    leaving = int(np.argmin(more))
    return leaving, gain - more[leaving]


@njit(cache=True)
def move_to_medians(values: Floats, order: Ints, weight: Floats, nearest: Ints, centres: Floats, axis: int) -> None:
    """Move each centre to the weighted median of its points along an axis, given the points' order along it."""
    k = len(centres)
    half = np.zeros(k)
    for i in range(len(values)):
        half[nearest[i]] += weight[i]
    waiting = half > 0.0
    half /= 2.0
    for i in order:
        j = nearest[i]
        half[j] -= weight[i]
        if waiting[j] and half[j] <= 0.0:
            centres[j, axis] = values[i]
            waiting[j] = False


@njit(cache=True)
def move_to_geometric_medians(x: Floats, y: Floats, weight: Floats, nearest: Ints, centres: Floats) -> None:
    """One step of Weiszfeld's iteration for each centre.

    The iteration would stick at a point of weight h. Let T be the step of all other points and r the length of their
    pull. If ``r <= h``, the centre is optimal and stays; else it goes ``1 - h / r`` of the way to T (Vardi and Zhang
    2000).
    """
    k = len(centres)
    sums, pull, here = np.zeros((k, 3)), np.zeros((k, 2)), np.zeros(k)
    for i in range(len(x)):
        j = nearest[i]
        dx, dy = x[i] - centres[j, 0], y[i] - centres[j, 1]
        away = distance(dx, dy, True)
        if away == 0.0:
            here[j] += weight[i]
            continue
        part = weight[i] / away
        sums[j, 0] += part * x[i]
        sums[j, 1] += part * y[i]
        sums[j, 2] += part
        pull[j, 0] += part * dx
        pull[j, 1] += part * dy
    for j in range(k):
        strength = distance(pull[j, 0], pull[j, 1], True)
        if sums[j, 2] > 0.0 and strength > here[j]:
            way = 1.0 - here[j] / strength
            for axis in range(2):
                centres[j, axis] += way * (sums[j, axis] / sums[j, 2] - centres[j, axis])


@njit(cache=True)
def one_start(
    x: Floats, y: Floats, weight: Floats, along_x: Ints, along_y: Ints, k: int, euclidean: bool, start: int, tries: int,
    rounds: int, served: Assignment,
) -> tuple[Floats, float]:  # fmt: skip
    """Find centres and their cost from one start, without any centres at first."""
    centres, first = np.zeros((k, 2)), served.first
    step = start * 1000
    for j in range(k):
        step += 1
        at = max(draw_point(weight, first if j > 0 else np.ones(len(x)), (step * GOLDEN) % 1.0), 0)
        centres[j, 0], centres[j, 1] = x[at], y[at]
        reassign(x, y, centres, j, euclidean, served)
    cost = (weight * first).sum()
    for _ in range(rounds):
        before = cost
        for _ in range(tries):
            step += 1
            new = draw_point(weight, first, (step * GOLDEN) % 1.0)
            if new < 0:
                break
            leaving, gain = exchange(x, y, weight, new, k, euclidean, served)
            if gain > TINY * cost:
                centres[leaving, 0], centres[leaving, 1] = x[new], y[new]
                reassign(x, y, centres, leaving, euclidean, served)
        cost = (weight * first).sum()
        for _ in range(200):
            last = cost
            if euclidean:
                move_to_geometric_medians(x, y, weight, served.nearest, centres)
            else:
                move_to_medians(x, along_x, weight, served.nearest, centres, 0)
                move_to_medians(y, along_y, weight, served.nearest, centres, 1)
            assign(x, y, centres, euclidean, served)
            cost = (weight * first).sum()
            if not cost < last * (1.0 - 1e-6):
                break
        if not cost < before * (1.0 - 1e-6):
            break
    return centres, cost


def k_median(
    x: Floats, y: Floats, weight: Floats, k: int, *, euclidean: bool = False, rounds: int = 6
) -> tuple[Floats, float]:
    """Find k centres, k x 2, and their cost: the sum of weight times distance to the nearest centre.

    >>> at = np.array([0.0, 1.0, 2.0, 10.0])
    >>> centres, cost = k_median(at, 0 * at, np.array([1.0, 1.0, 1.0, 5.0]), 2)
    >>> sorted(centres[:, 0].tolist()), cost
    ([1.0, 10.0], 2.0)
    """
    along_x, along_y = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
    tries, starts = 20 + 3 * k, max(2, min(50_000 // len(x), 32))
    found: list[tuple[Floats, float]] = [
        one_start(x, y, weight, along_x, along_y, k, euclidean, start, tries, rounds, initial_assignment(len(x)))
        for start in range(starts)
    ]
    return min(found, key=lambda one: one[1])
