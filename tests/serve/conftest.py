from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from helpers.public_server import PublicServer, make_releases, serve


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of releases."""
    folder = tmp_path_factory.mktemp("public")
    make_releases(folder)
    return folder


@pytest.fixture(scope="session")
def running(releases: Path) -> Iterator[PublicServer]:
    """One server for all tests in a process."""
    with serve(releases, ["city.dph.parquet", "By Mode.dph.parquet", "gaze.dph.parquet"]) as started:
        yield started


@pytest.fixture
def client(running: PublicServer) -> Iterator[httpx.Client]:
    with running.client() as opened:
        yield opened
