"""Tables as CSV for people, who open them in spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a text begins with that some spreadsheet takes for a formula, at once or after it has dropped white space."""


def csv_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write rows as CSV. No text in any column is taken for a formula, whatever somebody called their things.

    >>> csv_table(["number", "name"], [(-1, "riders"), (2, "=1+1")])
    "number,name\\n-1,riders\\n2,'=1+1\\n"
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    """A value; text with an apostrophe if it may be a formula, and without carriage returns: they would end its row."""
    if not isinstance(value, str):
        return value
    return ("'" if value.startswith(_FORMULAS) else "") + value.replace("\r", " ")
