"""Parquet footers without the logical types of columns, so that values are read as they are stored.

A file's schema declares bytes as text, JSON or a geometry, and whole numbers as times. A reader stops at a value that
is not of the declared type, so one person's value would refuse everybody's. Without the declaration the column holds
plain bytes or whole numbers, and each value is then judged by itself (see `declared.py`).

The footer is a structure of Thrift's compact protocol. It begins with the schema, a list of elements from the root
down. Everything after the schema, such as where the columns lie, stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

_TRUTHS, _BYTE, _NUMBERS, _DOUBLE, _BINARY, _LISTS, _STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 12
"""Types of fields of the compact protocol; there are no maps in the schema."""
_NAME, _CHILDREN, _CONVERTED, _LOGICAL = 4, 5, 6, 10
"""Fields of an element of the schema, by their numbers in `parquet.thrift`."""
_SCHEMA = 2
"""The field of the footer that holds the schema."""


class _Field(NamedTuple):
    number: int
    kind: int
    value: bytes


def without_meaning(footer: bytes, columns: Collection[str]) -> bytes:
    """The footer without the logical types of these columns, if they are not nested.

    Raises ValueError or IndexError if it is not a footer.
    """
    at, number = 0, 0
    while number != _SCHEMA:
        number, kind, at = _head(footer, at, number)
        if number != _SCHEMA:
            at = _end(footer, at, kind)
    length, _, first = _list_head(footer, at)
    elements, at = [], first
    for _ in range(length):
        fields, at = _fields(footer, at)
        elements.append(fields)
    flat = _flat(elements)
    written = [_encode(_plain(fields, columns) if k in flat else fields) for k, fields in enumerate(elements)]
    return footer[:first] + b"".join(written) + footer[at:]


def _flat(elements: list[list[_Field]]) -> set[int]:
    """The positions of the columns right under the root that have no children."""
    found: set[int] = set()
    depth = [1]  # how many elements are still to come, at each depth
    for k, fields in enumerate(elements):
        depth[-1] -= 1
        children = next((_varint(field.value, 0)[0] // 2 for field in fields if field.number == _CHILDREN), 0)
        if children:
            depth.append(children)
        elif len(depth) == 2:
            found.add(k)
        while depth and not depth[-1]:
            depth.pop()
    return found


def _plain(fields: list[_Field], columns: Collection[str]) -> list[_Field]:
    name = next(field.value for field in fields if field.number == _NAME)
    if name[_varint(name, 0)[1] :].decode(errors="replace") not in columns:
        return fields
    return [field for field in fields if field.number not in (_CONVERTED, _LOGICAL)]


def _fields(data: bytes, at: int) -> tuple[list[_Field], int]:
    """The fields of the structure that begins here, and where it ends."""
    fields, number = [], 0
    while data[at]:
        number, kind, start = _head(data, at, number)
        at = _end(data, start, kind)
        fields.append(_Field(number, kind, data[start:at]))
    return fields, at + 1


def _encode(fields: list[_Field]) -> bytes:
    written, last = bytearray(), 0
    for number, kind, value in fields:
        if not 0 < number - last < 16:
            raise ValueError("fields out of order")
        written += bytes([number - last << 4 | kind]) + value
        last = number
    return bytes(written) + b"\0"


def _head(data: bytes, at: int, last: int) -> tuple[int, int, int]:
    """A field's number and type, and where its value begins."""
    distance, kind = divmod(data[at], 16)
    if distance:
        return last + distance, kind, at + 1
    number, at = _varint(data, at + 1)
    return number // 2, kind, at


def _list_head(data: bytes, at: int) -> tuple[int, int, int]:
    """The length of a list, the type of its elements, and where the first begins."""
    length, kind = divmod(data[at], 16)
    if length < 15:
        return length, kind, at + 1
    length, at = _varint(data, at + 1)
    return length, kind, at


def _end(data: bytes, at: int, kind: int) -> int:
    """The end of a value."""
    if kind in _TRUTHS:
        return at
    if kind in _NUMBERS:
        return _varint(data, at)[1]
    if kind in (_BYTE, _DOUBLE):
        return at + (1 if kind == _BYTE else 8)
    if kind == _BINARY:
        length, at = _varint(data, at)
        return at + length
    if kind == _STRUCT:
        return _fields(data, at)[1]
    if kind not in _LISTS:
        raise ValueError("no such type")
    length, inner, at = _list_head(data, at)
    for _ in range(length):
        at = at + 1 if inner in _TRUTHS else _end(data, at, inner)
    return at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends."""
    number, shift = 0, 0
    while data[at] & 128:
        number |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
    return number | data[at] << shift, at + 1
