"""The columns that areas came with, which stay beside their numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dpheatmap.estimate.areas.area_names import is_missing

_TAKEN = ("fid", "geom", "geometry")  # by files of areas
_SUFFIX = "_input"
_SIMPLE = {str, bool, int, float}


def own_columns(frame: Any, ours: Sequence[str]) -> dict[str, Any]:
    """The columns of a frame by names that differ from ours and from each other in more than their case."""
    if frame is None:
        return {}
    used = {name.lower() for name in (*ours, *_TAKEN)}
    found: dict[str, Any] = {}
    for place, column in enumerate(frame.columns):
        name = str(column)
        while name.lower() in used:
            name += _SUFFIX
        used.add(name.lower())
        found[name] = _plain(frame.iloc[:, place])
    return found


def _plain(column: Any) -> Any:
    """A column of values that every format can hold: lists, mappings and mixtures become text."""
    if column.dtype != object:
        return column.array
    values = [None if is_missing(value) else value for value in column.tolist()]
    kinds = {type(value) for value in values if value is not None}
    return (
        values
        if len(kinds) <= 1 and kinds <= _SIMPLE
        else [None if value is None else _text(value) for value in values]
    )


def _text(value: Any) -> str:
    """A value as text, lists and mappings as JSON."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return json.dumps(value, default=str, ensure_ascii=False) if isinstance(value, (list, dict)) else str(value)
