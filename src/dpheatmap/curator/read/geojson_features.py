"""GeoJSON: a document with an array of features, or a feature a line.

**A feature a line** (.geojsonl, .geojsons, with or without record separators) is text in lines, and read as such.

**A document** is one JSON text, written as a whole by whoever holds the data. Its records are the elements of
``features``, which the grammar of JSON keeps apart: `split_elements` makes a line of each. This is right if the
document is JSON. So a document whose elements are not all JSON objects, or that does not end as it should, is no
document, and is refused as a whole, like a stream that can't be decompressed. A feature that is too long, or not UTF-8,
is broken: quotes and brackets are told apart by single bytes, whatever letters are.

What stands before and behind the features is about all of them, and is read as a whole. Coordinates are longitude and
latitude, unless an older document names another system.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from dpheatmap.curator.read.blocks import SIZE, Block
from dpheatmap.curator.read.geometry import Geometry
from dpheatmap.curator.read.question import Question
from dpheatmap.curator.read.record_tables import two_names, with_points
from dpheatmap.curator.read.records import DEGREES
from dpheatmap.curator.read.table import Table
from dpheatmap.curator.read.text import MOST_KEYS, JsonParser, check_keys, open_keys
from dpheatmap.curator.read.text_file import Stream, TextFile
from dpheatmap.errors import DataError

LINES = (".geojsonl", ".geojsons", ".ndgeojson")
_LONGEST_HEAD = 64 << 10
_POINT = "geometry"
_WGS84 = re.compile(r"(?i)urn:ogc:def:crs:(OGC:[\d.]*:CRS84h?|EPSG:[\d.]*:4326)|EPSG:4326|OGC:CRS84")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class GeoJsonParser(JsonParser):
    """The parser of features: the values of some properties, x and y, and one property as an id."""

    record: str = "feature"
    whole: bool = False

    @property
    def broken(self) -> str:
        """What may be wrong with a feature, and what to do."""
        return "it is no JSON object, or longer than 2 MiB. Mend it, or leave such features out (--bad-lines skip)."

    @property
    def refused(self) -> frozenset[int]:
        """The problems of a record that tell that a document is none."""
        from dpheatmap.curator.read.kernels import NOT_AN_OBJECT

        return frozenset((NOT_AN_OBJECT,)) if self.whole else frozenset()

    def rows(
        self, block: Block, views: NDArray[np.uint64], valid: NDArray[np.uint8], tally: NDArray[np.int64]
    ) -> int:  # fmt: skip
        """Write the values of each column, and return how many rows there are."""
        from dpheatmap.curator.read.geojson_records import PARTS, SHAPE, geojson_rows

        names, ends, key_of, is_id = self.places()
        key_of[[len(self.keys) - 2, len(self.keys) - 1]] = -1, -2
        data, first, stop = block.data, block.first, block.stop
        return int(geojson_rows(data, first, stop, PARTS, SHAPE, names, ends, key_of, is_id, views, valid, tally))


def open_geojson(
    con: duckdb.DuckDBPyConnection,
    files: Sequence[TextFile],
    name: str,
    folder_keys: frozenset[str],
    question: Question | None,
    skip: bool,
) -> Table:
    """Open files of features as a table of the requested properties, and of their points."""
    in_lines = files[0].path.lower().removesuffix(".gz").removesuffix(".zst").endswith(LINES)
    systems = [DEGREES if in_lines else _head(file)[1] for file in files]
    if any(system != systems[0] for system in systems):
        raise DataError(f"The files that {name!r} names are in several systems of coordinates. Give one at a time.")
    made = list(files) if in_lines else [file._replace(lines=partial(_elements, file)) for file in files]
    asked = set(property_names(made)) if question is None else set(question.columns)
    keys = check_keys(asked - {_POINT})
    point = two_names(keys)
    user = question.user if question is not None and question.user in keys else None
    parser = GeoJsonParser([*keys, *point], user, whole=not in_lines)
    opened = open_keys(con, made, name, folder_keys, parser, skip)
    return with_points(opened, keys, _POINT, point, systems[0])


def _head(file: TextFile) -> tuple[int, Geometry]:
    """The byte at which the features of a document begin, and the system that is named before them."""
    with closing(file.open()) as opened:
        data = b""
        while len(data) < _LONGEST_HEAD and (got := opened.read(_LONGEST_HEAD)):
            data += got
    text = data[:_LONGEST_HEAD].decode("utf-8", errors="surrogateescape")
    try:
        at, found = _members_before(text)
    except (ValueError, IndexError, RecursionError):
        raise DataError(
            f"{file.name!r} is no GeoJSON with an array of features in its first 64 kB. Features in lines end in "
            ".geojsonl, and JSON lines in .jsonl."
        ) from None
    return len(text[:at].encode("utf-8", errors="surrogateescape")), _system(found.get("crs"), file)


def _members_before(text: str) -> tuple[int, dict[str, Any]]:
    """Where the inside of the array of features begins, and the members that stand before it."""
    found: dict[str, Any] = {}
    at = _expect(text, _behind_blanks(text, 1 if text.startswith("\ufeff") else 0), "{")
    while True:
        key, at = _DECODER.raw_decode(text, at)
        at = _expect(text, _behind_blanks(text, at), ":")
        if key == "features":
            return _expect(text, at, "["), found
        found[key], at = _DECODER.raw_decode(text, at)
        at = _expect(text, _behind_blanks(text, at), ",")


def _behind_blanks(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def _expect(text: str, at: int, token: str) -> int:
    """The start of the next token behind this one."""
    if text[at] != token:
        raise ValueError
    return at + 1 if token == "[" else _behind_blanks(text, at + 1)


def _system(named: Any, file: TextFile) -> Geometry:
    """The system of an older document's ``crs``; longitude and latitude if there is none."""
    if named is None:
        return DEGREES
    try:
        name = str(named["properties"]["name"])
    except (LookupError, TypeError):
        raise DataError(f"{file.name!r} has a system of coordinates without a name. Export it anew.") from None
    return DEGREES if _WGS84.fullmatch(name) else Geometry("wkb", False, name[:100])


def _elements(file: TextFile) -> Iterator[bytes]:
    """The features of a document, a line each."""
    from dpheatmap.curator.read.geojson_records import ENDED, STATES, split_elements

    state = np.zeros(STATES, np.int64)
    start, _ = _head(file)
    with closing(file.open()) as opened:
        rest = _read_from(opened, start)
        while rest or (rest := opened.read(SIZE)):
            out = np.empty(len(rest), np.uint8)
            read, written = split_elements(np.frombuffer(rest, np.uint8), len(rest), out, state)
            yield out[:written].tobytes()
            rest = rest[read:]
            if state[ENDED]:
                break
        if not state[ENDED]:
            raise _no_document(file)
        while len(rest) <= _LONGEST_HEAD and (got := opened.read(SIZE)):
            rest += got
    yield b"\n"
    _check_tail(rest, file)


def _read_from(opened: Stream, start: int) -> bytes:
    """What follows the first bytes in the piece that they end in."""
    while got := opened.read(SIZE):
        if len(got) > start:
            return got[start:]
        start -= len(got)
    return b""


def _check_tail(rest: bytes, file: TextFile) -> None:
    """Refuse a document that does not end as it should, or that has more to say about its features behind them."""
    try:
        if len(rest) > _LONGEST_HEAD:
            raise ValueError
        found = json.loads(b'{"features": 0' + rest, object_pairs_hook=list)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or [key for key, _ in found if key in ("features", "crs")] != ["features"]:
        raise _no_document(file)


def _no_document(file: TextFile) -> DataError:
    return DataError(
        f"{file.name!r} is no whole GeoJSON document, or names its system of coordinates behind its features. Export "
        "it anew."
    )


def property_names(files: Sequence[TextFile], records: int = 1000) -> list[str]:
    """The names of the first features' properties: data, for the data holder's eyes only."""
    names: dict[str, None] = {}
    for file in files:
        with closing(file.open()) as opened:
            for line in opened.read(1 << 20).split(b"\n")[:records]:
                names.update(dict.fromkeys(_names(line.lstrip(b"\x1e"))))
    chosen: dict[str, str] = {}
    for name in names:
        chosen.setdefault(name.lower(), name)
    return list(chosen.values())[:MOST_KEYS]


def _names(line: bytes) -> list[str]:
    try:
        found = json.loads(line)["properties"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return []
    return [name for name in found if 0 < len(name) <= 100 and name.isprintable()] if isinstance(found, dict) else []
