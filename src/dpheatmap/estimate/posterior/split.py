"""Integral over the fraction of one split of a mass in two: the basic step of the posterior's messages.

A node of mass m gives x = b m to its left child and m - x to its right one, b ~ Beta(p, q). With the children's
log-messages l(x) and r(m - x), the integral is

    S(m) = log of 1/B(p, q) * integral over 0 < b < 1 of b^(p-1) (1-b)^(q-1) exp(l(b m) + r((1-b) m)).

The integrand is singular at the ends when p or q is below 1 (the usual case: most splits are lopsided). It has kinks
where a child was measured, and its peak may be a million times narrower than b's range. So the range is cut into cells
that are dense where both children's likelihoods are high, graded towards the ends, and split at the kinks and at
b = 1/2. On a cell, the logarithm of the smooth part of the integrand is taken as linear, which is exact for Laplace
likelihoods, and the power of b (of 1 - b beyond 1/2) is integrated exactly. With n the smaller of x and m - x in units
of m, from n0 to n1, a cell has

    (n1^p - n0^p) / p * exp(middle of f) * c(d) / c(e),    c(t) = sinh(t) / t,

where f is the smooth part's logarithm, e half the growth of (p-1) log n and d half the growth of f + (p-1) log n over
the cell: the exponential average of f under the tilted density. A cell with n1 < 1.2 n0 needs no power: its whole
logarithm is nearly linear.

A Beta law of high powers is itself a narrow peak, where the children's likelihoods may be flat. Above a sum of powers
of `_PEAKED` it takes part in where cells are laid and in the scale of the weights, which are then computed by
logarithms. There the chord of the logarithm over a cell lies below the law's concave one; a cell's weight is raised by
exp(mean of the sag), where the sag is c/2 (n - n0)(n1 - n) with c the law's curvature.

The weights, means and variances of the cells are the conditional law of x given m, for the downward pass.
"""

from __future__ import annotations

import math

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.estimate.posterior.message_tree import (
    CENTRE,
    HIGH,
    LOW,
    WIDTH,
    Messages,
    Tree,
    add_messages,
    unwarp,
    warp,
)
from dpheatmap.place.domain import Floats

_MOST_KINKS = 4  # of one child, at which cells are split; a child measured more often has a smooth enough likelihood
_SPARE = 2 * _MOST_KINKS + 8  # cells that grading, kinks and the middle add
_PEAKED = 6.0  # the sum of both powers: three times that of the flat law
_THIRDS = 24  # steps of a search for a peak, each of which leaves two thirds: 1 in 17,000
_REACH = 12.0  # deviations of that law: the Gamma law of a small part falls by exp(-12 or more) there
EDGES, LOGS, LEFT, RIGHT, WEIGHTS, MEANS, VARIANCES, KINKS = range(8)
"""The rows of the working space: edges, children's log-messages, log b, log(1 - b), cells' moments, kinks."""


def working_space(cells: int) -> Floats:
    """Allocate scratch rows for integrals over about ``cells`` cells."""
    return np.zeros((8, cells + _SPARE + 1))


@njit(cache=True, error_model="numpy")
def integrate(
    tree: Tree, messages: Messages, node: int, mass: float, cells: int, moments: bool, work: Floats
) -> tuple[int, float]:
    """Compute S(m) of a node with children, less the constant -log B(p, q), and the cells of the integral in ``work``.

    Returns the number of cells and S; ``work`` holds weights that add up to 1 and, if wanted, means and variances of
    the left mass. If only a few cells are not negligible, these are cut again.
    """
    left, right = tree.left[node], tree.right[node]
    trust_left, trust_right = messages.shape[left, WIDTH] ** -2, messages.shape[right, WIDTH] ** -2
    centre = (trust_left * messages.shape[left, CENTRE] + trust_right * (mass - messages.shape[right, CENTRE])) / (
        trust_left + trust_right
    )
    width = 1.0 / math.sqrt(trust_left + trust_right)
    low, high = _range(messages, left, right, mass, 4.0 * width)
    if is_peaked(tree, node):
        centre, width, low, high = _with_prior(tree, messages, node, mass, centre, width, low, high, work)
    kinks = _kinks(tree, left, right, mass, work[KINKS])
    for attempt in range(3):
        width = max(width, 1e-4 * (high - low), 1e-15 * mass)
        centre = min(max(centre, low), high)
        count = _lay_edges(low, high, centre, width, mass, cells, kinks, work[EDGES]) - 1
        log_total = _weigh(tree, messages, node, mass, count, moments, work)
        first, last, heaviest = _where(count, work)
        if attempt == 2 or 4 * (last - first + 1) >= count:
            break
        centre, width = work[EDGES, heaviest], 0.25 * (work[EDGES, last + 1] - work[EDGES, first])
        low, high = work[EDGES, max(first - 1, 0)], work[EDGES, min(last + 2, count)]
    return count, log_total


@njit(cache=True, error_model="numpy")
def _range(messages: Messages, left: int, right: int, mass: float, least: float) -> tuple[float, float]:
    """The range of left masses to integrate over: where neither child's message is negligible, and all between peaks.

    A mass that contradicts the children's data, as those in the tails of a table do, leaves the first part empty, or
    as narrow as the rounding of the mass; then the integrand is in the second part. Both ends are continuous in the
    mass, and at least ``least`` apart where there is room.
    """
    here, there = messages.shape[left, CENTRE], mass - messages.shape[right, CENTRE]
    low = min(max(messages.shape[left, LOW], mass - messages.shape[right, HIGH]), here, there)
    high = max(min(messages.shape[left, HIGH], mass - messages.shape[right, LOW]), here, there)
    low, high = min(max(low, 0.0), mass), min(max(high, 0.0), mass)
    return max(min(low, high - least), 0.0), min(max(high, low + least), mass)


@njit(cache=True, error_model="numpy", inline="always")
def is_peaked(tree: Tree, node: int) -> bool:
    """Whether the Beta law of a split is so narrow that cells have to be laid, and bent, by it as well."""
    return bool(tree.left_power[node] + tree.right_power[node] > _PEAKED)


@njit(cache=True, error_model="numpy")
def _with_prior(
    tree: Tree, messages: Messages, node: int, mass: float, centre: float, width: float, low: float, high: float,
    work: Floats,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Combine the peak and range of the children's likelihoods with those of the Beta law of the split.

    Its mean and width are those of Beta(p + 1, q + 1), which are of the right order at the ends of the range, too. If
    the two contradict each other, the product's peak is sought between them. It is about as narrow as the Beta law is
    there, since likelihoods are nearly linear far from their peaks. A part of a power p below 1 is nearly a Gamma
    variable, which falls by exp(-1) over 1 / p times its peak: much further than its peak is wide.
    """
    p, q = tree.left_power[node] + 1.0, tree.right_power[node] + 1.0
    mean, deviation = mass * p / (p + q), mass * math.sqrt(p * q / (p + q + 1.0)) / (p + q)
    here, there = messages.shape[tree.left[node], CENTRE], mass - messages.shape[tree.right[node], CENTRE]
    reach = _REACH * deviation
    low = max(min(low, mean - reach), min(here, there, mean) - reach, 0.0)
    high = min(max(high, mean + reach), max(here, there, mean) + reach, mass)
    if abs(centre - mean) > 3.0 * (width + deviation):
        peak = _peak(tree, messages, node, mass, low, high, work)
        bend = math.sqrt(p / max(peak, 1e-3 * deviation) ** 2 + q / max(mass - peak, 1e-3 * deviation) ** 2)
        tail = max(1.0 / bend, peak / (p - 1.0) if p < 2.0 else 0.0, (mass - peak) / (q - 1.0) if q < 2.0 else 0.0)
        return peak, 1.0 / bend, max(low, peak - _REACH * tail), min(high, peak + _REACH * tail)
    trust, own_trust = width**-2, deviation**-2
    both = (trust * centre + own_trust * mean) / (trust + own_trust)
    return both, 1.0 / math.sqrt(trust + own_trust), low, high


@njit(cache=True, error_model="numpy")
def _peak(tree: Tree, messages: Messages, node: int, mass: float, low: float, high: float, work: Floats) -> float:
    """The left mass of the highest integrand between two masses, by thirds: the product of log-concave factors."""
    parts, rests, logs = work[LEFT, :2], work[RIGHT, :2], work[LOGS, :2]
    least = 1e-12 * mass
    for _ in range(_THIRDS):
        parts[0], parts[1] = (2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0
        for k in range(2):
            rests[k] = mass - parts[k]
            logs[k] = tree.left_power[node] * math.log(parts[k] + least)
            logs[k] += tree.right_power[node] * math.log(rests[k] + least)
        add_messages(tree, messages, tree.left[node], parts, logs)
        add_messages(tree, messages, tree.right[node], rests, logs)
        if logs[1] > logs[0]:
            low = parts[0]
        else:
            high = parts[1]
    return 0.5 * (low + high)


@njit(cache=True, error_model="numpy")
def _lay_edges(
    low: float, high: float, centre: float, width: float, mass: float, cells: int, kinks: Floats, edges: Floats
) -> int:
    """Write the edges of the cells between ``low`` and ``high`` in ascending order; returns how many there are."""
    begin, end = warp((low - centre) / width), warp((high - centre) / width)
    for k in range(1, cells):
        edges[k] = min(max(centre + width * unwarp(begin + (end - begin) * k / cells), low), high)
    edges[0], edges[cells] = low, high
    count = cells + 1
    if low == 0.0:
        first = edges[1]
        count = insert_edge(edges, count, first / 8.0)
        count = insert_edge(edges, count, first / 64.0)
    if high == mass:
        last = mass - edges[count - 2]
        count = insert_edge(edges, count, mass - last / 8.0)
        count = insert_edge(edges, count, mass - last / 64.0)
    for kink in kinks:
        count = insert_edge(edges, count, kink)
    total: int = insert_edge(edges, count, 0.5 * mass)
    return total


@njit(cache=True, error_model="numpy")
def _kinks(tree: Tree, left: int, right: int, mass: float, into: Floats) -> Floats:
    """The left masses at which the children's own likelihoods have kinks, as many of them as are split at."""
    count = 0
    if len(tree.law) == 1:
        for i in range(tree.start[left], min(tree.start[left + 1], tree.start[left] + _MOST_KINKS)):
            into[count] = tree.values[i]
            count += 1
        for i in range(tree.start[right], min(tree.start[right + 1], tree.start[right] + _MOST_KINKS)):
            into[count] = mass - tree.values[i]
            count += 1
    return into[:count]


@njit(cache=True, error_model="numpy")
def insert_edge(edges: Floats, count: int, new: float) -> int:
    """Insert an edge in order, if it lies inside and isn't there yet; returns the number of edges."""
    if not edges[0] < new < edges[count - 1]:
        return count
    k = count
    while edges[k - 1] > new:
        k -= 1
    if edges[k - 1] == new:
        return count
    for j in range(count, k, -1):
        edges[j] = edges[j - 1]
    edges[k] = new
    return count + 1


@njit(cache=True, error_model="numpy")
def _weigh(tree: Tree, messages: Messages, node: int, mass: float, count: int, moments: bool, work: Floats) -> float:
    """Compute weights, means and variances of the cells between the edges; returns the logarithm of the integral."""
    left, right = tree.left[node], tree.right[node]
    p, q = tree.left_power[node], tree.right_power[node]
    edges, rests, logs = work[EDGES, : count + 1], work[RIGHT, : count + 1], work[LOGS, : count + 1]
    for k in range(count + 1):
        rests[k], logs[k] = mass - edges[k], 0.0
    add_messages(tree, messages, left, edges, logs)
    add_messages(tree, messages, right, rests, logs)
    highest, per_mass = -np.inf, 1.0 / mass
    for k in range(count + 1):
        work[LEFT, k] = math.log(edges[k] * per_mass) if edges[k] > 0.0 else 0.0
        work[RIGHT, k] = math.log(rests[k] * per_mass) if rests[k] > 0.0 else 0.0
        highest = max(highest, logs[k])
    middle = 0
    while middle < count and edges[middle + 1] <= 0.5 * mass:
        middle += 1
    if is_peaked(tree, node):
        highest = max(_highest(p, q, 0, middle, LEFT, RIGHT, work), _highest(q, p, count, middle, RIGHT, LEFT, work))
        _weigh_peaked_half(p, q, mass, highest, 0, middle, LEFT, RIGHT, work)
        _weigh_peaked_half(q, p, mass, highest, count, count - middle, RIGHT, LEFT, work)
    else:
        _weigh_half(p, q, mass, highest, 0, middle, LEFT, RIGHT, moments, work)
        _weigh_half(q, p, mass, highest, count, count - middle, RIGHT, LEFT, moments, work)
    total = 0.0
    for k in range(count):
        total += work[WEIGHTS, k]
    for k in range(count):
        work[WEIGHTS, k] /= total
    return highest + math.log(total)


@njit(cache=True, error_model="numpy")
def _highest(power: float, other: float, start: int, last: int, near: int, far: int, work: Floats) -> float:
    """The highest value, over the edges from an end to edge ``last``, of log(n^power exp(f)); the scale of weights.

    An end itself has the first edge's power of n, as its cell has.
    """
    step = 1 if last > start else -1
    highest = -np.inf
    for edge in range(start, last + step, step):
        log = work[near, edge] if work[near, edge] < 0.0 else work[near, edge + step]
        highest = max(highest, work[LOGS, edge] + (other - 1.0) * work[far, edge] + power * log)
    return highest


@njit(cache=True, error_model="numpy")
def _weigh_half(
    power: float, other: float, mass: float, highest: float, start: int, cells: int, near: int, far: int,
    moments: bool, work: Floats,
) -> None:  # fmt: skip
    """Integrate n^(power - 1) exp(f), n the smaller part, over ``cells`` cells from an end towards the middle.

    Their means and variances are written to ``work``, too, if wanted. In the upper half of the fraction's range
    everything is mirrored: n is the right part, and edges are read downwards.
    """
    upper = near == RIGHT
    step = -1 if upper else 1
    n0 = mass - work[EDGES, start] if upper else work[EDGES, start]
    f0, log0 = work[LOGS, start] - highest + (other - 1.0) * work[far, start], work[near, start]
    power0 = -1.0  # n0^power, where it is known
    for i in range(cells):
        edge = start + step * (i + 1)
        k = edge if upper else edge - 1
        n1 = mass - work[EDGES, edge] if upper else work[EDGES, edge]
        f1, log1 = work[LOGS, edge] - highest + (other - 1.0) * work[far, edge], work[near, edge]
        power1 = -1.0
        if n0 <= 0.0:
            size, place, spread = _end_cell(power, f0, f1)
            power1 = math.exp(power * log1)
            work[WEIGHTS, k] = size * power1
            mean, variance = place * n1, spread * n1 * n1
        else:
            bend = 0.5 * (power - 1.0) * (log1 - log0)
            half = 0.5 * (f1 - f0) + bend
            if n1 <= 1.2 * n0:
                work[WEIGHTS, k] = (n1 - n0) / mass * mean_exp(0.5 * (f0 + f1 + (power - 1.0) * (log0 + log1)), half)
            else:
                power0 = power0 if power0 >= 0.0 else math.exp(power * log0)
                power1 = math.exp(power * log1)
                size = (power1 - power0) / power
                work[WEIGHTS, k] = size * mean_exp(0.5 * (f0 + f1), half) / mean_exp(0.0, bend)
            if moments:
                place, spread = tilted_moments(half)
                radius = 0.5 * (n1 - n0)
                mean, variance = n0 + radius * (1.0 + place), radius * radius * spread
        if moments:
            work[MEANS, k], work[VARIANCES, k] = mass - mean if upper else mean, variance
        n0, f0, log0, power0 = n1, f1, log1, power1


@njit(cache=True, error_model="numpy")
def _weigh_peaked_half(
    power: float, other: float, mass: float, highest: float, start: int, cells: int, near: int, far: int, work: Floats
) -> None:
    """Integrate as :func:`_weigh_half` does, where the Beta law is a narrow peak: by logarithms, with the sag."""
    upper = near == RIGHT
    step = -1 if upper else 1
    n0 = mass - work[EDGES, start] if upper else work[EDGES, start]
    f0, log0 = work[LOGS, start] - highest + (other - 1.0) * work[far, start], work[near, start]
    for i in range(cells):
        edge = start + step * (i + 1)
        k = edge if upper else edge - 1
        n1 = mass - work[EDGES, edge] if upper else work[EDGES, edge]
        f1, log1 = work[LOGS, edge] - highest + (other - 1.0) * work[far, edge], work[near, edge]
        if n0 <= 0.0:
            weight, place, spread = _end_cell(power, f0 + power * log1, f1 + power * log1)
            mean, variance = place * n1, spread * n1 * n1
        else:
            bend = 0.5 * (power - 1.0) * (log1 - log0)
            half = 0.5 * (f1 - f0) + bend
            radius, part = 0.5 * (n1 - n0), 0.5 * (n0 + n1) / mass
            curvature = (other - 1.0) / (1.0 - part) ** 2
            if n1 <= 1.2 * n0:
                curvature += (power - 1.0) / part**2
                middle = 0.5 * (f0 + f1 + (power - 1.0) * (log0 + log1))
                weight = 2.0 * radius / mass * mean_exp(middle, half)
            else:
                weight = -math.expm1(power * (log0 - log1)) / power * mean_exp_below(half) / mean_exp_below(bend)
                weight *= math.exp(0.5 * (f0 + f1) + power * log1 + abs(half) - abs(bend))
            place, spread = tilted_moments(half)
            mean, variance = n0 + radius * (1.0 + place), radius * radius * spread
            sag = 0.5 * curvature * (radius / mass) ** 2 * (1.0 - spread - place * place)
            weight *= math.exp(min(sag, 1.0))
        work[WEIGHTS, k], work[MEANS, k], work[VARIANCES, k] = weight, mass - mean if upper else mean, variance
        n0, f0, log0 = n1, f1, log1


@njit(cache=True, error_model="numpy")
def _end_cell(power: float, f0: float, f1: float) -> tuple[float, float, float]:
    """The integral of u^(power - 1) exp(f(u)) over 0 .. 1, f linear from f0 to f1, with the mean and variance of u.

    The grading makes f nearly constant on end cells: exp(f at the mean of u^(power - 1)) / power is exact to first
    order. Where data contradict each other by many scales, f falls or rises steeply, and the integral has the right
    order: power^-1 (1 + fall / (power + 1))^-power, or the two ends' parts.
    """
    place = power / (power + 1.0)
    spread = place / ((power + 1.0) * (power + 2.0))
    fall = f0 - f1
    if abs(fall) <= 1.0:
        return math.exp(f0 - fall * place) / power, place, spread
    if fall > 0.0:
        shrink = 1.0 / (1.0 + fall / (power + 1.0))
        return math.exp(f0) * shrink**power / power, place * shrink, spread * shrink * shrink
    start, end = math.exp(f0) / power, (math.exp(f1) - math.exp(f0)) / -fall
    share, late = end / max(start + end, 1e-300), 1.0 + 1.0 / fall
    mean = (1.0 - share) * place + share * late
    return start + end, mean, (1.0 - share) * spread + share * (1.0 - share) * (late - place) ** 2 + share / fall**2


@njit(cache=True, error_model="numpy")
def draw_in_cell(tree: Tree, node: int, mass: float, k: int, uniform: float, work: Floats) -> float:
    """The left mass at a quantile of the law inside cell k of the last integral."""
    p, q = float(tree.left_power[node]), float(tree.right_power[node])
    x0, x1 = float(work[EDGES, k]), float(work[EDGES, k + 1])
    if x0 == 0.0:
        return float(x1 * uniform ** (1.0 / p))
    if x1 == mass:
        return float(mass - (mass - x0) * uniform ** (1.0 / q))
    growth = work[LOGS, k + 1] - work[LOGS, k]
    growth += (p - 1.0) * (work[LEFT, k + 1] - work[LEFT, k]) + (q - 1.0) * (work[RIGHT, k + 1] - work[RIGHT, k])
    return x0 + (x1 - x0) * float(quantile_of_exponential(growth, uniform))


@njit(cache=True, error_model="numpy")
def quantile_of_exponential(growth: float, uniform: float) -> float:
    """The quantile of the density on 0 .. 1 proportional to exp(growth * u)."""
    if abs(growth) < 1e-6:
        return uniform
    if growth > 0.0:
        return 1.0 + math.log(uniform + (1.0 - uniform) * math.exp(-growth)) / growth
    return math.log(1.0 - uniform + uniform * math.exp(growth)) / growth


@njit(cache=True, error_model="numpy", inline="always")
def mean_exp(middle: float, half: float) -> float:
    """The mean of exp over middle - half .. middle + half: exp(middle) sinh(half) / half."""
    d = abs(half)
    if d < 1.0:
        s = d * d
        return math.exp(middle) * (1.0 + s / 6.0 * (1.0 + s / 20.0 * (1.0 + s / 42.0)))
    return math.exp(middle + d) * (1.0 - math.exp(-2.0 * d)) / (2.0 * d)


@njit(cache=True, error_model="numpy", inline="always")
def mean_exp_below(half: float) -> float:
    """The mean of exp over -2 |half| .. 0."""
    d = 2.0 * abs(half)
    if d < 0.01:
        return 1.0 - 0.5 * d * (1.0 - d / 3.0)
    return (1.0 - math.exp(-d)) / d


@njit(cache=True, error_model="numpy", inline="always")
def tilted_moments(half: float) -> tuple[float, float]:
    """Mean and variance, on -1 .. 1, of the density proportional to exp(half * u)."""
    d = abs(half)
    if d < 0.5:
        s = d * d
        return half / 3.0 * (1.0 - s / 15.0 * (1.0 - 2.0 * s / 21.0)), 1.0 / 3.0 - s / 15.0 * (1.0 - 10.0 * s / 63.0)
    small = math.exp(-2.0 * d)
    mean = (1.0 + small) / (1.0 - small) - 1.0 / d
    return math.copysign(mean, half), 1.0 / (d * d) - 4.0 * small / (1.0 - small) ** 2


@njit(cache=True, error_model="numpy")
def _where(count: int, work: Floats) -> tuple[int, int, int]:
    """The first and the last cell that is not negligible, and the heaviest."""
    first, last, heaviest = count, 0, 0
    for k in range(count):
        if work[WEIGHTS, k] > 1e-7:
            first, last = min(first, k), k
        if work[WEIGHTS, k] > work[WEIGHTS, heaviest]:
            heaviest = k
    return first, last, heaviest
