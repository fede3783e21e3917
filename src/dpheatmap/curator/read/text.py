"""CSV and JSON lines as tables: the columns that there are, and those that are read.

Every column is text; nothing is guessed from rows. The header of CSV is its first record, and public. JSON has no
header, so its columns are the keys asked for, whether somebody has them or not. A key that nobody has is a column of
nulls, and nothing reveals whether anybody has it.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import duckdb
import numpy as np
from numpy.typing import NDArray

from dpheatmap.curator.read.blocks import Block
from dpheatmap.curator.read.question import Question
from dpheatmap.curator.read.record_stream import FILE, LINE, RecordStream, column
from dpheatmap.curator.read.sql_text import literal, quote_name
from dpheatmap.curator.read.table import Table
from dpheatmap.curator.read.text_file import TextFile
from dpheatmap.errors import DataError, ParameterError

EVENTS = "dpheatmap_records"
LONGEST_HEADER = 64 << 10
MOST_KEYS = 200
"""The most keys of JSON that are shown to the data holder."""
_OTHER_ENCODINGS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_WAYS_OUT = "Mend the line, write the table as Parquet, or leave such lines out (--bad-lines skip)."


@dataclass(frozen=True)
class CsvHeader:
    """The columns of CSV, the byte that divides fields, and the byte at which the first row begins."""

    columns: tuple[str, ...]
    delimiter: str
    start: int


@dataclass(frozen=True)
class CsvParser:
    """The parser of CSV rows: the fields of some columns."""

    header: CsvHeader
    columns: Sequence[str]
    user: str | None = None
    record = LINE
    refused: frozenset[int] = frozenset()
    broken = (
        "a quote does not close on it, or it has more or fewer fields than the header, or it is not UTF-8, or longer "
        "than 2 MiB. Values can't span lines, for one person's line could then take others' with it. " + _WAYS_OUT
    )

    def rows(
        self, block: Block, views: NDArray[np.uint64], valid: NDArray[np.uint8], tally: NDArray[np.int64]
    ) -> int:  # fmt: skip
        """Write the values of each column, and return how many rows there are."""
        from dpheatmap.curator.read.csv_records import csv_rows

        place = {name: k for k, name in enumerate(self.columns)}
        slots = np.array([place.get(name, -1) for name in self.header.columns], np.int64)
        delimiter, id_slot = ord(self.header.delimiter), -1 if self.user is None else place.get(self.user, -1)
        return int(csv_rows(block.data, block.first, block.stop, delimiter, slots, id_slot, views, valid, tally))


@dataclass(frozen=True)
class JsonParser:
    """The parser of JSON lines: the values of some keys and, last, that of one key as an id."""

    keys: Sequence[str]
    user: str | None
    record: str = LINE

    @property
    def broken(self) -> str:
        """What may be wrong with a line, and what to do."""
        return (
            "it is not one JSON object, or not UTF-8, or longer than 2 MiB. A file that is one array becomes lines by: "
            f"jq -c '.[]' FILE. {_WAYS_OUT}"
        )

    @property
    def refused(self) -> frozenset[int]:
        """The problems of a record that refuse all of its file."""
        return frozenset()

    @property
    def columns(self) -> list[str]:
        """The keys, and the id."""
        return [*self.keys, *([] if self.user is None else [self.user])]

    def rows(
        self, block: Block, views: NDArray[np.uint64], valid: NDArray[np.uint8], tally: NDArray[np.int64]
    ) -> int:  # fmt: skip
        """Write the values of each column, and return how many rows there are."""
        from dpheatmap.curator.read.json_records import json_rows

        names, ends, key_of, is_id = self.places()
        found = json_rows(block.data, block.first, block.stop, names, ends, key_of, is_id, views, valid, tally)
        return int(found)

    def places(self) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """The keys in one text and their ends, the number of each column's key, and whether a column holds ids."""
        encoded = [key.encode() for key in self.keys]
        names = np.frombuffer(b"".join(encoded) + b"\0", np.uint8)
        ends = np.cumsum([len(key) for key in encoded], dtype=np.int64)
        ids = [] if self.user is None else [self.keys.index(self.user)]
        key_of = np.array([*range(len(self.keys)), *ids], np.int64)
        return names, ends, key_of, np.arange(len(key_of)) >= len(self.keys)


def open_csv(
    con: duckdb.DuckDBPyConnection,
    files: Sequence[TextFile],
    name: str,
    keys: frozenset[str],
    question: Question | None,
    skip: bool,
) -> Table:  # fmt: skip
    """Open CSV files with one header as a table; the columns of a ``question`` are read, or all.

    ``keys`` are the names of the folders that all files lie in; a folder's value is that of all rows below it.
    """
    headers = [csv_header(file) for file in files]
    header = headers[0]
    for file, other in zip(files, headers, strict=True):
        if (other.columns, other.delimiter) != (header.columns, header.delimiter):
            raise DataError(
                f"{file.name!r} does not have the columns of {files[0].name!r} in its header. Make them alike."
            )
    wanted = list(header.columns) if question is None else question.among(header.columns)
    parts = [file._replace(start=its.start) for file, its in zip(files, headers, strict=True)]
    parser = CsvParser(header, wanted, None if question is None else question.user)
    stream = _register(con, parts, parser, skip)
    folders = _folders(files, keys, header.columns)
    columns = dict.fromkeys([*header.columns, *folders], "VARCHAR")
    known = {*header.columns, *folders}
    is_header = question is None or len(question.columns - known) <= 1  # without a header, a row has other words
    listed = is_header and not looks_like_data(header.columns)
    return Table(_rename_columns(wanted, folders), columns, name, listed, frozenset(folders), stream=stream)


def open_json(
    con: duckdb.DuckDBPyConnection,
    files: Sequence[TextFile],
    name: str,
    folder_keys: frozenset[str],
    question: Question,
    skip: bool,
) -> Table:
    """Open files of JSON lines as a table of the requested keys; a folder's name is the key of its value."""
    keys = check_keys(question.columns - set(_folders(files, folder_keys, ())))
    user = question.user if question.user in keys else None
    return open_keys(con, files, name, folder_keys, JsonParser(keys, user), skip)


def check_keys(names: Iterable[str]) -> list[str]:
    """The names in order; refuse those that no key can have, or that differ in case alone."""
    keys = sorted(names)
    if len({key.lower() for key in keys}) != len(keys):
        raise ParameterError("Columns were named whose names differ in case alone. Name others.")
    if any("\0" in key or not _is_text(key) for key in keys):
        raise ParameterError("A column was named whose name holds a zero byte or is not text. Name another.")
    return keys


def open_keys(
    con: duckdb.DuckDBPyConnection,
    files: Sequence[TextFile],
    name: str,
    folder_keys: frozenset[str],
    parser: JsonParser,
    skip: bool,
) -> Table:
    """Open files of JSON lines as a table of a parser's keys."""
    keys, user = parser.keys, parser.user
    folders = _folders(files, folder_keys, keys)
    stream = _register(con, files, parser, skip)
    as_id = "id"
    while as_id in {key.lower() for key in keys}:
        as_id += "_"
    ids = {} if user is None else {user: as_id}
    relation = _rename_columns([*keys, *ids.values()], folders)
    columns = dict.fromkeys([*keys, *folders], "VARCHAR")
    return Table(relation, columns, name, False, frozenset(folders), ids=ids, stream=stream)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _rename_columns(names: Sequence[str], folders: Mapping[str, Sequence[str | None]]) -> str:
    """The relation of the stream with the names of its columns, and with the values of folders by a row's file."""
    columns = [f"{column(k)} AS {quote_name(name)}" for k, name in enumerate(names)]
    for folder, of_files in folders.items():
        columns.append(f"([{', '.join(map(_text, of_files))}])[CAST({FILE} AS INTEGER)] AS {quote_name(folder)}")
    return f"(SELECT {', '.join(columns)} FROM {EVENTS})"


def _register(
    con: duckdb.DuckDBPyConnection, files: Sequence[TextFile], parser: CsvParser | JsonParser, skip: bool
) -> RecordStream:
    ((threads,),) = con.execute("SELECT current_setting('threads')").fetchall()
    stream = RecordStream(files, parser, skip, threads)
    try:
        con.register(EVENTS, stream)
    except duckdb.Error as error:
        if "KeyboardInterrupt" in str(error):  # Ctrl-C, which DuckDB reports as a failure of the stream
            raise KeyboardInterrupt from None
        raise
    return stream


def csv_header(file: TextFile) -> CsvHeader:
    """Read the header of a file, or refuse it. Errors quote nothing of it: without a header it is somebody's row."""
    name = file.name
    with closing(file.open()) as opened:
        record = b""
        while len(record) <= LONGEST_HEADER and b"\n" not in record and (got := opened.read(LONGEST_HEADER)):
            record += got
    if record.startswith(_OTHER_ENCODINGS):
        raise DataError(f"{name!r} is UTF-16 or UTF-32, and CSV is read as UTF-8. Save it as UTF-8 (iconv).")
    record, feed, _ = record.partition(b"\n")
    start = len(record) + len(feed)
    if len(record) > LONGEST_HEADER:
        raise DataError(f"The first line of {name!r} is longer than 64 kB. It must name the columns and end with LF.")
    record = record.removesuffix(b"\r").removeprefix(codecs.BOM_UTF8)
    if b"\r" in record or b"\0" in record:
        raise DataError(
            f"The first line of {name!r} holds a carriage return or a zero byte, and lines end with LF. Save it with "
            "line feeds (tr '\\r' '\\n')."
        )
    columns, delimiter = _header_fields(record, name)
    if len({column.lower() for column in columns}) != len(columns) or not all(columns):
        raise DataError(f"The header of {name!r} has empty or repeated names. Give each column its own.")
    return CsvHeader(columns, delimiter, start)


def _header_fields(record: bytes, name: str) -> tuple[tuple[str, ...], str]:
    try:
        text = record.decode()
    except UnicodeDecodeError:
        text = ""
    if not text:
        raise DataError(f"{name!r} has no header line, or none in UTF-8. The first line must name the columns.")
    outside_quotes = re.sub('"[^"]*"', "", text)
    delimiter = max(",;\t|", key=outside_quotes.count)
    field = f'"(?:[^"]|"")*"|[^"{re.escape(delimiter)}]*'
    if not re.fullmatch(f"(?:{field})(?:{re.escape(delimiter)}(?:{field}))*", text):
        raise DataError(f"The header of {name!r} has a quote that does not close, or out of place. Mend it.")
    found = re.findall(f"{re.escape(delimiter)}({field})", delimiter + text)
    return tuple(f[1:-1].replace('""', '"') if f.startswith('"') else f for f in found), delimiter


def looks_like_data(columns: Iterable[str]) -> bool:
    """Whether a name is a number, so that this is likely the first row of a file without a header."""

    def is_number(name: str) -> bool:
        return any(map(str.isdigit, name)) and all(c in "-+.eE" or c.isdigit() or c.isspace() for c in name)

    return any(map(is_number, columns))


def _folders(files: Sequence[TextFile], keys: frozenset[str], columns: Iterable[str]) -> Mapping[str, list[str | None]]:
    """The values of each folder's name, one for each file; none if a column in the files has such a name."""
    taken = {column.lower() for column in columns}
    if any(key.lower() in taken for key in keys):
        return {}
    parts = [dict(part.split("=", 1) for part in Path(file.path).parts[:-1] if "=" in part) for file in files]
    return {key: [_folder_value(of_file[key]) for of_file in parts] for key in sorted(keys)}


def _folder_value(text: str) -> str | None:
    return None if text == "__HIVE_DEFAULT_PARTITION__" else unquote(text)


def _text(value: str | None) -> str:
    return "CAST(NULL AS VARCHAR)" if value is None else literal(value)


def json_keys(files: Sequence[TextFile], records: int = 1000) -> list[str]:
    """The keys of the first records: data, for the data holder's eyes only."""
    keys: dict[str, None] = {}
    for file in files:
        with closing(file.open()) as opened:
            for line in opened.read(1 << 20).split(b"\n")[:records]:
                keys.update(dict.fromkeys(_keys(line)))
    chosen: dict[str, str] = {}
    for key in keys:
        chosen.setdefault(key.lower(), key)
    return list(chosen.values())[:MOST_KEYS]


def _keys(line: bytes) -> list[str]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return [key for key in found if 0 < len(key) <= 100 and key.isprintable()] if isinstance(found, dict) else []
