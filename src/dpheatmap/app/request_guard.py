"""The guard of the app: which requests are allowed, and the security headers of every answer.

A page elsewhere on the web can make this browser send requests here. It can't read the answers, but it must not cause
any action either, and by DNS rebinding it could even read. So there are these checks, in this order:

1. *Host* must be a name of this server: after rebinding it would be the attacker's.
2. *Sec-Fetch-Site*, where the browser sends it, must not be another site, except for opening the link.
3. *Origin* must be this server, and is required for every request that changes something: forms of other pages send
   theirs.
4. The *cookie* must be the one that the link was exchanged for. It is SameSite=Strict: other sites' requests lack it.
5. The *key* must be the page's, because the browser sends the cookie to other servers on this machine, too
   (`session.py`). The browser itself requests pictures and downloads, without the key: their addresses have random
   names that others don't know.

Other users of the machine can see the link in the list of programs while it opens the browser. Their requests for it
are refused where the system says who owns a connection, as Linux does; there, a connection from this machine that
nobody owns is refused, too. The connection itself tells where it comes from, and no header does: the server takes
none for a proxy's (`local_server.py`).

A fresh link is given to the user who runs the app, at an address that no browser may ask (`way_back.py`): the first
check holds for it, then any header that browsers add is refused, then a wrong secret, then other users. Who owns a
connection is looked up last, and only for the right link or secret: it takes the system so long that hundreds of
strangers' requests would keep the owner waiting. A refusal ends the connection, so that strangers' requests don't wait
in a row on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import HTMLResponse, JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpheatmap.app.connection_owner import is_another_users
from dpheatmap.app.pages import page_of
from dpheatmap.app.session import Session
from dpheatmap.app.texts import say
from dpheatmap.app.way_back import AGAIN, SECRET

OPEN = "/open"
"""The one address that needs no cookie."""

KEY = "x-dpheatmap-key"
_WITHOUT_KEY = re.compile(
    r"(?!/api/).*|/api/uploads/[^/]+/picture|/api/releases/[^/]+/(thumbnail|(areas/[^/]+/)?file/[^/]+)"
)

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src data:",
        "img-src 'self' data: blob:",
        "connect-src 'self' blob:",  # a blob is a part of the page itself: MapLibre's worker
        "worker-src blob:",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Guard:
    """The outermost layer of the app."""

    def __init__(self, app: ASGIApp, session: Session, hosts: Iterable[str]) -> None:
        self._app = app
        self._session = session
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request or pass it on, in both cases with the security headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        answer: ASGIApp = refusal or self._app
        if refusal is not None and Headers(scope=scope).get("sec-fetch-mode") == "navigate":
            answer = HTMLResponse(page_of(refusal.words), refusal.status_code)  # for a reader in a browser window
        ends = refusal is not None and not _has_body(scope)
        await answer(scope, receive, _with_headers(send, {**HEADERS, "connection": "close"} if ends else HEADERS))

    def _refusal(self, scope: Scope) -> Refused | None:
        headers = Headers(scope=scope)
        opening = scope["path"] == OPEN
        if headers.get("host", "").lower() not in self._hosts or len(headers.getlist("host")) != 1:
            return refusal(421, "wrong_host")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not (
            opening and scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
        ):
            return refusal(403, "other_site")
        if scope["path"] == AGAIN:
            browser = any(name == "origin" or name.startswith("sec-fetch-") for name in headers)
            owner = not browser and self._session.is_owner(headers.get(SECRET, "")) and not _is_strangers(scope)
            return None if owner else refusal(401, "no_session")
        origin = headers.get("origin")
        if origin is None and scope["method"] not in ("GET", "HEAD"):
            return refusal(403, "other_site")
        if origin is not None and origin.lower() != f"http://{headers['host']}".lower():
            return refusal(403, "other_site")
        if not opening and not self._session.holds(_cookie(headers, self._session.cookie)):
            return refusal(401, "no_session")
        if opening and self._session.knows(link_in(scope)) and _is_strangers(scope):
            return refusal(401, "no_session")
        unlocked = scope["method"] in ("GET", "HEAD") and _WITHOUT_KEY.fullmatch(scope["path"])
        if not opening and not unlocked and not self._session.has_key(headers.get(KEY, "")):
            return refusal(401, "no_session")
        return None


class Refused(JSONResponse):
    """A refusal in the format of the page."""

    def __init__(self, status: int, words: str) -> None:
        self.words = words
        super().__init__({"error": words}, status)


def refusal(status: int, key: str, /, **values: object) -> Refused:
    """A refusal with one of the app's texts."""
    return Refused(status, say(key, **values))


def link_in(scope: Scope) -> str:
    """The secret part of the opening URL of a request; empty if it has none."""
    return QueryParams(scope["query_string"]).get("token", "")


def _is_strangers(scope: Scope) -> bool:
    """Whether a request comes from another user of this machine, or from a connection without another end."""
    near, far = scope.get("client"), scope.get("server")
    return not near or not far or is_another_users((near[0], near[1]), (far[0], far[1] or 0))


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return found.value if found else None


def _has_body(scope: Scope) -> bool:
    """Whether more than a head is sent. A connection that ends before it was read may take the answer with it."""
    headers = Headers(scope=scope)
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _with_headers(send: Send, more: Mapping[str, str]) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("cache-control", "no-store")
            for name, value in more.items():
                headers[name] = value
        await send(message)

    return send_with_headers
