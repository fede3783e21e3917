"""The few bytes that make Parquet of plain columns of 64-bit integers: headers of pages, and what ends the file.

They are structures of Thrift's compact protocol: a field is a byte with its distance from the field before and its
type, then its value; integers are zigzag varints; a structure ends with a zero byte. The numbers of the fields and the
meaning of their values are those of the Parquet format (`parquet.thrift`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

MAGIC = b"PAR1"
_I32, _I64, _TEXT, _LIST, _STRUCT = 5, 6, 8, 9, 12
_INT64, _REQUIRED, _PLAIN, _RLE, _UNCOMPRESSED, _DATA_PAGE = 2, 0, 0, 3, 0, 0


class Column(NamedTuple):
    """A column: its name, where its pages start and end, and its number of values."""

    name: str
    start: int
    end: int
    values: int


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number >= 128:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def _whole(number: int) -> bytes:
    return _varint(2 * number)  # zigzag: all numbers here are at least 0


def _text(text: str) -> bytes:
    encoded = text.encode()
    return _varint(len(encoded)) + encoded


def _list(kind: int, elements: Sequence[bytes]) -> bytes:
    few = len(elements) < 15
    start = bytes([len(elements) << 4 | kind]) if few else bytes([15 << 4 | kind]) + _varint(len(elements))
    return start + b"".join(elements)


def _struct(*fields: tuple[int, int, bytes]) -> bytes:
    """A structure of (number, type, value), numbers ascending."""
    written, last = bytearray(), 0
    for number, kind, value in fields:
        written += bytes([number - last << 4 | kind]) + value
        last = number
    return bytes(written) + b"\0"


def page_header(values: int) -> bytes:
    """What stands before so many plain 64-bit values."""
    levels = (_I32, _whole(_RLE))
    data = _struct((1, _I32, _whole(values)), (2, _I32, _whole(_PLAIN)), (3, *levels), (4, *levels))
    size = (_I32, _whole(8 * values))
    return _struct((1, _I32, _whole(_DATA_PAGE)), (2, *size), (3, *size), (5, _STRUCT, data))


def footer(columns: Sequence[Column], metadata: Mapping[str, str]) -> bytes:
    """What ends a file of one row group: the schema, where the columns are, and key-value metadata."""
    rows = columns[0].values
    root = _struct((4, _TEXT, _text("schema")), (5, _I32, _whole(len(columns))))
    schema = [
        _struct((1, _I32, _whole(_INT64)), (3, _I32, _whole(_REQUIRED)), (4, _TEXT, _text(column.name)))
        for column in columns
    ]
    group = _struct(
        (1, _LIST, _list(_STRUCT, [_chunk(column) for column in columns])),
        (2, _I64, _whole(sum(column.end - column.start for column in columns))),
        (3, _I64, _whole(rows)),
    )
    pairs = [_struct((1, _TEXT, _text(key)), (2, _TEXT, _text(value))) for key, value in metadata.items()]
    written = _struct(
        (1, _I32, _whole(1)),
        (2, _LIST, _list(_STRUCT, [root, *schema])),
        (3, _I64, _whole(rows)),
        (4, _LIST, _list(_STRUCT, [group])),
        (5, _LIST, _list(_STRUCT, pairs)),
        (6, _TEXT, _text("dpheatmap")),
    )
    return written + len(written).to_bytes(4, "little") + MAGIC


def _chunk(column: Column) -> bytes:
    size = (_I64, _whole(column.end - column.start))
    described = _struct(
        (1, _I32, _whole(_INT64)),
        (2, _LIST, _list(_I32, [_whole(_PLAIN)])),
        (3, _LIST, _list(_TEXT, [_text(column.name)])),
        (4, _I32, _whole(_UNCOMPRESSED)),
        (5, _I64, _whole(column.values)),
        (6, *size),
        (7, *size),
        (9, _I64, _whole(column.start)),
    )
    return _struct((2, _I64, _whole(column.start)), (3, _STRUCT, described))
