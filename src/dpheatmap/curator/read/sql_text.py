"""Names and values as they are written in SQL."""

from __future__ import annotations

STEP = "timed"
"""The prefix of the aliases of steps that read times. Each uses the one before several times, so none is inlined."""


def quote_name(name: str) -> str:
    """A column's name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """A text as SQL."""
    return "'" + value.replace("'", "''") + "'"
