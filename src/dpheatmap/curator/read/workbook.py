"""Sheets of Excel workbooks (.xlsx), cell by cell.

Each cell tells the type of its own value: a number, text, a truth value or an error. It is taken so, whatever the cells
above it hold. A whole number is one only if it is written as such, and a number is a date only by the cell's own style.
A cell with a formula holds what the formula gave when the workbook was saved. If that depends on other rows, it is the
data holder's own query, like that of a relation.

**Texts that cells share.** A cell may hold the number of a text in a table that the whole workbook has. A program that
adds a row may add texts to the table and number all of them anew, but each cell then has the number of its own text:
the text of a cell, after it is looked up, depends on the cell alone. A text that is too long is null.

Rows are read in blocks. The table of shared texts is held in memory, as long as those of all cells are at most.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from dpheatmap.curator.read.records import LONGEST_VALUE, Layout, Wanted
from dpheatmap.curator.read.text import looks_like_data
from dpheatmap.curator.read.xml_elements import END, START, Element, XmlProblem, elements
from dpheatmap.curator.read.zip_members import OpenedMember, list_members
from dpheatmap.errors import DataError

_BOOK = "xl/workbook.xml"
_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
"""Numbers of styles that show dates or times in every workbook."""
_OTHER = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')
"""Parts of a style that show letters as they are."""
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_EPOCHS = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}
_FAKE_DAY = 60
"""The number of 29 February 1900, a day that only Excel has; the days before it are numbered one too low."""
_MILLISECONDS = 86_400_000
_MOST_COLUMNS = 16_384
"""Columns of a sheet in Excel. What stands in others is left out, so that a row has its bounds."""


@dataclass(frozen=True)
class _Book:
    """What all cells share: texts, the styles that are dates, and the day from which days are counted."""

    texts: list[str | None]
    dates: frozenset[int]
    from_1904: bool


class Workbooks:
    """The reader of sheets."""

    record = "row"
    units: dict[str, str] = {}  # noqa: RUF012

    def layout(self, path: str, table: str | None) -> Layout:
        """The names in the first row of a sheet."""
        name = Path(path).name
        names = next(_cells(path, _sheet(path, table), _book(path)), {})
        if not names or not all(isinstance(value, str) and value for value in names.values()):
            raise DataError(f"The first row of {name!r} does not name the columns in text. Put such a row first.")
        if sorted(names) != list(range(len(names))):
            raise DataError(f"The first row of {name!r} has empty cells between names. Name each column.")
        columns = tuple(names[at] for at in range(len(names)))
        if looks_like_data(columns):
            raise DataError(f"The first row of {name!r} looks like data, not like names. Put a row of names first.")
        return Layout(columns)

    def lines(self, path: str, table: str | None, wanted: Wanted) -> Iterator[bytes]:
        """Read the rows of a sheet below its first."""
        rows = _cells(path, _sheet(path, table), _book(path), wanted.user)
        names = {name: place for place, name in next(rows, {}).items()}
        places = [names[column] for column in wanted.columns]
        for cells in rows:
            yield wanted.line([cells.get(at) for at in places]) if cells else b"\n"


def _parts(path: str, member: str) -> Iterator[Element]:
    """The elements of a part of the workbook."""
    whole = True
    with closing(OpenedMember(path, member)) as opened:
        try:
            yield from elements(opened)
        except XmlProblem:
            whole = False
    if not whole:
        raise DataError(f"{Path(path).name!r} is damaged, or not a workbook of Excel's. Save it anew.")


def _sheet(path: str, wanted: str | None) -> str:
    """The part that holds the sheet of a name, or the only one."""
    name = Path(path).name
    try:
        members = set(list_members(path, hidden=True))
    except DataError:
        members = set()
    if _BOOK not in members:
        raise DataError(f"{name!r} is not a workbook (.xlsx), or one with a password. Save it anew without one.")
    sheets = {e.attributes.get("name"): e.attributes.get("id") for e in _parts(path, _BOOK) if _starts(e, "sheet")}
    links = {
        e.attributes.get("Id"): e.attributes.get("Target", "")
        for e in _parts(path, "xl/_rels/workbook.xml.rels")
        if _starts(e, "Relationship")
    }
    if wanted is None and len(sheets) == 1:
        wanted = next(iter(sheets))
    part = posixpath.normpath(posixpath.join("/xl", links.get(sheets.get(wanted), "")))[1:]
    if wanted not in sheets or part not in members:
        shown = ", ".join(repr(sheet) for sheet in sheets)
        raise DataError(f"Name the sheet of {name!r} to read (--table); it was {wanted!r}, and there are: {shown}.")
    return part


def _starts(element: Element, name: str) -> bool:
    return element.at == START and element.name == name


def _book(path: str) -> _Book:
    members = set(list_members(path, hidden=True))
    settings = [e.attributes.get("date1904", "0") for e in _parts(path, _BOOK) if _starts(e, "workbookPr")]
    texts = list(_texts(path)) if "xl/sharedStrings.xml" in members else []
    dates = _dates(path) if "xl/styles.xml" in members else frozenset()
    return _Book(texts, dates, any(value in ("1", "true") for value in settings))


def _texts(path: str) -> Iterator[str | None]:
    """The texts that cells share, without their fonts and without how they are pronounced."""
    text: str | None = ""
    spoken = 0
    for element in _parts(path, "xl/sharedStrings.xml"):
        if element.name == "rPh":
            spoken += 1 if element.at == START else -1
        elif element.name == "t" and element.at == END and not spoken:
            text = _add_piece(text, element.text)
        elif element.name == "si" and element.at == END:
            yield text
            text = ""


def _add_piece(text: str | None, piece: str | None) -> str | None:
    """A text with one more piece; None if it is too long, of however many pieces."""
    if text is None or piece is None or len(text) + len(piece) > LONGEST_VALUE:
        return None
    return text + piece


def _dates(path: str) -> frozenset[int]:
    """The numbers of the styles that show a number as a date."""
    shown: set[str] = {str(number) for number in _DATES}
    styles: list[str] = []
    inside = False
    for element in _parts(path, "xl/styles.xml"):
        if element.name == "cellXfs":
            inside = element.at == START
        elif _starts(element, "numFmt"):
            if re.search("(?i)[dmyhs]", _OTHER.sub("", element.attributes.get("formatCode", ""))):
                shown.add(element.attributes.get("numFmtId", ""))
        elif inside and _starts(element, "xf"):
            styles.append(element.attributes.get("numFmtId", ""))
    return frozenset(number for number, style in enumerate(styles) if style in shown)


def _cells(path: str, part: str, book: _Book, user: str | None = None) -> Iterator[dict[int, Any]]:
    """The values of each row by the number of their column. Those of ``user`` are no dates: a date is not its text."""
    row: dict[int, Any] = {}
    id_place: int | None = None
    is_first = True
    place, spoken = -1, 0
    stored: str | None = ""
    inline: str | None = ""
    for at, name, attributes, text in _parts(path, part):
        if name == "row":
            if at == START:
                row, place = {}, -1
            else:
                if is_first:
                    id_place = next((at for at, name in row.items() if name == user), None)
                is_first = False
                yield row
        elif name == "c" and at == START:
            place, stored, inline, spoken = _column(attributes.get("r", ""), place + 1), "", "", 0
        elif name == "rPh":
            spoken += 1 if at == START else -1
        elif name == "v" and at == END:
            stored = text
        elif name == "t" and at == END and not spoken:
            inline = _add_piece(inline, text)
        elif name == "c":
            written = inline if attributes.get("t") == "inlineStr" else stored
            value = None if written is None else _value(attributes.get("t", "n"), written, book)
            if isinstance(value, int | float) and not isinstance(value, bool) and place != id_place:
                value = _date_or_number(value, attributes.get("s", ""), book)
            if value is not None and place < _MOST_COLUMNS:
                row[place] = value


def _column(reference: str, following: int) -> int:
    """The number of a cell's column: AB12 is in column 27; without a reference it follows the one before."""
    letters = re.match("[A-Z]{1,3}", reference)
    if letters is None:
        return following
    number = 0
    for letter in letters[0]:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _value(kind: str, text: str, book: _Book) -> Any:
    """The value of a cell by its own type; None if it has none."""
    if kind == "s":
        known = _WHOLE.fullmatch(text) is not None and 0 <= int(text) < len(book.texts)
        return book.texts[int(text)] if known else None
    if kind in ("str", "inlineStr", "d"):
        return text
    if kind == "b":
        return {"0": False, "1": True}.get(text)
    if kind != "n":
        return None
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return None


def _date_or_number(value: int | float, style: str, book: _Book) -> Any:
    """A number, as a date and a time if its cell's style shows one."""
    if not style.isdecimal() or int(style[:9]) not in book.dates or not 1 <= value < 2_958_466:
        return value
    days = value + 1 if value < _FAKE_DAY and not book.from_1904 else value
    try:
        day = _EPOCHS[book.from_1904] + timedelta(milliseconds=round(days * _MILLISECONDS))
    except OverflowError:  # after the year 9999
        return value
    return day.isoformat(" ", "milliseconds" if day.microsecond else "seconds")
