"""Requests and answers: what is read is public, so nobody is asked who they are.

Answers are made before the first request, but for small documents that hold the reader's own address, and for areas.
Other sites' pages may read them (CORS). A request that makes the server work, for areas, needs a content type that
pages of other sites can't send without asking first, and they are told no.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from threading import Thread
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpheatmap.errors import DpheatmapError
from dpheatmap.render.formats.map_tiles import bare_tile
from dpheatmap.serve import tile_documents as documents
from dpheatmap.serve.area_requests import MOST_BYTES, AreaQuestion, AreaService, BusyError, collection_of, confidence_of
from dpheatmap.serve.catalogue import Listed
from dpheatmap.serve.links import CSV, GEOJSON, HTML, JSON, MATRIX_SET, OPENAPI, PNG, Links
from dpheatmap.serve.openapi_document import openapi
from dpheatmap.serve.public_maps import PublicMap, Tiles
from dpheatmap.serve.reader_pages import page_of_release, page_of_releases, policy
from dpheatmap.serve.tile_documents import tile_limits

BODY_SECONDS = 20.0
"""How long the body of a request may take to arrive."""

_CACHE = "public, max-age=300"
_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_HEADERS = {
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_ONE = "/collections/{id}"
_WORDS = {
    404: "There is nothing at this address. The address / lists what there is.",
    405: "This address is read by GET; only areas are sent to, by POST.",
}

Endpoint = Callable[[Request], Awaitable[Response]]


class PublicRoutes:
    """The endpoints, over maps that are drawn; ``url`` is the address that readers know, if it is another one."""

    def __init__(self, catalogue: Sequence[Listed], maps: Sequence[PublicMap], url: str | None = None) -> None:
        self._listed = {one.name: one for one in catalogue}
        self._maps = {one.name: one for one in maps}
        self._url, self._bare = url, bare_tile()
        self.areas = AreaService()

    def routes(self) -> list[Route]:
        """The routes of the endpoints."""
        tiles = f"{_ONE}/map/tiles"
        reading: dict[str, Endpoint] = {
            "/": self.landing,
            "/api": self.api,
            "/conformance": self.conformance,
            "/tileMatrixSets": self.matrix_sets,
            "/tileMatrixSets/{set}": self.matrix_set,
            "/collections": self.collections,
            _ONE: self.collection,
            f"{_ONE}/page": self.page,
            f"{_ONE}/thumbnail.png": self.thumbnail,
            f"{_ONE}/tilejson.json": self.tilejson,
            tiles: self.tilesets,
            f"{tiles}/{{set}}": self.tileset,
            f"{tiles}/{{set}}/{{zoom}}/{{row}}/{{column}}": self.tile,
        }
        return [
            *(Route(path, endpoint, methods=["GET"]) for path, endpoint in reading.items()),
            Route(f"{_ONE}/areas", self.count, methods=["POST"]),
        ]

    async def landing(self, request: Request) -> Response:
        """Serve the list of releases, for readers or as JSON."""
        if wants_html(request):
            return reader_page(request, page_of_releases(list(self._maps.values()), self._links(request)))
        return document(request, documents.landing(self._links(request)))

    async def api(self, request: Request) -> Response:
        """Serve the description of all addresses."""
        return document(request, openapi(self._links(request)), OPENAPI)

    async def conformance(self, request: Request) -> Response:
        """Serve the standards that are implemented."""
        return document(request, documents.conformance())

    async def matrix_sets(self, request: Request) -> Response:
        """Serve the list of ways to cut the world into tiles."""
        return document(request, documents.matrix_sets(self._links(request)))

    async def matrix_set(self, request: Request) -> Response:
        """Serve the way in which the world is cut into tiles."""
        _need_matrix_set(request)
        return document(request, documents.matrix_set())

    async def collections(self, request: Request) -> Response:
        """Serve all releases."""
        return document(request, documents.collections(list(self._maps.values()), self._links(request)))

    async def collection(self, request: Request) -> Response:
        """Serve one release, for readers or as JSON."""
        if wants_html(request):
            return reader_page(request, page_of_release(self._map(request), self._links(request)))
        return document(request, documents.collection(self._map(request), self._links(request)))

    async def page(self, request: Request) -> Response:
        """Serve the interactive map, which tells itself what it may load."""
        return answer(request, self._map(request).page, f"{HTML}; charset=utf-8")

    async def thumbnail(self, request: Request) -> Response:
        """Serve a small picture of the heat."""
        return answer(request, self._map(request).thumbnail, PNG)

    async def tilejson(self, request: Request) -> Response:
        """Serve the TileJSON of a map."""
        one, slice_, _ = self._tiles(request)
        return document(request, documents.tilejson(one, slice_, self._links(request)))

    async def tilesets(self, request: Request) -> Response:
        """Serve the list of tile sets of a release."""
        return document(request, documents.tilesets(self._map(request), self._links(request)))

    async def tileset(self, request: Request) -> Response:
        """Serve the metadata of a tile set."""
        _need_matrix_set(request)
        one, slice_, _ = self._tiles(request)
        return document(request, documents.tileset(one, slice_, self._links(request)))

    async def tile(self, request: Request) -> Response:
        """Serve a tile; within the limits of the map, one that shows nothing is clear."""
        _need_matrix_set(request)
        one, _, tiles = self._tiles(request)
        zoom, row, column = (_whole(request.path_params[name]) for name in ("zoom", "row", "column"))
        png = tiles.pngs.get((zoom, row, column))
        if png is None:
            assert one.bounds is not None
            first, last = tiles.zooms
            if not first <= zoom <= last:
                raise HTTPException(404, f"There are the zooms {first} to {last}. Let the map enlarge the last one.")
            left, top, right, bottom = tile_limits(one.bounds, zoom)
            if not (left <= column <= right and top <= row <= bottom):
                raise HTTPException(404, "This tile lies outside the place of the map.")
            png = self._bare
        return answer(request, png, PNG)

    async def count(self, request: Request) -> Response:
        """Count people in the areas of a request."""
        one = self._map(request)
        slice_ = _slice_in(request, one)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() not in (JSON, GEOJSON):
            raise HTTPException(415, f"Areas are sent as GeoJSON. Send them with Content-Type: {GEOJSON}.")
        confidence = confidence_of(request.query_params.get("confidence"))
        collection = await run_in_threadpool(collection_of, await body_of(request))
        as_csv = _form(request, "csv", CSV)
        question = AreaQuestion(
            self._listed[one.name], slice_, collection, confidence, request.query_params.get("name"), as_csv
        )
        found = await self.areas.answer(question)
        return Response(
            found, media_type=f"{CSV}; charset=utf-8" if as_csv else JSON, headers={"cache-control": "no-store"}
        )

    def _map(self, request: Request) -> PublicMap:
        found = self._maps.get(request.path_params["id"])
        if found is None:
            raise HTTPException(404, "There is no release of this name. The address /collections lists them.")
        return found

    def _tiles(self, request: Request) -> tuple[PublicMap, str | None, Tiles]:
        """The map whose tiles are asked for, with its slice."""
        one = self._map(request)
        if not one.tiles:
            raise HTTPException(404, "This map has no tiles: its place is not on the ground.")
        slice_ = _slice_in(request, one)
        return one, slice_, one.tiles[slice_]

    def _links(self, request: Request) -> Links:
        """Links that begin with the address that the request was sent to."""
        if self._url is not None:
            return Links(self._url)
        host = request.headers.get("host", "")
        if not _HOST.fullmatch(host):
            raise HTTPException(400, "The request does not tell the server's name. Send the header Host.")
        return Links(f"http://{host}")


def application(endpoints: PublicRoutes) -> ASGIApp:
    """The whole server."""
    handlers: dict[Any, Any] = {
        HTTPException: _http_error,
        DpheatmapError: _library_error,
        BusyError: _busy,
        Exception: _server_error,
    }

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        Thread(target=endpoints.areas.warm, daemon=True).start()
        yield
        await run_in_threadpool(endpoints.areas.close)

    return _Headers(Starlette(routes=endpoints.routes(), exception_handlers=handlers, lifespan=lifespan))


class _Headers:
    """The headers of every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope.get("method") not in ("GET", "HEAD"):
                    del headers["access-control-allow-origin"]
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def answer(request: Request, content: bytes, media_type: str, more: Mapping[str, str] | None = None) -> Response:
    """Answer with content, or that it has not changed since the reader had it."""
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"etag": tag, "cache-control": _CACHE, **(more or {})}
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    if tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)


def document(request: Request, value: Mapping[str, Any], media_type: str = JSON) -> Response:
    """Answer with JSON; it may differ for those who accept a page."""
    return answer(request, json.dumps(value, ensure_ascii=False).encode(), media_type, {"vary": "Accept, Host"})


def reader_page(request: Request, text: str) -> Response:
    """Answer with a page for readers."""
    more = {"vary": "Accept, Host", "content-security-policy": policy()}
    return answer(request, text.encode(), f"{HTML}; charset=utf-8", more)


def wants_html(request: Request) -> bool:
    """Whether a reader asks: as browsers do, or by f=html."""
    return _form(request, "html", HTML)


def _form(request: Request, form: str, media_type: str) -> bool:
    """Whether a form is asked for by the parameter f, or else by the first type that is accepted."""
    given = request.query_params.get("f")
    if given not in (None, "json", form):
        raise HTTPException(400, f"f is json or {form}; it was {given[:20]!r}.")
    accepted = request.headers.get("accept", "").partition(",")[0].partition(";")[0].strip().lower()
    return given == form or (given is None and accepted == media_type)


async def body_of(request: Request) -> bytes:
    """The body of a request, refused if it is large or slow."""

    async def read() -> bytes:
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > MOST_BYTES:
                raise HTTPException(413, f"Areas have at most {MOST_BYTES:,} bytes. Send fewer, or simpler ones.")
            parts.append(part)
        return b"".join(parts)

    try:
        return await asyncio.wait_for(read(), BODY_SECONDS)
    except TimeoutError:
        raise HTTPException(408, "The areas took too long to arrive. Send them again.") from None
    except ClientDisconnect:
        raise HTTPException(400, "The areas did not arrive. Send them again.") from None


def _slice_in(request: Request, one: PublicMap) -> str | None:
    """The slice that a request names; a release of several needs one."""
    slice_ = request.query_params.get("slice")
    if one.slices and slice_ not in one.slices:
        first, *_, last = [*one.slices] * 2
        raise HTTPException(400, f"slice must be one of {first!r} to {last!r}, which /collections/{one.name} lists.")
    if not one.slices and slice_ is not None:
        raise HTTPException(400, "This release has one map and no slices. Leave slice out.")
    return slice_


def _need_matrix_set(request: Request) -> None:
    if request.path_params["set"] != MATRIX_SET:
        raise HTTPException(404, f"Tiles are those of {MATRIX_SET}.")


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise HTTPException(404, "Zoom, row and column of a tile are whole numbers.")
    return int(text)


def _problem(status: int, words: str, **headers: str) -> Response:
    told = {"title": HTTPStatus(status).phrase, "status": status, "detail": words}
    return Response(
        json.dumps(told), status, {"cache-control": "no-store", **headers}, media_type="application/problem+json"
    )


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = error.detail if error.detail != HTTPStatus(error.status_code).phrase else _WORDS.get(error.status_code, "")
    closing = {"connection": "close"} if error.status_code in (408, 413) else {}
    return _problem(error.status_code, words, **{**(error.headers or {}), **closing})


async def _library_error(request: Request, error: Exception) -> Response:
    return _problem(400, str(error))


async def _busy(request: Request, error: Exception) -> Response:
    return _problem(503, str(error), **{"retry-after": "5"})


async def _server_error(request: Request, error: Exception) -> Response:
    return _problem(500, "Something went wrong here, and nothing more is told.")
