"""Endpoints about releases: start, progress, and the shelf of finished ones."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dpheatmap.app.endpoints.request_parsing import json_of
from dpheatmap.app.endpoints.services import Parts
from dpheatmap.app.place_in_words import town_of
from dpheatmap.app.release_request import (
    Charge,
    Columns,
    Source,
    appearance_of,
    body_of,
    charge_of,
    columns_of,
    domain_of,
    place_of,
    source_of,
    text_of,
    title_of,
)
from dpheatmap.app.release_shelf import MAP, Record, public_fields
from dpheatmap.app.slice_request import slices_from, slices_in_words
from dpheatmap.curator import Ledger
from dpheatmap.design.shares import exact_text
from dpheatmap.place.domain import Bounds
from dpheatmap.render.figure.background import background_of

ONE = "/api/releases/{id}"


class Releases:
    """The endpoints of releases and discoveries, which are charged and kept."""

    def __init__(self, parts: Parts) -> None:
        self._uploads, self._shelf, self._jobs, self._ledger = parts.uploads, parts.shelf, parts.jobs, parts.ledger

    def routes(self) -> list[Route]:
        """The routes of the endpoints."""
        return [
            Route("/api/releases", self.list_releases, methods=["GET"]),
            Route("/api/releases", self.release, methods=["POST"]),
            Route("/api/discover", self.discover, methods=["POST"]),
            Route(ONE, self.state, methods=["GET"]),
            Route(ONE, self.delete, methods=["DELETE"]),
            Route(ONE, self.change, methods=["PATCH"]),
            Route(f"{ONE}/cancel", self.cancel, methods=["POST"]),
            Route(f"{ONE}/restore", self.restore, methods=["POST"]),
        ]

    async def release(self, request: Request) -> Response:
        """Start a release, or return the one that the same request made before."""
        return JSONResponse(await run_in_threadpool(self._release, await json_of(request)))

    def _release(self, body: Any) -> dict[str, Any]:
        source, columns = self._table_of(body)
        domain, charge, slices = domain_of(body.get("place")), charge_of(body), slices_from(body)
        picture = None if body.get("picture") is None else self._uploads.get(text_of(body, "picture")).path
        if picture is not None:
            background_of(domain, picture)
        wanted = {
            "path": source.path,
            "columns": asdict(columns),
            "place": place_of(body),
            "epsilon": exact_text(charge.epsilon),
            "population": charge.population,
            **({} if slices is None else {"slices": slices}),
        }
        after = None if body.get("after") is None else self._shelf.get(text_of(body, "after")).id
        warning = self._warning(source, charge)
        record, repeated = self._jobs.release(
            source, columns, domain, charge, wanted, title_of(body), after, picture, slices
        )
        return {**self._summary(record), "repeated": repeated, "warning": warning}

    async def discover(self, request: Request) -> Response:
        """Start a private search for a place, or return the place that the same request found before."""
        return JSONResponse(await run_in_threadpool(self._discover, await json_of(request)))

    def _discover(self, body: Any) -> dict[str, Any]:
        source, columns = self._table_of(body)
        charge = charge_of(body)
        wanted = {"path": source.path, "columns": asdict(columns), "epsilon": exact_text(charge.epsilon)}
        warning = self._warning(source, charge)
        record, repeated = self._jobs.discover(source, columns, charge, {**wanted, "population": charge.population})
        return {**self._summary(record), "repeated": repeated, "warning": warning}

    def _warning(self, source: Source, charge: Charge) -> str:
        """The warning if the same file was charged to another population before; empty if not."""
        ledger = Ledger(self._ledger)
        return ledger.warning(charge.population, source.name, ledger.marks_of(source.path))

    def _table_of(self, body: Any) -> tuple[Source, Columns]:
        return source_of(body_of(body.get("source")), self._uploads), columns_of(body_of(body.get("columns")))

    async def list_releases(self, request: Request) -> Response:
        """List all releases."""
        return JSONResponse([self._summary(record) for record in self._shelf.all() if record.kind == MAP])

    async def state(self, request: Request) -> Response:
        """Serve the progress or result of a release."""
        return JSONResponse(self._summary(self._shelf.get(request.path_params["id"])))

    async def cancel(self, request: Request) -> Response:
        """Cancel a release, if it is not charged yet."""
        return JSONResponse(self._summary(self._jobs.cancel(request.path_params["id"])))

    async def change(self, request: Request) -> Response:
        """Change a map's title, smoothing or look, which costs nothing."""
        changes = appearance_of(await json_of(request))
        return JSONResponse(self._summary(self._shelf.change(request.path_params["id"], **changes)))

    async def delete(self, request: Request) -> Response:
        """Delete a release from the shelf."""
        self._shelf.delete(request.path_params["id"])
        return JSONResponse({})

    async def restore(self, request: Request) -> Response:
        """Undo a deletion."""
        return JSONResponse(self._summary(self._shelf.restore(request.path_params["id"])))

    def _summary(self, record: Record) -> dict[str, Any]:
        job = self._jobs.progress(record.id)
        told = ("part", "seconds", "drawn", "private")
        more = {} if job is None else {name: getattr(job, name) for name in told}
        slices = slices_in_words(record.wanted.get("slices"))
        return {**public_fields(record), **more, "town": _town_of(record), "slices": slices}


def _town_of(record: Record) -> str:
    """The town that the place of a map is called by; empty if it is not on the ground."""
    place = record.wanted.get("place", {})
    if place.get("kind") != "bbox":
        return ""
    return town_of(Bounds(*place["bounds"]))
