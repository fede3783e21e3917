"""The preview at three epsilons: on invented people, one at a time, and never for a page that has gone on."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from dpheatmap.app import plan_preview
from dpheatmap.app.endpoints.plan_and_budget import PlanAndBudget
from helpers.served import PATIENCE, PLACE


@pytest.mark.parametrize(
    ("epsilon", "beside"), [("1", ["0.2", "1", "5"]), ("0.1", ["0.02", "0.1", "0.5"]), ("1/3", ["1/15", "1/3", "5/3"])]
)
def test_a_plan_names_a_stronger_and_a_weaker_epsilon(client: httpx.Client, epsilon: str, beside: list[str]) -> None:
    found = client.post("/api/plan", json={"place": PLACE, "epsilon": epsilon, "users": 500}).json()
    assert found["beside"] == beside


def test_a_preview_takes_no_table(client: httpx.Client) -> None:
    """Not by its code, and not by what a request says beside the place, epsilon, a stated number and public slices."""
    public = ["domain", "epsilon", "users"]
    assert list(inspect.signature(plan_preview.preview).parameters) == public
    for made in (plan_preview.plan_in_words, plan_preview.map_to_preview):
        assert list(inspect.signature(made).parameters) == [*public, "axis"]
    upload = client.post("/api/example").json()
    body = {"place": PLACE, "epsilon": "1", "users": 300}
    pictures = client.post("/api/preview", json=body).json()
    more = {"source": {"upload": upload["upload"]}, "upload": upload["upload"], "path": "/etc/passwd"}
    assert client.post("/api/preview", json={**body, **more}).json() == pictures
    client.delete(f"/api/uploads/{upload['upload']}")


class HeldWorker:
    """Draws nothing, notes what was asked for, and waits for a sign."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.begun, self.go_on = threading.Event(), threading.Event()

    def run(self, work: Any, domain: Any, epsilon: Any, users: int) -> dict[str, str]:
        self.asked.append(str(epsilon))
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        return {"shown": str(epsilon)}


def test_previews_that_nobody_waits_for_are_not_drawn() -> None:
    """A slider goes past five values while the first is drawn: of these, only the last is drawn."""
    worker = HeldWorker()
    parts: Any = SimpleNamespace(ledger="", worker=worker, uploads=None)
    app = Starlette(routes=PlanAndBudget(parts).routes())

    async def ask(epsilon: str, gone: bool) -> int:
        body = json.dumps({"place": PLACE, "epsilon": epsilon, "users": 10}).encode()
        messages = [{"type": "http.request", "body": body}]
        status = 0

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            if gone:
                return {"type": "http.disconnect"}
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)

        headers = [(b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": "/api/preview", "headers": headers, "query_string": b""}
        await app(scope, receive, send)
        return status

    async def visit() -> list[int]:
        first = asyncio.create_task(ask("1", gone=False))
        while not worker.begun.is_set():
            await asyncio.sleep(0.01)
        stale = [asyncio.create_task(ask(str(k), gone=True)) for k in range(2, 6)]
        last = asyncio.create_task(ask("6", gone=False))
        await asyncio.sleep(0.1)
        worker.go_on.set()
        return list(await asyncio.gather(first, *stale, last))

    with ThreadPoolExecutor(1) as pool:
        statuses = pool.submit(asyncio.run, visit()).result()
    assert statuses == [200, 499, 499, 499, 499, 200]
    assert worker.asked == ["1", "6"]
