from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from helpers.served import Served, emptied
from helpers.visits import Visit, visiting


@pytest.fixture
def served(running: Served) -> Served:
    """The app with a link of a test's own, and without anything of the tests before."""
    return emptied(running)


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
