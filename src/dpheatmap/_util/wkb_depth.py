"""How deep geometries lie inside each other in well-known binary.

GEOS reads them by recursion without a limit, and some megabytes of nested collections end the whole program. So they
are walked through here first, without recursion.
"""

from __future__ import annotations

import struct

DEEPEST = 8
"""How deep geometries may lie inside each other, in any file."""

_POINT, _LINE, _POLYGON = 1, 2, 3
_NESTED = (4, 5, 6, 7, 9, 10, 11, 12, 15, 16)  # multi-geometries, collections, curves of curves, surfaces
_STRINGS = (_LINE, 8)  # points one after the other: lines and arcs
_RINGS = (_POLYGON, 17)  # lists of such: polygons and triangles
_HEIGHT, _MEASURE, _SYSTEM = 0x80000000, 0x40000000, 0x20000000


def depth_of(wkb: bytes) -> int:
    """How deep geometries lie inside each other: 0 for a polygon, 1 for several; at most one more than allowed.

    >>> depth_of(bytes.fromhex("0101000000" + "00" * 16))
    0

    Raises
    ------
    ValueError
        If it is no well-known binary.
    """
    at, deepest = 0, 0
    open_: list[int] = []  # how many geometries are still to come on each level
    try:
        while True:
            order = {0: ">", 1: "<"}[wkb[at]]
            code = struct.unpack_from(f"{order}I", wkb, at + 1)[0]
            at += 9 if code & _SYSTEM else 5
            kind, iso = code % 0x10000 % 1000, code % 0x10000 // 1000
            bytes_of_point = 8 * (2 + (code & _HEIGHT > 0 or iso in (1, 3)) + (code & _MEASURE > 0 or iso in (2, 3)))
            if kind == _POINT:
                at += bytes_of_point
            elif kind in _STRINGS:
                at += 4 + bytes_of_point * _count(wkb, at, order)
            elif kind in _RINGS:
                rings, at = _count(wkb, at, order), at + 4
                for _ in range(rings):
                    at += 4 + bytes_of_point * _count(wkb, at, order)
            elif kind in _NESTED:
                open_.append(_count(wkb, at, order))
                at += 4
                deepest = max(deepest, len(open_))
                if deepest > DEEPEST:
                    return deepest
            else:
                raise ValueError("an unknown kind of geometry")
            while open_ and open_[-1] == 0:
                open_.pop()
            if not open_:
                return deepest
            open_[-1] -= 1
    except (LookupError, struct.error) as error:
        raise ValueError("not well-known binary") from error


def _count(wkb: bytes, at: int, order: str) -> int:
    count: int = struct.unpack_from(f"{order}I", wkb, at)[0]
    return count
