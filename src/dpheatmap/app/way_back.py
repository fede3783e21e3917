"""The way back into a running app after its browser was closed: whoever starts the app again gets a fresh link.

The link works once, and the cookie goes with the browser's window. A second start of the app for the same folder can't
run beside the first. It reads the first one's address and a secret from a file in that folder, which only its owner can
read, and asks it for another link. Who can read the file can read the releases and uploads beside it, too, so the file
lets nobody in who is not in already. Pages of a browser can't ask: they don't know the secret, and requests with the
headers that browsers add are refused (`request_guard.py`).

After a crash the file stays, and another user's server may listen at that port by then. So the next app removes the
file as soon as it holds the folder, and an answer that is no link of the address asked is none.
"""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from dpheatmap._util.files import replace_whole

AGAIN = "/again"
"""The address that gives a fresh link."""

SECRET = "x-dpheatmap-again"
"""The header with the secret of the file."""

_FILE = "running.json"
_SECONDS = 10
_LONGEST = 1000  # bytes of an answer


def remove_address(folder: Path) -> None:
    """Remove the address of an app that ended without doing so itself."""
    (folder / _FILE).unlink(missing_ok=True)


@contextmanager
def leave_address(folder: Path, origin: str, secret: str) -> Iterator[None]:
    """Write where the app runs, for its owner's eyes only, as long as it runs."""
    with replace_whole(folder / _FILE, private=True) as temporary:
        temporary.write_text(json.dumps({"origin": origin, "secret": secret}), encoding="utf-8")
    try:
        yield
    finally:
        remove_address(folder)


def fresh_link(folder: Path) -> str | None:
    """Ask the app that uses a folder for a fresh link; None if it does not answer with one of its own."""
    try:
        told = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        where = urlsplit(told["origin"])
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=_SECONDS)  # by no proxy
        connection.request("POST", AGAIN, headers={SECRET: told["secret"]})
        answer = connection.getresponse()
        link = answer.read(_LONGEST).decode("ascii")
        connection.close()
        its_own = re.fullmatch(re.escape(told["origin"]) + r"/open\?token=[\w-]{43}", link, re.ASCII)
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
        return None
    return link if answer.status == 200 and its_own else None
