"""What a release will do and how good it will be, before any data is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpheatmap.budget import PAPER_DECAY, part, read_epsilon, split_over_levels
from dpheatmap.domain import Domain
from dpheatmap.errors import DomainError, ParameterError
from dpheatmap.parameters import check

# Measured by `benchmarks/utility.py` on city cells with 200 and 2000 people, epsilon 0.1 to 10, width 20: the Earth
# Mover's Distance between the true distribution and the paper's reconstruction depends on the noise term alone,
#     FLOOR + SCALE * (noise term / people) ^ POWER, up to CEILING, where the map says no more than guessing does.
# The noise term is the paper's: the sum over levels of (side of a cell / side of the domain) * cells kept / eps_i. The
# floor is what a tree of 20 cells a level can't show of a city even without noise.
_FLOOR, _SCALE, _POWER, _CEILING = 0.0105, 0.29, 0.92, 0.35

_VISIBLE = 0.05  # of all people in one place: what "a busy place" means below
_CERTAIN = 3.0  # standard deviations of the noise that a count must rise above


@dataclass(frozen=True)
class LevelPlan:
    """One measured level: its part of epsilon, the size of its cells, and the noise on each count."""

    level: int
    epsilon: Fraction
    cell: float
    cells_measured: int
    noise: float
    smallest_share: float


@dataclass(frozen=True)
class Plan:
    """What a release with these settings will do; nothing in it comes from data.

    Lengths are in ground metres, pixels or fractions of the side. ``noise`` is the standard deviation of a count in
    people; ``smallest_share`` the share of all people that a cell must hold to stand out (three standard
    deviations). ``expected_emd`` is the expected Earth Mover's Distance to the truth, in sides of the domain.
    """

    domain: Domain
    epsilon: Fraction
    users: int
    levels: tuple[LevelPlan, ...]
    expected_emd: float
    smallest_feature: float | None
    advice: str

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values, for JSON."""
        return {
            "epsilon": str(self.epsilon),
            "users": self.users,
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
    design: str = "paper",
) -> Plan:
    """Levels, noise, expected error and advice for a release; ``users`` is a public guess of the number of people.

    >>> p = plan(Domain.unit(8), epsilon=1, users=5000)
    >>> [level.level for level in p.levels], p.expected_emd < plan(Domain.unit(8), epsilon=1, users=200).expected_emd
    ([2, 3, 4, 5, 6, 7, 8], True)
    """
    if not isinstance(domain, Domain):
        raise DomainError("A plan is for a domain. Make one with Domain.bbox, Domain.image or Domain.unit.")
    exact = read_epsilon(epsilon)
    check(users=users, width=width, decay=decay, design=design)
    if design != "paper":
        raise ParameterError(
            f"A plan foresees the design 'paper' only, so far; it was {design!r}. Leave it out: the other does better."
        )
    first = domain.first_level(width)
    finest = domain.cells(domain.depth)
    side = max(finest.columns, finest.rows)
    middle = (finest.y0 + finest.y1) / 2
    levels, term = [], 0.0
    for level, share in split_over_levels(first, domain.depth, decay).items():
        eps = part(exact, share)
        in_domain = domain.cells(level).count
        cell = float(domain.lengths_of_cells(level, middle / 2 ** (domain.depth - level)))
        noise = math.sqrt(2) / float(eps)
        measured = in_domain if level == first else min(4 * width, in_domain)
        levels.append(LevelPlan(level, eps, cell, measured, noise, min(1.0, _CERTAIN * noise / users)))
        term += 2 ** (domain.depth - level) / side * min(width, in_domain) / float(eps)
    error = min(_CEILING, _FLOOR + _SCALE * (term / users) ** _POWER)
    seen = [level for level in levels if level.smallest_share <= _VISIBLE]
    return Plan(
        domain=domain, epsilon=exact, users=users, levels=tuple(levels), expected_emd=error,
        smallest_feature=seen[-1].cell if seen else None, advice=_advice(domain, exact, users, error, seen),
    )  # fmt: skip


def _advice(domain: Domain, epsilon: Fraction, users: int, error: float, seen: list[LevelPlan]) -> str:
    start = f"With {users} people at epsilon {float(epsilon):g}"
    if not seen or error > 0.15:
        more = "More people or a larger epsilon would show more."
        return f"{start} expect little more than the outline: where about half of the people are. {more}"
    busy = f"a place that holds {_VISIBLE:.0%} of the people will be seen down to about {length(domain, seen[-1].cell)}"
    if error > 0.05:
        return f"{start} expect the main centres; {busy}."
    reached = seen[-1].level == domain.depth
    deeper = " The finest level is reached: a finer resolution would show more." if reached else ""
    return f"{start} expect a good map; {busy}.{deeper}"


def length(domain: Domain, value: float) -> str:
    """A length of the domain for people: metres or kilometres, pixels, or a share of the side.

    >>> length(Domain.bbox(0, 0, 1, 1), 1530.0), length(Domain.unit(4), 0.0625)
    ('1.5 km', '0.0625 of the side')
    """
    if domain.kind == "bbox":
        return f"{value / 1000:.2g} km" if value >= 1000 else f"{value:.3g} m"
    return f"{value:.3g} {domain.unit_name}"
