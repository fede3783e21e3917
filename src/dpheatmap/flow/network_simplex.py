"""The network simplex method for minimum-cost flow on a grid, with or without a bank.

The problem. The nodes are the pixels of a grid, row by row, and perhaps one more, the *bank*. Node v has a supply b_v,
a whole number, and the supplies add up to 0. A step between neighbours costs 1 in either direction; paying in at the
bank costs ``out`` from every pixel and drawing from it costs ``into``. Edges have no capacities. The flow has to carry
all supplies at the least cost. Its dual has a potential pi for each node, and

    sum of cost * |flow|  >=  sum of pi_v b_v    whenever pi_u - pi_v <= cost(u, v) for all arcs (u, v),

with equality at the optimum and nowhere else. So a flow and a potential of equal value prove each other optimal.

The method (Dantzig 1951; Ahuja, Magnanti, Orlin, *Network Flows*, 1993, chapter 11). A spanning tree carries exactly
one flow, F_v from each node v to its parent, and has, up to a constant, one potential: that whose differences along the
tree's edges are the costs in the direction of their flow. If some arc (u, w) has pi_u - pi_w > cost, then sending mass
around the cycle that the arc closes with the tree saves pi_u - pi_w - cost a unit, until the flow of an opposite edge
of the cycle becomes 0. That edge leaves the tree and the arc enters. Here every spanning tree is a feasible start,
since an edge carries flow in both directions; the sign of F_v is the direction.

*Termination.* Pivots that move no mass could cycle. Supplies are therefore multiplied by M > 2 x nodes, every node gets
one unit more, and node 0 loses as many as there are nodes (Orlin 1985; the same as Cunningham's strongly feasible
trees). The flow out of a part of k nodes, 0 < k < nodes, is then a multiple of M plus k or k - nodes, never 0. So all
edges of all trees carry flow, no two edges become 0 together, each pivot saves something, and no tree occurs twice. A
tree without an improving arc stays optimal when the additions are removed by rounding to multiples of M.

*The tree* is a circular list of its nodes in preorder, each with its parent, the last node of its branch in the list,
and the branch's size. A branch is a contiguous part of the list. Changing its root reorders the list in pieces, one for
each node of the path that is reversed. Of the two parts of a tree that is cut, the smaller one is moved, and its
potentials shift by a constant; if the root is in it, the other part's top becomes the root.

This module imports numba, so it is imported late.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.jit import njit
from dpheatmap.place.quadtree import Ints

Nodes = NDArray[np.int32]
Flags = NDArray[np.bool_]


class Grid(NamedTuple):
    """The network: pixels ``0 .. rows * columns - 1``, then the bank if there is one, with its costs in steps."""

    rows: int
    columns: int
    banked: bool = False
    out: int = 0
    into: int = 0


class Edges(NamedTuple):
    """The edges of a tree: from each pixel to the right, down, and to the bank."""

    right: Flags
    down: Flags
    bank: Flags


class Flow(NamedTuple):
    """The flow from each pixel to the right, down, and to the bank; negative in the other direction."""

    right: Ints
    down: Ints
    bank: Ints


class Tree(NamedTuple):
    """A spanning tree with its flow (scaled by M and perturbed) and its potential."""

    parent: Nodes
    following: Nodes
    preceding: Nodes
    last: Nodes
    size: Nodes
    potential: Nodes
    flow: Ints


def bits_of_perturbation(nodes: int) -> int:
    """The binary logarithm of M, the least power of two above twice the number of nodes."""
    return (2 * nodes).bit_length()


def perturb(supply: Ints) -> Ints:
    """Multiply the supplies by M and add the units that keep every flow away from 0."""
    scaled: Ints = (supply << bits_of_perturbation(len(supply))) + 1
    scaled[0] -= len(supply)
    return scaled


@njit(cache=True)
def flow_of(tree: Tree, grid: Grid) -> Flow:
    """The flow of the tree without the perturbation."""
    columns, pixels = grid.columns, grid.rows * grid.columns
    right, down, bank = np.zeros(pixels, np.int64), np.zeros(pixels, np.int64), np.zeros(pixels, np.int64)
    power = 2
    while power <= 2 * len(tree.flow):
        power *= 2
    for v in range(len(tree.flow)):
        if tree.parent[v] < 0:
            continue
        carried = (tree.flow[v] + power // 2) // power
        low, high = min(v, tree.parent[v]), max(v, tree.parent[v])
        forward = carried if low == v else -carried
        if grid.banked and high == pixels:
            bank[low] += forward
        elif high == low + columns:
            down[low] += forward
        else:
            right[low] += forward
    return Flow(right, down, bank)


@njit(cache=True)
def sweep(tree: Tree, grid: Grid) -> int:
    """Check every arc once and pivot wherever that saves something; returns the number of pivots.

    Taking the first arc that saves anything is best here: choosing better ones takes more pivots, not fewer, and longer
    cycles. A sweep of no pivots proves that the tree is optimal.
    """
    rows, columns, bank, pivots = grid.rows, grid.columns, grid.rows * grid.columns, 0
    potential = tree.potential
    for i in range(rows):
        for j in range(columns):
            v = i * columns + j
            if j + 1 < columns and abs(potential[v] - potential[v + 1]) > 1:
                pivots += _pivot_between(tree, v, v + 1, 1, 1)
            if i + 1 < rows and abs(potential[v] - potential[v + columns]) > 1:
                pivots += _pivot_between(tree, v, v + columns, 1, 1)
            if grid.banked and not -grid.into <= potential[v] - potential[bank] <= grid.out:
                pivots += _pivot_between(tree, v, bank, grid.out, grid.into)
    return pivots


@njit(cache=True)
def _pivot_between(tree: Tree, v: int, w: int, there: int, back: int) -> int:
    """Pivot on the arc from ``v`` to ``w``, of cost ``there``, or on the one back, whichever saves."""
    if tree.potential[v] - tree.potential[w] > there:
        _pivot(tree, v, w, there)
    else:
        _pivot(tree, w, v, back)
    return 1


@njit(cache=True)
def _pivot(tree: Tree, u: int, w: int, price: int) -> None:
    """Bring the arc from ``u`` to ``w`` into the tree: send as much flow around its cycle as possible."""
    top, leaving, amount, near_u = _bottleneck(tree, u, w)
    parent, size, potential = tree.parent, tree.size, tree.potential
    _add_upwards(parent, tree.flow, u, top, -amount)
    _add_upwards(parent, tree.flow, w, top, amount)
    own, other = (u, w) if near_u else (w, u)  # own lies in the branch that is cut off
    branch, rest = size[leaving], len(parent) - size[leaving]
    if branch <= rest:
        _add_upwards(parent, size, parent[leaving], top, -branch)
        _add_upwards(parent, size, other, top, branch)
        moved, hook, number = own, other, branch
    else:
        _add_upwards(parent, size, parent[leaving], -1, -branch)
        _add_upwards(parent, size, own, parent[leaving], rest)
        moved, hook, number = other, own, rest
    _cut(tree, leaving)
    _turn(tree, moved, number)
    _hang(tree, moved, hook)
    tree.flow[moved] = amount if moved == u else -amount
    shift = potential[w] + price - potential[u] if moved == u else potential[u] - price - potential[w]
    x = moved
    for _ in range(number):
        potential[x] += shift
        x = tree.following[x]


@njit(cache=True)
def _add_upwards(parent: Nodes, values: Nodes | Ints, start: int, end: int, amount: int | np.int64) -> None:
    """Add an amount to the values of the nodes from ``start`` up to ``end``, exclusive; -1 is above the root."""
    x = start
    while x != end:
        values[x] += amount
        x = parent[x]


@njit(cache=True)
def _bottleneck(tree: Tree, u: int, w: int) -> tuple[int, int, np.int64, bool]:
    """Find the top of the cycle through the arc (u, w), the leaving edge (by its lower node), its flow, and its side.

    Mass sent from u to w returns up from w and down to u. The node of the smaller branch is not above the other one.
    """
    a, b, leaving, near_u, amount = u, w, u, True, np.int64(9223372036854775807)
    while a != b:
        if tree.size[a] < tree.size[b]:
            if 0 < tree.flow[a] < amount:
                amount, leaving, near_u = tree.flow[a], a, True
            a = tree.parent[a]
        else:
            if 0 < -tree.flow[b] < amount:
                amount, leaving, near_u = -tree.flow[b], b, False
            b = tree.parent[b]
    return a, leaving, amount, near_u


@njit(cache=True)
def _cut(tree: Tree, v: int) -> None:
    """Cut the branch of ``v`` off, which leaves two trees, each with its own circular list."""
    end = tree.last[v]
    before, after = tree.preceding[v], tree.following[end]
    tree.following[before], tree.preceding[after] = after, before
    tree.following[end], tree.preceding[v] = v, end
    x = tree.parent[v]
    tree.parent[v] = -1
    while x >= 0 and tree.last[x] == end:
        tree.last[x] = before
        x = tree.parent[x]


@njit(cache=True)
def _turn(tree: Tree, v: int, number: int) -> None:
    """Make ``v`` the root of its tree of ``number`` nodes.

    Let v = s_0, s_1, .. s_k be the path to the old root. The new preorder is the branch of s_0, then for each i the
    nodes of the branch of s_i outside that of s_(i-1): s_i and those before s_(i-1), then those after that branch.
    """
    parent, following, preceding, last, size, flow = (
        tree.parent, tree.following, tree.preceding, tree.last, tree.size, tree.flow,
    )  # fmt: skip
    if parent[v] < 0:
        return
    end, below, x, inside, carried = last[v], v, parent[v], size[v], flow[v]
    before, old_end, after = preceding[v], end, following[end]  # around the branch of `below`, in the old order
    while x >= 0:
        above, inner_end, first_after, first_before = parent[x], old_end, after, before
        before, old_end = preceding[x], last[x]
        if old_end != inner_end:
            after = following[old_end]
        following[end], preceding[x], end = x, end, first_before
        if old_end != inner_end:
            following[first_before], preceding[first_after], end = first_after, first_before, old_end
        parent[x], size[x], inside = below, number - inside, size[x]
        flow[x], carried = -carried, flow[x]
        below, x = x, above
    following[end], preceding[v] = v, end
    x = below
    while x != v:
        last[x] = end
        x = parent[x]
    last[v], size[v], parent[v] = end, number, -1


@njit(cache=True)
def _hang(tree: Tree, v: int, hook: int) -> None:
    """Attach a tree, by its root ``v``, below the node ``hook`` of another tree."""
    end, after = tree.last[v], tree.following[hook]
    tree.following[hook], tree.preceding[v] = v, hook
    tree.following[end], tree.preceding[after] = after, end
    tree.parent[v] = hook
    x = hook
    while x >= 0 and tree.last[x] == hook:
        tree.last[x] = end
        x = tree.parent[x]


@njit(cache=True)
def plant_tree(edges: Edges, supply: Ints, grid: Grid) -> Tree:
    """Build the tree of the given edges, rooted at node 0, with the flow of perturbed supplies and its potential."""
    nodes = len(supply)
    parent, order = _breadth_first(edges, grid, nodes)
    flow, size, place = supply.copy(), np.ones(nodes, np.int32), np.zeros(nodes, np.int32)
    for k in range(nodes - 1, 0, -1):
        flow[parent[order[k]]] += flow[order[k]]
        size[parent[order[k]]] += size[order[k]]
    preorder, room, potential = np.zeros(nodes, np.int32), np.ones(nodes, np.int32), np.zeros(nodes, np.int32)
    for k in range(1, nodes):
        v = order[k]
        p = parent[v]
        place[v] = place[p] + room[p]
        room[p] += size[v]
        preorder[place[v]] = v
        out, into = 1, 1
        if v == grid.rows * grid.columns:
            out, into = grid.into, grid.out
        elif p == grid.rows * grid.columns:
            out, into = grid.out, grid.into
        potential[v] = potential[p] + (out if flow[v] > 0 else -into)
    following, preceding, last = np.empty(nodes, np.int32), np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    for k in range(nodes):
        v = preorder[k]
        following[v], preceding[v] = preorder[(k + 1) % nodes], preorder[k - 1]
        last[v] = preorder[k + size[v] - 1]
    return Tree(parent, following, preceding, last, size, potential, flow)


@njit(cache=True)
def _breadth_first(edges: Edges, grid: Grid, nodes: int) -> tuple[Nodes, Nodes]:
    """The parents of the nodes of a tree rooted at node 0, and the nodes in an order in which parents come first."""
    columns, bank = grid.columns, grid.rows * grid.columns
    parent, order = np.full(nodes, -2, np.int32), np.zeros(nodes, np.int32)
    parent[0], found = -1, 1
    for k in range(nodes):
        if k == found:
            raise ValueError("these edges do not reach all nodes")
        v = order[k]
        if v == bank:
            for x in range(bank):
                if edges.bank[x] and parent[x] == -2:
                    parent[x], order[found], found = v, x, found + 1
            continue
        for x, joined in (
            (v + 1, edges.right[v]),
            (v - 1, v > 0 and edges.right[v - 1]),
            (v + columns, edges.down[v]),
            (v - columns, v >= columns and edges.down[v - columns]),
            (bank, grid.banked and edges.bank[v]),
        ):
            if joined and parent[x] == -2:
                parent[x], order[found], found = v, x, found + 1
    return parent, order
