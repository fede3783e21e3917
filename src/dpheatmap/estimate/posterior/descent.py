"""The downward pass over a tree of masses: means, variances and draws of every node, given the messages.

Given a node's mass, the law of its children's masses is known from the cells of the integral over its split. So the
posterior of a node is a mixture over the posterior of its parent:

    P(x) = sum over the parent's masses m of P(m) * (cells of the split integral at m).

Each P is held as some tens of *particles*. A step yields hundreds of cells. They are gathered in bins, each with its
weight, mean and variance, and each bin becomes two particles with the same weight, mean and variance. So these three
change only by the split integrals, and the two children's means add up to their parent's to the last digits. A draw is
the same pass with one mass at each node.

Of a map's finest nodes only the sums over many can be seen, which are nearly normal. There a draw may take the normal
law of a split that has the same first two moments. With L and P the masses of a left child and of its parent, these are

    cov(L, P) = (var L + var P - var R) / 2,    E(L | P) = E L + cov(L, P) / var P * (P - E P),
    var(L | P) = var L - cov(L, P)^2 / var P,

cut off at 0 and P. Such a draw takes a fiftieth of the time.
"""

from __future__ import annotations

import math

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.estimate.posterior.message_tree import Messages, Tree, pieces, warp
from dpheatmap.estimate.posterior.messages import spread_of_root
from dpheatmap.estimate.posterior.randomness import Randomness
from dpheatmap.estimate.posterior.split import (
    EDGES,
    LOGS,
    MEANS,
    VARIANCES,
    WEIGHTS,
    draw_in_cell,
    integrate,
    quantile_of_exponential,
    working_space,
)
from dpheatmap.place.domain import Floats

_ROOT_CELLS = 96
_NOTHING = 1e-200  # people: less counts as none, since its reciprocal may overflow


def moments(tree: Tree, messages: Messages, bins: int = 8, cells: int = 20) -> tuple[Floats, Floats]:
    """Compute the posterior means and variances of all nodes."""
    nodes, work = len(tree.left), working_space(max(cells, _ROOT_CELLS))
    means, variances = np.zeros(nodes), np.zeros(nodes)
    places, weights = np.zeros((nodes, 2 * bins)), np.zeros((nodes, 2 * bins))
    for first, stop in pieces(nodes):
        _pass_moments(tree, messages, first, stop, cells, work, places, weights, means, variances)
    return means, variances


def draw(
    tree: Tree, messages: Messages, spread: tuple[Floats, Floats], exact: int, rng: Randomness, cells: int = 20
) -> Floats:
    """Draw all masses once from the posterior: ``exact`` splits by their law, the rest by means and variances."""
    nodes = len(tree.left)
    masses, work = np.zeros(nodes), working_space(max(cells, _ROOT_CELLS))
    uniforms = rng.random((exact + 1, 2))
    for first, stop in pieces(exact):
        _pass_draw(tree, messages, first, stop, uniforms, cells, work, masses)
    if exact < nodes:
        _pass_normal_draw(tree, *spread, exact, rng.standard_normal(nodes - exact), masses)
    return masses


@njit(cache=True, nogil=True, error_model="numpy")
def _pass_moments(
    tree: Tree, messages: Messages, first: int, stop: int, cells: int, work: Floats, places: Floats, weights: Floats,
    means: Floats, variances: Floats,
) -> None:  # fmt: skip
    """Pass the particles of some nodes to their children; those of the root are made first."""
    particles = places.shape[1]
    if first == 0:
        count, _ = spread_of_root(tree, messages, _ROOT_CELLS, work)
        means[0], variances[0] = _gather(work[MEANS], work[WEIGHTS], work[VARIANCES], count, places[0], weights[0])
    size = max(particles, 1) * work.shape[1]
    lefts, rights, parts, blurs = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for v in range(first, stop):
        if tree.left[v] < 0:
            continue
        end = 0
        for k in range(particles):
            mass, weight = places[v, k], weights[v, k]
            if weight == 0.0:
                continue
            if mass <= _NOTHING:
                lefts[end], rights[end], parts[end], blurs[end] = 0.0, 0.0, weight, 0.0
                end += 1
                continue
            count, _ = integrate(tree, messages, v, mass, cells, True, work)
            for j in range(count):
                lefts[end], rights[end] = work[MEANS, j], mass - work[MEANS, j]
                parts[end], blurs[end] = weight * work[WEIGHTS, j], work[VARIANCES, j]
                end += 1
        for child, masses in ((tree.left[v], lefts), (tree.right[v], rights)):
            means[child], variances[child] = _gather(masses, parts, blurs, end, places[child], weights[child])


@njit(cache=True, error_model="numpy")
def _gather(
    masses: Floats, parts: Floats, blurs: Floats, count: int, places: Floats, weights: Floats
) -> tuple[float, float]:
    """Reduce weighted masses, each blurred by a variance, to particles; returns their mean and variance.

    A bin of mean a and standard deviation s becomes a - r s with weight 1/(1 + r^2) and a + s/r with weight
    r^2/(1 + r^2), which have that mean and variance; r = 1 unless the lower one would be negative.
    """
    mean, variance = 0.0, 0.0
    for k in range(count):
        mean += parts[k] * masses[k]
    low, high = mean, mean
    for k in range(count):
        variance += parts[k] * ((masses[k] - mean) ** 2 + blurs[k])
        if parts[k] > 1e-12:
            low, high = min(low, masses[k]), max(high, masses[k])
    bins = len(places) // 2
    width = max(math.sqrt(variance), 1e-4 * (high - low), 1e-300)
    begin, end = warp((low - mean) / width), warp((high - mean) / width)
    scale = bins / (end - begin) if end > begin else 0.0
    sums = np.zeros((3, bins))
    for k in range(count):
        offset = masses[k] - mean
        b = min(max(int((warp(offset / width) - begin) * scale), 0), bins - 1)
        sums[0, b] += parts[k]
        sums[1, b] += parts[k] * offset
        sums[2, b] += parts[k] * (offset * offset + blurs[k])
    for b in range(bins):
        weight = sums[0, b]
        if weight == 0.0:
            places[2 * b], places[2 * b + 1], weights[2 * b], weights[2 * b + 1] = 0.0, 0.0, 0.0, 0.0
            continue
        offset = sums[1, b] / weight
        place = max(mean + offset, 0.0)
        spread = math.sqrt(max(sums[2, b] / weight - offset * offset, 0.0))
        r = 1.0 if spread <= 0.9 * place else 0.9 * place / spread
        if spread == 0.0 or r < 1e-6:
            places[2 * b], places[2 * b + 1], weights[2 * b], weights[2 * b + 1] = place, 0.0, weight, 0.0
        else:
            share = 1.0 / (1.0 + r * r)
            places[2 * b], places[2 * b + 1] = place - r * spread, place + spread / r
            weights[2 * b], weights[2 * b + 1] = weight * share, weight * (1.0 - share)
    return mean, variance


@njit(cache=True, nogil=True, error_model="numpy")
def _pass_draw(
    tree: Tree, messages: Messages, first: int, stop: int, uniforms: Floats, cells: int, work: Floats, masses: Floats
) -> None:
    """Pass the drawn masses of some nodes to their children; that of the root is drawn first."""
    if first == 0:
        count, _ = spread_of_root(tree, messages, _ROOT_CELLS, work)
        k = _pick(work[WEIGHTS], count, uniforms[0, 0])
        across = quantile_of_exponential(work[LOGS, k + 1] - work[LOGS, k], uniforms[0, 1])
        masses[0] = work[EDGES, k] + (work[EDGES, k + 1] - work[EDGES, k]) * across
    for v in range(first, stop):
        mass = masses[v]
        if tree.left[v] < 0 or mass <= _NOTHING:
            continue
        count, _ = integrate(tree, messages, v, mass, cells, False, work)
        k = _pick(work[WEIGHTS], count, uniforms[v + 1, 0])
        left = min(max(draw_in_cell(tree, v, mass, k, uniforms[v + 1, 1], work), 0.0), mass)
        masses[tree.left[v]], masses[tree.right[v]] = left, mass - left


@njit(cache=True, nogil=True, error_model="numpy")
def _pass_normal_draw(
    tree: Tree, means: Floats, variances: Floats, first: int, normals: Floats, masses: Floats
) -> None:
    """Pass the drawn masses of all nodes from the first on to their children, by normal laws."""
    for v in range(first, len(tree.left)):
        left, right = tree.left[v], tree.right[v]
        if left < 0:
            continue
        together = 0.5 * (variances[left] + variances[v] - variances[right])
        slope = together / variances[v] if variances[v] > 0.0 else 0.0
        deviation = math.sqrt(max(variances[left] - slope * together, 0.0))
        mass = means[left] + slope * (masses[v] - means[v]) + deviation * normals[v - first]
        masses[left] = min(max(mass, 0.0), masses[v])
        masses[right] = masses[v] - masses[left]


@njit(cache=True, error_model="numpy")
def _pick(weights: Floats, count: int, uniform: float) -> int:
    """The first cell at which the cumulative weight exceeds a uniform number."""
    rest = uniform
    for k in range(count):
        if rest < weights[k]:
            return k
        rest -= weights[k]
    return count - 1
