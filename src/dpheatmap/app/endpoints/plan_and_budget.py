"""Endpoints about epsilon: the plan of a release, and the budgets of populations."""

from __future__ import annotations

import asyncio
from fractions import Fraction
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dpheatmap.app import plan_preview
from dpheatmap.app.endpoints.request_parsing import json_of
from dpheatmap.app.endpoints.services import Parts
from dpheatmap.app.release_request import domain_of, source_of, text_of, users_of
from dpheatmap.app.slice_request import axis_from, look_at
from dpheatmap.app.texts import say
from dpheatmap.curator import Ledger
from dpheatmap.design.shares import exact_text, read_epsilon
from dpheatmap.errors import PrivacyRefusal
from dpheatmap.place.domain import Domain
from dpheatmap.slicing.axis import Axis

_NOBODY_WAITS = 499


class PlanAndBudget:
    """The endpoints of plans and budgets."""

    def __init__(self, parts: Parts) -> None:
        self._ledger, self._worker, self._uploads = parts.ledger, parts.worker, parts.uploads
        self._turn = asyncio.Lock()

    def routes(self) -> list[Route]:
        """The routes of the endpoints."""
        return [
            Route("/api/plan", self.plan, methods=["POST"]),
            Route("/api/slices", self.slices, methods=["POST"]),
            Route("/api/preview", self.preview, methods=["POST"]),
            Route("/api/budget", self.budget, methods=["GET"]),
            Route("/api/limit", self.limit, methods=["POST"]),
            Route("/api/charged", self.populations, methods=["POST"]),
        ]

    async def plan(self, request: Request) -> Response:
        """Serve the plan in words; no data is read."""
        return JSONResponse(plan_preview.plan_in_words(*await _plan_inputs(request)))

    async def slices(self, request: Request) -> Response:
        """Serve what slices are, or which field of them is refused and why; no data is read."""
        return JSONResponse(look_at(await json_of(request)))

    async def preview(self, request: Request) -> Response:
        """Serve the plan as pictures of generated people; one at a time, and none that nobody waits for any more."""
        inputs = await _plan_inputs(request)
        domain, (epsilon, users) = inputs[0], plan_preview.map_to_preview(*inputs)
        async with self._turn:
            if await request.is_disconnected():
                return Response(status_code=_NOBODY_WAITS)
            return JSONResponse(await run_in_threadpool(self._worker.run, plan_preview.preview, domain, epsilon, users))

    async def budget(self, request: Request) -> Response:
        """Serve the spending of every population, with times and limits."""
        return JSONResponse(await run_in_threadpool(_spent_budgets, Ledger(self._ledger)))

    async def limit(self, request: Request) -> Response:
        """Set the limit of a population, once; a limit is not changed here."""
        body = await json_of(request)
        ledger, population = Ledger(self._ledger), text_of(body, "population").strip()
        try:
            await run_in_threadpool(ledger.limit, population, read_epsilon(body.get("epsilon")))
        except PrivacyRefusal:
            limit = (await run_in_threadpool(ledger.accounts))[population].limit
            raise PrivacyRefusal(say("limit_is_set", population=population, limit=str(limit))) from None
        return JSONResponse(await run_in_threadpool(_spent_budgets, ledger))

    async def populations(self, request: Request) -> Response:
        """Serve the populations to which a table's file was charged before; none are known for an upload."""
        path, ledger = source_of(await json_of(request), self._uploads).path, Ledger(self._ledger)
        found = await run_in_threadpool(lambda: ledger.populations_of(ledger.marks_of(path)))
        return JSONResponse({"populations": found})


async def _plan_inputs(request: Request) -> tuple[Domain, Fraction, int, Axis | None]:
    """The place, epsilon, number of people and slices of a plan, from the request."""
    body = await json_of(request)
    return domain_of(body.get("place")), read_epsilon(body.get("epsilon")), users_of(body), axis_from(body)


def _spent_budgets(ledger: Ledger) -> dict[str, Any]:
    accounts, history = ledger.accounts(), ledger.history()
    populations = [
        {
            "population": name,
            "limit": None if account.limit is None else str(account.limit),
            "whole": None if account.limit is None else exact_text(account.limit.amount),
            "spent": account.spent_in_words,
            "left": None if (fits := account.fits()) is None else exact_text(fits),
            "words": None if account.limit is None or account.limit.is_pure else account.in_words(),
            "history": [[made, float(spent)] for made, spent in history.get(name, [])],
        }
        for name, account in accounts.items()
    ]
    return {"ledger": ledger.name, "populations": populations}
