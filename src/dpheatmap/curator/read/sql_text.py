"""Names and values as they are written in SQL."""

from __future__ import annotations


def quote_name(name: str) -> str:
    """A column's name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """A text as SQL."""
    return "'" + value.replace("'", "''") + "'"
