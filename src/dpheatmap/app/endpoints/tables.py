"""Endpoints about tables, pictures and places: uploads, their contents, and the basemap."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from dpheatmap.app import example
from dpheatmap.app import place_picker as places
from dpheatmap.app.endpoints.request_parsing import json_of
from dpheatmap.app.endpoints.services import Parts
from dpheatmap.app.place_in_words import describe
from dpheatmap.app.release_request import source_of
from dpheatmap.app.texts import without_commands
from dpheatmap.curator import inspect_table
from dpheatmap.render.web.page import basemap_around


class Tables:
    """The endpoints of the inputs of a map."""

    def __init__(self, parts: Parts) -> None:
        self._uploads = parts.uploads

    def routes(self) -> list[Route]:
        """The routes of the endpoints."""
        return [
            Route("/api/uploads", self.upload, methods=["PUT"]),
            Route("/api/example", self.example, methods=["POST"]),
            Route("/api/uploads/{id}", self.forget, methods=["DELETE"]),
            Route("/api/uploads/{id}/picture", self.picture, methods=["GET"]),
            Route("/api/inspect", self.inspect, methods=["POST"]),
            Route("/api/basemap", self.basemap, methods=["GET"]),
            Route("/api/towns", self.towns, methods=["GET"]),
            Route("/api/place", self.place, methods=["GET"]),
        ]

    async def upload(self, request: Request) -> Response:
        """Receive a file, as the body of the request."""
        declared = request.headers.get("content-length", "")
        size = int(declared) if declared.isdigit() else None
        name = request.query_params.get("name", "")
        found = await self._uploads.receive(name, size, request.stream())
        return JSONResponse({"upload": found.id, "name": found.name, "size": found.size})

    async def example(self, request: Request) -> Response:
        """Serve a table of invented people, as if it had been uploaded, and choices that go with it."""

        async def content() -> AsyncIterator[bytes]:
            yield await run_in_threadpool(example.invented_table)

        found = await self._uploads.receive(example.NAME, None, content())
        return JSONResponse({"upload": found.id, "name": found.name, **example.settings()})

    async def forget(self, request: Request) -> Response:
        """Remove an upload."""
        self._uploads.remove(request.path_params["id"])
        return JSONResponse({})

    async def inspect(self, request: Request) -> Response:
        """Serve columns, guesses and problems, and exact numbers for the data holder only."""
        source = source_of(await json_of(request), self._uploads)
        with source.name_in_errors():
            found = await run_in_threadpool(inspect_table, source.events, read_rows=True)
        answer = {
            "name": source.name,
            "columns": dict(found.columns),
            "guesses": {role: list(names) for role, names in found.guesses.items()},
            "problems": [without_commands(problem) for problem in found.schema_problems],
            "unfit_for_ids": list(found.unfit_for_ids),
            "private": {**found.private, "hints": [without_commands(hint) for hint in found.private["hints"]]},
        }
        return JSONResponse(json.loads(json.dumps(answer, default=str)))

    async def picture(self, request: Request) -> Response:
        """Serve the size of an uploaded picture, and the picture itself."""
        upload = self._uploads.get(request.path_params["id"])
        width, height = await run_in_threadpool(places.size_of_picture, upload.path, upload.name)
        if request.query_params.get("show"):
            return FileResponse(upload.path)
        return JSONResponse({"width": width, "height": height})

    async def basemap(self, request: Request) -> Response:
        """Serve land, borders and towns around bounds."""
        bounds = places.bounds_of(request.query_params.get("bounds", "-180,-85,180,85"))
        return JSONResponse(await run_in_threadpool(basemap_around, bounds))

    async def towns(self, request: Request) -> Response:
        """Serve towns by the start of their names."""
        return JSONResponse(await run_in_threadpool(places.towns, request.query_params.get("name", "")[:100]))

    async def place(self, request: Request) -> Response:
        """Serve a box in words, from the box alone: the request has nothing else."""
        bounds = places.bounds_of(request.query_params.get("bounds", ""))
        return JSONResponse(await run_in_threadpool(describe, bounds))
