"""Directories of PMTiles: where in a file the tiles lie. Each is unpacked and read once, within a limit."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from functools import cache
from typing import Any

from dpheatmap.render.context.limited_unzip import UnpackedBytes

_DEEPEST = 4  # directories in directories
_LARGEST = 4_000_000  # bytes of all directories that are read, unpacked
_SMALLEST_ENTRY = 4  # bytes


class TileDirectory:
    """The tiles of a file, by zoom, column and row."""

    def __init__(self, name: str, header: Any, get_bytes: Callable[[int, int], bytes]) -> None:
        self._header, self._get_bytes = header, get_bytes
        self._unpacked = UnpackedBytes(name, "directories", _LARGEST)
        self._entries = cache(self._read)

    def tile(self, zoom: int, x: int, y: int) -> bytes | None:
        """A tile as it is stored; None if there is none."""
        from pmtiles.tile import find_tile, zxy_to_tileid

        at, length = self._header["root_offset"], self._header["root_length"]
        for _ in range(_DEEPEST):
            found = find_tile(self._entries(at, length), zxy_to_tileid(zoom, x, y))
            if found is None:
                return None
            if found.run_length:
                return self._get_bytes(self._header["tile_data_offset"] + found.offset, found.length)
            at, length = self._header["leaf_directory_offset"] + found.offset, found.length
        return None

    def _read(self, at: int, length: int) -> list[Any]:
        from pmtiles.tile import deserialize_directory, read_varint

        content = self._unpacked.take(self._get_bytes(at, length))
        if read_varint(io.BytesIO(content)) * _SMALLEST_ENTRY > len(content):
            raise ValueError("a directory with fewer entries than it tells")
        entries: list[Any] = deserialize_directory(gzip.compress(content, 0))
        return entries
