"""Files of counts. Private: they hold exact weights of people.

``city.counts.npy`` is a NumPy array of two rows of 64-bit integers; ``city.counts.npy.json`` beside it describes them.
The rows are the two arrays of `Counts`: the Morton codes of the occupied cells, and the weight of all cells before
each. They end with the code after the last cell and the weight of everybody. Then both have a number that the JSON has
too, so that one save's array is not taken for another's. Nothing has to be decoded: the array is mapped into memory,
and a release reads only the pages that its bisections touch, however large the file is.

``city.counts.parquet`` holds the same as a table in one file, written and read by DuckDB. It is for other tools, and
for files of earlier versions. It is read into memory.
"""

from __future__ import annotations

import errno
import json
import secrets
from dataclasses import asdict
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap._util.duckdb_connection import connect
from dpheatmap._util.files import not_a_pattern, replace_whole
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import DataError, DpheatmapError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.trust import PERSON, Trust
from dpheatmap.slicing.part import Part

KEY = "dpheatmap-counts"
FORMAT = 2
PRIVATE = "exact weights of people: never publish this file"
ARRAY = ".npy"
"""The ending of an array's file; counts of any other name are a table."""
_NUMPY = b"\x93NUMPY"
_PIECE = 2**20


def save(counts: Counts, path: str | PathLike[str]) -> None:
    """Write counts, whole or not at all, to files that only their owner may read."""
    if Path(path).suffix.lower() == ARRAY:
        _save_array(counts, path)
    else:
        _save_parquet(counts, path)


def load(path: str | PathLike[str]) -> Counts:
    """Read the counts of a file, an array mapped into memory; refuse what `save` did not write."""
    name = Path(fspath(path)).name
    if not Path(path).is_file():
        raise DataError(f"There is no file {fspath(path)!r}. Check the path.")
    with Path(path).open("rb") as file:
        is_table = file.read(len(_NUMPY)) != _NUMPY and Path(path).suffix.lower() != ARRAY
    metadata = _metadata_of_table(path, name) if is_table else _metadata_beside(path, name)
    written = metadata.get("format")
    if type(written) is not int or not 1 <= written <= FORMAT:
        raise DataError(f"{name} is of a newer format of counts than this version reads, or of none. Update dpheatmap.")
    try:
        codes, sums = _columns_of_table(path) if is_table else _map_array(path, metadata["token"])
        domain = Domain.from_dict(metadata["domain"])
        report = None if metadata["report"] is None else RowReport(**metadata["report"])
        part = metadata["part"]
        part = None if part is None else Part(part[0], part[1], tuple(part[2]))
        unit = Trust(unit=metadata.get("unit", PERSON)).unit
        counts = Counts(domain, codes[:-1], sums, report, part, np.array(metadata["turns"], dtype=np.int64), unit)
        fits = codes[-1] == 4**domain.depth and sums[0] == 0 and metadata["units_per_person"] == UNITS
        fits &= report is None or counts.total <= UNITS * report.people
    except (LookupError, TypeError, ValueError, ArithmeticError, EOFError, OSError, DpheatmapError):
        fits = False
    if not fits:
        raise DataError(f"{name} is damaged or was altered: it does not fit together. Aggregate the table again.")
    return counts


def _metadata(counts: Counts) -> dict[str, Any]:
    return {
        "private": PRIVATE,
        "format": FORMAT,
        "domain": counts.domain.to_dict(),
        "units_per_person": UNITS,
        "part": counts.part,
        "unit": counts.unit,
        "report": None if counts.report is None else asdict(counts.report),
        "turns": counts.turns.tolist(),
    }


# An array, and JSON beside it


def _beside(path: str | PathLike[str]) -> Path:
    return Path(f"{fspath(path)}.json")


def _save_array(counts: Counts, path: str | PathLike[str]) -> None:
    rows, token = len(counts.sums), secrets.randbits(62)
    with replace_whole(path, private=True) as temporary, replace_whole(_beside(path), private=True) as beside:
        columns = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.int64, shape=(2, rows + 1))
        for start in range(0, rows, _PIECE):  # a mapped array is not held in memory
            codes, sums = (column[start : start + _PIECE] for column in (counts.codes, counts.sums))
            columns[0, start : start + len(codes)], columns[1, start : start + len(sums)] = codes, sums
        columns[0, rows - 1] = 4**counts.domain.depth
        columns[:, rows] = token
        columns.flush()
        del columns
        beside.write_text(json.dumps({**_metadata(counts), "token": token}), encoding="ascii")


def _metadata_beside(path: str | PathLike[str], name: str) -> dict[str, Any]:
    try:
        metadata = json.loads(_beside(path).read_bytes())
    except OSError:
        raise DataError(
            f"{name} has no {_beside(path).name} beside it, which tells what it is about. Keep the two together."
        ) from None
    except (ValueError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict) or metadata.get("private") != PRIVATE:
        raise DataError(f"{name} holds no counts. Make it with the save of what aggregate returns.")
    return metadata


def _map_array(path: str | PathLike[str], token: int) -> tuple[Ints, Ints]:
    columns = np.load(path, mmap_mode="r", allow_pickle=False)
    if columns.dtype != np.int64 or columns.ndim != 2 or len(columns) != 2 or columns.shape[1] < 2:
        raise ValueError("not two rows of integers")
    if not columns.flags.c_contiguous or (columns[:, -1] != token).any():
        raise ValueError("another array than the one that was described")
    codes, sums = np.asarray(columns)[:, :-1]
    return codes, sums


# A table


def _save_parquet(counts: Counts, path: str | PathLike[str]) -> None:
    import duckdb

    metadata = json.dumps(_metadata(counts)).replace("'", "''")
    with replace_whole(path, private=True) as temporary, connect() as con:
        target = str(temporary).replace("'", "''")
        con.register("counts", {"code": np.append(counts.codes, 4**counts.domain.depth), "weight_before": counts.sums})
        try:
            con.execute(f"COPY counts TO '{target}' (FORMAT parquet, USE_TMP_FILE false, KV_METADATA "
                        f"{{'{KEY}': '{metadata}'}})")  # fmt: skip
        except duckdb.IOException as error:
            raise OSError(errno.EIO, "the disk is full or failed") from error


def _metadata_of_table(path: str | PathLike[str], name: str) -> dict[str, Any]:
    import duckdb

    with connect() as con:
        try:
            sql = "SELECT value FROM parquet_kv_metadata(?) WHERE decode(key) = ?"
            found = con.execute(sql, [not_a_pattern(path), KEY]).fetchall()
            metadata = json.loads(found[0][0]) if found else None
        except (duckdb.Error, ValueError, RecursionError):
            raise DataError(f"{name} is cut short or not Parquet. Aggregate the table again.") from None
    if not isinstance(metadata, dict):
        raise DataError(f"{name} holds no counts. Make it with the save of what aggregate returns.")
    return metadata


def _columns_of_table(path: str | PathLike[str]) -> tuple[Ints, Ints]:
    import duckdb

    with connect() as con:
        sql = "SELECT code, weight_before FROM read_parquet(?, hive_partitioning=false)"
        try:
            found = con.execute(sql, [not_a_pattern(path)]).fetchnumpy()
        except duckdb.Error:
            raise ValueError("not as it was written") from None
    codes, sums = (np.asarray(found[name], dtype=np.int64) for name in ("code", "weight_before"))
    if any(np.ma.isMaskedArray(column) for column in found.values()) or len(codes) == 0:
        raise ValueError("something is missing")
    return codes, sums
