"""Points in one column: its GeoParquet metadata, and x and y as SQL, without any extension of DuckDB.

A point is read from its well-known binary: the order of bytes, the kind of geometry, then x and y as floats, bit by
bit. A value that is not a point, or not well-known binary at all, has no coordinates and counts as invalid.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dpheatmap.errors import DataError

KEY = "geo"
_KINDS = (1, 1001, 2001, 3001, 0x80000001, 0x40000001, 0xC0000001)  # a point; with height, measure or both, in two ways
_BACKWARDS = "regexp_replace({}, '(..)(..)(..)(..)(..)(..)(..)(..)', '\\8\\7\\6\\5\\4\\3\\2\\1')"


@dataclass(frozen=True)
class Geometry:
    """The encoding of a GeoParquet column, and the reference system of its coordinates, None if unknown."""

    encoding: str
    degrees: bool
    system: str | None

    def check(self, column: str, table: str) -> None:
        """Refuse a column whose coordinates are not longitude and latitude in degrees."""
        if not self.degrees:
            where = "an unknown system" if self.system is None else f"the system {self.system!r}"
            raise DataError(
                f"The points {column!r} of {table} are in {where}, and a box needs longitude and latitude in degrees. "
                "Name it by crs (--crs), or convert them, as with to_crs(4326) of geopandas."
            )


def system_of_text(text: str, name: str | None = None) -> Geometry:
    """The geometry of points whose system is written as well-known text; an empty text is an unknown system."""
    start = text.lstrip().upper()
    if not start:
        return Geometry("wkb", False, name)
    degrees = start.startswith(("GEOGCS", "GEOGCRS", "GEODCRS", "GEODETICCRS", "GEOGRAPHICCRS")) and "DEGREE" in start
    quoted = text.partition('"')[2].partition('"')[0]
    return Geometry("wkb", degrees, name or quoted[:100] or None)


def point_of_wkb(value: bytes | None) -> tuple[float, float] | None:
    """The x and y of a point's well-known binary; None if it is not a point."""
    if value is None or len(value) < 21 or value[0] > 1:
        return None
    order = "<" if value[0] else ">"
    kind, x, y = struct.unpack_from(f"{order}Idd", value, 1)
    return (x, y) if kind in _KINDS else None


def geometries(metadata: Iterable[bytes]) -> dict[str, Geometry] | None:
    """The columns that each file's metadata describes, the primary one first; None if files or keys disagree."""
    found = [_columns(json.loads(text)) for text in metadata]
    return found[0] if found and all(each == found[0] for each in found) else None


def _columns(metadata: Mapping[str, Any]) -> dict[str, Geometry]:
    primary, columns = metadata["primary_column"], metadata["columns"]
    names = [primary, *(name for name in columns if name != primary)]
    return {name: _geometry(columns[name]) for name in names}


def _geometry(described: Mapping[str, Any]) -> Geometry:
    encoding = str(described["encoding"]).lower()
    if "crs" not in described:  # by the format's rule: longitude and latitude
        return Geometry(encoding, True, "OGC:CRS84")
    system = described["crs"]
    if system is None:
        return Geometry(encoding, False, None)
    axes = system.get("coordinate_system", {}).get("axis", [])
    degrees = system.get("type") == "GeographicCRS" and all(axis.get("unit") == "degree" for axis in axes)
    return Geometry(encoding, degrees, str(system.get("name")))


def coordinates(column: str, kind: str) -> tuple[str, str] | None:
    """The x and y, as SQL, of a column given as SQL with its type; None if the type can't hold points."""
    if kind.startswith("STRUCT(x DOUBLE, y DOUBLE"):
        return f"{column}.x", f"{column}.y"
    if kind.startswith("GEOMETRY"):
        column = f"ST_AsWKB({column})"
    elif kind != "BLOB":
        return None
    return _float_at(column, 5), _float_at(column, 13)


def _float_at(blob: str, position: int) -> str:
    """The float, as SQL, at a byte of a point's well-known binary; null if it is not a point."""
    digits = f"substr(hex({blob}), {2 * position + 1}, 16)"
    little = ", ".join(f"'01{kind.to_bytes(4, 'little').hex().upper()}'" for kind in _KINDS)
    big = ", ".join(f"'00{kind.to_bytes(4, 'big').hex().upper()}'" for kind in _KINDS)
    start = f"left(hex({blob}), 10)"
    ordered = (
        f"CASE WHEN {start} IN ({little}) THEN {_BACKWARDS.format(digits)} WHEN {start} IN ({big}) THEN {digits} END"
    )
    return f"TRY_CAST(CASE WHEN octet_length({blob}) >= 21 THEN CAST(unhex({ordered}) AS BIT) END AS DOUBLE)"
