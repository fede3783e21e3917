"""What a release will do and how good it will be, before any data is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from dpheatmap.adaptive import FIRST_CELLS, AdaptiveDesign
from dpheatmap.budget import PAPER_DECAY, SHARES, part, read_epsilon, split_over_levels
from dpheatmap.design import all_at_once, one_level_each
from dpheatmap.domain import Domain
from dpheatmap.errors import DomainError
from dpheatmap.parameters import as_epsilon, check

# The error of the adaptive design depends on people times epsilon, its signal, and hardly on anything else. Simulated
# by `benchmarks/planning.py` on cities of generated people, means of 12: signal -> EMD of the heatmap, in sides.
_SIMULATED = (
    (10, 0.241), (30, 0.152), (100, 0.0736), (200, 0.044), (300, 0.0373), (1000, 0.0145), (3000, 0.0065),
    (10**4, 0.0029), (3 * 10**4, 0.0019), (10**5, 0.0009),
)  # fmt: skip
# The paper's, measured by `benchmarks/utility.py` on city cells with 200 and 2000 people, width 20:
#     FLOOR + SCALE * (noise term / people) ^ POWER, up to CEILING, where the map says no more than guessing does.
# The noise term is the paper's: the sum over levels of (side of a cell / side of the domain) * cells kept / eps_i. The
# floor is what a tree of 20 cells a level can't show of a city even without noise.
_FLOOR, _SCALE, _POWER, _CEILING = 0.0105, 0.29, 0.92, 0.35

# The local model's depends on people over the variance of one report, its signal: means of `dpheatmap reproduce local`,
# on city cells, at epsilon 0.5 to 4.
_MEASURED_LOCALLY = (
    (64, 0.384), (200, 0.18), (640, 0.106), (1900, 0.073), (6400, 0.051), (13_500, 0.042), (27_000, 0.0304),
    (64_000, 0.0245), (135_000, 0.0179), (270_000, 0.0143), (1_350_000, 0.0072), (13_000_000, 0.0029),
)  # fmt: skip

_TRUSTING = {
    "curator": "", "shuffler": ", who trust a shuffler," , "servers": ", who trust one of two servers,",
    "nobody": ", who trust nobody,",
}  # fmt: skip
_VISIBLE = 0.05  # of all people in one place: what "a busy place" means below
_CERTAIN = 3.0  # standard deviations of the noise that a count must rise above


@dataclass(frozen=True)
class LevelPlan:
    """One level: its part of epsilon, the size of its cells, the noise on a count, and who stands out from it."""

    level: int
    epsilon: Fraction
    cell: float
    noise: float
    smallest_share: float


@dataclass(frozen=True)
class Plan:
    """What a release with these settings will do; nothing in it comes from data.

    Lengths are in ground metres, pixels or fractions of the side. ``noise`` is the standard deviation of a count in
    people; ``smallest_share`` the share of all people that a cell must hold to stand out (three standard deviations).
    The adaptive design's levels are those of a path that is followed all the way down; less busy ones end before, with
    all that they have left. ``expected_emd`` is the expected Earth Mover's Distance to the truth, in sides of the
    domain, and ``smallest_feature`` the size of the cells in which a place with 5 % of all people is seen, if it is.
    """

    domain: Domain
    epsilon: Fraction
    users: int
    design: str
    levels: tuple[LevelPlan, ...]
    expected_emd: float
    smallest_feature: float | None
    advice: str
    trusted: str = "curator"

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values, for JSON."""
        return {
            "epsilon": str(self.epsilon),
            "users": self.users,
            "design": self.design,
            "trusted": self.trusted,
            "unit": self.domain.unit_name,
            "expected_emd": self.expected_emd,
            "smallest_feature": self.smallest_feature,
            "advice": self.advice,
            "levels": [{**vars(level), "epsilon": str(level.epsilon)} for level in self.levels],
        }


def plan(
    domain: Domain,
    *,
    epsilon: Any,
    users: int,
    width: int = 20,
    decay: float | Fraction = PAPER_DECAY,
    design: str = "adaptive",
    trusted: str = "curator",
) -> Plan:
    """Levels, noise, expected error and advice for a release; ``users`` is a public guess of the number of people.

    ``trusted`` tells who is: "curator", or without one "shuffler", "servers" (one of two) or "nobody". Then every level
    is measured at once, whatever the design.

    >>> p = plan(Domain.unit(8), epsilon=1, users=5000)
    >>> p.levels[0].level, p.expected_emd < plan(Domain.unit(8), epsilon=1, users=200).expected_emd
    (3, True)
    """
    if not isinstance(domain, Domain):
        raise DomainError("A plan is for a domain. Make one with Domain.bbox, Domain.image or Domain.unit.")
    exact = read_epsilon(epsilon)
    check(users=users, width=width, decay=decay, design=design, trusted=trusted)
    if trusted != "curator":
        design, error, levels, feature = _collected(domain, exact, users, width, decay, trusted)
    elif design == "paper":
        shares = split_over_levels(domain.first_level(width), domain.depth, decay)
        error = _error_of_paper(domain, exact, users, width, shares)
        levels = _levels(domain, exact, users, shares)
        feature = _last_that_shows(levels)
    else:
        shares = _shares_of_a_path(domain, exact, users)
        error = simulated_error(float(exact) * users)
        levels = _levels(domain, exact, users, shares)
        feature = _level_of_a_busy_place(exact, users, levels)
    return Plan(
        domain=domain, epsilon=exact, users=users, design=design, levels=levels, expected_emd=error,
        smallest_feature=feature.cell if feature else None,
        advice=_advice(domain, exact, users, error, feature, trusted),
        trusted=trusted,
    )  # fmt: skip


def simulated_error(signal: float) -> float:
    """The expected error of the adaptive design with so many people times epsilon, interpolated between simulations.

    >>> simulated_error(1) > simulated_error(200) > simulated_error(10**9)
    True
    """
    return _between(_SIMULATED, signal)


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


def _collected(
    domain: Domain, epsilon: Fraction, users: int, width: int, decay: float | Fraction, trusted: str
) -> tuple[str, float, tuple[LevelPlan, ...], LevelPlan | None]:
    """What is measured without a curator, all at once: design, expected error, levels, and the last one that shows.

    Two servers add two Laplaces. In the local model a count is an estimate from the reports about its level, with the
    variance of unary encoding: ``4 e^epsilon / (e^epsilon - 1)^2`` a report.
    """
    if trusted == "nobody":
        odds = math.exp(min(float(epsilon), 300.0))
        variance = 4.0 * odds / (odds - 1.0) ** 2
        shares = one_level_each(domain, width=width).shares
        levels = tuple(
            _level(domain, users, level, epsilon, math.sqrt(variance * users * SHARES / share))
            for level, share in shares.items()
        )
        return "paper", _between(_MEASURED_LOCALLY, users / variance), levels, _last_that_shows(levels)
    design = all_at_once(domain, width=width, decay=as_epsilon(decay))
    laplaces = 2 if trusted == "servers" else 1
    levels = _levels(domain, epsilon, users, dict(design.shares), math.sqrt(laplaces))
    error = _error_of_paper(domain, epsilon, users, width, dict(design.shares), math.sqrt(laplaces))
    return "paper", error, levels, _last_that_shows(levels)


def _last_that_shows(levels: tuple[LevelPlan, ...]) -> LevelPlan | None:
    """The finest level on which a busy place stands out."""
    seen = [level for level in levels if level.smallest_share <= _VISIBLE]
    return seen[-1] if seen else None


def _error_of_paper(
    domain: Domain, epsilon: Fraction, users: int, width: int, shares: dict[int, int], factor: float = 1.0
) -> float:
    finest = domain.cells(domain.depth)
    side = max(finest.columns, finest.rows)
    term = sum(
        2 ** (domain.depth - level) / side * min(width, domain.cells(level).count) / float(part(epsilon, share))
        for level, share in shares.items()
    )
    return float(min(_CEILING, _FLOOR + _SCALE * (factor * term / users) ** _POWER))


def _shares_of_a_path(domain: Domain, epsilon: Fraction, users: int) -> dict[int, int]:
    """What the adaptive design spends on a path that it follows to the last level, if its noisy total is right."""
    design = AdaptiveDesign(min(domain.first_level(FIRST_CELLS), domain.depth), domain.depth)
    first, left = design.first, SHARES
    if design.first < design.last:
        first, left = design.start_of(domain, epsilon * users), SHARES - design.begin(domain).share
    shares = {}
    for level in range(first, design.last):
        shares[level] = int(left * design.spent)
        left -= shares[level]
    return {**shares, design.last: left}


def _levels(
    domain: Domain, epsilon: Fraction, users: int, shares: dict[int, int], factor: float = 1.0
) -> tuple[LevelPlan, ...]:
    parts = {level: part(epsilon, share) for level, share in shares.items()}
    return tuple(_level(domain, users, level, eps, factor * math.sqrt(2) / eps) for level, eps in parts.items())


def _level(domain: Domain, users: int, level: int, epsilon: Fraction, noise: float) -> LevelPlan:
    finest = domain.cells(domain.depth)
    middle = (finest.y0 + finest.y1) / 2
    cell = float(domain.lengths_of_cells(level, middle / 2 ** (domain.depth - level)))
    return LevelPlan(level, epsilon, cell, noise, min(1.0, _CERTAIN * noise / users))


def _level_of_a_busy_place(epsilon: Fraction, users: int, levels: tuple[LevelPlan, ...]) -> LevelPlan | None:
    """Where the path to a place with 5 % of all people ends, without noise: the walk of the adaptive design."""
    people = Fraction(1, 20) * users
    left = sum(level.epsilon for level in levels)
    if people * left < Fraction(_CERTAIN * math.sqrt(2)):
        return None
    for level, below in pairwise(levels):
        left -= level.epsilon
        if people * left <= AdaptiveDesign.closing:
            return level
        if people * left <= AdaptiveDesign.opening:
            return below
    return levels[-1]


def _advice(domain: Domain, epsilon: Fraction, users: int, error: float, seen: LevelPlan | None, trusted: str) -> str:
    start = f"With {users} people at epsilon {float(epsilon):g}{_TRUSTING[trusted]}"
    if seen is None or error > 0.12:
        more = "More people or a larger epsilon would show more."
        return f"{start} expect little more than the outline: where about half of the people are. {more}"
    busy = f"a place that holds {_VISIBLE:.0%} of the people will be seen down to about {length(domain, seen.cell)}"
    if error > 0.03:
        return f"{start} expect the main centres; {busy}."
    deeper = " The finest level is reached: a finer resolution would show more." if seen.level == domain.depth else ""
    return f"{start} expect a good map; {busy}.{deeper}"


def length(domain: Domain, value: float) -> str:
    """A length of the domain for people: metres or kilometres, pixels, or a share of the side.

    >>> length(Domain.bbox(0, 0, 1, 1), 1530.0), length(Domain.unit(4), 0.0625)
    ('1.5 km', '0.0625 of the side')
    """
    if domain.kind == "bbox":
        return f"{value / 1000:.2g} km" if value >= 1000 else f"{value:.3g} m"
    return f"{value:.3g} {domain.unit_name}"
