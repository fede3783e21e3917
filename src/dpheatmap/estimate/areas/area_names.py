"""The names of areas: those of a column, each of them different."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpheatmap.errors import ParameterError

_NEARLY_ALL = 0.8  # of the names in a column are different, if it is one of names
_NUMBERING = ("id", "fid", "gid", "objectid", "uuid", "globalid")  # taken if there is nothing else


def names_of(frame: Any, name: str | None) -> tuple[list[str], str]:
    """The names in a column, the one given or the likeliest, and a line that says which; else numbers."""
    columns = [column for column in frame.columns if column != frame.geometry.name]
    if name is not None:
        if name not in columns:
            raise ParameterError(
                f"The areas have no column {name!r}, but {', '.join(map(str, columns)) or 'none'}. Name one of these."
            )
        return told_apart(_texts(frame[name])), ""
    found = _likeliest({column: _texts(frame[column]) for column in columns if _is_text(frame[column])})
    if found is None:
        return [str(number + 1) for number in range(len(frame))], "The areas have no column of text: they are numbered."
    return told_apart(_texts(frame[found])), f"The areas' names are those of the column {str(found)!r}."


def told_apart(names: Sequence[str | None]) -> list[str]:
    """Names of which no two are the same: a second 'x' is 'x (2)', and what has no name has a number.

    >>> told_apart(["x", None, "x", "x (2)"])
    ['x', '2', 'x (3)', 'x (2)']
    """
    given = {name for name in names if name is not None}
    used: set[str] = set()
    found = []
    for number, name in enumerate(names, 1):
        wanted, first, count = name if name is not None else str(number), name is not None, 1
        fresh = wanted
        while fresh in used or (fresh in given and not (first and count == 1)):
            count += 1
            fresh = f"{wanted} ({count})"
        used.add(fresh)
        found.append(fresh)
    return found


def _likeliest(columns: dict[Any, list[str | None]]) -> Any:
    """The first column in which nearly all texts are different, or the one with the most; a numbering if need be."""
    if not columns:
        return None
    pool = [column for column in columns if str(column).lower() not in _NUMBERING] or list(columns)
    different = {column: len(set(columns[column]) - {None}) for column in pool}
    named = [column for column in pool if different[column] >= _NEARLY_ALL * len(columns[column])]
    return named[0] if named else max(pool, key=different.__getitem__)


def _is_text(column: Any) -> bool:
    """Whether all values but missing ones are text, and there are some."""
    values = [value for value in column.tolist() if isinstance(value, str) or not is_missing(value)]
    return bool(values) and all(isinstance(value, str) for value in values)


def _texts(column: Any) -> list[str | None]:
    return [None if is_missing(value) or not str(value).strip() else str(value) for value in column.tolist()]


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or pandas' NA."""
    import pandas

    return bool(pandas.api.types.is_scalar(value) and pandas.isna(value))
