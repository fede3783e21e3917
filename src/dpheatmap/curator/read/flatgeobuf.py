"""FlatGeobuf files of points: a header with the columns and their types, an index, and then the features.

Each feature is a run of bytes with its length before it. A feature is read from its own bytes: all places in it are
counted from its start and checked against its length, so nothing in it leads to another. One that can't be read is
broken. Its values have the types that the header declares.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dpheatmap.curator.read.geometry import Geometry, system_of_text
from dpheatmap.curator.read.kernels import LONGEST
from dpheatmap.curator.read.records import BROKEN, DEGREES, Layout, Wanted
from dpheatmap.errors import DataError

_MAGIC = b"fgb\x03fgb"
_POINT = "geometry"
_LONGEST_HEADER = 10 << 20
_NODE = 40
"""Bytes of a node of the index."""
_IS_POINT = 1
_BOOL, _STRING, _JSON, _TIME, _BINARY = 2, 11, 12, 13, 14
_NUMBERS = {0: "b", 1: "B", _BOOL: "?", 3: "h", 4: "H", 5: "i", 6: "I", 7: "q", 8: "Q", 9: "f", 10: "d"}
_DEGREES = 4326


class _Table:
    """A table of flatbuffers: fields by their number, in bytes that end somewhere."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._vtable = at - _take(data, at, "i")

    def _place(self, field: int) -> int | None:
        if 4 + 2 * field >= _take(self._data, self._vtable, "H"):
            return None
        offset = _take(self._data, self._vtable + 4 + 2 * field, "H")
        return self._at + offset if offset else None

    def number(self, field: int, kind: str, default: int = 0) -> int:
        place = self._place(field)
        return default if place is None else int(_take(self._data, place, kind))

    def table(self, field: int) -> _Table | None:
        place = self._place(field)
        return None if place is None else _Table(self._data, place + _take(self._data, place, "I"))

    def bytes_of(self, field: int, width: int = 1) -> bytes:
        """The bytes of a vector, or of a text."""
        place = self._place(field)
        if place is None:
            return b""
        start = place + _take(self._data, place, "I")
        size = width * _take(self._data, start, "I")
        if start + 4 + size > len(self._data):
            raise struct.error
        return self._data[start + 4 : start + 4 + size]

    def tables(self, field: int) -> list[_Table]:
        place = self._place(field)
        if place is None:
            return []
        start = place + _take(self._data, place, "I")
        ends = [start + 4 + 4 * k for k in range(min(_take(self._data, start, "I"), len(self._data)))]
        return [_Table(self._data, at + _take(self._data, at, "I")) for at in ends]


def _take(data: bytes, at: int, kind: str) -> Any:
    """A number at a place; struct.error outside of the bytes."""
    if at < 0:
        raise struct.error
    return struct.unpack_from(f"<{kind}", data, at)[0]


class _Header(NamedTuple):
    names: tuple[str, ...]
    kinds: tuple[int, ...]
    kind: int
    geometry: Geometry
    start: int
    features: int


class FlatGeobufs:
    """The reader of FlatGeobuf files."""

    record = "feature"
    units: dict[str, str] = {}  # noqa: RUF012

    def layout(self, path: str, table: str | None) -> Layout:
        """The columns of the header, and the points."""
        header = _header(path)
        return Layout((_POINT, *header.names), _POINT, header.geometry)

    def lines(self, path: str, table: str | None, wanted: Wanted) -> Iterator[bytes]:
        """Read the features of a file."""
        header = _header(path)
        places = [header.names.index(column) for column in wanted.columns]
        with open(path, "rb") as file:
            file.seek(header.start)
            for data in _features(file, path, header.features):
                try:
                    feature = None if data is None else _Table(data, _take(data, 0, "I"))
                    yield BROKEN if feature is None else _line(feature, header, places, wanted)
                except (struct.error, IndexError):
                    yield BROKEN


def _features(file: BinaryIO, path: str, number: int) -> Iterator[bytes | None]:
    """The bytes of each feature; None if they are too many. There are as many as a header says, unless that is 0."""
    found = 0
    while start := file.read(4):
        found += 1
        if len(start) < 4:
            raise _damage(path)
        (size,) = struct.unpack("<I", start)
        if size > LONGEST:
            file.seek(size, os.SEEK_CUR)
            yield None
            continue
        data = file.read(size)
        if len(data) < size:
            raise _damage(path)
        yield data
    if number not in (0, found):
        raise _damage(path)


def _line(feature: _Table, header: _Header, places: list[int], wanted: Wanted) -> bytes:
    values = _values(feature.bytes_of(1), header)
    geometry = feature.table(0)
    point: tuple[float, float] | tuple[None, None] = (None, None)
    if geometry is not None and (geometry.number(6, "B") or header.kind) == _IS_POINT:
        xy = geometry.bytes_of(1, 8)
        point = struct.unpack("<dd", xy) if len(xy) == 16 else (None, None)
    return wanted.line([values.get(place) for place in places], *point)


def _values(data: bytes, header: _Header) -> dict[int, Any]:
    """The values of a feature by the number of their column."""
    values: dict[int, Any] = {}
    at = 0
    while at < len(data):
        column = _take(data, at, "H")
        kind = header.kinds[column]
        if kind in _NUMBERS:
            value: Any = _take(data, at + 2, _NUMBERS[kind])
            at += 2 + struct.calcsize(_NUMBERS[kind])
        else:
            size = _take(data, at + 2, "I")
            value, at = data[at + 6 : at + 6 + size], at + 6 + size
            if at > len(data):
                raise struct.error
            value = value if kind == _BINARY else _text(value)
        if column in values:
            raise struct.error
        values[column] = value
    return values


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _damage(path: str) -> DataError:
    return DataError(f"{Path(path).name!r} is damaged, or not FlatGeobuf. Export it anew.")


def _header(path: str) -> _Header:
    try:
        with open(path, "rb") as file:
            magic, (size,) = file.read(8), struct.unpack("<I", file.read(4))
            if not magic.startswith(_MAGIC) or size > _LONGEST_HEADER:
                raise struct.error
            data = file.read(size)
        table = _Table(data, _take(data, 0, "I"))
        columns = table.tables(7)
        names = tuple(column.bytes_of(0).decode() for column in columns)
        kinds = tuple(column.number(1, "B") for column in columns)
        if any(kind not in (*_NUMBERS, _STRING, _JSON, _TIME, _BINARY) for kind in kinds):
            raise struct.error
        features = table.number(8, "Q")
        start = 12 + size + _size_of_index(features, table.number(9, "H", 16))
        return _Header(names, kinds, table.number(2, "B"), _system(table.table(10)), start, features)
    except (struct.error, UnicodeDecodeError, OSError, IndexError):
        raise _damage(path) from None


def _size_of_index(features: int, node: int) -> int:
    """Bytes of the index: nodes for the features, for groups of them, and so on up to the root."""
    if not features or node < 2:
        return 0
    nodes = many = features
    while many > 1:
        many = -(-many // node)
        nodes += many
    return nodes * _NODE


def _system(system: _Table | None) -> Geometry:
    if system is None:
        return system_of_text("")
    name = system.bytes_of(2).decode()[:100] or None
    if system.number(1, "i") == _DEGREES:
        return DEGREES
    return system_of_text(system.bytes_of(4).decode(), name)
