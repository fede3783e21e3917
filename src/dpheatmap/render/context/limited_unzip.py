"""Gzip without bombs: a few bytes can be packed gigabytes."""

from __future__ import annotations

import zlib

from dpheatmap.errors import ParameterError


class UnpackedBytes:
    """How many bytes of some kind a file may unpack to, all together."""

    def __init__(self, name: str, what: str, most: int) -> None:
        self._name, self._what, self._most = name, what, most
        self._left = most

    def take(self, data: bytes, *, packed: bool = True) -> bytes:
        """The data, unpacked; refused if it has more bytes than are left."""
        if packed:
            unpacking = zlib.decompressobj(wbits=31)
            data = unpacking.decompress(data, self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise ParameterError(
                f"The context {self._name!r} has {self._what} of more than {self._most // 10**6} MB inside the map. "
                "Give a file with fewer features, such as main roads only."
            )
        return data
