"""The slices of a release in words, and which of them a page shows. The hour 8 is 08:00, and a date is one as people
write it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from datetime import datetime

from dpheatmap.releases.estimable import Estimable
from dpheatmap.releases.release_slice import Slice
from dpheatmap.render.content.look import Look
from dpheatmap.slicing.axis import Axis
from dpheatmap.slicing.period import WEEKDAYS

_ON = {"hour-of-day": "at", "weekday": "on", "hour-of-week": "on", "day": "on", "week": "in the week of", "month": "in"}
_KINDS = {"hour-of-day": "hours", "weekday": "days", "hour-of-week": "hours", "day": "days", "week": "weeks",
          "month": "months"}  # fmt: skip
_WIDEST_CYCLE, _WIDE, _FEW = 8, 6, 12  # maps: of the longest cycle in a row, in a row of many, and few maps at most
_CLOCK = re.compile(r"(?:([a-z]{3}) )?(\d{1,2})")
_FORMS = (("%Y-%m-%d %H:%M", "{day} %b %Y, %H:%M"), ("%Y-%m-%d", "{day} %b %Y"), ("%Y-%m", "%b %Y"))


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
        ('bike, Tue 08:00', 'in bike on Tue 08:00')
        """
        times = [time_in_words(time) for time in self.axis.times]
        return tuple(", ".join(filter(None, (group, time))) for group in self.axis.groups or ("",) for time in times)

    @property
    def phrases(self) -> tuple[str, ...]:
        """Each slice as an adverb: when, and in which group."""
        times = [time_in_words(time) for time in self.axis.times]
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


def time_in_words(name: str) -> str:
    """A slice of time as people write it.

    >>> [time_in_words(name) for name in ("8", "mon 18", "mon", "2024-06-03", "2024-06", "2024-06-03 06:00", "")]
    ['08:00', 'Mon 18:00', 'Mon', '3 Jun 2024', 'Jun 2024', '3 Jun 2024, 06:00', '']
    """
    found = _CLOCK.fullmatch(name)
    if found:
        return " ".join(filter(None, ((found[1] or "").capitalize(), f"{int(found[2]):02}:00")))
    for form, words in _FORMS:
        try:
            moment = datetime.strptime(name, form)
        except ValueError:
            continue
        return moment.strftime(words.format(day=moment.day))
    return name.capitalize()


def label_in_words(label: str) -> str:
    """A label of a slice below the title of its map: times as people write them, and names of groups as they are.

    >>> [label_in_words(label) for label in ("8", "mon", "eBay", "bike mon 8")]
    ['08:00', 'Mon', 'eBay', 'bike mon 8']
    """
    told = time_in_words(label)
    return told if told.lower() != label.lower() or label in WEEKDAYS else label


def look_of_slice(look: Look, source: Estimable) -> Look:
    """The look of a picture that tells below its title which slice it shows, unless something else stands there."""
    if not isinstance(source, Slice) or look.subtitle:
        return look
    phrase = SliceNames(source.release.axis).phrases[source.number]
    return replace(look, subtitle=phrase[:1].upper() + phrase[1:])
