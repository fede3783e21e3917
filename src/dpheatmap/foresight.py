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
from dpheatmap.dense import DenseDesign
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


def sparse_or_dense(
    domain: Domain,
    epsilon: Fraction,
    users: int,
    design: str,
    *,
    width: int,
    decay: float | Fraction,
    places: int | None,
) -> Choice:
    """Whether a sparse design, the one given or else the adaptive one, or the dense one has the smaller error.

    Without data, what is known is the signal and whether there are cells enough to choose among. So the errors that the
    two are expected to have on maps in general are compared. With little signal one level has less noise than many;
    with more, a grid that is fine enough has more noise than the few cells of the paper's design; with much, noise
    does not matter, but what those few cells can't show does. If somebody can say that people are in no more places
    than that, the paper's design is named. The adaptive design stays if the errors differ by less than the simulations
    are sure of, for it is never much worse; the paper's may be, on a map of many places.
    """
    sparse = AdaptiveDesign.name if design == DenseDesign.name else design
    if domain.cells(domain.depth).count <= FIRST_CELLS:
        return Choice(sparse, "The domain has so few cells that every design measures all of them.")
    if sparse == PaperDesign.name and places is not None and places <= width:
        return Choice(sparse, _REASONS[sparse])
    ours = expected_error(domain, epsilon, users, sparse, width=width, decay=decay)
    theirs = expected_error(domain, epsilon, users, DenseDesign.name)
    margin = _SURE if sparse == AdaptiveDesign.name else 1.0
    better = sparse if ours <= margin * theirs else DenseDesign.name
    numbers = f"Expect about {ours:.2g} of the side with {sparse}, {theirs:.2g} with dense."
    return Choice(better, f"{_REASONS[better]} {numbers}")


_SURE = 1.2  # by so much the means of the simulated errors may be off
_REASONS = {
    AdaptiveDesign.name: "The adaptive design follows people to where they are, and goes over to a fine grid by itself "
    "where they are everywhere.",
    PaperDesign.name: "The paper's design finds the few places that people are in and follows them down, which a grid "
    "can't.",
    DenseDesign.name: "One grid spends all of epsilon at once and shows any number of places; the paper's design keeps "
    "a few cells a level, which is better if people are in few places.",
}
