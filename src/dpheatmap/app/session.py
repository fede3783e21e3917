"""The session: a one-time link, and the cookie and the key for which it is exchanged.

The user who started the app reads the link on their terminal. Nobody in the network knows it, and nobody else on the
machine can use it (`request_guard.py`). It works once, so that a link left in a history or a log opens nothing. Beyond
loopback a password is required as well, and a few wrong ones void the link. After the browser was closed, its owner
gets another link (`way_back.py`). Each link that is used brings a cookie and a key of its own, and voids those before:
one browser at a time has the app.

A browser sends a cookie to every server at this address, on any port: also to one that another user of the machine
runs, if one of its pages is opened. So the cookie alone permits nothing. The page keeps a key, in a storage that no
other port's page can read, and sends it with every request.
"""

from __future__ import annotations

import hmac
import secrets

GUESSES = 5
"""Wrong passwords after which the link is void."""


class Session:
    """One browser's right to use the app."""

    def __init__(self, port: int, password: str | None = None) -> None:
        self.cookie = f"dpheatmap-{port}"  # cookies don't distinguish ports, so the name does
        self._link: str | None = secrets.token_urlsafe(32)
        self._secret = secrets.token_urlsafe(32)
        self.key = secrets.token_urlsafe(32)
        self.owner = secrets.token_urlsafe(32)
        """The secret for which the app gives another link."""
        self._password = password
        self._wrong = 0

    def renew(self) -> str:
        """Make another link, instead of the one before. The browser that has the app keeps it until this is used."""
        self._link, self._wrong = secrets.token_urlsafe(32), 0
        return self._link

    def is_owner(self, secret: str) -> bool:
        """Whether a request with this secret comes from the user who runs the app."""
        return _is_same(secret, self.owner)

    @property
    def link(self) -> str | None:
        """The secret part of the opening URL; None once it was used."""
        return self._link

    @property
    def needs_password(self) -> bool:
        """Whether the link alone does not open the app."""
        return self._password is not None

    def knows(self, link: str) -> bool:
        """Whether this is the link, and not used yet."""
        return self._link is not None and _is_same(link, self._link)

    def exchange(self, link: str, password: str | None = None) -> str | None:
        """Exchange the link for the cookie's value, once; None if link or password is wrong."""
        if not self.knows(link):
            return None
        if self._password is not None and not _is_same(password or "", self._password):
            self._wrong += 1
            if self._wrong >= GUESSES:
                self._link = None
            return None
        self._link = None
        self._secret, self.key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        return self._secret

    def holds(self, cookie: str | None) -> bool:
        """Whether a request with this cookie comes from the browser that opened the link."""
        return cookie is not None and _is_same(cookie, self._secret)

    def has_key(self, key: str) -> bool:
        """Whether a request with this key comes from the app's own page."""
        return _is_same(key, self.key)


def _is_same(a: str, b: str) -> bool:
    """Whether two secrets are equal, compared in constant time."""
    return hmac.compare_digest(a.encode(), b.encode())
