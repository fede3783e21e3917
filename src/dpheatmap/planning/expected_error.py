"""The expected error of a release, and the design with the smaller one: from simulations, not from data.

Errors are earth mover's distances of heatmaps smoothed by 2 % of the side, in sides of the domain. `design/forecast.py`
holds the errors of each design in simulations.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from dpheatmap.design.dense import DenseDesign, grid_level
from dpheatmap.design.forecast import NUMBERS_OF_PLACES, between
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.registry import FORECASTS
from dpheatmap.design.start import FIRST_CELLS
from dpheatmap.place.domain import Domain

USUAL_PLACES = NUMBERS_OF_PLACES[2:]
"""The numbers of places to assume if none is given: with fewer places, their number is usually known."""
# The local model's error depends on people over the variance of one report: means over 46 city cells, ten of them those
# of `dpheatmap reproduce local`, at epsilon 0.5 to 4.
_MEASURED_LOCALLY = (
    (64, 0.203), (272, 0.135), (640, 0.09), (1400, 0.074), (2700, 0.064), (6400, 0.049), (13_500, 0.041),
    (27_000, 0.031), (64_000, 0.0244), (135_000, 0.018), (270_000, 0.0135), (1_350_000, 0.0078), (13_000_000, 0.0037),
)  # fmt: skip

_CLEARLY = 1.2
_SURE = 1.1  # the factor by which the means of the simulated errors may be off
_SIMULATED_CELLS, _GRID_POWER, _NEITHER = 1.28, 0.085, 30  # fitted to 0.55, 1 and 1.9 times, for 4, 64 and 1024 places


def local_error(signal: float) -> float:
    """The expected error of the local model with so many people over the variance of one report.

    >>> round(local_error(10_000 / variance_of_report(1.0)), 2)
    0.06
    """
    return between(_MEASURED_LOCALLY, signal)


def variance_of_report(epsilon: float, cells: float = math.inf) -> float:
    """The variance of one person's report in the local model: of unary encoding, or of direct response if it is less.

    >>> [round(variance_of_report(2.0, cells), 3) for cells in (16, 64)]
    [0.548, 0.724]
    """
    odds = math.exp(min(epsilon, 300.0))
    return min(4.0 * odds, odds + cells - 1.0) / (odds - 1.0) ** 2


class Choice(NamedTuple):
    """The design with the smaller expected error, and why, in words."""

    design: str
    why: str


def sparse_or_dense(domain: Domain, epsilon: Fraction, users: int, design: str, *, places: int | None = None) -> Choice:
    """Choose between the dense design and a sparse one (the one given, or else the ladder) by expected error.

    Without data, only the signal and the number of cells are known, and perhaps the number of places that people are
    in. The errors of the two designs on simulated maps with that number of places are compared; without the number,
    their means over the usual numbers of places. The ladder is kept if the difference is within the error of
    the simulations.

    >>> [sparse_or_dense(Domain.unit(8), Fraction(1), 5000, "paper", places=k).design for k in (5, 200)]
    ['paper', 'dense']
    """
    sparse = LadderDesign.name if design == DenseDesign.name else design
    if domain.count(domain.depth) <= FIRST_CELLS:
        return Choice(sparse, "The domain has so few cells that every design measures all of them.")
    signal, numbers = float(epsilon) * users, USUAL_PLACES if places is None else (places,)
    ours = [error_by_places(signal, k, sparse) for k in numbers]
    theirs = [error_by_places(signal, k, DenseDesign.name) * _grid_factor(domain, epsilon * users, k) for k in numbers]
    margin = _SURE if sparse == LadderDesign.name else 1.0
    better = sparse if sum(ours) <= margin * sum(theirs) else DenseDesign.name
    means = [sum(errors) / len(numbers) for errors in (ours, theirs)]
    maps = f"{numbers[0]} to {numbers[-1]}" if places is None else f"about {places}"
    first, second = (domain.length_in_words(domain.longer_side * mean) for mean in means)
    errors = f"the error was {first} with {sparse}, {second} with dense."
    depends = f" {_sureness(sparse, better, ours, theirs)}" if places is None else ""
    return Choice(better, f"{FORECASTS[better].why} On simulated maps of {maps} places {errors}{depends}")


def error_by_places(signal: float, places: int, design: str) -> float:
    """The error of a design on maps of so many places, interpolated between the simulations.

    >>> error_by_places(1000, 4, "ladder") < error_by_places(1000, 400, "ladder")
    True
    """
    at_signal = [
        (float(k), between([(s, row[i]) for s, row in FORECASTS[design].errors_by_places.items()], signal))
        for i, k in enumerate(NUMBERS_OF_PLACES)
    ]
    return between(at_signal, float(places))


def _grid_factor(domain: Domain, signal: Fraction, places: int) -> float:
    """The factor by which the dense error differs from the simulated one because the grid has more or fewer cells.

    The grid is the nearest power of two, so it has from half to twice as many cells as the signal; in the simulations
    it had 1.28 times as many. With few places many cells are better, because they separate the places. With many places
    they are worse, because noise adds up over them.
    """
    level = grid_level(domain, signal, domain.first_level(1), domain.depth)
    cells = min(max(domain.count(level) / signal, Fraction(1, 2)), Fraction(2))
    known = min(max(places, NUMBERS_OF_PLACES[0]), NUMBERS_OF_PLACES[-1])
    return float((float(cells) / _SIMULATED_CELLS) ** (_GRID_POWER * math.log(known / _NEITHER)))


def _sureness(sparse: str, better: str, ours: list[float], theirs: list[float]) -> str:
    """A sentence with the numbers of places for which the other design was clearly better."""
    named, others, other = (ours, theirs, DenseDesign.name) if better == sparse else (theirs, ours, sparse)
    against = [str(k) for k, a, b in zip(USUAL_PLACES, named, others, strict=True) if a > _CLEARLY * b]
    if not against:
        return f"No number of places was clearly for {other}."
    several = ", ".join(against[:-1]) + " and " if len(against) > 1 else ""
    return f"With {several}{against[-1]} it was clearly smaller with {other}: tell their number if you know it."
