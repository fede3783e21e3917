"""Ticks of an axis: positions and labels at round values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dpheatmap.place.domain import Domain

_MOST = 6  # ticks on an axis


class Tick(NamedTuple):
    """A place along an axis, in pixels from its start, and its label."""

    at: float
    label: str


class Step(NamedTuple):
    """A round distance between ticks, ``digit * 10**power``."""

    digit: int
    power: int

    def multiples(self, low: float, high: float) -> list[float]:
        """The multiples between two values, ends included."""
        size = self.digit * 10.0**self.power
        first, last = math.ceil(low / size - 1e-6), math.floor(high / size + 1e-6)
        # Whole numbers first: 3 * 0.1 is not 0.3, but 3 / 10 is.
        up, down = 10 ** max(self.power, 0), 10 ** max(-self.power, 0)
        return [k * self.digit * up / down for k in range(first, last + 1)]

    @property
    def decimals(self) -> int:
        """The digits after the point that distinguish multiples."""
        return max(0, -self.power)


def round_steps(span: float) -> Iterator[Step]:
    """Steps of 1, 2 and 5 times powers of ten, ascending, from much less to more than the span.

    >>> [step.digit * 10**step.power for step in round_steps(30)]
    [1, 2, 5, 10, 20, 50, 100, 200, 500]
    """
    lowest = math.floor(math.log10(span)) - 1
    return (Step(digit, power) for power in range(lowest, lowest + 3) for digit in (1, 2, 5))


def degree_steps(span: float) -> Iterator[Step]:
    """Like :func:`round_steps`; above 10 degrees the steps are those that divide a right angle."""
    yield from (step for step in round_steps(span) if step.power < 1)
    yield from (Step(digit, 1) for digit in (1, 3, 6, 9) if span > 1)


def number(value: float, decimals: int) -> str:
    """A plain number; zero has no decimals."""
    return f"{value:,.{decimals}f}" if value else "0"


def _degrees(suffixes: str) -> Callable[[float, int], str]:
    """The label of degrees, with a letter for the positive and the negative side."""

    def label(value: float, decimals: int) -> str:
        letter = "" if value in (0.0, 180.0, -180.0) else suffixes[value < 0]
        return f"{number(abs(value), decimals)}°{letter}"

    return label


def ticks(
    low: float,
    high: float,
    *,
    place: Callable[[float], float],
    room: Callable[[str], float],
    label: Callable[[float, int], str] = number,
    steps: Callable[[float], Iterator[Step]] = round_steps,
) -> list[Tick]:
    """Ticks from ``low`` to ``high`` at the finest round step at which the labels don't crowd each other.

    ``place`` converts a value to pixels along the axis, and ``room`` gives the pixels that a label takes.

    >>> ticks(0, 1, place=lambda value: 300 * value, room=lambda text: 90)
    [Tick(at=0.0, label='0'), Tick(at=150.0, label='0.5'), Tick(at=300.0, label='1.0')]
    """
    found: list[Tick] = []
    for step in steps(high - low):
        values = step.multiples(low, high)
        found = [Tick(place(value), label(value, step.decimals)) for value in values] or found[:1]
        if 0 < len(found) <= _MOST and all(
            abs(b.at - a.at) >= (room(a.label) + room(b.label)) / 2 for a, b in pairwise(found)
        ):
            break
    return found


def ticks_across(domain: Domain, length: float, room: Callable[[str], float]) -> list[Tick]:
    """Ticks along a horizontal side of the map, ``length`` pixels long."""
    b = domain.bounds

    def place(value: float) -> float:
        return length * (value - b.x0) / (b.x1 - b.x0)

    if domain.geographic:
        return ticks(b.x0, b.x1, place=place, room=room, label=_degrees("EW"), steps=degree_steps)
    return ticks(b.x0, b.x1, place=place, room=room)


def ticks_down(domain: Domain, length: float, room: Callable[[str], float]) -> list[Tick]:
    """Ticks down a vertical side of the map, ``length`` pixels long; latitudes lie where Mercator puts them."""
    b, finest = domain.bounds, domain.cells(domain.depth)

    def place(value: float) -> float:
        _, row = domain.to_root(np.array([b.x0]), np.array([value]))
        return length * (float(row[0]) * 2.0**domain.depth - finest.y0) / finest.rows

    if domain.geographic:
        return ticks(b.y0, b.y1, place=place, room=room, label=_degrees("NS"), steps=degree_steps)
    return ticks(b.y0, b.y1, place=place, room=room)


def round_length(most: float) -> float:
    """The largest of 1, 2 and 5 times powers of ten that is at most ``most``, for a scale bar.

    >>> round_length(730.0)
    500.0
    """
    return max(size for step in round_steps(most) if (size := step.digit * 10.0**step.power) <= most)
