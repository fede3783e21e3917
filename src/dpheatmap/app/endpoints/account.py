"""Endpoints for whoever answers for the budget: what charges bought, verification, export, and the publisher."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dpheatmap.app import account_book
from dpheatmap.app.endpoints.request_parsing import json_of
from dpheatmap.app.endpoints.services import Parts
from dpheatmap.curator import Ledger


class Account:
    """The endpoints of the ledger's entries and of the settings."""

    def __init__(self, parts: Parts) -> None:
        self._ledger, self._shelf, self._settings = parts.ledger, parts.shelf, parts.settings

    def routes(self) -> list[Route]:
        """The routes of the endpoints."""
        return [
            Route("/api/ledger", self.entries, methods=["GET"]),
            Route("/api/ledger/verify", self.verify, methods=["POST"]),
            Route("/api/ledger/export", self.export, methods=["GET"]),
            Route("/api/settings", self.settings, methods=["GET"]),
            Route("/api/settings", self.change_settings, methods=["POST"]),
        ]

    async def entries(self, request: Request) -> Response:
        """Serve the entries of the ledger, with what they bought."""
        found = await run_in_threadpool(account_book.entries_in_words, Ledger(self._ledger), self._shelf)
        return JSONResponse(found)

    async def verify(self, request: Request) -> Response:
        """Check the ledger against itself and the releases on the shelf."""
        words = await run_in_threadpool(account_book.verify, Ledger(self._ledger), self._shelf)
        return JSONResponse({"words": words})

    async def export(self, request: Request) -> Response:
        """Serve all entries as CSV."""
        text = await run_in_threadpool(account_book.export, Ledger(self._ledger), self._shelf)
        return Response(text, media_type="text/csv")

    async def settings(self, request: Request) -> Response:
        """Serve the settings."""
        return JSONResponse({"publisher": self._settings.publisher})

    async def change_settings(self, request: Request) -> Response:
        """Change the settings."""
        self._settings.change(str((await json_of(request)).get("publisher") or ""))
        return await self.settings(request)
