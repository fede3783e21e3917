"""Rows of people as files of many formats, written by hand, so that one person's values can be anything."""

from __future__ import annotations

import json
import math
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import geopandas
import shapely

Row = tuple[Any, Any, Any, Any]
"""A person, x, y and a day."""
NAMES = ("user", "x", "y", "day")


def storable(value: Any) -> Any:
    """A value as a database has it; text that is no UTF-8 as its bytes."""
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value).encode()
    return str(value) if isinstance(value, list | dict) else value


def insert(con: sqlite3.Connection, table: str, columns: Sequence[str], values: Sequence[Any]) -> None:
    """Insert a row with text that may be anything."""
    places = ["CAST(? AS TEXT)" if isinstance(value, str) else "?" for value in values]
    sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(places)})"
    con.execute(sql, [storable(value) for value in values])


def as_sqlite(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "t.sqlite"
    con = sqlite3.connect(path)
    con.execute("CREATE TABLE trips (user, x REAL, y REAL, day)")
    for row in rows:
        insert(con, "trips", NAMES, row)
    con.commit()
    con.close()
    return path


def wkb(x: Any, y: Any) -> bytes:
    """A point, or the bytes that are given for x."""
    if isinstance(x, bytes):
        return x
    try:
        return struct.pack("<BIdd", 1, 1, float(x), float(y))
    except (TypeError, ValueError, OverflowError):
        return b"\1\2"


def as_geopackage(rows: Sequence[Row], folder: Path, system: int = 4326) -> Path:
    path = folder / "t.gpkg"
    con = sqlite3.connect(path)
    con.executescript(
        """CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT);
        CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, srs_id INTEGER);
        CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT, srs_id INTEGER, definition TEXT);
        INSERT INTO gpkg_contents VALUES ('trips', 'features');
        INSERT INTO gpkg_spatial_ref_sys VALUES ('CH1903+ / LV95', 2056, 'PROJCS["CH1903+ / LV95",UNIT["metre",1]]');
        CREATE TABLE trips (fid INTEGER PRIMARY KEY, geom BLOB, user, day);"""
    )
    con.execute("INSERT INTO gpkg_geometry_columns VALUES ('trips', 'geom', ?)", [system])
    for user, x, y, day in rows:
        geometry = None if x is None else b"GP\0\1" + struct.pack("<i", system) + wkb(x, y)
        insert(con, "trips", ("geom", "user", "day"), (geometry, user, day))
    con.commit()
    con.close()
    return path


def legal(text: str) -> str:
    """What XML can hold of a text."""
    return "".join(c if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" else "?" for c in text)


def workbook(sheets: dict[str, str], folder: Path, texts: Sequence[str] = (), settings: str = "") -> Path:
    """A workbook of sheets given as XML; the styles 1 and 2 are dates."""
    path = folder / "t.xlsx"
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    listed = "".join(f'<sheet name={quoteattr(n)} sheetId="{k}" r:id="r{k}"/>' for k, n in enumerate(sheets, 1))
    links = "".join(f'<Relationship Id="r{k}" Target="worksheets/sheet{k}.xml"/>' for k in range(1, len(sheets) + 1))
    shared = "".join(f'<si><t xml:space="preserve">{escape(legal(text))}</t></si>' for text in texts)
    files = {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{rel}">{settings}<sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"<Relationships>{links}</Relationships>",
        "xl/sharedStrings.xml": f"<sst {main}>{shared}</sst>",
        "xl/styles.xml": f'<styleSheet {main}><numFmts><numFmt numFmtId="200" formatCode="yyyy\\-mm\\-dd"/><numFmt '
        'numFmtId="201" formatCode="0.0&quot; days&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="22"/>'
        '<xf numFmtId="200"/><xf numFmtId="201"/></cellXfs></styleSheet>',
        **{f"xl/worksheets/sheet{k}.xml": xml for k, xml in enumerate(sheets.values(), 1)},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in files.items():
            file.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>\n' + text)
    return path


def cell(value: Any, place: str, texts: list[str]) -> str:
    """A cell of a sheet, with text among those that are shared."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    text = value if isinstance(value, str) else "?"
    texts.append(text)
    return f'<c r="{place}" t="s"><v>{len(texts) - 1}</v></c>'


def as_workbook(rows: Sequence[Row], folder: Path) -> Path:
    texts: list[str] = []
    lines = []
    for number, row in enumerate([NAMES, *rows], 1):
        cells = (cell(value, f"{'ABCD'[k]}{number}", texts) for k, value in enumerate(row))
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    return workbook({"Trips": f"<worksheet><sheetData>{''.join(lines)}</sheetData></worksheet>"}, folder, texts)


def text_of(value: Any) -> bytes:
    if value is None or isinstance(value, bool | list | dict):
        return b""
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    return value if isinstance(value, bytes) else str(value)[:60].encode()


def as_shapefile(rows: Sequence[Row], folder: Path) -> Path:
    """Points, or whatever bytes are given for x; text is UTF-8, or is not."""
    path = folder / "t.shp"
    shapes = []
    for number, (_, x, y, _) in enumerate(rows, 1):
        content = struct.pack("<i", 0)
        if isinstance(x, bytes):
            content = (x + bytes(4))[: 2 * ((len(x) + 4) // 2)]
        elif x is not None and len(wkb(x, y)) == 21:
            content = struct.pack("<i", 1) + wkb(x, y)[5:]
        shapes.append(struct.pack(">ii", number, len(content) // 2) + content)
    body = b"".join(shapes)
    header = struct.pack(">i20xi", 9994, (100 + len(body)) // 2) + struct.pack("<ii64x", 1000, 1)
    path.write_bytes(header + body)
    width = 60
    fields = b"".join(
        name.encode().ljust(11, b"\0") + b"C" + bytes(4) + bytes([width]) + bytes(15) for name in ("user", "day")
    )
    start = 32 + len(fields) + 1
    table = bytes([3, 124, 1, 1]) + struct.pack("<IHH", len(rows), start, 1 + 2 * width) + bytes(20) + fields + b"\r"
    values = (b" " + b"".join(text_of(value)[:width].ljust(width) for value in (user, day)) for user, _, _, day in rows)
    path.with_suffix(".dbf").write_bytes(table + b"".join(values) + b"\x1a")
    path.with_suffix(".cpg").write_text("UTF-8")
    path.with_suffix(".prj").write_text('GEOGCS["WGS 84",UNIT["degree",0.0174532925199433]]')
    return path


def feature(row: Row) -> str:
    """A feature, or the text that is given for x."""
    user, x, y, day = row
    if isinstance(x, str) and x.startswith("{"):
        return x
    user, x, y, day = (None if isinstance(v, float) and not math.isfinite(v) else v for v in row)
    geometry = None if x is None else {"type": "Point", "coordinates": [x, y]}
    return json.dumps({"type": "Feature", "geometry": geometry, "properties": {"user": user, "day": day}}, default=str)


def as_geojson(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "t.geojson"
    path.write_text('{"type": "FeatureCollection", "features": [\n' + ",\n".join(map(feature, rows)) + "\n]}\n")
    return path


def as_geojson_lines(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "t.geojsonl"
    path.write_text("".join(feature(row).replace("\n", " ") + "\n" for row in rows))
    return path


def plain(value: Any, kind: type) -> Any:
    try:
        return kind(value) if not isinstance(value, str) else kind(value.encode(errors="replace").decode())
    except (TypeError, ValueError, OverflowError):
        return None


def as_flatgeobuf(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "t.fgb"
    points = [
        None if None in (plain(x, float), plain(y, float)) else shapely.Point(float(x), float(y)) for _, x, y, _ in rows
    ]
    columns = {
        name: [plain(row[k], str) if row[k] is not None else None for row in rows]
        for k, name in ((0, "user"), (3, "day"))
    }
    frame = geopandas.GeoDataFrame(columns, geometry=points, crs=4326)
    frame.to_file(path, driver="FlatGeobuf", SPATIAL_INDEX="NO")
    return path


def track(points: Sequence[tuple[Any, Any]], creator: str = "device") -> str:
    """A track as GPX."""
    listed = "".join(
        f"<trkpt lat={quoteattr(legal(str(y)))} lon={quoteattr(legal(str(x)))}><time>2024-06-01T08:00:00Z</time>"
        "</trkpt>"
        for x, y in points
    )
    return f'<gpx version="1.1" creator={quoteattr(creator)}><trk><trkseg>{listed}</trkseg></trk></gpx>'


WRITERS: dict[str, Callable[[Sequence[Row], Path], Path]] = {
    "sqlite": as_sqlite, "gpkg": as_geopackage, "xlsx": as_workbook, "shp": as_shapefile, "geojson": as_geojson,
    "geojsonl": as_geojson_lines, "fgb": as_flatgeobuf,
}  # fmt: skip
OF_POINTS = ("gpkg", "shp", "geojson", "geojsonl", "fgb")
"""Formats that hold points; the others have columns for x and y."""


def choices(kind: str) -> dict[str, Any]:
    """The options of reading a file of a kind."""
    return {"x": None, "y": None} if kind in OF_POINTS else {}
