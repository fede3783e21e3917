"""Slices in words: the hour 8 is 08:00, and a date is written as people do."""

from __future__ import annotations

import re
from datetime import datetime

from dpheatmap.slicing.axis import Axis

_CLOCK = re.compile(r"(?:([a-z]{3}) )?(\d{1,2})")
_FORMS = (("%Y-%m-%d %H:%M", "{day} %b %Y, %H:%M"), ("%Y-%m-%d", "{day} %b %Y"), ("%Y-%m", "%b %Y"))


def slices_in_words(axis: Axis) -> tuple[str, ...]:
    """The name of each slice as readers see it: a group, a time, or both."""
    times = [time_in_words(time) for time in axis.times]
    return tuple(", ".join(filter(None, (group, time))) for group in axis.groups or ("",) for time in times)


def time_in_words(name: str) -> str:
    """A slice of time as people write it.

    >>> [time_in_words(name) for name in ("8", "mon 18", "mon", "2024-06-03", "2024-06", "2024-06-03 06:00")]
    ['08:00', 'Mon 18:00', 'Mon', '3 Jun 2024', 'Jun 2024', '3 Jun 2024, 06:00']
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
