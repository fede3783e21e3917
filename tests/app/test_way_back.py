"""After the browser was closed: its owner gets back in by starting the app again, and nobody else does."""

from __future__ import annotations

import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from dpheatmap.app import connection_owner, local_server
from dpheatmap.app.endpoints.services import Parts
from dpheatmap.app.request_guard import KEY, Guard
from dpheatmap.app.routes import application
from dpheatmap.app.session import GUESSES, Session
from dpheatmap.app.way_back import AGAIN, SECRET, fresh_link, leave_address
from helpers.served import Served, key_in, serving


def told(served: Served) -> dict[str, str]:
    found: dict[str, str] = json.loads((served.folder / "running.json").read_text())
    return found


def test_a_second_start_gives_a_fresh_link_to_the_first(tmp_path: Path) -> None:
    ledger = str(tmp_path / "l")
    with serving(tmp_path / "kept", ledger) as served, served.opened() as first:
        assert first.get("/api/start").status_code == 200
        with serving(tmp_path / "kept", ledger) as second:
            assert second.process.wait(60) == 0
            assert second.origin == served.origin
            assert second.link != served.link
            assert first.get("/api/start").status_code == 200, "until the link is used"
            with second.opened() as back:
                assert back.get("/api/start").status_code == 200
                assert first.get("/api/start").status_code == 401, "one browser at a time"
                with served.client() as other:
                    assert other.get(second.link).status_code == 403, "it works once, too"
    assert not (tmp_path / "kept" / "running.json").exists()
    assert fresh_link(tmp_path / "kept") is None


def test_what_lets_its_owner_in_is_for_their_eyes_only(served: Served, client: httpx.Client) -> None:
    path = served.folder / "running.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    secret = told(served)["secret"]
    assert len(secret) > 40
    for address in ("/", "/api/start", "/static/app.js"):
        assert secret not in client.get(address).text
    assert secret not in (client.headers[KEY], *client.cookies.values())


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {SECRET: ""},
        {SECRET: "guess"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Host": "evil.example"},
    ],
)
def test_nobody_else_gets_a_link(served: Served, client: httpx.Client, headers: dict[str, str]) -> None:
    """No page of a browser even if it knew the secret, and no name that was bound to this address."""
    session = {KEY: client.headers[KEY], "Cookie": "; ".join(f"{n}={v}" for n, v in client.cookies.items())}
    knows = {} if SECRET in headers or not headers else {SECRET: told(served)["secret"]}
    with served.client(headers={}) as stranger:
        for more in ({}, session, {**session, "Origin": served.origin}):
            for method in ("POST", "GET"):
                answer = stranger.request(method, AGAIN, headers={**more, **knows, **headers})
                assert answer.status_code in (401, 403, 421)
                assert "token" not in answer.text
    assert client.get("/api/start").status_code == 200


def test_the_page_itself_gets_no_link(served: Served, client: httpx.Client) -> None:
    """Its own origin is refused, too: what takes over the page can't let another browser in."""
    with served.client(cookies=client.cookies, headers={**client.headers, SECRET: told(served)["secret"]}) as page:
        assert page.post(AGAIN).status_code == 401


def test_another_user_of_the_machine_gets_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one who read the secret, as from a backup."""
    session = Session(80)
    parts = Parts(session, tmp_path / "kept", str(tmp_path / "l"), 10**6)
    app: Any = Guard(application(parts), session, ["127.0.0.1"])

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
            return await client.post(AGAIN, headers={SECRET: session.owner})

    with ThreadPoolExecutor(1) as pool:
        for owner, status in ((os.getuid() + 1, 401), (None, 401), (os.getuid(), 200)):
            monkeypatch.setattr(connection_owner, "owner_of", lambda near, far, owner=owner: owner)
            answer = pool.submit(asyncio.run, ask()).result()
            assert answer.status_code == status
    assert answer.text == f"http://127.0.0.1/open?token={session.link}"
    parts.close()


def test_a_fresh_link_needs_the_password_as_well() -> None:
    session = Session(1, "a long password")
    for _ in range(GUESSES):
        session.exchange(session.link or "", "guess")
    assert session.link is None
    link = session.renew()
    assert session.exchange(link) is None
    assert session.holds(session.exchange(link, "a long password"))


def test_each_link_brings_its_own_cookie_and_key() -> None:
    session = Session(1)
    first, key = session.exchange(session.link or ""), session.key
    second = session.exchange(session.renew())
    assert first != second
    assert key != session.key
    assert not session.holds(first)
    assert not session.has_key(key)


def test_an_app_that_does_not_answer_is_no_way_in(tmp_path: Path) -> None:
    assert fresh_link(tmp_path) is None
    with leave_address(tmp_path, "http://127.0.0.1:9", "secret"):
        assert fresh_link(tmp_path) is None
    for text in ("", "[]", "{}", '{"origin": "http://127.0.0.1:x", "secret": "s"}'):
        (tmp_path / "running.json").write_text(text)
        assert fresh_link(tmp_path) is None


TOKEN = "Az09_-" * 7 + "x"


@pytest.mark.parametrize(
    ("answer", "good"),
    [
        ("{origin}/open?token=" + TOKEN, True),
        ("http://evil.example/open?token=" + TOKEN, False),
        ("{origin}/open?token=" + TOKEN + "\x1b[2J", False),
        ("{origin}/open?token=" + TOKEN + "\n", False),
        ("{origin}/open?token=short", False),
        ("{origin}/other?token=" + TOKEN, False),
        ("{origin}@evil.example/open?token=" + TOKEN, False),
        ("", False),
    ],
)
def test_only_a_link_of_the_address_asked_is_opened(tmp_path: Path, answer: str, good: bool) -> None:
    """Another user's server may have got the port of an app that crashed."""

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer.format(origin=origin).encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        origin = f"http://127.0.0.1:{server.server_port}"
        with ThreadPoolExecutor(1) as pool, leave_address(tmp_path, origin, "secret"):
            pool.submit(server.handle_request)
            assert (fresh_link(tmp_path) is not None) == good


def test_an_old_address_is_gone_once_the_folder_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while the app is not ready yet."""
    with leave_address(tmp_path, "http://127.0.0.1:9", "old"):
        (tmp_path / "lock").touch()

        def parts(*arguments: Any) -> None:
            raise InterruptedError(f"{(tmp_path / 'running.json').exists()}")

        monkeypatch.setattr(local_server, "Parts", parts)
        with pytest.raises(InterruptedError, match="False"):
            local_server.serve(tmp_path, str(tmp_path / "l"), print)


def test_the_key_after_a_fresh_link_is_in_its_page(served: Served, client: httpx.Client) -> None:
    link = fresh_link(served.folder)
    assert link is not None
    with served.client() as back:
        page = back.get(link)
        back.headers[KEY] = key_in(page.text)
        assert back.get("/api/start").status_code == 200
        client.cookies, client.headers[KEY] = back.cookies, back.headers[KEY]
