"""CSV as DuckDB is told to read it: every column as text, or line by line, if broken lines are to be left out.

**Why not leave lines to a CSV reader.** To it, a quote that is not closed opens a value that goes on over the next
lines, up to whichever quote comes next: one person's broken line would take other people's rows with it, and what one
person can change would be without bound. Here a line ends at its end, and whether it is left out depends on itself
alone. So a row is a function of its own line, and adding a person's lines adds their rows and changes no other. The
price: values can't span lines.

A line fits if it has as many fields as the header, each without quotes, or in quotes with quotes inside doubled. Empty
lines are no rows, and not broken.

**One thread a file**, both ways. To read a file by several threads, DuckDB cuts it into pieces of 8 MB and guesses at
each cut where a line begins, even if there is one thread alone. One person's quotes or empty line at a cut can mislead
it: it then loses a whole piece without a word, takes a line twice, passes a broken line by, or fails. From the start of
the file on there is nothing to guess. Files are still read side by side. Read like this, a quote that is never closed
would end the file in silence, so that is looked for before (`rows_lost`).

**Line feeds before a line.** Still, of CRLF files 32 MB are read at a time, and after empty lines where one reading
ends and the next begins, their line feeds are given to the first value of the next line. Which lines these are depends
on the bytes before, that is on other people. So the first column's values never begin with line feeds, wherever they
are: those are taken off, and a value of nothing else is null.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpheatmap.curator.table import literal, quoted

UNREADABLE = "unreadable_lines"
_ONE_THREAD = "parallel=false"
_NEVER = "\x1c\x1d\x1e\x1f"  # a delimiter that no text has


def as_text(names: str, option: str, columns: Sequence[str], delimiter: str) -> str:
    """The relation of files with these columns, all of them text; a line that does not fit stops the reading."""
    rows = _rows(names, option, columns, delimiter, strict=True)
    first, feed = quoted(columns[0]), "chr(10)"
    rest = f"CASE WHEN starts_with({first}, {feed}) THEN nullif(ltrim({first}, {feed}), '') ELSE {first} END"
    return f"(SELECT * REPLACE ({rest} AS {first}) FROM {rows})"


def rows_lost(names: str, option: str, columns: Sequence[str], delimiter: str) -> str:
    """A statement that counts the rows that `as_text` loses without a word: those behind a quote that is never closed.

    A reader that is not strict gives them as one row, or stops because it has too few columns.
    """
    strict, tolerant = (_rows(names, option, columns, delimiter, strict=strict) for strict in (True, False))
    return f"SELECT (SELECT COUNT(*) FROM {tolerant}) - (SELECT COUNT(*) FROM {strict}) AS lost"


def _rows(names: str, option: str, columns: Sequence[str], delimiter: str, *, strict: bool) -> str:
    described = ", ".join(f"{literal(column)}: 'VARCHAR'" for column in columns)
    return (
        f"read_csv({names}, {option}, {_ONE_THREAD}, auto_detect=false, header=true, delim={literal(delimiter)}, "
        f"quote='\"', escape='\"', allow_quoted_nulls=false, strict_mode={strict}, columns={{{described}}})"
    )


def one_column(names: str, option: str, *, header: bool, tolerant: bool, aside: str | None = None) -> str:
    """Files as the column line, all but the first one with ``header``.

    If tolerant, lines that are no UTF-8, or longer than 2 MB, are left out; ``aside`` is a table that lists them.
    """
    kept = f", store_rejects=true, rejects_table='{aside}', rejects_scan='{aside}_scans'" if aside else ""
    return (
        f"read_csv({names}, {option}, {_ONE_THREAD}, auto_detect=false, header={header}, quote='', escape='', "
        f"delim='{_NEVER}', columns={{'line': 'VARCHAR'}}, strict_mode=false, ignore_errors={tolerant}{kept})"
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
    broken = f"line <> '' AND NOT {_fits(columns, delimiter)}"
    return f"SELECT COUNT(CASE WHEN {broken} THEN 1 END) AS broken FROM {lines}"


UNREADABLE_LINES = (
    f"""SELECT COUNT(*) FROM {UNREADABLE} WHERE COALESCE(trim(csv_line, chr(13) || chr(10)) <> '', TRUE)"""
)
"""The statement that counts them after that. An empty line is listed by mistake if its end is read in two parts."""
