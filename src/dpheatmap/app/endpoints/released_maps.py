"""Endpoints about releases on the shelf: maps, files to download, and the equivalent command and code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from dpheatmap.app.endpoints.release_jobs import ONE
from dpheatmap.app.endpoints.request_parsing import sigma_of
from dpheatmap.app.endpoints.services import Parts
from dpheatmap.app.file_names import public_name
from dpheatmap.app.recipe import recipe
from dpheatmap.app.release_shelf import Record


class Maps:
    """The endpoints of maps and files, which cost no budget."""

    def __init__(self, parts: Parts) -> None:
        self._shelf, self._drawing, self._uploads = parts.shelf, parts.drawing, parts.uploads

    def routes(self) -> list[Route]:
        """The routes of the endpoints."""
        return [
            Route(f"{ONE}/map", self.map, methods=["GET"]),
            Route(f"{ONE}/about", self.about, methods=["GET"]),
            Route(f"{ONE}/thumbnail", self.thumbnail, methods=["GET"]),
            Route(f"{ONE}/minus/{{before}}", self.change, methods=["GET"]),
            Route(f"{ONE}/beside/{{other}}", self.pair, methods=["GET"]),
            Route(f"{ONE}/file/{{suffix}}", self.file, methods=["GET"]),
            Route(f"{ONE}/areas/{{upload}}", self.areas, methods=["GET"]),
            Route(f"{ONE}/areas/{{upload}}/file/{{suffix}}", self.file_of_areas, methods=["GET"]),
        ]

    async def map(self, request: Request) -> Response:
        """Serve the data of a map."""
        text = await run_in_threadpool(self._drawing.map, request.path_params["id"], sigma_of(request))
        return Response(text, media_type="application/json")

    async def about(self, request: Request) -> Response:
        """Serve the options of a release: formats, smoothing, and the equivalent command and code."""
        record = self._shelf.get(request.path_params["id"])
        formats = await run_in_threadpool(self._drawing.formats, record.id)
        made = recipe(record, sigma_of(request))
        return JSONResponse({"formats": formats, "sigma": self._drawing.sigma(record.id), **made})

    async def thumbnail(self, request: Request) -> Response:
        """Serve a small picture."""
        found = await run_in_threadpool(self._drawing.thumbnail, request.path_params["id"])
        return Response(found, media_type="image/png")

    async def change(self, request: Request) -> Response:
        """Serve the data of the map of a difference."""
        after, before = request.path_params["id"], request.path_params["before"]
        return Response(await run_in_threadpool(self._drawing.change, after, before), media_type="application/json")

    async def pair(self, request: Request) -> Response:
        """Serve the data of two maps on one scale."""
        first, second = request.path_params["id"], request.path_params["other"]
        return Response(await run_in_threadpool(self._drawing.pair, first, second), media_type="application/json")

    async def file(self, request: Request) -> Response:
        """Serve a file to download."""
        record, suffix = self._shelf.get(request.path_params["id"]), request.path_params["suffix"]
        sigma = sigma_of(request)
        return await _file(lambda folder: self._drawing.file(record.id, suffix, sigma, folder), record, suffix)

    async def areas(self, request: Request) -> Response:
        """Serve the people in areas, which were sent as a file: a table, and a layer of the map."""
        upload = self._uploads.get(request.path_params["upload"])
        with self._uploads.hold(upload.id):
            text = await run_in_threadpool(self._drawing.areas, request.path_params["id"], upload)
        return Response(text, media_type="application/json")

    async def file_of_areas(self, request: Request) -> Response:
        """Serve a file of the people in areas to download."""
        record, suffix = self._shelf.get(request.path_params["id"]), request.path_params["suffix"]
        upload = self._uploads.get(request.path_params["upload"])
        with self._uploads.hold(upload.id):
            return await _file(
                lambda folder: self._drawing.file_of_areas(record.id, upload, suffix, folder), record, suffix
            )


async def _file(write: Callable[[Path], Path], record: Record, suffix: str) -> Response:
    """Write a file into a folder of its own, and serve it."""
    folder = TemporaryDirectory(prefix="dpheatmap-")
    try:
        path = await run_in_threadpool(write, Path(folder.name))
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(path, filename=public_name(record, suffix), background=BackgroundTask(folder.cleanup))
