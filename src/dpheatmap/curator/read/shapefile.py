"""Shapefiles of points: a .shp with the points, and a .dbf beside it with a row of text for each.

The .dbf declares the columns, with their widths and types, and every row has the same number of bytes: a row is found
by its number, and its values by their places in it. The points are records with lengths of their own, and both files
are read side by side. Text is in the encoding that a .cpg names, or else in Latin-1. Only UTF-8 and encodings of one
byte a letter are read, in which two different values never become one text. A value that can't be decoded is null. A
row that is marked as deleted is nobody's.

A number is whole if its column declares no decimals and it is written with digits alone.
"""

from __future__ import annotations

import codecs
import math
import os
import re
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dpheatmap.curator.read.geometry import Geometry, system_of_text
from dpheatmap.curator.read.records import Layout, Wanted
from dpheatmap.errors import DataError

_POINT = "geometry"
_MAGIC, _HEADER, _RECORD = 9994, 100, 8
_KINDS = (1, 11, 21)
"""Points, those with a height, and those with a measure."""
_LONGEST = 128
_FIELD = 32
_WHOLE = re.compile(r"-?[0-9]{1,38}")
_ENCODINGS = re.compile(r"utf-8|ascii|iso8859-\d+|cp(437|737|775|85\d|86\d|874|125\d)|koi8-[rtu]")
_DELETED = ord("*")
_NO_MORE = (math.nan, math.nan)
"""What follows the last point."""


class _Field(NamedTuple):
    name: str
    kind: str
    start: int
    width: int


class _Table(NamedTuple):
    """The header of a .dbf."""

    rows: int
    start: int
    width: int
    fields: tuple[_Field, ...]
    encoding: str


class Shapefiles:
    """The reader of shapefiles."""

    record = "row"
    units: dict[str, str] = {}  # noqa: RUF012

    def layout(self, path: str, table: str | None) -> Layout:
        """The columns of the .dbf, and the points of the .shp, in the system that a .prj names."""
        fields = _table(path).fields
        return Layout((_POINT, *(field.name for field in fields)), _POINT, _system(path))

    def lines(self, path: str, table: str | None, wanted: Wanted) -> Iterator[bytes]:
        """Read the rows of the .dbf, each with the point of its number."""
        known = _table(path)
        chosen = [next(field for field in known.fields if field.name == column) for column in wanted.columns]
        with ExitStack() as files:
            rows = files.enter_context(open(_beside(path, ".dbf"), "rb"))
            rows.seek(known.start)
            points = _points(files.enter_context(open(path, "rb")), path)
            for _ in range(known.rows):
                row, point = rows.read(known.width), next(points, _NO_MORE)
                if len(row) < known.width or point is _NO_MORE:
                    raise _damage(path)
                if row[0] == _DELETED:
                    yield b"\n"
                else:
                    values = [_value(row[f.start : f.start + f.width], f, known.encoding) for f in chosen]
                    yield wanted.line(values, *(point or (None, None)))
            if next(points, _NO_MORE) is not _NO_MORE:
                raise _damage(path)


def _beside(path: str, ending: str) -> str:
    """The file of the same name with another ending, in small or capital letters."""
    found = [f"{os.path.splitext(path)[0]}{each}" for each in (ending, ending.upper())]
    return next((file for file in found if os.path.isfile(file)), found[0])


def _damage(path: str) -> DataError:
    return DataError(f"{Path(path).name!r} is damaged, or its .dbf is. Export it anew.")


def _points(file: BinaryIO, path: str) -> Iterator[tuple[float, float] | None]:
    """The points in their order; None for other shapes."""
    header = file.read(_HEADER)
    if len(header) < _HEADER or struct.unpack_from(">i", header)[0] != _MAGIC:
        raise _damage(path)
    while len(start := file.read(_RECORD)) == _RECORD:
        size = 2 * struct.unpack(">ii", start)[1]
        if size < 4:
            raise _damage(path)
        content = file.read(min(size, _LONGEST))
        if len(content) < min(size, _LONGEST):
            raise _damage(path)
        if size > _LONGEST:
            file.seek(size - _LONGEST, os.SEEK_CUR)
        if len(content) >= 20 and struct.unpack_from("<i", content)[0] in _KINDS:
            x, y = struct.unpack_from("<dd", content, 4)
            yield x, y
        else:
            yield None


def _table(path: str) -> _Table:
    """The header of the .dbf beside a .shp."""
    try:
        with open(_beside(path, ".dbf"), "rb") as file:
            header = file.read(_FIELD)
            rows, start, width = struct.unpack_from("<IHH", header, 4)
            rest = file.read(max(0, start - _FIELD))
    except (OSError, struct.error):
        raise DataError(f"{Path(path).name!r} has no .dbf beside it with its columns. Keep both together.") from None
    encoding = _encoding(path)
    fields, at = [], 1
    for place in range(0, len(rest) - _FIELD + 1, _FIELD):
        if rest[place] == 0x0D:
            break
        name, size = rest[place : place + 11].partition(b"\0")[0], rest[place + 16]
        fields.append(_Field(_text(name, encoding) or "", chr(rest[place + 11]), at, size))
        at += size
    if at != width or not fields:
        raise _damage(path)
    return _Table(rows, start, width, tuple(fields), encoding)


def _encoding(path: str) -> str:
    """The encoding that a .cpg names, or Latin-1."""
    try:
        named = Path(_beside(path, ".cpg")).read_text("ascii").strip()
        found = codecs.lookup(f"cp{named}" if named.isdecimal() and len(named) <= 4 else named).name
    except OSError:
        return "latin-1"
    except (LookupError, ValueError):
        found = ""
    if not _ENCODINGS.fullmatch(found):
        raise DataError(f"The .cpg beside {Path(path).name!r} names no encoding that is read. Export it as UTF-8.")
    return found


def _text(value: bytes, encoding: str) -> str | None:
    try:
        return value.decode(encoding)
    except UnicodeDecodeError:
        return None


def _value(stored: bytes, field: _Field, encoding: str) -> Any:
    """A value by the type of its column; None if there is none."""
    if field.kind == "C":
        return (_text(stored.rstrip(b" \0"), encoding) or None) if stored.strip(b" \0") else None
    text = stored.strip(b" \0").decode("latin-1")
    if field.kind in "NF":
        return int(text) if _WHOLE.fullmatch(text) else _float(text)
    if field.kind == "L":
        return {"T": True, "Y": True, "F": False, "N": False}.get(text.upper())
    if field.kind == "D" and re.fullmatch("[0-9]{8}", text):
        return f"{text[:4]}-{text[4:6]}-{text[6:]}"
    return None


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _system(path: str) -> Geometry:
    try:
        return system_of_text(Path(_beside(path, ".prj")).read_text("utf-8", errors="replace")[:10_000])
    except OSError:
        return system_of_text("")
