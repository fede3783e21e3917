"""A tree of masses with its measurements, and messages: the likelihood of a node's mass given all data below it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.estimate.posterior.likelihood import log_density
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

_STRETCH = 0.25  # of the warp z -> z / (1 + 0.25 |z|), dense near 0: the steps at |z| = 4 are four times those at 0
_PIECE = 16_384  # nodes
CENTRE, WIDTH, LOW, HIGH, FIRST, STEP, LOW_SLOPE, HIGH_SLOPE = range(8)
"""The columns of the shape of a message."""


class Tree(NamedTuple):
    """A binary tree of masses and its measurements. Children come after their parents; -1 stands for no child.

    Splits are Beta(``left_power``, ``right_power``). Node v has the measurements ``start[v] .. start[v + 1] - 1``.
    ``bound`` is above any mass that the measurements allow.
    """

    left: Ints
    right: Ints
    left_power: Floats
    right_power: Floats
    start: Ints
    values: Floats
    scales: Floats
    law: Floats
    bound: float


class Messages(NamedTuple):
    """For each node, log p(measurements in and below it | its mass), as a table without the node's own measurements.

    Those are added exactly when the table is read. Each node has a row of ``shape``. The masses of its table are
    ``centre + width * unwarp(first + k * step)``. Beyond its ends the table continues with the two slopes. Outside of
    ``low .. high`` the message is negligible. It is one array, since numba pays for each array passed to a function.
    """

    shape: Floats
    table: Floats


def pieces(nodes: int) -> list[tuple[int, int]]:
    """Cut a pass over so many nodes into pieces of a fraction of a second, between which it can be interrupted."""
    return [(first, min(first + _PIECE, nodes)) for first in range(0, nodes, _PIECE)]


@njit(cache=True, error_model="numpy", inline="always")
def warp(z: float) -> float:
    """Convert a standardised distance to a position; even steps of position are dense near 0."""
    return z / (1.0 + _STRETCH * abs(z))


@njit(cache=True, error_model="numpy", inline="always")
def unwarp(t: float) -> float:
    """The inverse of the warp."""
    return t / (1.0 - _STRETCH * abs(t))


@njit(cache=True, error_model="numpy")
def add_messages(tree: Tree, messages: Messages, node: int, masses: Floats, into: Floats) -> None:
    """Add log p(measurements in and below a node | its mass), up to a constant, at each of the masses."""
    for i in range(tree.start[node], tree.start[node + 1]):
        value, precision = tree.values[i], 1.0 / tree.scales[i]
        if len(tree.law) == 1:
            for j in range(len(masses)):
                into[j] -= abs(value - masses[j]) * precision
        else:
            for j in range(len(masses)):
                into[j] += log_density(tree.law, abs(value - masses[j]) * precision)
    if tree.left[node] < 0:
        return
    table = messages.table[node]
    last = len(table) - 1
    centre, width, first, step = (
        messages.shape[node, CENTRE],
        messages.shape[node, WIDTH],
        messages.shape[node, FIRST],
        messages.shape[node, STEP],
    )
    low, high = centre + width * unwarp(first), centre + width * unwarp(first + last * step)
    per_width, per_step = 1.0 / width, 1.0 / step
    for j in range(len(masses)):
        t = (warp((masses[j] - centre) * per_width) - first) * per_step
        if t <= 0.0:
            into[j] += table[0] + messages.shape[node, LOW_SLOPE] * (masses[j] - low)
        elif t >= last:
            into[j] += table[last] + messages.shape[node, HIGH_SLOPE] * (masses[j] - high)
        else:  # the cubic through four points of the table, two on each side where there are two
            k = min(max(int(t) - 1, 0), last - 3)
            a = t - k
            b, c, d = a - 1.0, a - 2.0, a - 3.0
            ends = a * table[k + 3] * b * c - table[k] * b * c * d
            into[j] += ends / 6.0 + 0.5 * a * d * (table[k + 1] * c - table[k + 2] * b)


@njit(cache=True, error_model="numpy")
def message(tree: Tree, messages: Messages, node: int, mass: float) -> float:
    """log p(measurements in and below a node | its mass), up to a constant, at one mass."""
    masses, into = np.array([mass]), np.zeros(1)
    add_messages(tree, messages, node, masses, into)
    return float(into[0])
