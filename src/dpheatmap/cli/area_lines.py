"""Numbers of people in areas as lines on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

_SHOWN = 20

Record = dict[str, Any]
"""The numbers of an area by column, None where there are none."""


def area_lines(records: Sequence[Record]) -> list[str]:
    """The areas with the most people, in words; those outside the place come last."""
    most = _by_rank(records)[:_SHOWN]
    return _table(["", "area", "people", "between", "share"], [_row(one) for one in most], len(records))


def lines_by_slice(records: Sequence[Record]) -> list[str]:
    """The areas with the most people in each slice: of many slices the first alone."""
    slices = [(label, _by_rank(list(rows))) for label, rows in groupby(records, lambda row: row["slice"])]
    each = max(1, _SHOWN // len(slices))
    rows = [[label, *_row(one)] for label, found in slices for one in found[:each]]
    return _table(["slice", "", "area", "people", "between", "share"], rows, len(records))


def change_lines(records: Sequence[Record]) -> list[str]:
    """The areas whose shares changed most, in words; those that are significant have a star."""
    order = sorted(records, key=lambda row: -abs(row["share_change"] or 0.0))
    rows = [_change(one) for one in order[:_SHOWN]]
    lines = _table(["area", "before", "after", "change", "between", ""], rows, len(records))
    return [*lines, "* significant: at most 1 in 20 of these is expected to be noise"]


def _table(head: list[str], rows: list[list[str]], many: int) -> list[str]:
    """Rows in columns as wide as needed, and how many are missing."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    every = (head, *rows)
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in every]
    rest = many - len(rows)
    return [*lines, f"and {rest:,} more: write them to a file with -o"] if rest > 0 else lines


def _by_rank(records: Sequence[Record]) -> list[Record]:
    return sorted(records, key=lambda row: (row["rank"] is None, row["rank"]))


def _row(row: Record) -> list[str]:
    """An area in words."""
    if row["rank"] is None:
        return ["", row["area"], "", row["note"], ""]
    people, low, high = (f"{row[name]:,.0f}" for name in ("people", "people_low", "people_high"))
    return [f"{row['rank']}.", row["area"], people, f"{low} and {high}", f"{row['share']:.1%}"]


def _change(row: Record) -> list[str]:
    """The change of an area's share in words, in percentage points."""
    if row["share_change"] is None:
        return [row["area"], "", "", "", row["note"], ""]
    before, after = (f"{row[name]:.1%}" for name in ("share_before", "share_after"))
    change, low, high = (f"{100 * row[name]:+.1f}" for name in ("share_change", "low", "high"))
    return [row["area"], before, after, change, f"{low} and {high}", "*" if row["significant"] else ""]
