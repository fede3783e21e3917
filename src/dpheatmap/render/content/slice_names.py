"""The slices of a release in words, and which of them a page shows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpheatmap.slicing.axis import Axis

_ON = {"hour-of-day": "at", "weekday": "on", "hour-of-week": "on", "day": "on", "week": "in the week of", "month": "in"}
_KINDS = {"hour-of-day": "hours", "weekday": "days", "hour-of-week": "hours", "day": "days", "week": "weeks",
          "month": "months"}  # fmt: skip
_WIDEST_CYCLE, _WIDE, _FEW = (
    8,
    6,
    12,
)  # maps: of the longest cycle in a row, in a row of many, and that are no more than few


@dataclass(frozen=True)
class SliceNames:
    """The names of slices as people write them."""

    axis: Axis

    @property
    def words(self) -> tuple[str, ...]:
        """The name of each slice.

        >>> from dpheatmap.slicing.period import Period
        >>> names = SliceNames(Axis(Period("hour-of-week", "UTC"), ("bike",)))
        >>> names.words[32], names.phrases[32]
        ('bike, tue 08:00', 'in bike on tue 08:00')
        """
        times = [self._time(time) for time in self.axis.times]
        return tuple(", ".join(filter(None, (group, time))) for group in self.axis.groups or ("",) for time in times)

    @property
    def phrases(self) -> tuple[str, ...]:
        """Each slice as an adverb: when, and in which group."""
        times = [self._time(time) for time in self.axis.times]
        when = "" if self.axis.period is None else _ON.get(self.axis.period.every, "from")
        return tuple(
            " ".join(filter(None, ("in" if group else "", group, when, time)))
            for group in self.axis.groups or ("",)
            for time in times
        )

    @property
    def kind(self) -> str:
        """What slices are, in the plural."""
        if self.axis.period is None:
            return "groups"
        return "slices" if self.axis.groups else _KINDS.get(self.axis.period.every, "times")

    def _time(self, time: str) -> str:
        if self.axis.period is None or self.axis.period.every not in ("hour-of-day", "hour-of-week"):
            return time
        day, _, hour = time.rpartition(" ")
        return f"{day} {int(hour):02}:00".strip()

    @property
    def cycle(self) -> int | None:
        """After how many slices things repeat: those of a group, or of a day."""
        if self.axis.period is None:
            return None
        return len(self.axis.times) if self.axis.groups else self.axis.period.rhythm

    def choice(self, most: int) -> list[int]:
        """The numbers of at most so many slices, evenly spaced; if it can be, the same ones of each cycle."""
        return list(range(0, len(self.axis.labels), self._step(most)))

    def _step(self, most: int) -> int:
        least, cycle = math.ceil(len(self.axis.labels) / most), self.cycle or 0
        return next((step for step in range(least, cycle // 2 + 1) if cycle % step == 0), least)

    def columns(self, most: int) -> int:
        """In how many columns the maps of so many slices at most stand: a row is a cycle, or some, if that is short."""
        step, many = self._step(most), len(self.choice(most))
        if self.cycle and self.cycle % step == 0 and 1 < self.cycle // step <= _WIDEST_CYCLE:
            cycle = self.cycle // step
            return cycle if many <= _FEW else cycle * max(1, _WIDE // cycle)
        if many <= 3:
            return many
        return 2 if many == 4 else 3 if many in (5, 6, 9) else 4 if many <= _FEW else _WIDE
