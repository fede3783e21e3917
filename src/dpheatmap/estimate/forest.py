"""The exact solution of Algorithm 2's optimisation on a forest, by dynamic programming on slopes.

The problem. Nodes are the kept cells of the levels q .. L, level by level; those of level q are roots. Node v of
level i has a noisy value y_v, kept children, and some number of left-out children. The unknowns are masses x >= 0, each
node's mass being the sum of its children's. They minimise the sum of 2^-i |y - x| over all levels and all cells,
including left-out cells and all of their descendants, where y = 0 for every cell that is not a node. Costs and slopes
are counted in multiples of 2^-L, so that level i has the integer weight c_i = 2^(L-i).

The recursion. Let f_v(m) be the least cost of the subtree of v if its mass is m >= 0. Then

    f_v(m) = c_i |y_v - m| + g_v(m),    g_v(m) = min of the sum of f_u(m_u) over children u, where sum of m_u = m,

and a left-out cell has f(m) = lambda_i m with lambda_i = c_i + c_(i+1) + ... + c_L = 2^(L-i+1) - 1, because its mass
is counted once on every level from i on. All these functions are convex and piecewise linear, so each is a list of
segments (slope, length) in ascending order of slope, and

* g_v, an inf-convolution, is the children's segments merged in order of slope: the cheapest mass goes first;
* adding c_i |y_v - m| cuts that list at m = y_v, takes c_i off the slopes before the cut and adds c_i after it.

Three facts keep the lists short and the solution simple:

* *The last slope is common.* Every f of level i ends in an infinite segment of slope lambda_i. This holds for left-out
  cells; if it holds for level i + 1, then g_v ends with lambda_(i+1) and f_v with lambda_(i+1) + c_i = lambda_i. This
  segment is never stored, so a left-out cell stores nothing. The finite slopes are below it. Where y_v lies beyond the
  finite segments of g_v, the infinite one is cut, and its first part gets the slope lambda_(i+1) - c_i = -1. (A leaf
  has no children: the same rule holds with lambda_(L+1) = 0.)
* *Slopes are odd.* Those of leaves are -1 and 1, and above them c_i is even. So none is 0, no f_v has a flat piece,
  and its least point is unique.
* *A root's mass is max(0, y).* The slopes of g_v lie between -lambda_(i+1) and lambda_(i+1), and lambda_(i+1) < c_i:
  f_v falls up to y_v and rises after it.

A node adds at most one segment to those of its children, so level i holds at most as many as there are nodes from
level i on. Equal slopes of siblings become one segment in their parent's list.

The downward pass. Each root's mass is known; a node of mass m gives it to its children in order of slope. Let s be its
*marginal slope*, that of the segment of g_v in which m ends. Every child gets all of its segments below s and nothing
of those above it. The rest may be shared in any way among the children that have a segment of slope s: moving mass
from one to another changes the cost by s - s = 0, so each choice is optimal. Here it is shared evenly: equal parts, up
to the lengths of the segments (water-filling). On the infinite segments, where s = lambda_(i+1), all children, kept and
left out, get equal parts without limits: surplus that the measurements don't place is spread evenly.

No search is needed for s. The last segment that a child was given from is known, and with it the marginal slope t of
the child's f. That of its g follows: t + c if t < 0 (before the cut at y) and t - c if t > 0. A root is filled up to y,
so t is the last of its negative slopes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

_NONE = np.iinfo(np.int64).max  # above every slope: no segment is left


class Level(NamedTuple):
    """The nodes of one level. The children of node ``v`` are nodes ``kids[v] .. kids[v + 1] - 1`` of the next level.

    ``left_out[v]`` is the number of children of ``v`` that are not nodes. On the last level there are no children.
    """

    values: Floats
    kids: Ints
    left_out: Ints


class Costs(NamedTuple):
    """Cost functions of one level's nodes: segments ``start[v] .. start[v + 1] - 1`` are those of node ``v``.

    Slopes are in multiples of 2^-L and ascend strictly within a node; the infinite last segment is not stored.
    """

    start: Ints
    slope: Ints
    length: Floats


class Masses(NamedTuple):
    """The solution on one level: the mass of each node, and the mass of *each* of a node's left-out children."""

    nodes: Floats
    left_out: Floats


def solve(levels: Sequence[Level]) -> list[Masses]:
    """Find the optimal masses of a forest given by its levels, roots first, in O(number of segments) time and memory.

    One root of value 5 with two kept leaves, of values 1 and 2, and two left out: the surplus of 2 goes to all four.

    >>> roots = Level(np.array([5.0]), np.array([0, 2]), np.array([2]))
    >>> leaves = Level(np.array([1.0, 2.0]), np.array([0, 0, 0]), np.array([0, 0]))
    >>> for masses in solve([roots, leaves]):
    ...     print(masses.nodes.tolist(), masses.left_out.tolist())
    [5.0] [0.5]
    [1.5, 2.5] [0.0, 0.0]
    """
    costs = _costs(levels)
    masses, marginal = np.maximum(levels[0].values, 0.0), _last_negative(costs[0].start, costs[0].slope)
    solution = []
    for height, level, below in zip(range(len(levels) - 1, 0, -1), levels[:-1], costs[1:], strict=True):
        shares, given, marginal = _hand_down(masses, marginal, level.kids, level.left_out, 2**height, *below)
        solution.append(Masses(masses, shares))
        masses = given
    return [*solution, Masses(masses, np.zeros(len(masses)))]


def _costs(levels: Sequence[Level]) -> list[Costs]:
    """Compute the cost functions of each level, from the last level up."""
    below = Costs(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    found = []
    for height, level in enumerate(reversed(levels)):
        below = Costs(*_add_level(level.values, level.kids, 2**height, *below))
        found.append(below)
    return found[::-1]


@njit(cache=True)
def _add_level(
    values: Floats, kids: Ints, weight: int, start: Ints, slope: Ints, length: Floats
) -> tuple[Ints, Ints, Floats]:
    """Compute the cost functions of a level of weight c_i from those of the level below: merge, and add c_i |y - m|."""
    new_start = np.zeros(len(values) + 1, np.int64)
    new_slope = np.empty(len(slope) + len(values), np.int64)
    new_length = np.empty(len(slope) + len(values), np.float64)
    heads = start[:-1].copy()
    end = 0
    for v in range(len(values)):
        first, last = kids[v], kids[v + 1]
        to_cut = max(values[v], 0.0)
        s = _least_slope(first, last, heads, start, slope)
        while s != _NONE:
            piece = 0.0
            for u in range(first, last):
                if heads[u] < start[u + 1] and slope[heads[u]] == s:
                    piece += length[heads[u]]
                    heads[u] += 1
            before = min(piece, to_cut)
            if before > 0.0:
                new_slope[end], new_length[end] = s - weight, before
                end += 1
            if piece > before:
                new_slope[end], new_length[end] = s + weight, piece - before
                end += 1
            to_cut -= before
            s = _least_slope(first, last, heads, start, slope)
        if to_cut > 0.0:  # the infinite segment is cut: lambda_(i+1) - c_i
            new_slope[end], new_length[end] = -1, to_cut
            end += 1
        new_start[v + 1] = end
    return new_start, new_slope[:end], new_length[:end]


@njit(cache=True)
def _least_slope(first: int, last: int, heads: Ints, start: Ints, slope: Ints) -> int:
    """The least slope among the next segments of the nodes ``first .. last - 1``."""
    least = _NONE
    for u in range(first, last):
        if heads[u] < start[u + 1]:
            least = min(least, slope[heads[u]])
    return least


@njit(cache=True)
def _last_negative(start: Ints, slope: Ints) -> Ints:
    """The last negative slope of each node, 0 if there is none."""
    found = np.zeros(len(start) - 1, np.int64)
    for v in range(len(found)):
        for k in range(start[v], start[v + 1]):
            if slope[k] < 0:
                found[v] = slope[k]
    return found


@njit(cache=True)
def _hand_down(
    masses: Floats, marginal: Ints, kids: Ints, left_out: Ints, weight: int, start: Ints, slope: Ints, length: Floats
) -> tuple[Floats, Floats, Ints]:
    """Give the masses of a level of weight c_i to the children.

    ``marginal`` holds the marginal slopes of the nodes' f, and ``start, slope, length`` the children's functions.
    Returns the mass of each left-out child, that of each kept one, and the marginal slopes of the kept ones.
    """
    shares, given = np.zeros(len(masses)), np.zeros(len(start) - 1)
    marginal_below = np.zeros(len(given), np.int64)
    room = np.zeros(len(given))
    for v in range(len(masses)):
        if masses[v] <= 0.0:
            continue
        first, last = kids[v], kids[v + 1]
        s = marginal[v] + weight if marginal[v] < 0 else marginal[v] - weight
        rest = masses[v]
        for u in range(first, last):
            k = start[u]
            while k < start[u + 1] and slope[k] < s:
                given[u] += length[k]
                marginal_below[u] = slope[k]
                k += 1
            room[u] = length[k] if k < start[u + 1] and slope[k] == s else 0.0
            rest -= given[u]
        rest = max(rest, 0.0)  # of rounding errors
        if s == weight - 1:  # lambda_(i+1): the infinite segments
            height = rest / (last - first + left_out[v])
            room[first:last] = height
            shares[v] = height
        else:
            height = _water_level(rest, first, last, room)
        for u in range(first, last):
            if room[u] > 0.0 and height > 0.0:
                given[u] += min(room[u], height)
                marginal_below[u] = s
    return shares, given, marginal_below


@njit(cache=True)
def _water_level(rest: float, first: int, last: int, room: Floats) -> float:
    """Find the height h at which the sum of min(room, h) over ``first .. last - 1`` is ``rest``.

    Rooms below an equal part are filled and removed, which raises the part of the others, until no more are filled.
    The set of filled rooms only grows. Once it stays the same, so does the height, to the last bit: the loop ends.
    """
    height = 0.0
    while True:
        left, sharing = rest, 0
        for u in range(first, last):
            if room[u] <= height:
                left -= room[u]
            else:
                sharing += 1
        if sharing == 0 or left / sharing <= height:
            return height
        height = left / sharing
