"""Files of events as one table: CSV, JSON and Parquet, alone, by a pattern, or in a folder of partitions."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import duckdb

from dpheatmap.curator.csv_lines import UNREADABLE_LINES, as_text, counted, each_line_for_itself, one_column, rows_lost
from dpheatmap.curator.engines import Progress
from dpheatmap.curator.engines.duckdb import quietly, run
from dpheatmap.curator.read.parquet import open_parquet, unlike, with_folders
from dpheatmap.curator.table import NOBODY, Table, describe, literal, quoted
from dpheatmap.databases import shown
from dpheatmap.errors import DataError
from dpheatmap.files import matching, not_a_pattern

_FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
}  # fmt: skip
_COMPRESSIONS = (".gz", ".zst")
_STORES = re.compile(r"(s3|s3a|s3n|gs|gcs|r2|https?)://")


@contextmanager
def unchanged(events: Any) -> Iterator[None]:
    """Refuse files that change while they are read: the two readings of the aggregation must see the same rows."""
    before = _stamps(events)
    yield
    if _stamps(events) != before:
        raise DataError("A file changed while it was read. Let whatever writes to it finish, and start again.")


def _stamps(events: Any) -> list[tuple[int, ...]]:
    if not isinstance(events, (str, PathLike)):
        return []
    stats = [os.stat(file) for file in matching(fspath(events))]
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]


def open_files(con: duckdb.DuckDBPyConnection, path: str, user: str | None, bad_lines: str = "stop") -> Table:
    """A file, pattern, folder or address as a table; ``bad_lines`` of CSV "stop" the reading, or "skip" leaves them."""
    files = _stored(con, path) if _STORES.match(path) else matching(path)
    if not files:
        if path and Path(path).is_dir():
            raise DataError(f"There is no file in the folder {path!r}. Check the path.")
        if "://" in path:
            raise DataError(f"{shown(path, 'input')} is no address that can be read here. Give the path of a file.")
        if path == "-" or os.path.exists(path):
            raise DataError(
                f"{path!r} is a pipe or a device, and a table is read more than once. Write it to a file first."
            )
        raise DataError(f"No file is called {path!r} or matches it. Check the path.")
    _refuse_names_that_are_no_text(files)
    formats = {_format(file) for file in files}
    if len(formats) != 1:
        raise DataError(f"The files that match {path!r} are of different formats. Give one format at a time.")
    name, kind = Path(path).name, formats.pop()
    if bad_lines == "skip" and kind != "csv":
        raise DataError(f"Lines can be left out of CSV, and {name!r} is {kind}. Leave bad_lines (--bad-lines) out.")
    names = "[" + ", ".join(literal(not_a_pattern(file)) for file in files) + "]"
    if kind == "json":
        return _json_table(con, f"{names}, hive_partitioning=false", name, user)
    keys = _partitions(path, files)
    if kind == "csv":
        return _csv_table(con, files, names, name, keys, bad_lines)
    return open_parquet(con, files, names, name, keys)


def _refuse_names_that_are_no_text(files: Iterable[str]) -> None:
    for file in files:
        try:
            file.encode()
        except UnicodeEncodeError:
            raise DataError(
                f"The name of {Path(file).name!r} is not UTF-8, or this terminal is not. Rename the file, or set "
                "LC_ALL=C.UTF-8."
            ) from None


def _stored(con: duckdb.DuckDBPyConnection, address: str) -> list[str]:
    """The files of an object store that an address names or matches, through an extension that must be there."""
    sql = "SELECT installed FROM duckdb_extensions() WHERE extension_name = 'httpfs'"
    if con.execute(sql).fetchall() != [(True,)]:
        raise DataError(
            "Reading from an object store needs DuckDB's extension httpfs, which is not installed; nothing is ever "
            "fetched by itself. Run: python -c \"import duckdb; duckdb.sql('INSTALL httpfs')\""
        )
    con.execute("LOAD httpfs")
    name = shown(address, "input")
    found = quietly(lambda: con.execute("SELECT file FROM glob(?) ORDER BY file", [address]).fetchall(), name)
    return [file for (file,) in found]


def _partitions(path: str, files: Sequence[str]) -> frozenset[str]:
    """The names in folders such as day=2024-06-01 that all files of a pattern or folder lie in; none for one file."""
    if Path(path).is_file():
        return frozenset()
    keys = {
        frozenset(key for key, equals, _ in (part.partition("=") for part in Path(file).parts[:-1]) if equals)
        for file in files
    }
    return keys.pop() if len(keys) == 1 else frozenset()


def _format(file: str) -> str:
    suffixes = [s.lower() for s in Path(file).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSIONS:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in _FORMATS:
        raise DataError(
            f"{Path(file).name!r} has no known ending. Use one of {', '.join(_FORMATS)}, also compressed (.gz, .zst): "
            "save a spreadsheet as CSV in UTF-8, and read other files in Python, which takes data frames."
        )
    return _FORMATS[suffixes[-1]]


def _json_table(con: duckdb.DuckDBPyConnection, names: str, name: str, user: str | None) -> Table:
    """Every value as text: an integer keeps every digit it was written with. Ids as JSON, in which text has quotes.

    DuckDB's own reader takes what the columns are from the rows, and stops at some of them: one person's row with many
    keys, or an empty one, would hide everybody's columns. Here a row is a JSON value, whatever it is, and a column is
    what a row has under a key; a value that is no object has none.
    """
    rows = f"read_json_objects({names})"
    found = f"""SELECT key FROM (SELECT UNNEST(json_keys(json)) AS key, generate_subscripts(json_keys(json), 1) AS place
        FROM {rows}) WHERE key <> '' GROUP BY key ORDER BY MIN(place), key"""
    keys = _distinct([key for (key,) in quietly(lambda: con.execute(found).fetchall(), name)], user)
    if not keys:
        return Table(f"({NOBODY})", {}, name)
    columns = {key: "JSON" if key == user else "VARCHAR" for key in keys}
    taking = {"JSON": "json_extract", "VARCHAR": "json_extract_string"}
    values = [f"{taking[k]}(json, {literal(_pointer(key))}) AS {quoted(key)}" for key, k in columns.items()]
    return Table(f"(SELECT {', '.join(values)} FROM {rows})", columns, name, listed=False)


def _distinct(keys: Sequence[str], user: str | None) -> list[str]:
    """Keys as names of columns, which don't differ by case alone: of such ones the user's, or a lower-case one."""
    chosen: dict[str, str] = {}
    for key in sorted(keys, key=lambda key: (key != user, key != key.lower(), key)):
        chosen.setdefault(key.lower(), key)
    kept = set(chosen.values())
    return [key for key in keys if key in kept]


def _pointer(key: str) -> str:
    """A key as a JSON pointer (RFC 6901)."""
    return "/" + key.replace("~", "~0").replace("/", "~1")


def _csv_table(
    con: duckdb.DuckDBPyConnection, files: Sequence[str], names: str, name: str, keys: frozenset[str], bad_lines: str
) -> Table:
    """Every column as text, in the dialect of the header line: nothing is guessed from the rows."""
    skip = bad_lines == "skip"
    header = _header_line(con, files[0], tolerant=skip)
    for file in files[1:]:
        if _header_line(con, file, tolerant=skip) != header:
            raise unlike(files[0], file)
    outside_quotes = re.sub('"[^"]*"', "", header)
    delimiter = max(",;\t|", key=outside_quotes.count)
    columns = next(csv.reader(io.StringIO(header), delimiter=delimiter))
    if len({column.lower() for column in columns}) != len(columns) or not all(columns):
        raise DataError(f"The header of {Path(files[0]).name!r} has empty or repeated names. Give each column its own.")
    folders, option = with_folders(columns, keys)
    broken = lost = None
    if skip:
        relation = each_line_for_itself(names, option, columns, delimiter)
        broken = counted(names, option, columns, delimiter)
    else:
        relation = as_text(names, option, columns, delimiter)
        lost = rows_lost(names, option, columns, delimiter)
    listed = not skip and not looks_like_data(columns)  # behind a header that is no text, the first line is a row
    return Table(relation, describe(con, relation, name), name, listed, folders, broken=broken, lost=lost)


def refuse_open_quotes(con: duckdb.DuckDBPyConnection, table: Table, folder: str, tick: Progress | None = None) -> None:
    """Stop before rows would be lost. This reads the table, so it is done only where its rows are wanted."""
    if table.lost is not None and run(con, table.lost, folder, tick)[0]["lost"].any():
        raise DataError(
            f"A quote in {table.name!r} is not closed, so that the lines behind it can't be told apart. Mend the line, "
            "or leave such lines out (--bad-lines skip)."
        )


def broken_lines(con: duckdb.DuckDBPyConnection, table: Table, folder: str) -> int:
    """How many lines were left out of a table, after it was read: for the data holder's eyes only."""
    if table.broken is None:
        return 0
    answer, _ = run(con, table.broken, folder)
    ((unreadable,),) = con.execute(UNREADABLE_LINES).fetchall()
    return int(answer["broken"][0]) + int(unreadable)


def looks_like_data(columns: Iterable[str]) -> bool:
    """Whether a name is a number: more likely, this is the first row of a file without a header."""
    return any(re.fullmatch(r"[-+.eE\d\s]*\d[-+.eE\d\s]*", column) for column in columns)


def _header_line(con: duckdb.DuckDBPyConnection, file: str, *, tolerant: bool) -> str:
    """The first line; if tolerant, the first that is text."""
    if os.path.isfile(file):
        with open(file, "rb") as opened:
            if opened.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                name = Path(file).name
                raise DataError(f"{name!r} is UTF-16, and CSV is read as UTF-8. Save it as UTF-8 (iconv -f UTF-16).")
    lines = one_column(literal(not_a_pattern(file)), "hive_partitioning=false", header=False, tolerant=tolerant)
    row = quietly(lambda: con.execute(f"SELECT line FROM {lines} LIMIT 1").fetchone(), Path(file).name)
    if row is None or not row[0]:
        raise DataError(
            f"{Path(file).name!r} has no header line, or none in UTF-8. The first line must name the columns."
        )
    return str(row[0]).removeprefix("\ufeff")
