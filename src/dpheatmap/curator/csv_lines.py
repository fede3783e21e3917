"""CSV line by line, for files with broken lines that are to be left out.

**Why not leave it to a CSV reader.** To a reader, a quote that is not closed opens a value that goes on over the next
lines, up to whichever quote comes next: one person's broken line would take other people's rows with it, and what one
person can change would be without bound. Here a line ends at its end, and whether it is left out depends on itself
alone. So a row is a function of its own line, and adding a person's lines adds their rows and changes no other. The
price: values can't span lines.

A line fits if it has as many fields as the header, each without quotes, or in quotes with quotes inside doubled.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpheatmap.curator.table import literal, quoted

UNREADABLE = "unreadable_lines"
_NEVER = "\x1c\x1d\x1e\x1f"  # a delimiter that no text has


def one_column(names: str, option: str, *, header: bool, tolerant: bool, aside: str | None = None) -> str:
    """Files as the column line, all but the first one with ``header``.

    If tolerant, lines that are no UTF-8, or longer than 2 MB, are left out; ``aside`` is a table that lists them.
    """
    kept = f", store_rejects=true, rejects_table='{aside}', rejects_scan='{aside}_scans'" if aside else ""
    return (
        f"read_csv({names}, {option}, auto_detect=false, header={header}, quote='', escape='', delim='{_NEVER}', "
        f"columns={{'line': 'VARCHAR'}}, strict_mode=false, ignore_errors={tolerant}{kept})"
    )


def _field(delimiter: str) -> str:
    return f'("(?:[^"]|"")*"|[^"{_in_class(delimiter)}]*)'


def _in_class(delimiter: str) -> str:
    return {"\t": r"\t", "|": r"\|"}.get(delimiter, delimiter)


def _fits(columns: Sequence[str], delimiter: str) -> str:
    field, others = _field(delimiter), len(columns) - 1
    pattern = f"{field}(?:{_in_class(delimiter)}{field}){{{others}}}"
    return f"regexp_full_match(line, {literal(pattern)})"


def each_line_for_itself(names: str, option: str, columns: Sequence[str], delimiter: str) -> str:
    """The relation of the lines that fit, with the header's columns as text; an empty field without quotes is null."""
    parts = f"regexp_extract_all({literal(delimiter)} || line, {literal(_in_class(delimiter) + _field(delimiter))}, 1)"
    values = ", ".join(_value(f"parts[{k + 1}]") + f" AS {quoted(name)}" for k, name in enumerate(columns))
    lines = one_column(names, option, header=True, tolerant=True)
    fitting = f"SELECT * EXCLUDE line, {parts} AS parts FROM {lines} WHERE {_fits(columns, delimiter)}"
    return f"(SELECT * EXCLUDE parts, {values} FROM ({fitting}))"


def _value(field: str) -> str:
    inside = f"replace(substr({field}, 2, length({field}) - 2), '\"\"', '\"')"
    return f"CASE WHEN starts_with({field}, '\"') THEN {inside} ELSE nullif({field}, '') END"


def counted(names: str, option: str, columns: Sequence[str], delimiter: str) -> str:
    """A statement that counts the lines that don't fit, and puts note of those that are no text into `UNREADABLE`."""
    lines = one_column(names, option, header=True, tolerant=True, aside=UNREADABLE)
    return f"SELECT COUNT(CASE WHEN NOT {_fits(columns, delimiter)} THEN 1 END) AS broken FROM {lines}"
