"""The description of all addresses as OpenAPI 3.0, as OGC API asks."""

from __future__ import annotations

from typing import Any

from dpheatmap import __version__
from dpheatmap.serve.links import CSV, GEOJSON, HTML, JSON, OPENAPI, PNG, Links
from dpheatmap.serve.tile_documents import ABOUT, TITLE

_COLLECTION = "/collections/{collectionId}"
_TILESET = f"{_COLLECTION}/map/tiles/{{tileMatrixSetId}}"


def openapi(links: Links) -> dict[str, Any]:
    """The whole document."""
    form = _parameter("f", "query", "json or html, in place of the header Accept.", ["json", "html"])
    one, slice_ = _path("collectionId", "A release."), _parameter("slice", "query", _SLICE)
    set_ = _path("tileMatrixSetId", "WebMercatorQuad.")
    tile = [_path(name, "As in the tile set's limits.", "integer") for name in ("tileMatrix", "tileRow", "tileCol")]
    paths = {
        "/": _get("All releases, for readers or as JSON", [form], JSON, HTML),
        "/api": _get("This document", [], OPENAPI),
        "/conformance": _get("The standards that are implemented", [], JSON),
        "/tileMatrixSets": _get("Ways to cut the world into tiles", [], JSON),
        "/tileMatrixSets/{tileMatrixSetId}": _get("One of these ways", [set_], JSON),
        "/collections": _get("All releases", [], JSON),
        _COLLECTION: _get("A release and its promise", [one, form], JSON, HTML),
        f"{_COLLECTION}/page": _get("The interactive map", [one], HTML),
        f"{_COLLECTION}/thumbnail.png": _get("A small picture", [one], PNG),
        f"{_COLLECTION}/tilejson.json": _get("TileJSON of a map", [one, slice_], JSON),
        f"{_COLLECTION}/map/tiles": _get("The tile sets of a release", [one], JSON),
        _TILESET: _get("A tile set", [one, set_, slice_], JSON),
        f"{_TILESET}/{{tileMatrix}}/{{tileRow}}/{{tileCol}}": _get("A tile", [one, set_, *tile, slice_], PNG),
        f"{_COLLECTION}/areas": {"post": _areas([one, slice_])},
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": TITLE, "description": ABOUT, "version": __version__},
        "servers": [{"url": links.root}],
        "paths": paths,
    }


_SLICE = "One slice of a release of several; such a release needs it."


def _get(summary: str, parameters: list[dict[str, Any]], *types: str) -> dict[str, Any]:
    return {"get": {"summary": summary, "parameters": parameters, "responses": _responses(*types)}}


def _areas(parameters: list[dict[str, Any]]) -> dict[str, Any]:
    """The one request with a body."""
    more = [
        _parameter(
            "confidence", "query", "How often an interval holds the true number; 0.9 if not given.", of="number"
        ),
        _parameter("name", "query", "The property of the areas' names."),
        _parameter("f", "query", "json or csv, in place of the header Accept.", ["json", "csv"]),
    ]
    body = {
        "required": True,
        "description": "A polygon, a feature or a collection of features, in degrees, or in pixels of an image.",
        "content": {type_: {"schema": {"type": "object"}} for type_ in (GEOJSON, JSON)},
    }
    return {
        "summary": "Shares and numbers of people in areas, with their intervals",
        "parameters": [*parameters, *more],
        "requestBody": body,
        "responses": _responses(JSON, CSV),
    }


def _responses(*types: str) -> dict[str, Any]:
    binary = {"type": "string", "format": "binary"}
    schemas = {JSON: {"type": "object"}, OPENAPI: {"type": "object"}, PNG: binary}
    return {
        "200": {
            "description": "Done",
            "content": {one: {"schema": schemas.get(one, {"type": "string"})} for one in types},
        },
        "default": {"description": "Why not", "content": {"application/problem+json": {"schema": {"type": "object"}}}},
    }


def _path(name: str, description: str, of: str = "string") -> dict[str, Any]:
    return {**_parameter(name, "path", description, of=of), "required": True}


def _parameter(
    name: str, where: str, description: str, choices: list[str] | None = None, *, of: str = "string"
) -> dict[str, Any]:
    schema = {"type": of, **({"enum": choices} if choices else {})}
    return {"name": name, "in": where, "description": description, "schema": schema}
