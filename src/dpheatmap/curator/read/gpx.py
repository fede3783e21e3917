"""GPX files: the points of tracks, routes and waypoints.

A file is a record: it is one device's recording, and a fault anywhere in it makes it broken as a whole. So a file is
read twice, first to its end without a result, and its points are handed on only if it is whole. Nothing of one file is
kept while another is read. A file with a document type declaration, which could define entities that grow or that name
other files, is broken.

A file does not tell whose it is. Whoever reads it says what is protected: ``@file``, ``@folder``, all files of one
folder together, or ``@creator``, all files that name one creator, which is mostly a device or a program.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from dpheatmap.curator.read.blocks import Opened
from dpheatmap.curator.read.records import BROKEN, DEGREES, Layout, Wanted
from dpheatmap.curator.read.xml_elements import END, START, XmlProblem, elements
from dpheatmap.errors import DataError

_POINTS = ("trkpt", "rtept", "wpt")
_POINT = "point"
_VALUES = ("time", "ele", "name", "desc", "type", "sym")
_UNITS = {"@file": "file", "@folder": "folder", "@creator": "creator"}


class Tracks:
    """The reader of GPX files."""

    record = "file"
    units = _UNITS

    def layout(self, path: str, table: str | None) -> Layout:
        """The same for all files: points, their times and heights, and whose they may be said to be."""
        return Layout((*_UNITS, _POINT, "lon", "lat", *_VALUES), _POINT, DEGREES)

    def lines(self, path: str, table: str | None, wanted: Wanted) -> Iterator[bytes]:
        """Read the points of a file, if all of it is whole."""
        if not _is_whole(path):
            yield BROKEN
            return
        whose: dict[str, Any] = {
            "@file": os.path.abspath(path),
            "@folder": os.path.dirname(os.path.abspath(path)),
        }
        for values in _points(path, whose):
            x, y = _number(values.get("lon")), _number(values.get("lat"))
            yield wanted.line([values.get(column) for column in wanted.columns], x, y)


def _is_whole(path: str) -> bool:
    try:
        for _ in _points(path, {}):
            pass
    except (XmlProblem, DataError):
        return False
    return True


def _points(path: str, whose: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The points of a file, with everything that is known of each."""
    values: dict[str, Any] | None = None
    known = dict(whose)
    depth = 0
    with closing(Opened(path)) as opened:
        for at, name, attributes, text in elements(opened):
            depth += 1 if at == START else -1
            if depth == 1 and at == START:
                if name != "gpx":
                    raise XmlProblem
                known["@creator"] = attributes.get("creator") or None
            elif name in _POINTS and at == START:
                values, level = {**known, "lon": attributes.get("lon"), "lat": attributes.get("lat")}, depth
            elif values is not None and name in _VALUES and at == END and depth == level:
                values.setdefault(name, text)
            elif values is not None and name in _POINTS:
                yield values
                values = None


def _number(text: str | None) -> float | None:
    """A coordinate; None if it is not a number."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
