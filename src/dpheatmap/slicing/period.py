"""Slices of time: hours of the day or the week, weekdays, days, weeks, months, or steps of some hours.

A time is the *reading of a clock* in the zone, in whole microseconds since the Monday that the calendar began with.
Slices are whole-number arithmetic on it: the remainder in a cycle, or the part of a public range. Where clocks are set
back, an hour is shown twice, and both are in one slice; where they are set forward, an hour is missing.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.place.quadtree import Ints
from dpheatmap.slicing.zone import BEGINNING, MICRO, offsets, read_zone, reading_of

HOUR = 3600 * MICRO
DAY = 24 * HOUR
WEEK = 7 * DAY
END = reading_of(datetime(9999, 12, 31)) + DAY
"""Readings lie in 0 .. END."""
MOST = 1000
"""The most slices of time."""
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
CYCLES = {"hour-of-day": (HOUR, DAY), "weekday": (DAY, WEEK), "hour-of-week": (HOUR, WEEK)}
"""The step and the length of each cycle."""
STEPS = {"day": DAY, "week": WEEK}
MOST_CHANGES = 4
"""The most changes of clocks that are told one by one."""
_TWICE = "what they show twice is in one slice."
EVERY = (*CYCLES, *STEPS, "month")


@dataclass(frozen=True)
class Period:
    """What a slice of time is, in which zone, and the public range of times.

    ``start`` and ``end`` are readings, the end not included; None is all of time. ``zone`` is None only for dates,
    which have none.
    """

    every: str
    zone: str | None
    start: int | None = None
    end: int | None = None

    @classmethod
    def of(cls, every: object, zone: object, start: object = None, end: object = None) -> Self:
        """Read what people give; refuse a calendar without a public range, and slices beyond number."""
        name = _every(every)
        found = cls(
            name,
            None if zone is None else read_zone(zone),
            None if start is None else _reading("start", start, last=False),
            None if end is None else _reading("end", end, last=True),
        )
        if name not in CYCLES and (found.start is None or found.end is None):
            raise PrivacyRefusal(
                f"Slices of every {name} need a public range, and one taken from the data would tell when people were "
                "there. Give start and end (--from and --to)."
            )
        if found.start is not None and found.end is not None and found.start >= found.end:
            raise ParameterError("start must be before end; they were the other way round. Check --from and --to.")
        if name not in CYCLES and found._number_of_slices > MOST:
            raise ParameterError(
                f"There may be at most {MOST} slices; every {name} in this range makes {found._number_of_slices}. "
                "Choose longer slices or a shorter range."
            )
        return found

    @property
    def range(self) -> tuple[int, int]:
        """The first reading of the range, and the one after its last."""
        return 0 if self.start is None else self.start, END if self.end is None else self.end

    @property
    def size(self) -> int:
        """The number of slices."""
        return len(self.labels) if self.cyclic else self._number_of_slices

    @property
    def hours(self) -> int | None:
        """The hours of a step, where that is what slices are."""
        found = re.fullmatch(r"([0-9]+) hours?", self.every)
        return int(found[1]) if found else None

    @property
    def cyclic(self) -> bool:
        """Whether the last slice is followed by the first."""
        return self.every in CYCLES

    @cached_property
    def edges(self) -> Ints:
        """The readings at which slices of a calendar begin, and the last one ends."""
        assert self.start is not None
        assert self.end is not None
        if self.every == "month":
            return np.array(_months(self.start, self.end))
        step = STEPS.get(self.every) or (self.hours or 0) * HOUR
        return np.append(np.arange(self.start, self.end, step), self.end)

    @property
    def _number_of_slices(self) -> int:
        assert self.start is not None
        assert self.end is not None
        if self.every == "month":
            return len(_months(self.start, self.end)) - 1
        return -((self.start - self.end) // (STEPS.get(self.every) or (self.hours or 0) * HOUR))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The name of each slice, in order."""
        hours = [str(hour) for hour in range(24)]
        if self.every == "hour-of-day":
            return tuple(hours)
        if self.every == "weekday":
            return WEEKDAYS
        if self.every == "hour-of-week":
            return tuple(f"{day} {hour}" for day in WEEKDAYS for hour in hours)
        form = {"month": "%Y-%m"}.get(self.every, "%Y-%m-%d %H:%M" if self.hours else "%Y-%m-%d")
        return tuple(_moment(int(edge)).strftime(form) for edge in self.edges[:-1])

    @cached_property
    def rhythm(self) -> int | None:
        """After how many slices things repeat, if the slices go on for longer: a day of hours, or a week of days."""
        steps = {"hour-of-week": 24, "day": 7}.get(self.every)
        if self.hours is not None and 24 % self.hours == 0:
            steps = 24 // self.hours
        return steps if steps is not None and steps > 1 and 2 * steps <= len(self.labels) else None

    def number(self, readings: Ints) -> Ints:
        """The slice of each reading, -1 if it is in none."""
        low, high = self.range
        inside = (readings >= low) & (readings < high)
        if self.cyclic:
            step, cycle = CYCLES[self.every]
            found = readings % cycle // step
        else:
            found = np.searchsorted(self.edges, readings, side="right") - 1
        return np.where(inside, found, -1)

    @property
    def words(self) -> str:
        """What the slices are, for titles and labels."""
        what = {"hour-of-day": "hour of the day", "hour-of-week": "hour of the week"}.get(self.every, self.every)
        return f"by {what}" if self.zone is None else f"by {what}, clocks of {self.zone}"

    @property
    def option(self) -> str:
        """The options of the command line that make these slices."""
        parts = [f"--every {shlex.quote(self.every)}", self.zone and f"--time-zone {self.zone}"]
        if self.start is not None:
            parts.append(f"--from {_iso(self.start)}")
        if self.end is not None:
            parts.append(f"--to {_iso(self.end) if self.end % DAY else _iso(self.end - DAY)}")
        return " ".join(filter(None, parts))

    @property
    def clock_changes(self) -> tuple[str, ...]:
        """Sentences about the days of the public range on which clocks are set; none without a range."""
        if self.zone is None or self.start is None or self.end is None:
            return ()
        changes = [(new.since + old.ahead, new.ahead - old.ahead) for old, new in pairwise(offsets(self.zone))]
        found = [_change_in_words(shown, ahead) for shown, ahead in changes if self.start <= shown < self.end]
        if len(found) > MOST_CHANGES:
            return (f"Clocks of {self.zone} are set {len(found)} times in this range: {_TWICE}",)
        return tuple(f"Clocks of {self.zone} are set {words}" for words in found)

    def to_dict(self) -> dict[str, Any]:
        """A description that :meth:`from_dict` reads back."""
        return {"every": self.every, "time_zone": self.zone, "start": self.start, "end": self.end}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        """The period that :meth:`to_dict` described."""
        zone, ends = description["time_zone"], (description["start"], description["end"])
        if any(end is not None and (type(end) is not int or not 0 <= end <= END) for end in ends):
            raise ValueError("the range of times is not one of clocks")
        found = cls(_every(description["every"]), None if zone is None else read_zone(zone), *ends)
        if None not in ends and ends[0] >= ends[1]:
            raise ValueError("the range of times ends before it begins")
        calendar = found.every not in CYCLES
        if calendar and (None in ends or not 0 < found._number_of_slices <= MOST):
            raise ValueError("there are too few slices of time, or too many")
        return found


def _every(every: object) -> str:
    """Check what a slice is."""
    if isinstance(every, str) and (every in EVERY or re.fullmatch(r"[1-9]\d{0,3} hours?", every)):
        return every
    raise ParameterError(
        f"every must be one of {', '.join(EVERY)}, or such as '3 hours'; it was {every!r}. Choose one of them."
    )


def _reading(name: str, given: object, *, last: bool) -> int:
    """The reading of a date or a time. A date that is the last is included: it stands for the next midnight."""
    text = given.isoformat() if isinstance(given, (date, datetime)) else given
    try:
        if not isinstance(text, str):
            raise ValueError
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            raise ValueError
        return reading_of(moment) + (DAY if last and re.fullmatch(r"\d{4}-?\d{2}-?\d{2}", text) else 0)
    except ValueError:
        option = "--to" if last else "--from"
        raise ParameterError(
            f"{name} ({option}) must be a date or a time on the zone's clocks, such as 2024-06-03 or "
            f"'2024-06-03 08:00'; it was {given!r}. Write it so."
        ) from None


def _change_in_words(shown: int, ahead: int) -> str:
    """When clocks are set, by how much, and what that does to slices."""
    hours = abs(ahead) / HOUR
    much = f"{hours:g} hour{'s' * (hours != 1)} on {_moment(shown):%Y-%m-%d}"
    return f"forward by {much}: what they skip has no events." if ahead > 0 else f"back by {much}: {_TWICE}"


def _moment(reading: int) -> datetime:
    return BEGINNING + timedelta(microseconds=reading)


def _iso(reading: int) -> str:
    """A reading as a day, if it is a midnight, else as a day and a time."""
    return _moment(reading).isoformat() if reading % DAY else _moment(reading).date().isoformat()


def _months(start: int, end: int) -> list[int]:
    """The start, the beginnings of all months in a range, and its end."""
    first = _moment(start)
    edges, year, month = [start], first.year, first.month
    while True:
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        if year > 9999 or (edge := reading_of(datetime(year, month, 1))) >= end:
            return [*edges, end]
        edges.append(edge)
