"""Files of events as one table: CSV, JSON and Parquet, alone, by a pattern, or in a folder of partitions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import duckdb

from dpheatmap._util.database_url import public_url
from dpheatmap._util.files import matching, not_a_pattern
from dpheatmap.curator.engines.duckdb import quietly
from dpheatmap.curator.read.flatgeobuf import FlatGeobufs
from dpheatmap.curator.read.geojson_features import LINES, open_geojson
from dpheatmap.curator.read.gpx import Tracks
from dpheatmap.curator.read.parquet import open_parquet
from dpheatmap.curator.read.question import Question
from dpheatmap.curator.read.record_tables import open_records
from dpheatmap.curator.read.records import Format
from dpheatmap.curator.read.shapefile import Shapefiles
from dpheatmap.curator.read.sql_text import literal
from dpheatmap.curator.read.sqlite_file import SqliteTables
from dpheatmap.curator.read.table import Table
from dpheatmap.curator.read.text import json_keys, open_csv, open_json
from dpheatmap.curator.read.text_file import TextFile
from dpheatmap.curator.read.workbook import Workbooks
from dpheatmap.curator.read.zip_members import list_members
from dpheatmap.errors import DataError, ParameterError

_FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".json": "json", ".jsonl": "json", ".ndjson": "json", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite",
    ".gpkg": "sqlite", ".xlsx": "sheets", ".xlsm": "sheets", ".gpx": "gpx", ".shp": "shapefile", ".fgb": "flatgeobuf",
    ".geojson": "geojson", **dict.fromkeys(LINES, "geojson lines"),
}  # fmt: skip
_WITH_TABLES = ("sqlite", "sheets")
_COMPRESSIONS = (".gz", ".zst")
_ZIPPED = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
"""Endings of files that are read in a zip. Others, such as notes to the reader, are left alone."""
_READERS: dict[str, Format] = {
    "sqlite": SqliteTables(),
    "sheets": Workbooks(),
    "gpx": Tracks(),
    "shapefile": Shapefiles(),
    "flatgeobuf": FlatGeobufs(),
}
"""Readers that make lines of a file's records, by format."""
_BESIDE = (".dbf", ".shx", ".prj", ".cpg", ".qpj", ".qix", ".sbn", ".sbx", ".qmd", ".shp.xml")
"""Endings of the files that a shapefile consists of, besides the .shp."""
_STORES = re.compile(r"(s3|s3a|s3n|gs|gcs|r2|https?)://")


@contextmanager
def refuse_changes(events: Any) -> Iterator[None]:
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


def open_files(
    con: duckdb.DuckDBPyConnection,
    path: str,
    bad_lines: str = "stop",
    question: Question | None = None,
    table: str | None = None,
) -> Table:
    """Open a file, pattern, folder or address as a table, and read the columns of a ``question``, or all.

    ``bad_lines`` tells whether a broken line of a text file stops the reading ("stop") or is left out ("skip").
    ``table`` names a table, sheet or layer of files that have several.
    """
    files = _files_in_store(con, path) if _STORES.match(path) else matching(path)
    if not files:
        if path and Path(path).is_dir():
            raise DataError(f"There is no file in the folder {path!r}. Check the path.")
        if "://" in path:
            raise DataError(
                f"{public_url(path, 'input')} is no address that can be read here. Give the path of a file."
            )
        if path == "-" or os.path.exists(path):
            raise DataError(
                f"{path!r} is a pipe or a device, and a table is read more than once. Write it to a file first."
            )
        raise DataError(f"No file is called {path!r} or matches it. Check the path.")
    _refuse_names_that_are_no_text(files)
    if any(file.lower().endswith(".shp") for file in files):
        files = [file for file in files if not file.lower().endswith(_BESIDE)]
    sources = [source for file in files for source in _sources(file)]
    formats = {_format(file.path if file.member is None else file.member) for file in sources}
    if len(formats) != 1:
        raise DataError(f"The files that match {path!r} are of different formats. Give one format at a time.")
    name, kind = Path(path).name, formats.pop()
    names = "[" + ", ".join(literal(not_a_pattern(file)) for file in files) + "]"
    keys = _partitions(path, files)
    if table is not None and kind not in _WITH_TABLES:
        raise ParameterError(f"table means nothing to {name!r}, which is one. Leave it out.")
    if kind == "parquet":
        return open_parquet(con, files, names, name, keys)
    if _STORES.match(path):
        raise DataError(
            f"{public_url(path, 'input')} is not Parquet, and anything else is read from files on this machine. "
            "Download it first, or store it as Parquet."
        )
    skip = bad_lines == "skip"
    if kind in _READERS:
        return open_records(con, _READERS[kind], sources, name, keys, question, skip, table)
    if kind.startswith("geojson"):
        return open_geojson(con, sources, name, keys, question, skip)
    if kind == "csv":
        return open_csv(con, sources, name, keys, question, skip)
    question = Question(frozenset(json_keys(sources)), None) if question is None else question
    return open_json(con, sources, name, keys, question, skip)


def _sources(file: str) -> list[TextFile]:
    """The file, or the members of a zip that are text in lines."""
    if not file.lower().endswith(".zip"):
        return [TextFile(file)]
    members = [name for name in list_members(file) if Path(name).suffix.lower() in _ZIPPED]
    if not members:
        raise DataError(f"{Path(file).name!r} has no file in it that ends in {', '.join(_ZIPPED)}. Unpack it.")
    return [TextFile(file, member=member) for member in members]


def _refuse_names_that_are_no_text(files: Iterable[str]) -> None:
    for file in files:
        try:
            file.encode()
        except UnicodeEncodeError:
            raise DataError(
                f"The name of {Path(file).name!r} is not UTF-8, or this terminal is not. Rename the file, or set "
                "LC_ALL=C.UTF-8."
            ) from None


def _files_in_store(con: duckdb.DuckDBPyConnection, address: str) -> list[str]:
    """The files of an object store that an address names or matches, through an extension that must be there."""
    sql = "SELECT installed FROM duckdb_extensions() WHERE extension_name = 'httpfs'"
    if con.execute(sql).fetchall() != [(True,)]:
        raise DataError(
            "Reading from an object store needs DuckDB's extension httpfs, which is not installed; nothing is ever "
            "fetched by itself. Run: python -c \"import duckdb; duckdb.sql('INSTALL httpfs')\""
        )
    con.execute("LOAD httpfs")
    name = public_url(address, "input")
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
            f"{Path(file).name!r} has no known ending. Use one of {', '.join(_FORMATS)}, also compressed (.gz, .zst) "
            "or zipped (.zip). Read other files in Python, which takes data frames."
        )
    return _FORMATS[suffixes[-1]]
