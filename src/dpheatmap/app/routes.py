"""The whole app: all routes, and the answers to errors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from dpheatmap.app.endpoints.account import Account
from dpheatmap.app.endpoints.login import Login
from dpheatmap.app.endpoints.plan_and_budget import PlanAndBudget
from dpheatmap.app.endpoints.release_jobs import Releases
from dpheatmap.app.endpoints.released_maps import Maps
from dpheatmap.app.endpoints.services import Parts
from dpheatmap.app.endpoints.tables import Tables
from dpheatmap.app.jobs import log_error
from dpheatmap.app.request_guard import refusal
from dpheatmap.app.texts import without_commands
from dpheatmap.app.uploads import TooLarge
from dpheatmap.errors import DpheatmapError, PrivacyRefusal


def application(parts: Parts) -> Starlette:
    """The app, without its guard."""
    topics = (Login(parts), Tables(parts), PlanAndBudget(parts), Releases(parts), Maps(parts), Account(parts))
    handlers: dict[Any, Any] = {DpheatmapError: _library_error, HTTPException: _http_error, Exception: _server_error}

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(parts.close)

    routes = [route for topic in topics for route in topic.routes()]
    return Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)


async def _library_error(request: Request, error: Exception) -> Response:
    """Turn an error of the library into an answer."""
    answer = {"error": without_commands(str(error))}
    if isinstance(error, TooLarge):
        return JSONResponse(answer, 413, headers={"connection": "close"})
    return JSONResponse(answer, 409 if isinstance(error, PrivacyRefusal) else 400)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    names = {404: "not_found", 405: "not_found", 413: "json_too_large", 415: "not_json"}
    return refusal(error.status_code, names.get(error.status_code, "unexpected"))


async def _server_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, ClientDisconnect):
        log_error(error)
    return refusal(500, "unexpected")
