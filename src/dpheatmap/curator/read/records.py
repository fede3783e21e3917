"""Files of other formats as lines of JSON: one line for each record, read as those of a text file are.

**Why one record changes no other.** A reader is a function from a record (a row of a table, a feature, a row of a
sheet, a file of tracks) to one line, or several. A line is made of the values of that record alone, each by its own
type, and a line feed inside of a value is escaped. So lines(file) = the union of lines(record), and `record_stream.py`
reads each line by itself. A reader keeps nothing from one record to the next but its place in the file.

What describes the file as a whole (names of columns, encodings, the system of coordinates) is not a person's. It is
read first, and a file that is damaged there is refused. A record that can't be read is a line that is no JSON, which
makes it broken, and ``bad_lines`` decides.

**Ids.** Text is text, and whole numbers, truth values and bytes are told apart from it and from each other: 7 is not
"7". Floats are no ids. Nothing is converted to the type that most of the others have.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dpheatmap.curator.read.geometry import Geometry
from dpheatmap.curator.read.values import MARK

BROKEN = b"!\n"
"""The line of a record that can't be read."""
LONGEST_VALUE = 32_767
"""Bytes of the longest value, as in a cell of a sheet; a longer one is null."""
DEGREES = Geometry("wkb", True, "OGC:CRS84")
"""Points in longitude and latitude."""


@dataclass(frozen=True)
class Layout:
    """What describes a file as a whole: its columns, and the one that holds points, with their system."""

    columns: tuple[str, ...]
    point: str | None = None
    geometry: Geometry | None = None


@dataclass(frozen=True)
class Wanted:
    """What is read of a record: some of the columns, that of ids, and the keys of a point's x and y."""

    columns: Sequence[str]
    user: str | None = None
    point: tuple[str, str] | None = None

    def line(self, values: Sequence[Any], x: float | None = None, y: float | None = None) -> bytes:
        """The line of a record: the values of the columns in their order, and its point, if it is one."""
        record = {
            name: _as_json(value, name == self.user) for name, value in zip(self.columns, values, strict=True)
        }  # fmt: skip
        if self.point is not None and x is not None and y is not None and math.isfinite(x) and math.isfinite(y):
            record |= {self.point[0]: x, self.point[1]: y}
        return _encode(record).encode() + b"\n"


class Format(Protocol):
    """A reader of one format."""

    record: str
    """What a record is called."""
    units: dict[str, str]
    """Columns that stand for more or less than a person, by what they stand for."""

    def layout(self, path: str, table: str | None) -> Layout:
        """Describe a file as a whole; ``table`` is the one that is to be read, if there are several."""
        ...

    def lines(self, path: str, table: str | None, wanted: Wanted) -> Iterator[bytes]:
        """Read the records of a file."""
        ...


_encode = json.JSONEncoder(ensure_ascii=True, check_circular=False).encode


def _as_json(value: Any, is_id: bool) -> Any:
    """A value as JSON has it; None for what is no value, or none that can be told apart from others."""
    if isinstance(value, str):
        if len(value) > LONGEST_VALUE:
            return None
        return MARK + value if is_id and value.startswith(MARK) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return f"{MARK}bytes:{value.hex()}" if is_id else None
    return value
