"""Counts on disk: a Parquet file that any tool opens, and that is used where it lies. Private: exact weights of people.

A row is an occupied cell: its Morton ``code`` and the weight of all cells before it, ``weight_before``; one more row
ends the file, with the code after the last cell and the weight of everybody. These are the two arrays of `Counts`, so
nothing has to be decoded: each column is stored plain, as one run of 64-bit integers at a multiple of eight, and is
mapped into memory. A release then reads the pages of the disk that its bisections touch, however large the file is.

No library writes Parquet like this without holding a column several times in memory. The bytes between the columns are
few, and `parquet_bytes.py` makes them. Where they are follows from the number of rows, so that reading needs no parser:
it looks whether they are what they must be.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator
from dataclasses import asdict
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpheatmap.budget import UNITS
from dpheatmap.curator.counts import Counts
from dpheatmap.curator.ledger_chain import Part
from dpheatmap.curator.parquet_bytes import MAGIC, Column, footer, page_header
from dpheatmap.domain import Domain
from dpheatmap.embedded import connect
from dpheatmap.errors import DataError, DpheatmapError
from dpheatmap.files import not_a_pattern, replace_whole
from dpheatmap.quadtree import Ints

KEY = "dpheatmap-counts"
FORMAT = 1
PRIVATE = "exact weights of people: never publish this file"
COLUMNS = ("code", "weight_before")
PAGE = 2**27
"""Values in a page, whose size in bytes is a 32-bit number. A column of several pages is copied instead of mapped."""


class Page(NamedTuple):
    """Values ``first`` to ``last - 1`` of a column, where their header starts, and the header."""

    column: int
    first: int
    last: int
    start: int
    header: bytes

    @property
    def values(self) -> int:
        """Where the values start."""
        return self.start + len(self.header)

    @property
    def end(self) -> int:
        """Where the values end."""
        return self.values + 8 * (self.last - self.first)


def pages(rows: int) -> Iterator[Page]:
    """Where everything is in a file of so many rows; the values of each column start at a multiple of eight."""
    start = len(MAGIC)
    for column in range(len(COLUMNS)):
        start += -(start + len(page_header(min(rows, PAGE)))) % 8
        for first in range(0, rows, PAGE):
            last = min(first + PAGE, rows)
            page = Page(column, first, last, start, page_header(last - first))
            yield page
            start = page.end


def save(counts: Counts, path: str | PathLike[str]) -> None:
    """Write counts, whole or not at all, to a file that only its owner may read."""
    rows = len(counts.sums)
    end = np.array([4**counts.domain.depth], dtype=np.int64)
    written: list[list[Page]] = [[], []]
    with replace_whole(path, private=True) as temporary, temporary.open("r+b") as file:
        file.write(MAGIC)
        for page in pages(rows):
            written[page.column].append(page)
            file.write(bytes(page.start - file.tell()) + page.header)
            if page.column == 0:
                file.write(counts.codes[page.first : page.last].data)
                file.write(end.data if page.last == rows else b"")
            else:
                file.write(counts.sums[page.first : page.last].data)
        columns = [Column(name, of[0].start, of[-1].end, rows) for name, of in zip(COLUMNS, written, strict=True)]
        file.write(footer(columns, {KEY: json.dumps(_describe(counts))}))


def _describe(counts: Counts) -> dict[str, Any]:
    return {
        "private": PRIVATE,
        "format": FORMAT,
        "domain": counts.domain.to_dict(),
        "units_per_person": UNITS,
        "part": counts.part,
        "report": None if counts.report is None else asdict(counts.report),
        "turns": counts.turns.tolist(),
    }


def load(path: str | PathLike[str]) -> Counts:
    """The counts of a file, mapped into memory; refuses what `save` did not write."""
    from dpheatmap.curator.engines import RowReport

    name = Path(fspath(path)).name
    rows, metadata = _metadata(path, name)
    if not isinstance(metadata.get("format"), int) or metadata["format"] > FORMAT:
        raise DataError(f"{name} is of a newer format of counts than this version reads. Update dpheatmap.")
    try:
        domain = Domain.from_dict(metadata["domain"])
        report = None if metadata["report"] is None else RowReport(**metadata["report"])
        part = metadata["part"]
        part = None if part is None else Part(part[0], part[1], tuple(part[2]))
        codes, sums = (_column(path, rows, column) for column in range(len(COLUMNS)))
        counts = Counts(domain, codes[:-1], sums, report, part, np.array(metadata["turns"], dtype=np.int64))
        fits = codes[-1] == 4**domain.depth and sums[0] == 0 and metadata["units_per_person"] == UNITS
        fits &= report is None or counts.total <= UNITS * report.people
    except (LookupError, TypeError, ValueError, OSError, DpheatmapError):
        fits = False
    if not fits:
        raise DataError(f"{name} is damaged or was altered: it does not fit together. Aggregate the table again.")
    return counts


def _metadata(path: str | PathLike[str], name: str) -> tuple[int, dict[str, Any]]:
    import duckdb

    if not Path(path).is_file():
        raise DataError(f"There is no file {fspath(path)!r}. Check the path.")
    file = not_a_pattern(path)
    with connect() as con:
        try:
            ((rows,),) = con.execute("SELECT num_rows FROM parquet_file_metadata(?)", [file]).fetchall()
            sql = "SELECT value FROM parquet_kv_metadata(?) WHERE decode(key) = ?"
            found = con.execute(sql, [file, KEY]).fetchall()
            metadata = json.loads(found[0][0]) if found else None
        except (duckdb.Error, ValueError, RecursionError):
            raise DataError(f"{name} is cut short or not Parquet. Aggregate the table again.") from None
    if not isinstance(metadata, dict):
        raise DataError(f"{name} holds no counts. Make it with the save of what aggregate returns.")
    return rows, metadata


def _column(path: str | PathLike[str], rows: int, column: int) -> Ints:
    """One column, mapped if it is one run of values, which it is up to 134 million cells."""
    with Path(path).open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    found = [page for page in pages(rows) if page.column == column]
    if not found or any(mapped[page.start : page.values] != page.header for page in found):
        raise ValueError("not as it was written")
    parts = [np.frombuffer(mapped, np.int64, page.last - page.first, page.values) for page in found]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
