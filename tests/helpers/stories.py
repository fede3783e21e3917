"""Failure stories: a fault, and what happens then, each kept true by a test.

`docs/reference/reliability.md` has their table.

python tests/helpers/stories.py        writes the table into the page; scripts/stories calls it
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from helpers import ROOT

Test = TypeVar("Test", bound=Callable[..., None])
LEDGER = tuple(f"curator.ledger.test_ledger_{name}" for name in ("faults", "files", "limits"))
MODULES = ("test_reliability", *LEDGER, "test_network", "curator.read.test_text_attacks")
START = "| fault | what happens |\n|---|---|\n"


class Story(NamedTuple):
    """One row of the table."""

    fault: str
    outcome: str
    test: str


STORIES: dict[str, Story] = {}


def story(fault: str, outcome: str) -> Callable[[Test], Test]:
    """Mark a test as the one that keeps a story true."""

    def marked(test: Test) -> Test:
        STORIES[fault] = Story(fault, outcome, test.__name__)
        return test

    return marked


def table() -> str:
    """All stories as Markdown."""
    for module in MODULES:
        importlib.import_module(module)
    rows = [f"| {told.fault} | {told.outcome} (`{told.test}`) |" for told in sorted(STORIES.values())]
    return START + "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.modules["helpers.stories"] = sys.modules["__main__"]
    page = ROOT / "docs/reference/reliability.md"
    page.write_text(page.read_text().partition(START)[0] + table())
