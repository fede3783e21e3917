"""The questions that the page may ask. Each is read, checked, and handed to what answers it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from dpheatmap import __version__
from dpheatmap.app import places, preview
from dpheatmap.app.drawing import Drawing
from dpheatmap.app.guard import OPEN, refused
from dpheatmap.app.jobs import Jobs, recover, tell
from dpheatmap.app.pages import opened, opening, static_file
from dpheatmap.app.recipe import recipe
from dpheatmap.app.session import Session
from dpheatmap.app.shelf import MAP, Record, Shelf
from dpheatmap.app.texts import say
from dpheatmap.app.uploads import TooLarge, Uploads
from dpheatmap.app.wanted import (
    body_of,
    charge_of,
    columns_of,
    domain_of,
    source_of,
    text_of,
    users_of,
)
from dpheatmap.app.worker import Worker
from dpheatmap.budget import exact_text, read_epsilon
from dpheatmap.curator.inspect import inspect_table
from dpheatmap.curator.ledger import Ledger
from dpheatmap.errors import DpheatmapError, ParameterError, PrivacyRefusal
from dpheatmap.render.background import background_of
from dpheatmap.render.page import basemap_around

MOST_SMALL = 64 * 1024
Handler = Callable[[Request], Awaitable[Response]]


class Routes:
    """The app's parts, and a method for each question."""

    def __init__(self, session: Session, folder: Path, ledger: str, limit: int) -> None:
        self.session = session
        self.ledger = ledger
        self.uploads = Uploads(folder / "uploads", limit)
        self.shelf = Shelf(folder)
        self.notices = recover(self.shelf, ledger)
        self.worker = Worker()
        self._warmed = False
        self.drawing = Drawing(self.shelf, self.worker)
        self.jobs = Jobs(self.shelf, ledger, self.drawing.first)

    def close(self) -> None:
        """Finish what was paid for, and remove uploads and what was deleted."""
        self.worker.close()
        self.jobs.close()
        self.uploads.clear()
        self.shelf.empty_trash()

    # The page

    async def open(self, request: Request) -> Response:
        """Exchange the one-time link, and a password where one is needed, for the cookie and the page's key."""
        if request.method == "GET":
            link, password = request.query_params.get("token", ""), None
            if self.session.needs_password and self.session.knows(link):
                return HTMLResponse(opening(link))
        else:
            form = await _form(request)
            link, password = form.get("token", ""), form.get("password", "")
            await asyncio.sleep(1)  # so that guessing is slow
        cookie = self.session.exchange(link, password)
        if cookie is None:
            again = self.session.needs_password and self.session.knows(link)
            return HTMLResponse(opening(link, wrong=True), 403) if again else HTMLResponse(opened(None), 403)
        answer = HTMLResponse(opened(f"/#key={self.session.key}"))  # which no browser sends to anybody
        answer.set_cookie(self.session.cookie, cookie, httponly=True, samesite="strict", path="/")
        return answer

    async def page(self, request: Request) -> Response:
        """The page itself, or a file that it is made of."""
        name = request.path_params.get("name", "index.html")
        return static_file(name, request.headers.get("if-none-match")) or refused(404, "not_found")

    def _warm(self) -> None:
        """Get ready for drawing while the first steps are taken."""
        if not self._warmed:
            self._warmed = True
            Thread(target=self.worker.warm, daemon=True).start()

    # Tables, pictures and places

    async def start(self, request: Request) -> Response:
        """What the page needs to know at first."""
        self._warm()
        notices = [_public(record) for record in self.notices]
        return JSONResponse({"version": __version__, "upload_limit": self.uploads.limit, "notices": notices})

    async def upload(self, request: Request) -> Response:
        """A file, as the body of the request."""
        declared = request.headers.get("content-length", "")
        size = int(declared) if declared.isdigit() else None
        name = request.query_params.get("name", "")
        found = await self.uploads.receive(name, size, request.stream())
        return JSONResponse({"upload": found.id, "name": found.name, "size": found.size})

    async def forget(self, request: Request) -> Response:
        """Remove an upload."""
        self.uploads.remove(request.path_params["id"])
        return JSONResponse({})

    async def inspect(self, request: Request) -> Response:
        """Columns, guesses and problems, and exact numbers for the data holder's eyes."""
        source = source_of(await _json(request), self.uploads)
        with source.named():
            found = await run_in_threadpool(inspect_table, source.events, read_rows=True)
        answer = {
            "name": source.name,
            "columns": dict(found.columns),
            "guesses": {role: list(names) for role, names in found.guesses.items()},
            "problems": list(found.schema_problems),
            "private": dict(found.private),
        }
        return JSONResponse(json.loads(json.dumps(answer, default=str)))

    async def picture(self, request: Request) -> Response:
        """The size of a picture that was uploaded, and the picture itself."""
        upload = self.uploads.get(request.path_params["id"])
        width, height = await run_in_threadpool(places.size_of_picture, upload.path, upload.name)
        if request.query_params.get("show"):
            return FileResponse(upload.path)
        return JSONResponse({"width": width, "height": height})

    async def basemap(self, request: Request) -> Response:
        """Land, borders and towns around bounds."""
        bounds = places.bounds_of(request.query_params.get("bounds", "-180,-85,180,85"))
        return JSONResponse(await run_in_threadpool(basemap_around, bounds))

    async def towns(self, request: Request) -> Response:
        """Towns by the start of their names."""
        return JSONResponse(await run_in_threadpool(places.towns, request.query_params.get("name", "")[:100]))

    # Epsilon

    async def plan(self, request: Request) -> Response:
        """What to expect, in words; nobody's data is read."""
        body = await _json(request)
        domain, epsilon, users = domain_of(body.get("place")), read_epsilon(body.get("epsilon")), users_of(body)
        return JSONResponse(preview.foreseen(domain, epsilon, users))

    async def preview(self, request: Request) -> Response:
        """The same as pictures, of generated people."""
        body = await _json(request)
        domain, epsilon, users = domain_of(body.get("place")), read_epsilon(body.get("epsilon")), users_of(body)
        return JSONResponse(await run_in_threadpool(self.worker.run, preview.previewed, domain, epsilon, users))

    async def budget(self, request: Request) -> Response:
        """What every population has spent, when, and how much it may."""
        return JSONResponse(await run_in_threadpool(_spending, Ledger(self.ledger)))

    async def limit(self, request: Request) -> Response:
        """Set how much may be spent on a population."""
        body = await _json(request)
        ledger = Ledger(self.ledger)
        await run_in_threadpool(ledger.limit, text_of(body, "population").strip(), body.get("epsilon"))
        return JSONResponse(await run_in_threadpool(_spending, ledger))

    # Releases

    async def release(self, request: Request) -> Response:
        """Begin a release, or give the one that the same request made before."""
        return JSONResponse(await run_in_threadpool(self._release, await _json(request)))

    def _release(self, body: Any) -> dict[str, Any]:
        source, columns = source_of(body_of(body.get("source")), self.uploads), columns_of(body_of(body.get("columns")))
        domain, charge = domain_of(body.get("place")), charge_of(body)
        picture = None if body.get("picture") is None else self.uploads.get(text_of(body, "picture")).path
        if picture is not None:
            background_of(domain, picture)
        wanted = {
            "path": source.path,
            "columns": asdict(columns),
            "place": body["place"],
            "epsilon": exact_text(charge.epsilon),
            "population": charge.population,
        }
        after = None if body.get("after") is None else self.shelf.get(text_of(body, "after")).id
        record, repeated = self.jobs.release(source, columns, domain, charge, wanted, after, picture)
        return {**self._shown(record), "repeated": repeated}

    async def discover(self, request: Request) -> Response:
        """Begin to look for a place privately, or give the one that the same request found before."""
        return JSONResponse(await run_in_threadpool(self._discover, await _json(request)))

    def _discover(self, body: Any) -> dict[str, Any]:
        source, columns = source_of(body_of(body.get("source")), self.uploads), columns_of(body_of(body.get("columns")))
        charge = charge_of(body)
        wanted = {"path": source.path, "columns": asdict(columns), "epsilon": exact_text(charge.epsilon)}
        record, repeated = self.jobs.discover(source, columns, charge, {**wanted, "population": charge.population})
        return {**self._shown(record), "repeated": repeated}

    async def shelved(self, request: Request) -> Response:
        """All releases."""
        return JSONResponse([self._shown(record) for record in self.shelf.all() if record.kind == MAP])

    async def state(self, request: Request) -> Response:
        """How a release is getting on, or went."""
        return JSONResponse(self._shown(self.shelf.get(request.path_params["id"])))

    async def cancel(self, request: Request) -> Response:
        """Stop a release, if it is not charged yet."""
        return JSONResponse(self._shown(self.jobs.cancel(request.path_params["id"])))

    async def delete(self, request: Request) -> Response:
        """Take a release off the shelf."""
        self.shelf.delete(request.path_params["id"])
        return JSONResponse({})

    async def restore(self, request: Request) -> Response:
        """Undo that."""
        return JSONResponse(self._shown(self.shelf.restore(request.path_params["id"])))

    async def map(self, request: Request) -> Response:
        """The data of a map."""
        text = await run_in_threadpool(self.drawing.map, request.path_params["id"], _sigma(request))
        return Response(text, media_type="application/json")

    async def about(self, request: Request) -> Response:
        """What can be done with a release: formats, smoothing, and how it is done without the app."""
        record = self.shelf.get(request.path_params["id"])
        formats = await run_in_threadpool(self.drawing.formats, record.id)
        made = recipe(record, _sigma(request))
        return JSONResponse({"formats": formats, "sigma": self.drawing.sigma(record.id), **made})

    async def thumbnail(self, request: Request) -> Response:
        """A small picture."""
        found = await run_in_threadpool(self.drawing.thumbnail, request.path_params["id"])
        return Response(found, media_type="image/png")

    async def change(self, request: Request) -> Response:
        """The data of a map of what changed."""
        after, before = request.path_params["id"], request.path_params["before"]
        return Response(await run_in_threadpool(self.drawing.change, after, before), media_type="application/json")

    async def file(self, request: Request) -> Response:
        """A file to take away."""
        record, suffix = self.shelf.get(request.path_params["id"]), request.path_params["suffix"]
        folder = TemporaryDirectory(prefix="dpheatmap-")
        try:
            path = await run_in_threadpool(self.drawing.file, record.id, suffix, _sigma(request), Path(folder.name))
        except BaseException:
            folder.cleanup()
            raise
        name = f"{Path(record.file).name.partition('.')[0] or 'map'}{suffix}"
        return FileResponse(path, filename=name, background=BackgroundTask(folder.cleanup))

    def _shown(self, record: Record) -> dict[str, Any]:
        job = self.jobs.progress(record.id)
        more = {} if job is None else {"part": job.part, "seconds": job.seconds, "private": job.private}
        return {**_public(record), **more}


def _public(record: Record) -> dict[str, Any]:
    return {name: value for name, value in asdict(record).items() if name != "fingerprint"}


def _spending(ledger: Ledger) -> dict[str, Any]:
    accounts, history = ledger.accounts(), ledger.history()
    populations = [
        {
            "population": name,
            "limit": None if account.limit is None else exact_text(account.limit),
            "spent": exact_text(account.spent),
            "left": None if account.left is None else exact_text(account.left),
            "history": [[made, float(spent)] for made, spent in history.get(name, [])],
        }
        for name, account in accounts.items()
    ]
    return {"ledger": ledger.name, "populations": populations}


def _sigma(request: Request) -> float | None:
    text = request.query_params.get("sigma")
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise ParameterError(say("missing", name="sigma")) from None


async def _json(request: Request) -> Any:
    """The body of a request, which must be a small JSON object."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415)
    try:
        return body_of(json.loads(await _small(request)))
    except (ValueError, RecursionError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(say("not_an_object")) from None


async def _form(request: Request) -> dict[str, str]:
    return dict(parse_qsl((await _small(request)).decode("utf-8", "replace")))


async def _small(request: Request) -> bytes:
    """The body of a request that has no reason to be large."""
    found = b""
    async for chunk in request.stream():
        found += chunk
        if len(found) > MOST_SMALL:
            raise HTTPException(413)
    return found


async def _told(request: Request, error: Exception) -> Response:
    """An error of the library as an answer."""
    if isinstance(error, TooLarge):
        return JSONResponse({"error": str(error)}, 413, headers={"connection": "close"})
    return JSONResponse({"error": str(error)}, 409 if isinstance(error, PrivacyRefusal) else 400)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    names = {404: "not_found", 405: "not_found", 413: "json_too_large", 415: "not_json"}
    return refused(error.status_code, names.get(error.status_code, "unexpected"))


async def _unexpected(request: Request, error: Exception) -> Response:
    if not isinstance(error, ClientDisconnect):
        tell(error)
    return refused(500, "unexpected")


def application(routes: Routes) -> Starlette:
    """The app, without its guard."""
    one = "/api/releases/{id}"
    table: list[tuple[str, str, Handler]] = [
        ("GET", OPEN, routes.open),
        ("POST", OPEN, routes.open),
        ("GET", "/", routes.page),
        ("GET", "/static/{name}", routes.page),
        ("GET", "/api/start", routes.start),
        ("PUT", "/api/uploads", routes.upload),
        ("DELETE", "/api/uploads/{id}", routes.forget),
        ("GET", "/api/uploads/{id}/picture", routes.picture),
        ("POST", "/api/inspect", routes.inspect),
        ("GET", "/api/basemap", routes.basemap),
        ("GET", "/api/towns", routes.towns),
        ("POST", "/api/plan", routes.plan),
        ("POST", "/api/preview", routes.preview),
        ("GET", "/api/budget", routes.budget),
        ("POST", "/api/limit", routes.limit),
        ("GET", "/api/releases", routes.shelved),
        ("POST", "/api/releases", routes.release),
        ("POST", "/api/discover", routes.discover),
        ("GET", one, routes.state),
        ("DELETE", one, routes.delete),
        ("POST", f"{one}/cancel", routes.cancel),
        ("POST", f"{one}/restore", routes.restore),
        ("GET", f"{one}/map", routes.map),
        ("GET", f"{one}/about", routes.about),
        ("GET", f"{one}/thumbnail", routes.thumbnail),
        ("GET", f"{one}/minus/{{before}}", routes.change),
        ("GET", f"{one}/file/{{suffix}}", routes.file),
    ]
    handlers: dict[Any, Any] = {DpheatmapError: _told, HTTPException: _http, Exception: _unexpected}

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(routes.close)

    found = [Route(path, handler, methods=[method]) for method, path, handler in table]
    return Starlette(routes=found, exception_handlers=handlers, lifespan=lifespan)
