"""The documents of OGC API Tiles, and TileJSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpheatmap._util.number_words import plain
from dpheatmap.place.projection import EARTH_CIRCUMFERENCE
from dpheatmap.render.formats.map_tiles import TileBounds
from dpheatmap.serve.links import HTML, JSON, MATRIX_SET, OPENAPI, PNG, Links, link, ogc
from dpheatmap.serve.public_maps import PublicMap, Tiles

_CRS = "http://www.opengis.net/def/crs/EPSG/0/3857"
_DEGREES = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
_MATRIX_SET_URI = f"http://www.opengis.net/def/tilematrixset/OGC/1.0/{MATRIX_SET}"
_LAST_ZOOM = 24
_PIXEL = 0.00028  # metres of a pixel on the screen for which scales are told, by OGC's convention
_SPEC = "http://www.opengis.net/spec/"
_CLASSES = (
    *(f"ogcapi-common-1/1.0/conf/{name}" for name in ("core", "landing-page", "json", "html", "oas30")),
    "ogcapi-common-2/1.0/conf/collections",
    *(
        f"ogcapi-tiles-1/1.0/conf/{name}"
        for name in ("core", "tileset", "tilesets-list", "geodata-tilesets", "png", "oas30")
    ),
    *(
        f"tms/2.0/conf/{name}"
        for name in ("tilematrixset", "json-tilematrixset", "tilesetmetadata", "json-tilesetmetadata")
    ),
)

TITLE = "Heatmaps under differential privacy"
ABOUT = "Where people are, not who they are: public releases, for reading."


def landing(links: Links) -> dict[str, Any]:
    """The landing page."""
    return {
        "title": TITLE,
        "description": ABOUT,
        "links": [
            link(links.to(""), "self", JSON, "This document"),
            link(links.to("", f="html"), "alternate", HTML, "The same for readers"),
            link(links.to("api"), "service-desc", OPENAPI, "All addresses"),
            link(links.to("conformance"), "conformance", JSON, "What is implemented"),
            link(links.to("conformance"), ogc("conformance"), JSON, "What is implemented"),
            link(links.to("collections"), "data", JSON, "The releases"),
            link(links.to("collections"), ogc("data"), JSON, "The releases"),
            link(links.to("tileMatrixSets"), ogc("tiling-schemes"), JSON, "How the world is cut into tiles"),
        ],
    }


def conformance() -> dict[str, Any]:
    """The standards that are implemented."""
    return {"conformsTo": [_SPEC + name for name in _CLASSES]}


def collections(maps: Sequence[PublicMap], links: Links) -> dict[str, Any]:
    """All releases."""
    return {
        "links": [link(links.to("collections"), "self", JSON)],
        "collections": [collection(one, links) for one in maps],
    }


def collection(one: PublicMap, links: Links) -> dict[str, Any]:
    """A release: where and when it is, what it promises, and where its parts are."""
    name, bounds = one.name, one.bounds
    tiled = [
        link(links.collection(name, "map", "tiles"), ogc("tilesets-map"), JSON, "Tiles"),
        *(
            link(
                links.collection(name, "tilejson.json", slice=slice_),
                "describedby",
                JSON,
                _title_of("TileJSON", one, slice_),
            )
            for slice_ in one.tiles
        ),
    ]
    return {
        "id": name,
        "title": one.title,
        "description": one.takeaway,
        "attribution": attribution(one),
        "extent": {"spatial": {"bbox": [list(bounds[:4])], "crs": _DEGREES}} if bounds else {},
        "crs": [_CRS] if bounds else [],
        "slices": list(one.slices),
        "epsilon": one.epsilon,
        "made": one.made,
        "promise": dict(one.label),
        "links": [
            link(links.collection(name), "self", JSON),
            link(links.collection(name, f="html"), "alternate", HTML, "The same for readers"),
            link(links.collection(name, "page"), "preview", HTML, "The interactive map"),
            link(links.collection(name, "thumbnail.png"), "icon", PNG, "A small picture"),
            link(links.collection(name, "areas"), "related", JSON, "People in areas: POST polygons as GeoJSON"),
            *(tiled if bounds else []),
        ],
    }


def attribution(one: PublicMap) -> str:
    """Whom viewers name on a map, and the promise."""
    return f"dpheatmap · {one.badge}"


def _title_of(what: str, one: PublicMap, slice_: str | None) -> str:
    return what if slice_ is None else f"{what}, {one.slices[slice_]}"


def tilesets(one: PublicMap, links: Links) -> dict[str, Any]:
    """The list of a release's tile sets: one, or one for each slice."""
    return {
        "links": [link(links.collection(one.name, "map", "tiles"), "self", JSON)],
        "tilesets": [
            {
                "title": _title_of(one.title, one, slice_),
                "dataType": "map",
                "crs": _CRS,
                "tileMatrixSetURI": _MATRIX_SET_URI,
                "links": [link(links.tileset(one.name, slice_), "self", JSON)],
            }
            for slice_ in one.tiles
        ],
    }


def tileset(one: PublicMap, slice_: str | None, links: Links) -> dict[str, Any]:
    """The metadata of a tile set."""
    assert one.bounds is not None
    tiles, name, bounds = one.tiles[slice_], one.name, one.bounds
    template = links.tile(name, slice_, zoom="{tileMatrix}", row="{tileRow}", column="{tileCol}")
    limits = [
        {"tileMatrix": str(zoom), "minTileRow": top, "maxTileRow": bottom, "minTileCol": left, "maxTileCol": right}
        for zoom in range(tiles.zooms[0], tiles.zooms[1] + 1)
        for left, top, right, bottom in [tile_limits(bounds, zoom)]
    ]
    return {
        "title": _title_of(one.title, one, slice_),
        "description": one.takeaway,
        "attribution": attribution(one),
        "dataType": "map",
        "crs": _CRS,
        "tileMatrixSetURI": _MATRIX_SET_URI,
        "tileMatrixSetLimits": limits,
        "boundingBox": {"lowerLeft": list(bounds[:2]), "upperRight": list(bounds[2:4]), "crs": _DEGREES},
        "mediaTypes": [PNG],
        "links": [
            link(links.tileset(name, slice_), "self", JSON),
            link(template, "item", PNG, "Tiles", templated=True),
            link(links.to("tileMatrixSets", MATRIX_SET), ogc("tiling-scheme"), JSON),
            link(links.collection(name, "tilejson.json", slice=slice_), "alternate", JSON, "TileJSON"),
        ],
    }


def tilejson(one: PublicMap, slice_: str | None, links: Links) -> dict[str, Any]:
    """TileJSON 3.0, which MapLibre, Leaflet and QGIS read."""
    assert one.bounds is not None
    tiles, bounds = one.tiles[slice_], one.bounds
    first, last = tiles.zooms
    return {
        "tilejson": "3.0.0",
        "name": _title_of(one.title, one, slice_),
        "description": one.takeaway,
        "attribution": attribution(one),
        "legend": _legend(tiles),
        "scheme": "xyz",
        "tiles": [links.tile(one.name, slice_, zoom="{z}", row="{y}", column="{x}")],
        "minzoom": first,
        "maxzoom": last,
        "bounds": list(bounds[:4]),
        "center": [bounds.middle, (bounds.south + bounds.north) / 2, max(first, last - 1)],
        "dpheatmap": dict(tiles.metadata),
    }


def _legend(tiles: Tiles) -> str:
    """What colours mean, in one line."""
    legend = tiles.metadata["legend"]
    steps = (f"{colour} from {plain(edge)}" for edge, colour in zip(legend["edges"], legend["colours"], strict=False))
    return ": ".join(filter(None, [legend["title"], ", ".join(steps)]))


def matrix_sets(links: Links) -> dict[str, Any]:
    """The list of ways to cut the world into tiles: one."""
    here = links.to("tileMatrixSets", MATRIX_SET)
    return {"tileMatrixSets": [{"id": MATRIX_SET, "uri": _MATRIX_SET_URI, "links": [link(here, "self", JSON)]}]}


def matrix_set() -> dict[str, Any]:
    """The tiles of web maps: at zoom z, 2^z times 2^z of them, from the north-west on."""
    half = EARTH_CIRCUMFERENCE / 2.0
    return {
        "id": MATRIX_SET,
        "title": "Web Mercator tiles, as most maps on the web have them",
        "uri": _MATRIX_SET_URI,
        "crs": _CRS,
        "orderedAxes": ["E", "N"],
        "wellKnownScaleSet": "http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible",
        "tileMatrices": [
            {
                "id": str(zoom),
                "scaleDenominator": EARTH_CIRCUMFERENCE / (256 * 2**zoom) / _PIXEL,
                "cellSize": EARTH_CIRCUMFERENCE / (256 * 2**zoom),
                "cornerOfOrigin": "topLeft",
                "pointOfOrigin": [-half, half],
                "tileWidth": 256,
                "tileHeight": 256,
                "matrixWidth": 2**zoom,
                "matrixHeight": 2**zoom,
            }
            for zoom in range(_LAST_ZOOM + 1)
        ],
    }


def tile_limits(bounds: TileBounds, zoom: int) -> tuple[int, int, int, int]:
    """The first column and row, and the last column and row, of the tiles that meet bounds.

    >>> tile_limits(TileBounds(-180.0, -85.0, 180.0, 85.0, 0.0), 1), tile_limits(TileBounds(7, 46, 8, 47, 7.5), 8)
    ((0, 0, 1, 1), (132, 90, 133, 91))
    """
    many = 2**zoom
    left, right = (many * (0.5 + degrees / 360.0) for degrees in (bounds.west, bounds.east))
    top, bottom = (
        many * (0.5 - math.asinh(math.tan(math.radians(degrees))) / (2.0 * math.pi))
        for degrees in (bounds.north, bounds.south)
    )
    first = (min(max(int(edge), 0), many - 1) for edge in (left, top))
    last = (min(max(math.ceil(edge) - 1, 0), many - 1) for edge in (right, bottom))
    x0, y0 = first
    x1, y1 = last
    return x0, y0, max(x0, x1), max(y0, y1)
