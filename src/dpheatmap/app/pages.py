"""The page's own files, built from web/, and the two small pages around the opening link."""

from __future__ import annotations

import hashlib
import html
from functools import cache
from importlib import resources

from starlette.responses import Response

from dpheatmap.app.texts import say

_KINDS = {
    "index.html": "text/html",
    "app.js": "text/javascript",
    "app.css": "text/css",
    "view.js": "text/javascript",
    "maplibre.js": "text/javascript",
    "map.css": "text/css",
    "icon.svg": "image/svg+xml",
}
_OF_MAPS = ("maplibre.js", "map.css")  # files that the page shares with maps on disk


def static_file(name: str, known: str | None) -> Response | None:
    """Serve one of the page's files; None for any other name. A browser that has it gets "not modified"."""
    if name not in _KINDS:
        return None
    content, tag = _read(name)
    headers = {"etag": tag, "cache-control": "no-cache"}
    if known == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_KINDS[name], headers=headers)


def edition() -> str:
    """The edition of the map's code in the page; drawings cached for another edition are made again."""
    parts = "".join(_read(name)[1] for name in ("view.js", *_OF_MAPS))
    return hashlib.sha256(parts.encode()).hexdigest()[:12]


@cache
def _read(name: str) -> tuple[bytes, str]:
    package = "dpheatmap.render.web" if name in _OF_MAPS else "dpheatmap.app"
    content = (resources.files(package) / "static" / name).read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def page_after_link(target: str | None) -> str:
    """The page after the link: it forwards to the app, or says why not.

    The page forwards by itself, not by a redirect: after a redirect, the browser would still treat the request as one
    from the site of the link, and not send the cookie.
    """
    if target is None:
        return page_of(say("link_used"))
    refresh = f'<meta http-equiv="refresh" content="0; url={target}">'
    return _page(f'<p><a href="{target}">{html.escape(say("go_on"))}</a></p>', refresh)


def page_of(words: str) -> str:
    """A page with a message only."""
    return _page(f"<p>{html.escape(words)}</p>")


def password_page(link: str, *, wrong: bool = False) -> str:
    """The page that asks for the password."""
    note = f"<p>{html.escape(say('wrong_password'))}</p>" if wrong else ""
    return _page(
        f'{note}<form method="post" action="/open?token={html.escape(link)}">'
        f'<label>{html.escape(say("password"))} <input type="password" name="password" autofocus></label> '
        f"<button>{html.escape(say('go_on'))}</button></form>"
    )


def _page(body: str, head: str = "") -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<title>dpheatmap</title><link rel="icon" href="data:,">{head}</head><body><main>{body}</main></body></html>'
    )
