from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from helpers.served import Served, serving
from helpers.visits import Visit, visiting


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """An app of a test's own, for the link works once."""
    with serving(tmp_path / "kept", str(tmp_path / "test.ledger")) as running:
        yield running


@pytest.fixture
def visit(browser: Browser, served: Served) -> Iterator[Visit]:
    """A wide, light window; nothing it says or asks elsewhere is let pass."""
    with visiting(browser, served, width=1400, height=900, scheme="light") as opened:
        yield opened


@pytest.fixture
def small_visit(browser: Browser, served: Served) -> Iterator[Visit]:
    """A narrow, dark one."""
    with visiting(browser, served, width=400, height=800, scheme="dark") as opened:
        yield opened
