"""The bands of a map: their edges at 1, 2 and 5 times powers of ten, and the unit that makes these whole numbers.

A unit is "of every N people, so many in an area". The area is the smallest that holds a hundredth of all people
somewhere. N is 100, or the smallest power of ten above for which the first edge is a whole number. Where numbers of
people are shown, the unit is "so many people in an area", the smallest that holds ten of them somewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpheatmap._util.number_words import plain
from dpheatmap.errors import ParameterError
from dpheatmap.render.content.subject import Area, Subject

MOST = 6
"""The most bands that a map has."""

SOMEWHERE = 0.01
"""The part of all people in the area that a map is told for, at least."""

_PEOPLE = 10.0  # in that area, where numbers of people are shown
_LEAST_BASE = 100
_LARGEST_BASE = 10**12


@dataclass(frozen=True)
class Unit:
    """What the numbers of a map count: of every ``base`` things, so many per ``area``; both None for times even.

    With an area alone, they are numbers of people.
    """

    subject: Subject
    what: str = ""
    base: int | None = None
    area: Area | None = None

    @property
    def factor(self) -> float:
        """What a value per square unit of the domain is multiplied by."""
        return (self.base or 1) * (1.0 if self.area is None else self.area.size)

    def say(self, template: str, **more: str) -> str:
        """Fill in a sentence of the subject."""
        area = "" if self.area is None else self.area.short
        return self._fill(template, area, more)

    @property
    def legend(self) -> str:
        """The legend's title."""
        return self._fill(self.subject.legend, "" if self.area is None else self.area.long, {})

    @property
    def short(self) -> str:
        """The legend's title where there is little room."""
        return self.say(self.subject.short)

    def _fill(self, template: str, area: str, more: dict[str, str]) -> str:
        base = "" if self.base is None else plain(self.base)
        return template.format(base=base, area=area, things=self.subject.things_in_words(self.what), **more)


def area_for(subject: Subject, top: float, least: float = SOMEWHERE) -> Area | None:
    """The smallest area that holds ``least`` where the value per square unit is ``top``: a hundredth of all people."""
    found = (area for area in subject.areas if top * area.size >= least)
    return next(found, subject.areas[-1]) if subject.areas else None


def edges_below(top: float, floor: float, most: int = MOST) -> list[float]:
    """The edges below the top and not below the floor: the last of 1, 2 and 5 times powers of ten; one at least.

    >>> edges_below(86.0, 0.9), edges_below(86.0, 60.0), edges_below(0.3, 0.0, most=3)
    ([1.0, 2.0, 5.0, 10.0, 20.0, 50.0], [50.0], [0.05, 0.1, 0.2])
    """
    last = math.floor(math.log10(top))
    # Whole numbers first: 2 * 0.1 is not 0.2 in every power, but 2 / 10 is.
    steps = [
        digit * 10 ** max(power, 0) / 10 ** max(-power, 0) for power in range(last - 3, last + 1) for digit in (1, 2, 5)
    ]
    below = [step for step in steps if step < 0.999 * top]
    return ([step for step in below if step >= 0.999 * floor] or below[-1:])[-most:]


def bands_of_people(
    subject: Subject, top: float, floor: float, *, what: str = "", most: int = MOST, same: Area | None = None
) -> tuple[Unit, list[float]]:
    """The unit and the edges of a map of numbers of people, as :func:`bands_of` has them of shares."""
    words = subject.in_people
    area = same or area_for(words, top, _PEOPLE)
    assert area is not None
    return Unit(words, what, None, area), edges_below(top * area.size, floor * area.size, most)


def bands_of(
    subject: Subject,
    top: float,
    floor: float,
    *,
    what: str = "",
    most: int = MOST,
    same: Area | None = None,
    least_base: int = _LEAST_BASE,
) -> tuple[Unit, list[float]]:
    """The unit and the edges of a map whose largest share per square unit is ``top``, and whose noise is ``floor``.

    ``same`` is the area of other maps that are to be compared, and the base is not below ``least_base``.
    """
    area = same or area_for(subject, top)
    if area is None:
        return Unit(subject, what), edges_below(top, floor, most)
    # In shares first: the base follows from the first edge.
    shares = edges_below(top * area.size, floor * area.size, most)
    base = least_base
    while base < _LARGEST_BASE and abs(round(base * shares[0]) - base * shares[0]) > 1e-6 * base * shares[0]:
        base *= 10
    return Unit(subject, what, base, area), [float(f"{base * share:.12g}") for share in shares]


def limited_bands(
    subject: Subject, low: float, high: float, *, what: str = "", people: bool = False
) -> tuple[Unit, list[float]]:
    """The unit and the edges of a scale that the maker of a map sets: from ``low`` to ``high``, for a series of maps.

    The numbers are of every 1,000 people per square kilometre on the ground; of every 100 per square of 100 x 100
    pixels or 10 x 10 m; or times even. If they are numbers of ``people``, they are per these areas.
    """
    lowest, highest = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = [float(f"{digit}e{power}") for power in range(lowest, highest + 1) for digit in (1, 2, 5)]
    edges = [step for step in steps if 0.999 * low <= step <= 1.001 * high]
    if not 1 <= len(edges) <= MOST:
        raise ParameterError(
            f"limits must have one to {MOST} of the steps 1, 2, 5, 10 and so on between them; {plain(low)} to "
            f"{plain(high)} has {len(edges)}. Give limits such as 1 and 50."
        )
    subject = subject.in_people if people else subject
    if not subject.areas:
        return Unit(subject, what), edges
    areas = {area.short: area for area in subject.areas}
    usual = ("km²", "100 × 100 px", "10 × 10 m", "1 % of the square")
    short = next(short for short in usual if short in areas)
    base = None if people else 1000 if short == "km²" else 100
    return Unit(subject, what, base, areas[short]), edges
