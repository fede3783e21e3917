"""Endpoints of the login: the link, its cookie, the page's own files, and its first data."""

from __future__ import annotations

import asyncio
from threading import Thread

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from dpheatmap import __version__
from dpheatmap.app.endpoints.request_parsing import form_of
from dpheatmap.app.endpoints.services import Parts
from dpheatmap.app.pages import page_after_link, password_page, static_file
from dpheatmap.app.release_shelf import public_fields
from dpheatmap.app.request_guard import OPEN, link_in, refusal
from dpheatmap.app.way_back import AGAIN

_DRAWING = ("dpheatmap.app.pictures", "dpheatmap.estimate.posterior.posterior")
"""The modules that drawing needs."""


class Login:
    """The endpoints of the link and the password, the page, and its first request."""

    def __init__(self, parts: Parts) -> None:
        self._session, self._worker = parts.session, parts.worker
        self._uploads, self._notices = parts.uploads, parts.notices
        self._warmed = False

    def routes(self) -> list[Route]:
        """The routes of the endpoints."""
        return [
            Route(OPEN, self.open, methods=["GET", "POST"]),
            Route(AGAIN, self.again, methods=["POST"]),
            Route("/", self.page, methods=["GET"]),
            Route("/static/{name}", self.page, methods=["GET"]),
            Route("/api/start", self.start, methods=["GET"]),
        ]

    async def open(self, request: Request) -> Response:
        """Exchange the one-time link, and a password where one is needed, for the cookie and the page's key."""
        link, password = link_in(request.scope), None
        if self._session.needs_password and self._session.knows(link):
            if request.method == "GET":
                return HTMLResponse(password_page(link))
            password = (await form_of(request)).get("password", "")  # strangers are not waited for: they lack the link
            await asyncio.sleep(1)  # so that guessing is slow
        cookie = self._session.exchange(link, password)
        if cookie is None:
            again = self._session.needs_password and self._session.knows(link)
            return HTMLResponse(password_page(link, wrong=True) if again else page_after_link(None), 403)
        answer = HTMLResponse(page_after_link(f"/#key={self._session.key}"))  # no browser sends the part after "#"
        answer.set_cookie(self._session.cookie, cookie, httponly=True, samesite="strict", path="/")
        return answer

    async def again(self, request: Request) -> Response:
        """Give the owner a fresh link; the guard has checked who asks."""
        return PlainTextResponse(f"{request.base_url}{OPEN.removeprefix('/')}?token={self._session.renew()}")

    async def page(self, request: Request) -> Response:
        """Serve the page itself, or one of its files."""
        name = request.path_params.get("name", "index.html")
        return static_file(name, request.headers.get("if-none-match")) or refusal(404, "not_found")

    async def start(self, request: Request) -> Response:
        """Serve the first data of the page."""
        self._warm()
        notices = [public_fields(record) for record in self._notices]
        return JSONResponse({"version": __version__, "upload_limit": self._uploads.limit, "notices": notices})

    def _warm(self) -> None:
        """Load what drawing needs while the user takes the first steps."""
        if not self._warmed:
            self._warmed = True
            Thread(target=self._worker.warm, args=_DRAWING, daemon=True).start()
