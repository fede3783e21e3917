"""The file of the package dpheatmap-coast: land and rivers of the world in tiles of one degree, each packed by itself.

A tile has the rings of its land, closed along the tile's edges, and lines, in whole steps of 1/10,000 degree. Land is
on the left of a ring. A tile that is land or sea all over takes no room. ``scripts/coast`` writes the file.
"""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap.errors import DataError

DEGREE = 10_000
"""Steps in a degree, and on a tile's side."""

Steps = NDArray[np.int64]
"""Points in whole steps, east and north of 0, 0."""

_MAGIC = b"dpheatmap coast 1\n"
_COLUMNS, _ROWS = 360, 180
_SEA, _LAND = 0, 1  # lengths of tiles that are one of them all over
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 2**20, "lc": 0, "lp": 0, "pb": 0}]


class Tile(NamedTuple):
    """The land of a tile as closed rings, and its rivers."""

    rings: list[Steps]
    rivers: list[Steps]


def write_coast(path: Path, tiles: Mapping[tuple[int, int], Tile]) -> None:
    """Write tiles, each named by the degrees of its western and southern edges; the others are sea."""
    packed = {key: _pack(tile, key) for key, tile in sorted(tiles.items(), key=lambda entry: _number(entry[0]))}
    lengths = np.zeros(_COLUMNS * _ROWS, dtype="<u4")
    for key, data in packed.items():
        lengths[_number(key)] = _LAND if _is_land(tiles[key], key) else len(data)
    index = _compress(lengths.tobytes())
    with path.open("wb") as file:
        file.write(_MAGIC + len(index).to_bytes(4, "little") + index)
        file.writelines(data for key, data in packed.items() if lengths[_number(key)] != _LAND)


def read_tile(path: Path, west: int, south: int) -> Tile:
    """Read the tile with these western and southern edges; longitudes go round the world.

    Raises
    ------
    DataError
        If the file is none of this kind, or broken.
    """
    if not -90 <= south < 90:
        return Tile([], [])
    key = (west + 180) % 360 - 180, south
    try:
        starts, lengths = _index(path)
        start, length = int(starts[_number(key)]), int(lengths[_number(key)])
        if length in (_SEA, _LAND):
            return Tile([_square(west, south)] if length == _LAND else [], [])
        with path.open("rb") as file:
            file.seek(start)
            return _unpack(file.read(length), (west, south))
    except (OSError, lzma.LZMAError, ValueError, IndexError) as error:
        raise DataError(
            f"The coast in {path.name} can't be read. Install it anew: pip install --force-reinstall dpheatmap-coast"
        ) from error


def _number(key: tuple[int, int]) -> int:
    """The place of a tile in the file, row by row."""
    return (key[1] + 90) * _COLUMNS + key[0] + 180


def _square(west: int, south: int) -> Steps:
    return DEGREE * np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], dtype=np.int64) + _origin((west, south))


def _origin(key: tuple[int, int]) -> Steps:
    return DEGREE * np.array(key, dtype=np.int64)


def _is_land(tile: Tile, key: tuple[int, int]) -> bool:
    """Whether a tile is land all over, without rivers."""
    if tile.rivers or len(tile.rings) != 1 or len(tile.rings[0]) != len(_square(*key)):
        return False
    return {tuple(point) for point in tile.rings[0].tolist()} == {tuple(point) for point in _square(*key).tolist()}


@cache
def _index(path: Path) -> tuple[Steps, Steps]:
    """Where each tile starts, and how long it is."""
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise ValueError("another kind of file")
        index = file.read(int.from_bytes(file.read(4), "little"))
        first = file.tell()
    lengths = np.frombuffer(_decompress(index), dtype="<u4").astype(np.int64)
    stored = np.where(lengths > _LAND, lengths, 0)
    return first + np.cumsum(stored) - stored, lengths


def _pack(tile: Tile, key: tuple[int, int]) -> bytes:
    """The numbers of rings and lines, their lengths, then steps from point to point: low bytes apart from high ones."""
    lines = [*(ring[:-1] for ring in tile.rings), *tile.rivers]
    points = np.concatenate([line - _origin(key) for line in lines]) if lines else np.zeros((0, 2), dtype=np.int64)
    steps = points - np.concatenate([np.zeros((1, 2), dtype=np.int64), points])[:-1]
    zigzag = ((steps << 1) ^ (steps >> 63)).T
    counts = np.array([len(tile.rings), len(tile.rivers), *(len(line) for line in lines)], dtype="<u4")
    return _compress(counts.tobytes() + (zigzag & 255).astype("u1").tobytes() + (zigzag >> 8).astype("u1").tobytes())


def _unpack(data: bytes, key: tuple[int, int]) -> Tile:
    raw = _decompress(data)
    rings, rivers = np.frombuffer(raw, dtype="<u4", count=2).astype(np.int64).tolist()
    lengths = np.frombuffer(raw, dtype="<u4", count=rings + rivers, offset=8).astype(np.int64)
    low, high = np.frombuffer(raw, dtype="u1", offset=8 + 4 * len(lengths)).astype(np.int64).reshape(2, 2, -1)
    zigzag = high << 8 | low
    points = np.cumsum((zigzag >> 1) ^ -(zigzag & 1), axis=1).T + _origin(key)
    lines = np.split(points, np.cumsum(lengths)[:-1])
    return Tile([np.concatenate([ring, ring[:1]]) for ring in lines[:rings]], lines[rings:] if rivers else [])


def _compress(data: bytes) -> bytes:
    return lzma.compress(data, format=lzma.FORMAT_RAW, filters=_FILTERS)


def _decompress(data: bytes) -> Any:
    return lzma.decompress(data, format=lzma.FORMAT_RAW, filters=_FILTERS)
