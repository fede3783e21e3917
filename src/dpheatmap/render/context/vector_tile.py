"""A Mapbox vector tile, version 2, decoded in plain Python.

The format is a message of Protocol Buffers: fields with a number and one of three kinds of values. A geometry is a list
of commands with steps from point to point.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dpheatmap.place.domain import Floats
from dpheatmap.render.context.kinds import Shape

_MOVE, _LINE, _CLOSE = 1, 2, 7  # commands
_SHAPES: dict[int, Shape] = {1: "point", 2: "line", 3: "polygon"}
_MOST = 5_000_000  # points of a geometry; no tile that draws in a browser comes near


class TileFeature(NamedTuple):
    """A feature of a tile: lines or rings in fractions of the tile's side, y downward; points are lines of one."""

    shape: Shape
    lines: list[Floats]
    tags: dict[str, Any]


def decode(data: bytes) -> Iterator[TileFeature]:
    """The features of a tile; raises ValueError if it is none."""
    try:
        for number, layer in _fields(data):
            if number == 3:
                yield from _layer(_as_bytes(layer))
    except (IndexError, struct.error, UnicodeDecodeError, OverflowError) as error:
        raise ValueError("not a vector tile") from error


def _layer(data: bytes) -> Iterator[TileFeature]:
    name, extent = "", 4096
    features: list[bytes] = []
    keys: list[str] = []
    values: list[Any] = []
    for number, value in _fields(data):
        match number:
            case 1:
                name = _as_bytes(value).decode()
            case 2:
                features.append(_as_bytes(value))
            case 3:
                keys.append(_as_bytes(value).decode())
            case 4:
                values.append(_value(_as_bytes(value)))
            case 5:
                extent = _as_int(value)
    if extent < 1:
        raise ValueError("a tile without extent")
    for feature in features:
        kind, tags, commands = 0, [], []
        for number, value in _fields(feature):
            match number:
                case 2:
                    tags = _numbers(_as_bytes(value))
                case 3:
                    kind = _as_int(value)
                case 4:
                    commands = _numbers(_as_bytes(value))
        if kind in _SHAPES:
            own = {keys[key]: values[value] for key, value in zip(tags[::2], tags[1::2], strict=True)}
            yield TileFeature(_SHAPES[kind], [line / extent for line in _lines(commands)], {"layer": name} | own)


def _lines(commands: list[int]) -> Iterator[Floats]:
    """The lines, rings or points that a list of commands draws."""
    x = y = at = drawn = 0
    points: list[tuple[int, int]] = []
    while at < len(commands):
        command, count = commands[at] & 7, commands[at] >> 3
        at += 1
        drawn += count
        if drawn > _MOST:
            raise ValueError("too many points")
        if command == _CLOSE:
            points += points[:1]
            continue
        if command not in (_MOVE, _LINE):
            raise ValueError("an unknown command")
        for _ in range(count):
            if command == _MOVE and points:
                yield np.array(points, dtype=np.float64)
                points = []
            x, y = x + _zigzag(commands[at]), y + _zigzag(commands[at + 1])
            at += 2
            points.append((x, y))
    if points:
        yield np.array(points, dtype=np.float64)


def _zigzag(number: int) -> int:
    return (number >> 1) ^ -(number & 1)


def _value(data: bytes) -> Any:
    """A value of a tag: text, a number, or a truth value."""
    for number, value in _fields(data):
        match number:
            case 1:
                return _as_bytes(value).decode()
            case 2:
                return struct.unpack("<f", _as_bytes(value))[0]
            case 3:
                return struct.unpack("<d", _as_bytes(value))[0]
            case 6:
                return _zigzag(_as_int(value))
            case 7:
                return bool(value)
            case _:
                return value
    return None


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message with their numbers."""
    at = 0
    while at < len(data):
        head, at = _varint(data, at)
        match head & 7:
            case 0:
                number, at = _varint(data, at)
                yield head >> 3, number
                continue
            case 1:
                size = 8
            case 5:
                size = 4
            case 2:
                size, at = _varint(data, at)
            case _:
                raise ValueError("an unknown kind of value")
        if at + size > len(data):
            raise ValueError("a field that ends too late")
        yield head >> 3, data[at : at + size]
        at += size


def _numbers(data: bytes) -> list[int]:
    """Packed numbers."""
    found: list[int] = []
    at = 0
    while at < len(data):
        number, at = _varint(data, at)
        found.append(number)
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where the next one starts."""
    number = shift = 0
    while shift < 64:
        byte = data[at]
        number |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return number, at
        shift += 7
    raise ValueError("a number without end")


def _as_bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number instead of text")
    return value


def _as_int(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise ValueError("text instead of a number")
    return value
