"""Slices in requests of the page: maps over time, of groups, or both.

What a slice is follows from the request alone. No range of times and no group is read off a table: one that fits the
rows would tell when people were there, or which groups they are in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dpheatmap.app.release_request import body_of
from dpheatmap.app.texts import say, without_commands
from dpheatmap.curator import slices_of
from dpheatmap.errors import DpheatmapError, ParameterError
from dpheatmap.slicing.axis import Axis

OF_TIME = ("time", "every", "time_zone", "start", "end")
OPTIONS = (*OF_TIME, "group", "groups")
"""The options of `release` for slices."""

MOST_DRAWN = 200
"""The most slices that are drawn while somebody waits: an hour of the week is one of 168."""

_SOUND = {"time": "time", "every": "weekday", "time_zone": "UTC"}
_RANGE = {"start": "2000-01-01", "end": "2000-01-01"}


def slices_from(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read the slices of a request, as options of `release`; None for one map."""
    if body.get("slices") is None:
        return None
    given = _options_in(body)
    if not given:
        raise ParameterError(say("missing", name="slices"))
    _slices(given)
    return given


def axis_from(body: Mapping[str, Any]) -> Axis | None:
    """The public slices of a request; None for one map."""
    given = slices_from(body)
    return None if given is None else _slices(given).axis


def slices_in_words(options: Mapping[str, Any] | None) -> str:
    """The number of slices and what they are; empty for one map.

    >>> slices_in_words({"time": "at", "every": "weekday", "time_zone": "UTC"})
    '7 maps, by weekday, clocks of UTC'
    """
    if options is None:
        return ""
    axis = _slices(options).axis
    return say("slices", number=len(axis.labels), words=axis.words)


def look_at(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the page tells beside the fields of slices: what they are, or which field is refused and why.

    It goes by the request alone, which also has the types of the table's columns. No table is read.
    """
    given, types = _options_in(body), {name: str(kind) for name, kind in body_of(body.get("types") or {}).items()}
    for field, part in _parts(given):
        try:
            _slices(part).refuse_types(types)
        except DpheatmapError as error:
            return {"problem": {"field": field, "words": without_commands(str(error))}}
    axis = _slices(given).axis
    notes = axis.period.clock_changes if axis.period is not None else ()
    return {"problem": None, "words": slices_in_words(given), "notes": list(notes)}


def _parts(given: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fields, each with slices that are sound if the field is: what belongs to later fields stands in for them."""
    if "time" in given or not given:
        time = {"time": given.get("time")}
        yield "time", _SOUND | time
        yield "every", time | {"time_zone": "UTC"} | _RANGE | _only(given, "every")
        yield "range", time | {"time_zone": "UTC"} | _only(given, "every", "start", "end")
        yield "time_zone", time | _only(given, *OF_TIME)
    if "group" in given:
        yield "group", {"group": given["group"], "groups": ["a"]}
        yield "groups", _only(given, "group", "groups")
    yield "number", given


def _only(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}


def _options_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a request gives, of the kinds that the page sends."""
    slices = body_of(body.get("slices"))
    given = {name: slices[name] for name in OPTIONS if slices.get(name) is not None}
    for name, value in given.items():
        if not (isinstance(value, str) if name != "groups" else isinstance(value, list)):
            raise ParameterError(say("missing", name=name))
    return given


def _slices(options: Mapping[str, Any]) -> Any:
    found = slices_of(**{name: options.get(name) for name in OPTIONS})
    if len(found.axis.labels) > MOST_DRAWN:
        raise ParameterError(say("too_many_slices", number=len(found.axis.labels), most=MOST_DRAWN))
    return found
