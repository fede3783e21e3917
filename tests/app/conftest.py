from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import dpheatmap as dph
from helpers.served import Served, emptied, serving, trips


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One app for all tests in a process."""
    folder = tmp_path_factory.mktemp("app")
    with serving(folder / "kept", str(folder / "test.ledger")) as started:
        yield started


@pytest.fixture(scope="module")
def served(running: Served) -> Served:
    """The app with a link of a module's own, and without anything of the tests before."""
    return emptied(running)


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[httpx.Client]:
    with served.opened() as opened:
        yield opened


@pytest.fixture
def population(served: Served, request: pytest.FixtureRequest) -> str:
    """People of a test's own, with a limit."""
    name = str(request.node.name)[:100]
    dph.Ledger(served.ledger).limit(name, 5)
    return name


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return trips(tmp_path / "trips.csv")
