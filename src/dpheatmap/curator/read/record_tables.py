"""Files of records (`records.py`) as tables: what is read of them, and where their points are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import duckdb

from dpheatmap.curator.read.geometry import Geometry
from dpheatmap.curator.read.question import Question
from dpheatmap.curator.read.records import Format, Wanted
from dpheatmap.curator.read.sql_text import quote_name
from dpheatmap.curator.read.table import Table
from dpheatmap.curator.read.text import JsonParser, open_keys
from dpheatmap.curator.read.text_file import TextFile
from dpheatmap.errors import DataError


@dataclass(frozen=True)
class RecordParser(JsonParser):
    """The parser of lines that a reader made."""

    record: str = "record"

    @property
    def broken(self) -> str:
        """What may be wrong with a record, and what to do."""
        return f"it can't be read, or is too long. Mend it, or leave such {self.record}s out (--bad-lines skip)."


def open_records(
    con: duckdb.DuckDBPyConnection,
    form: Format,
    files: Sequence[TextFile],
    name: str,
    folder_keys: frozenset[str],
    question: Question | None,
    skip: bool,
    table: str | None,
) -> Table:
    """Open files of one format and one layout as a table; the columns of a ``question`` are read, or all."""
    layouts = [form.layout(file.path, table) for file in files]
    layout = layouts[0]
    for file, other in zip(files, layouts, strict=True):
        if other != layout:
            raise DataError(
                f"{file.name!r} does not have the columns of {files[0].name!r}, or its points are in another system. "
                "Make them alike."
            )
    if len({column.lower() for column in layout.columns}) != len(layout.columns) or not all(layout.columns):
        raise DataError(f"The columns of {files[0].name!r} have empty or repeated names. Give each its own.")
    plain = [column for column in layout.columns if column != layout.point]
    asked = plain if question is None else [column for column in plain if column in question.columns]
    needs_point = layout.point is not None and (question is None or question.points or layout.point in question.columns)
    point = two_names(asked) if needs_point else None
    user = question.user if question is not None and question.user in asked else None
    wanted = Wanted(asked, user, point)
    sources = [file._replace(lines=partial(form.lines, file.path, table, wanted)) for file in files]
    parser = RecordParser(sorted({*asked, *(point or ())}), user, form.record)
    opened = open_keys(con, sources, name, folder_keys, parser, skip)
    columns = _texts([*layout.columns, *opened.folders])
    listed = question is None or len(question.columns - set(columns)) <= 1  # a sheet without names has other words
    if point is not None and layout.point is not None and layout.geometry is not None:
        opened = with_points(opened, plain, layout.point, point, layout.geometry)
    return replace(opened, columns=columns, listed=listed, units=form.units)


def with_points(
    opened: Table, columns: Sequence[str], column: str, point: tuple[str, str], geometry: Geometry
) -> Table:  # fmt: skip
    """A table whose rows have the coordinates of points under two keys, with a column that stands for the points."""
    x, y = (f"TRY_CAST({quote_name(key)} AS DOUBLE)" for key in point)
    shown = f"CASE WHEN {x} IS NOT NULL THEN 'a point' END AS {quote_name(column)}"
    return replace(
        opened, relation=f"(SELECT *, {shown} FROM {opened.relation})",
        columns=_texts([*columns, column, *opened.folders]),
        geometries={column: geometry}, points={column: (x, y)},
    )  # fmt: skip


def _texts(names: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys(names, "VARCHAR")


def two_names(taken: Sequence[str]) -> tuple[str, str]:
    """Names for the coordinates of points that no column has."""
    x, y = "point_x", "point_y"
    while {x, y} & {name.lower() for name in taken}:
        x, y = f"{x}_", f"{y}_"
    return x, y
