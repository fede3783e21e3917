"""The public server in a process of its own, over releases of generated people."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

import dpheatmap as dph
from dpheatmap.testing import generated_people

CITY = (-74.1, 40.6, -73.8, 40.9)
PATIENCE = 180.0
"""Seconds after which something is taken to never happen, on however busy a machine."""


@dataclass(frozen=True)
class PublicServer:
    """A running server, and the folder of its releases."""

    process: subprocess.Popen[str]
    origin: str
    folder: Path

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.origin, timeout=PATIENCE)

    def memory(self) -> int:
        """Bytes that the server holds now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(status.partition("VmRSS:")[2].split()[0])


def command_of(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "dpheatmap", "serve", *arguments]


@contextmanager
def serve(folder: Path, names: Sequence[str], *options: str) -> Iterator[PublicServer]:
    """Start the server over files of a folder, and stop it as its user would."""
    files = [str(folder / name) for name in names]
    process = subprocess.Popen(
        command_of(*files, "--port", "0", *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        origin = process.stdout.readline().strip()
        if not origin:
            raise AssertionError(process.stderr.read())
        yield PublicServer(process, origin, folder)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()
        process.stderr.close()


def make_releases(folder: Path) -> None:
    """A city, the same by three groups, and an image."""
    columns = {"user": "person", "x": "x", "y": "y"}
    city = dph.Domain.bbox(*CITY, resolution=100)
    people = generated_people(2000, extent=CITY)
    dph.release(people, city, epsilon=1, **columns).save(folder / "city.dph.parquet")  # type: ignore[call-overload]
    groups = people.project("*, ['on foot', 'by bike', 'a&b'][1 + person % 3] AS mode")
    sliced = dph.release(  # type: ignore[call-overload]
        groups, city, epsilon=3, group="mode", groups=["on foot", "by bike", "a&b"], **columns
    )
    sliced.save(folder / "By Mode.dph.parquet")
    image = dph.Domain.image(640, 480)
    gaze = dph.release(generated_people(300, extent=(0, 0, 640, 480)), image, epsilon=1, **columns)  # type: ignore[call-overload]
    gaze.save(folder / "gaze.dph.parquet")
