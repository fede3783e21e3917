"""The two kinds of files that commands write, maps and series of maps: suffixes, options, and early refusals."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from dpheatmap._util.files import suffix_of
from dpheatmap.heatmap.series import Series
from dpheatmap.place.domain import Domain
from dpheatmap.render import FORMATS, options_of, refuse
from dpheatmap.render.content.look import OPTIONS, Look
from dpheatmap.render.series import FORMATS as SERIES_FORMATS


class Files(NamedTuple):
    """The files of a map or of a series: their suffixes, the options that one takes, and what refuses one early."""

    formats: Sequence[str]
    options_of: Callable[[str], set[str]]
    refuse: Callable[..., None]


def _options_of_series(path: str) -> set[str]:
    """The names of the options that a series takes for a file: its format's, and ``values`` if all formats do."""
    taken = inspect.signature(_module(path).write).parameters
    looks = "look" in taken or any(one.kind is one.VAR_KEYWORD for one in taken.values())
    named = {name for name, one in taken.items() if one.kind is one.KEYWORD_ONLY}
    return named | set(OPTIONS if looks else ()) | {"values"} & set(inspect.signature(Series.save).parameters)


def _refuse_series(domain: Domain, path: str, **options: Any) -> None:
    """Refuse a file that no series of a domain can be written to."""
    refusal = getattr(_module(path), "refuse", None)
    if refusal is None:
        return
    taken = inspect.signature(refusal).parameters
    look = {name: value for name, value in options.items() if name in OPTIONS}
    others = {name: value for name, value in options.items() if name in taken}
    if "look" in taken:
        refusal(domain, look=Look(**look), **others)
    else:
        refusal(domain, **others, **(look if any(one.kind is one.VAR_KEYWORD for one in taken.values()) else {}))


def _module(path: str) -> ModuleType:
    return import_module(SERIES_FORMATS[suffix_of(path, "a series' file", SERIES_FORMATS)])


MAPS = Files(tuple(FORMATS), options_of, refuse)
SERIES = Files(tuple(SERIES_FORMATS), _options_of_series, _refuse_series)
