"""How large the error of a release will be, and which design's is smaller: from simulations, before any data is read.

Errors are earth mover's distances of heatmaps smoothed by 2 % of the side, in sides of the domain.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from dpheatmap.adaptive import FIRST_CELLS, AdaptiveDesign
from dpheatmap.budget import PAPER_DECAY, part, split_over_levels
from dpheatmap.dense import DenseDesign, grid_level
from dpheatmap.design import PAPER_WIDTH, PaperDesign
from dpheatmap.domain import Domain

# Heatmaps are those that a release of the design gives by default: by the posterior, which is better than the paper's
# own reconstructions of its two designs. The errors of the adaptive and the dense design depend on people times
# epsilon, the signal, and hardly on anything else. Simulated by `benchmarks/planning.py` on cities of generated people,
# means of 12 and of 4: signal -> error.
_SIMULATED = {
    AdaptiveDesign.name: (
        (10, 0.241), (30, 0.152), (100, 0.0736), (200, 0.044), (300, 0.0373), (1000, 0.0145), (3000, 0.0065),
        (10**4, 0.0029), (3 * 10**4, 0.0019), (10**5, 0.0009),
    ),
    DenseDesign.name: (
        (10, 0.21), (30, 0.197), (100, 0.0777), (200, 0.0541), (300, 0.0399), (1000, 0.0255), (3000, 0.0126),
        (10**4, 0.0052), (3 * 10**4, 0.00194), (10**5, 0.00086),
    ),
}  # fmt: skip
# The paper's is FLOOR + SCALE * (noise term / people) ^ POWER, up to CEILING, where the map says no more than guessing
# does. The noise term is the paper's: the sum over levels of (side of a cell / side of the domain) * cells kept over
# eps_i; SCALE and POWER are fitted to means of 6 of the same cities at width 20, from a signal of 10 to 10^5. The floor
# is what a tree of 20 cells a level can't show even without noise. Noise is the same everywhere, but this depends on
# the map: from 0.002 of the side for two Gaussians to 0.014 for a net of roads. It is the mean of eleven kinds, real
# cities (0.004) among them; of people in no more places than cells kept, everything is shown.
_FLOOR, _SCALE, _POWER, _CEILING = 0.007, 0.21, 0.877, 0.26
# The local model's depends on people over the variance of one report: means of `dpheatmap reproduce local`, on city
# cells, at epsilon 0.5 to 4.
_MEASURED_LOCALLY = (
    (64, 0.384), (200, 0.18), (640, 0.106), (1900, 0.073), (6400, 0.051), (13_500, 0.042), (27_000, 0.0304),
    (64_000, 0.0245), (135_000, 0.0179), (270_000, 0.0143), (1_350_000, 0.0072), (13_000_000, 0.0029),
)  # fmt: skip


# Which design is better depends on the map, too. Simulated by `benchmarks/planning.py` on people in so many cells of
# 128 x 128, some busier than others, means of 4 draws: signal -> errors by the number of places.
NUMBERS_OF_PLACES = (1, 4, 16, 64, 256, 1024, 4096)
USUAL_PLACES = NUMBERS_OF_PLACES[2:]  # of whom nothing is said: people in fewer places are few enough to know it
BY_PLACES = {
    AdaptiveDesign.name: {
        50: (0.033, 0.12, 0.15, 0.13, 0.11, 0.12, 0.13),
        200: (0.0079, 0.019, 0.049, 0.056, 0.066, 0.055, 0.054),
        800: (0.002, 0.006, 0.013, 0.025, 0.035, 0.026, 0.024),
        3200: (0.00034, 0.0019, 0.0037, 0.0062, 0.0099, 0.012, 0.0097),
        12_800: (0.00024, 0.00041, 0.0014, 0.0015, 0.0024, 0.0037, 0.0038),
    },
    PaperDesign.name: {
        50: (0.04, 0.19, 0.2, 0.2, 0.19, 0.17, 0.16),
        200: (0.014, 0.029, 0.08, 0.086, 0.073, 0.066, 0.07),
        800: (0.002, 0.009, 0.016, 0.03, 0.037, 0.029, 0.03),
        3200: (0.00052, 0.0011, 0.0033, 0.015, 0.022, 0.018, 0.012),
        12_800: (0.00018, 0.00053, 0.00077, 0.014, 0.019, 0.013, 0.0075),
    },
    DenseDesign.name: {
        50: (0.091, 0.11, 0.14, 0.19, 0.17, 0.15, 0.15),
        200: (0.05, 0.047, 0.066, 0.073, 0.083, 0.075, 0.068),
        800: (0.021, 0.022, 0.022, 0.025, 0.035, 0.042, 0.042),
        3200: (0.0011, 0.0027, 0.0047, 0.0064, 0.011, 0.016, 0.02),
        12_800: (0.00044, 0.0011, 0.0014, 0.0022, 0.0029, 0.0063, 0.01),
    },
}


def expected_error(
    domain: Domain,
    epsilon: Fraction,
    users: int,
    design: str,
    *,
    width: int = PAPER_WIDTH,
    decay: float | Fraction = PAPER_DECAY,
    places: int | None = None,
) -> float:
    """The expected error of a design, for people in so many places if that is known.

    >>> square = Domain.unit(8)
    >>> [round(expected_error(square, Fraction(1), 1000, design), 4) for design in ("adaptive", "paper")]
    [0.0145, 0.0209]
    """
    if design == PaperDesign.name:
        floor = 0.0 if places is not None and places <= width else _FLOOR
        return floor + _noise_of_paper(domain, epsilon, users, width, decay)
    return simulated_error(float(epsilon) * users, design)


def simulated_error(signal: float, design: str = AdaptiveDesign.name) -> float:
    """The expected error with so many people times epsilon, interpolated between simulations.

    >>> simulated_error(1) > simulated_error(200) > simulated_error(10**9)
    True
    """
    return _between(_SIMULATED[design], signal)


def local_error(signal: float) -> float:
    """The expected error of the local model with so many people over the variance of one report.

    >>> round(local_error(10_000 / variance_of_report(1.0)), 2)
    0.07
    """
    return _between(_MEASURED_LOCALLY, signal)


def variance_of_report(epsilon: float) -> float:
    """The variance of one person's report in the local model, by unary encoding."""
    odds = math.exp(min(epsilon, 300.0))
    return 4.0 * odds / (odds - 1.0) ** 2


def _between(table: tuple[tuple[float, float], ...], signal: float) -> float:
    """The error at a signal, by powers between the entries of a table."""
    (low, most), (high, least) = table[0], table[-1]
    if signal <= low:
        return most
    if signal >= high:
        return least
    for (a, at_a), (b, at_b) in pairwise(table):
        if signal <= b:
            return float(at_a * (at_b / at_a) ** (math.log(signal / a) / math.log(b / a)))
    raise AssertionError("the table has an end")


def _noise_of_paper(domain: Domain, epsilon: Fraction, users: int, width: int, decay: float | Fraction) -> float:
    finest = domain.cells(domain.depth)
    side = max(finest.columns, finest.rows)
    term = sum(
        2 ** (domain.depth - level) / side * min(width, domain.cells(level).count) / float(part(epsilon, share))
        for level, share in split_over_levels(domain.first_level(width), domain.depth, decay).items()
    )
    return float(min(_CEILING - _FLOOR, _SCALE * (term / users) ** _POWER))


class Choice(NamedTuple):
    """The design that is expected to be better, and why, in words."""

    design: str
    why: str


def sparse_or_dense(domain: Domain, epsilon: Fraction, users: int, design: str, *, places: int | None = None) -> Choice:
    """Whether a sparse design, the one given or else the adaptive one, or the dense one has the smaller error.

    Without data, what is known is the signal and whether there are cells enough to choose among; and how many places
    people are in, if somebody can say. So the errors that the two had on simulated maps of so many places are compared,
    or without a hint the means over the usual numbers of places. The adaptive design stays if they differ by no more
    than the simulations are sure of.

    >>> [sparse_or_dense(Domain.unit(8), Fraction(1), 5000, "paper", places=k).design for k in (5, 200)]
    ['paper', 'dense']
    """
    sparse = AdaptiveDesign.name if design == DenseDesign.name else design
    if domain.cells(domain.depth).count <= FIRST_CELLS:
        return Choice(sparse, "The domain has so few cells that every design measures all of them.")
    signal, numbers = float(epsilon) * users, USUAL_PLACES if places is None else (places,)
    ours = [error_by_places(signal, k, sparse) for k in numbers]
    theirs = [error_by_places(signal, k, DenseDesign.name) * _of_grid(domain, epsilon * users, k) for k in numbers]
    margin = _SURE if sparse == AdaptiveDesign.name else 1.0
    better = sparse if sum(ours) <= margin * sum(theirs) else DenseDesign.name
    means = [sum(errors) / len(numbers) for errors in (ours, theirs)]
    maps = f"{numbers[0]} to {numbers[-1]}" if places is None else f"about {places}"
    errors = f"the error was {means[0]:.2g} of the side with {sparse}, {means[1]:.2g} with dense."
    depends = f" {_how_sure(sparse, better, ours, theirs)}" if places is None else ""
    return Choice(better, f"{_REASONS[better]} On simulated maps of {maps} places {errors}{depends}")


def error_by_places(signal: float, places: int, design: str) -> float:
    """The error of a design on maps of so many places, by powers between the simulations.

    >>> error_by_places(1000, 4, "adaptive") < error_by_places(1000, 400, "adaptive")
    True
    """
    at_signal = [
        (float(k), _between(tuple((s, row[i]) for s, row in BY_PLACES[design].items()), signal))
        for i, k in enumerate(NUMBERS_OF_PLACES)
    ]
    return _between(tuple(at_signal), float(places))


def _of_grid(domain: Domain, signal: Fraction, places: int) -> float:
    """By how much the dense error is larger than simulated because the grid has more cells for its signal, or fewer.

    The grid is the nearest power of two, so it has from half to twice as many cells as the signal; in the simulations
    1.28 times. Many cells are good for few places, which they part, and bad for many, over which noise adds up.
    """
    level = grid_level(domain, signal, domain.first_level(1), domain.depth)
    cells = min(max(domain.cells(level).count / signal, Fraction(1, 2)), Fraction(2))
    known = min(max(places, NUMBERS_OF_PLACES[0]), NUMBERS_OF_PLACES[-1])
    return float((float(cells) / _SIMULATED_CELLS) ** (_GRID_POWER * math.log(known / _NEITHER)))


_SIMULATED_CELLS, _GRID_POWER, _NEITHER = 1.28, 0.085, 30  # fitted to 0.55, 1 and 1.9 times, for 4, 64 and 1024 places


def _how_sure(sparse: str, better: str, ours: list[float], theirs: list[float]) -> str:
    """For which numbers of places the other answer would clearly be right."""
    named, others, other = (ours, theirs, DenseDesign.name) if better == sparse else (theirs, ours, sparse)
    against = [str(k) for k, a, b in zip(USUAL_PLACES, named, others, strict=True) if a > _CLEARLY * b]
    if not against:
        return f"No number of places was clearly for {other}."
    several = ", ".join(against[:-1]) + " and " if len(against) > 1 else ""
    return f"With {several}{against[-1]} it was clearly smaller with {other}: tell their number if you know it."


_CLEARLY = 1.2
_SURE = 1.1  # by so much the means of the simulated errors may be off
_REASONS = {
    AdaptiveDesign.name: "The adaptive design follows people to where they are, and goes over to a fine grid by itself "
    "where they are everywhere.",
    PaperDesign.name: "The paper's design finds the few places that people are in and follows them down, which a grid "
    "can't.",
    DenseDesign.name: "One grid spends all of epsilon at once and shows any number of places; the paper's design keeps "
    "a few cells a level, which is better if people are in few places.",
}
