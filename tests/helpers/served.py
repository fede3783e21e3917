"""The app as a process of its own, and a client that has opened its link."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

import dpheatmap as dph
from dpheatmap.app.request_guard import KEY
from dpheatmap.app.way_back import fresh_link
from dpheatmap.testing import generated_people

BOX = (7.30, 46.90, 7.50, 47.02)
PLACE = {"kind": "bbox", "bounds": list(BOX)}
PATIENCE = 180  # seconds after which something is taken to never happen, on however busy a machine
COLUMNS = {"user": "rider", "x": "lon", "y": "lat"}


@dataclass
class Served:
    """A running app."""

    process: subprocess.Popen[str]
    link: str
    folder: Path
    ledger: str

    @property
    def origin(self) -> str:
        parts = urlsplit(self.link)
        return f"{parts.scheme}://{parts.netloc}"

    def client(self, **options: Any) -> httpx.Client:
        """A client without a session."""
        settings: dict[str, Any] = {"base_url": self.origin, "headers": {"Origin": self.origin}, "timeout": PATIENCE}
        # A connection a question: the server closes idle ones, perhaps at the moment at which one is used again.
        once = httpx.Limits(max_keepalive_connections=0)
        return httpx.Client(trust_env=False, limits=once, **(settings | options))

    @contextmanager
    def opened(self) -> Iterator[httpx.Client]:
        """A client that has opened the link."""
        with self.client() as client:
            answer = client.get(self.link)
            assert answer.status_code == 200
            client.headers[KEY] = key_in(answer.text)
            yield client

    def memory(self) -> int:
        """Bytes that the server holds now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(status.partition("VmRSS:")[2].split()[0])

    def charges(self, population: str) -> int:
        account = dph.Ledger(self.ledger).accounts().get(population)
        return 0 if account is None else account.charges


def emptied(served: Served) -> Served:
    """A running app as after its first start: with a fresh link, nothing on the shelf, no uploads and no ledger."""
    releases, uploads = served.folder / "releases", served.folder / "uploads"
    with relinked(served).opened() as client:
        for kept in releases.iterdir():
            ended(client, kept.name)
            assert client.delete(f"/api/releases/{kept.name}").status_code == 200
        for upload in uploads.iterdir():
            client.delete(f"/api/uploads/{upload.name.partition('.')[0]}")
        until(lambda: [*releases.iterdir(), *uploads.iterdir()], lambda left: left == [])
    for journal in (served.folder / "deleted").iterdir():
        journal.unlink()
    for deleted in (served.folder / "trash").iterdir():
        shutil.rmtree(deleted)
    (served.folder / "settings.json").unlink(missing_ok=True)
    Path(served.ledger).unlink(missing_ok=True)
    return relinked(served)


def relinked(served: Served) -> Served:
    """A running app with a fresh link, as for its owner who starts it again."""
    return replace(served, link=until(lambda: fresh_link(served.folder), lambda link: link is not None))


def key_in(page: str) -> str:
    """The key that the page after the link goes on with."""
    found = re.search(r'url=/#key=([\w-]+)"', page)
    assert found is not None
    return found[1]


KILLED = """
import os, runpy, signal, sys
name, words = sys.argv.pop(1), sys.argv.pop(1).encode()
def watch(event, arguments):
    if event == "os.rename" and os.path.basename(arguments[1]) == name:
        with open(arguments[0], "rb") as file:
            if words in file.read():
                os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
runpy.run_module("dpheatmap", run_name="__main__", alter_sys=True)
"""
"""Runs the program and kills it at one moment for sure: when a file of a name, with words in it, was written under
another name and is about to get its own."""

HELD = """
import os, runpy, sys, time
go = sys.argv.pop(1)
def watch(event, arguments):
    while event == "tempfile.mkdtemp" and not os.path.exists(go):
        time.sleep(0.01)
sys.addaudithook(watch)
runpy.run_module("dpheatmap", run_name="__main__", alter_sys=True)
"""
"""Runs the program, and holds whatever is about to read a table until a file is there: reading begins with a folder."""


@contextmanager
def serving(
    folder: Path,
    ledger: str,
    *options: str,
    killed_at: tuple[str, str] | None = None,
    held_until: Path | None = None,
    **environment: str,
) -> Iterator[Served]:
    """Start the app, and stop it as its user would; or as nobody would, at a file's name and words in it."""
    program = ["-m", "dpheatmap"]
    if killed_at is not None:
        program = ["-c", KILLED, *killed_at]
    if held_until is not None:
        program = ["-c", HELD, str(held_until)]
    command = [sys.executable, *program, "app", "--no-open", "--folder", str(folder), *options]
    settings = {**os.environ, "DPHEATMAP_LEDGER": ledger, **environment}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings)
    try:
        assert process.stdout is not None
        yield Served(process, process.stdout.readline().strip(), folder, ledger)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        assert process.stdout is not None
        process.stdout.close()


def trips(path: Path, people: int = 400, box: tuple[float, float, float, float] = BOX) -> Path:
    """A table of generated people."""
    table = generated_people(people, extent=box).project("person AS rider, x AS lon, y AS lat")
    if path.suffix == ".csv":
        table.write_csv(str(path))
    else:
        table.write_parquet(str(path))
    return path


def wanted(source: dict[str, Any], population: str, **changes: Any) -> dict[str, Any]:
    """What the page asks for to release a table of trips."""
    return {"source": source, "columns": COLUMNS, "place": PLACE, "epsilon": "1", "population": population, **changes}


def ended(client: httpx.Client, id: str) -> dict[str, Any]:
    """A release once it is over, however it went."""
    found: dict[str, Any] = until(
        lambda: client.get(f"/api/releases/{id}").json(), lambda found: found["state"] in OVER
    )
    return found


OVER = ("done", "failed", "cancelled", "stopped", "lost")


def until(ask: Callable[[], Any], good: Callable[[Any], bool], seconds: float = PATIENCE) -> Any:
    """Ask until the answer is good."""
    end = time.monotonic() + seconds
    while not good(found := ask()):
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


def is_open(connection: socket.socket) -> bool:
    """Whether the server has not ended a connection, after all that it answered was read."""
    connection.setblocking(False)
    try:
        while connection.recv(65536):
            pass
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except (ConnectionError, ssl.SSLError):
        return False
    return False
