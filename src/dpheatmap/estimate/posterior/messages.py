"""The upward pass over a tree of masses: messages, the likelihood of each node's mass given the data in and below it.

Let M_v(m) = log p(measurements in and below v | mass of v = m). A leaf has its own measurements only. Others have

    M_v(m) = own measurements of v at m  +  S_v(m),

where S_v is the integral of `split.py` over how m is split between the two children. S_v averages over the children's
kinks, so it is smooth. It is tabulated at points that are dense where M_v peaks and sparse in its tails, which are
nearly linear. The tails must be right, too: cubics between the points propagate an error. The peak of M_v is guessed
from the children's peaks and the node's own measurements, and checked against the table. If the guess was too far off,
it is corrected and the table is computed again.

At the root, with a flat prior of the total, the integral of exp(M) is the evidence: the probability of all measurements
given the prior's parameters.
"""

from __future__ import annotations

import math

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.estimate.posterior.likelihood import summary
from dpheatmap.estimate.posterior.message_tree import (
    CENTRE,
    FIRST,
    HIGH,
    HIGH_SLOPE,
    LOW,
    LOW_SLOPE,
    STEP,
    WIDTH,
    Messages,
    Tree,
    add_messages,
    message,
    pieces,
    unwarp,
    warp,
)
from dpheatmap.estimate.posterior.split import (
    EDGES,
    LOGS,
    MEANS,
    VARIANCES,
    WEIGHTS,
    insert_edge,
    integrate,
    is_peaked,
    mean_exp,
    tilted_moments,
    working_space,
)
from dpheatmap.place.domain import Floats

_DEPTH = 25.0  # values this far below a message's peak, in logarithms, are left out
_SHALLOW = 8.0  # a message less than this far below its peak at the end of its table needs a longer table
_TRIES = 3


def upward_messages(tree: Tree, points: int = 32, cells: int = 20) -> Messages:
    """Compute the messages of all nodes, leaves first: tables of ``points`` points, integrals over about ``cells``."""
    nodes = len(tree.left)
    messages = Messages(np.zeros((nodes, 8)), np.zeros((nodes, points)))
    work = working_space(max(cells, points))
    for first, stop in reversed(pieces(nodes)):
        _fill_messages(tree, messages, first, stop, cells, work)
    return messages


def log_evidence(tree: Tree, messages: Messages, cells: int = 96) -> float:
    """log p(all measurements | the prior), up to a constant that does not depend on the prior."""
    return float(spread_of_root(tree, messages, cells, working_space(cells))[1])


@njit(cache=True, nogil=True, error_model="numpy")
def _fill_messages(tree: Tree, messages: Messages, first: int, stop: int, cells: int, work: Floats) -> None:
    masses = np.empty(messages.table.shape[1])
    logs = np.empty(len(masses))
    for v in range(stop - 1, first - 1, -1):
        own = tree.start[v + 1] > tree.start[v]
        if own:
            centre, width, low, high = summary(tree.law, tree.values, tree.scales, tree.start[v], tree.start[v + 1])
        else:
            centre, width, low, high = 0.0, tree.bound, 0.0, tree.bound
        if tree.left[v] >= 0:
            centre, width, low, high = _with_children(tree, messages, v, own, centre, width, low, high)
            for attempt in range(_TRIES):
                _tabulate(tree, messages, v, centre, width, low, high, cells, masses, work)
                peak, spread, low, high = _look(tree, messages, v, masses, logs)
                good = abs(peak - centre) <= 1.5 * width and 0.4 * width <= spread <= 2.5 * width
                good = good and masses[0] <= low and high <= masses[-1]
                if good or attempt == _TRIES - 1:
                    break
                centre, width = peak, spread
        else:
            messages.shape[v, CENTRE], messages.shape[v, WIDTH] = centre, width
        messages.shape[v, LOW], messages.shape[v, HIGH] = low, high


@njit(cache=True, error_model="numpy")
def _with_children(
    tree: Tree, messages: Messages, v: int, own: bool, centre: float, width: float, low: float, high: float
) -> tuple[float, float, float, float]:
    """Combine the peak and range of a node's own measurements with those of the sum of its children.

    The ranges are intersected. If they contradict each other, all between them counts, since Laplace terms of opposite
    slopes cancel there.
    """
    left, right = tree.left[v], tree.right[v]
    sum_centre = messages.shape[left, CENTRE] + messages.shape[right, CENTRE]
    sum_width = math.hypot(messages.shape[left, WIDTH], messages.shape[right, WIDTH])
    if is_peaked(tree, v):
        sum_centre, sum_width = _sum_given_share(
            messages, left, right, tree.left_power[v], tree.right_power[v], sum_centre
        )
    sum_low, sum_high = (
        messages.shape[left, LOW] + messages.shape[right, LOW],
        messages.shape[left, HIGH] + messages.shape[right, HIGH],
    )
    if not own:
        return sum_centre, sum_width, sum_low, sum_high
    trust, sum_trust = width**-2, sum_width**-2
    both = (trust * centre + sum_trust * sum_centre) / (trust + sum_trust)
    both_width = 1.0 / math.sqrt(trust + sum_trust)
    if max(low, sum_low) < min(high, sum_high):
        return both, both_width, max(low, sum_low), min(high, sum_high)
    low, high = min(low, sum_low), max(high, sum_high)
    return both, max(both_width, 0.1 * (high - low)), low, high


@njit(cache=True, error_model="numpy")
def _sum_given_share(
    messages: Messages, left: int, right: int, p: float, q: float, guess: float
) -> tuple[float, float]:
    """The centre and width of a sum whose two parts have a known share, nearly, so that each part tells about the sum.

    Parts c, d with the widths v, w are seen as normal, with the means s m and (1 - s) m and the covariance
    ((v^2 + u^2, -u^2), (-u^2, w^2 + u^2)), where u is the deviation of the split; m is estimated by least squares.
    """
    s, rest = p / (p + q), q / (p + q)
    own = max(guess, 0.0) ** 2 * s * rest / (p + q + 1.0)
    first, second = messages.shape[left, WIDTH] ** 2 + own, messages.shape[right, WIDTH] ** 2 + own
    for_left, for_right = s * second + rest * own, s * own + rest * first
    trust = s * for_left + rest * for_right
    sum_centre = (for_left * messages.shape[left, CENTRE] + for_right * messages.shape[right, CENTRE]) / trust
    return sum_centre, math.sqrt((first * second - own * own) / trust)


@njit(cache=True, error_model="numpy")
def _tabulate(
    tree: Tree,
    messages: Messages,
    v: int,
    centre: float,
    width: float,
    low: float,
    high: float,
    cells: int,
    masses: Floats,
    work: Floats,
) -> None:
    """Tabulate S over ``low .. high``, densely at ``centre``; the masses of the table are written to ``masses``."""
    left, right = tree.left[v], tree.right[v]
    p, q = tree.left_power[v], tree.right_power[v]
    log_beta = math.lgamma(p) + math.lgamma(q) - math.lgamma(p + q)
    points = len(masses)
    width = max(width, 1e-3 * (high - low))
    first = warp((low - centre) / width)
    step = (warp((high - centre) / width) - first) / (points - 1)
    table = messages.table[v]
    for k in range(points):
        mass = max(centre + width * unwarp(first + k * step), 0.0)
        mass = 0.0 if k == 0 and low == 0.0 else mass
        if mass == 0.0:
            table[k] = message(tree, messages, left, 0.0) + message(tree, messages, right, 0.0)
        else:
            table[k] = integrate(tree, messages, v, mass, cells, False, work)[1] - log_beta
        masses[k] = mass
    messages.shape[v, CENTRE], messages.shape[v, WIDTH] = centre, width
    messages.shape[v, FIRST], messages.shape[v, STEP] = first, step
    base = 1 + points // 10  # more than the last two points, since small errors of the integrals would tilt the tails
    messages.shape[v, LOW_SLOPE] = (table[base] - table[0]) / (masses[base] - masses[0])
    messages.shape[v, HIGH_SLOPE] = (table[-1] - table[-1 - base]) / (masses[-1] - masses[-1 - base])


@njit(cache=True, error_model="numpy")
def _look(tree: Tree, messages: Messages, v: int, masses: Floats, logs: Floats) -> tuple[float, float, float, float]:
    """Find the peak of a node's message, its width, and the range in which it is not negligible.

    The width is that of the normal density with the same height and area. If the message is still high where the table
    ends, the range goes beyond it.
    """
    last = len(masses) - 1
    peak = 0
    logs[:] = 0.0
    add_messages(tree, messages, v, masses, logs)
    for k in range(last + 1):
        if logs[k] > logs[peak]:
            peak = k
    area = 0.0
    first, end = last, 0
    for k in range(last + 1):
        if logs[k] > logs[peak] - _DEPTH:
            first, end = min(first, k), k
        if k > 0:
            middle, half = 0.5 * (logs[k] + logs[k - 1]) - logs[peak], 0.5 * (logs[k] - logs[k - 1])
            area += (masses[k] - masses[k - 1]) * mean_exp(middle, half)
    low, high = masses[max(first - 1, 0)], masses[min(end + 1, last)]
    if logs[0] > logs[peak] - _SHALLOW:
        low = max(0.0, 2.0 * masses[0] - masses[last])
    if logs[last] > logs[peak] - _SHALLOW:
        high = max(masses[last], min(tree.bound, 2.0 * masses[last] - masses[0]))
    return masses[peak], area / 2.5, low, high


@njit(cache=True, error_model="numpy")
def spread_of_root(tree: Tree, messages: Messages, cells: int, work: Floats) -> tuple[int, float]:
    """Compute the posterior of the root's mass, in cells, and the log-evidence: the integral of exp(M) over it."""
    low, high = messages.shape[0, LOW], messages.shape[0, HIGH]
    centre, width = min(max(messages.shape[0, CENTRE], low), high), max(messages.shape[0, WIDTH], 1e-3 * (high - low))
    begin, end = warp((low - centre) / width), warp((high - centre) / width)
    edges = work[EDGES]
    for k in range(1, cells):
        edges[k] = min(max(centre + width * unwarp(begin + (end - begin) * k / cells), low), high)
    edges[0], edges[cells] = low, high
    count = cells + 1
    for i in range(tree.start[0], min(tree.start[1], 4)):  # the root's own kinks
        count = insert_edge(edges, count, tree.values[i])
    highest = -np.inf
    work[LOGS, :count] = 0.0
    add_messages(tree, messages, 0, edges[:count], work[LOGS, :count])
    for k in range(count):
        highest = max(highest, work[LOGS, k])
    total = 0.0
    for k in range(count - 1):
        half = 0.5 * (work[LOGS, k + 1] - work[LOGS, k])
        radius = 0.5 * (edges[k + 1] - edges[k])
        place, spread = tilted_moments(half)
        work[WEIGHTS, k] = 2.0 * radius * mean_exp(0.5 * (work[LOGS, k + 1] + work[LOGS, k]) - highest, half)
        work[MEANS, k] = edges[k] + radius * (1.0 + place)
        work[VARIANCES, k] = radius * radius * spread
        total += work[WEIGHTS, k]
    for k in range(count - 1):
        work[WEIGHTS, k] /= total
    return count - 1, highest + math.log(total)
