"""Output for people on stderr: progress, warnings, and numbers for the data holder only."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dpheatmap._util.files import replace_whole
from dpheatmap.errors import BudgetWarning, PlaceWarning

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from dpheatmap.curator import RowReport


PROGRESS = "DPHEATMAP_PROGRESS"


def say(text: str) -> None:
    """Print a line for people on stderr."""
    click.echo(text, err=True)


def answer(as_json: bool, values: dict[str, Any], text: str) -> None:
    """Print the command's result on stdout, as JSON or as text."""
    click.echo(json.dumps(values, indent=2) if as_json else text)


class Bar:
    """A bar of progress."""

    def __init__(self, bar: RichProgress, what: str) -> None:
        self._bar, self._what, self._task = bar, what, bar.add_task(what, total=None)

    def __call__(self, part: float, seconds: float) -> None:
        """Move to the part done (below 0: unknown)."""
        self._bar.update(self._task, total=1.0 if part > 0 else None, completed=max(part, 0.0))

    def at_slice(self, number: int, many: int) -> None:
        """Say which slice is worked at, from 1 on."""
        words = f"{self._what} slice {number} of {many}"
        self._bar.update(self._task, total=many, completed=number - 1, description=words)


class Lines:
    """Progress as lines of JSON on stderr, for a program that shows a bar of its own."""

    def __init__(self, what: str) -> None:
        self._what, self._told = what, -1
        self(0.0, 0.0)

    def __call__(self, part: float, seconds: float) -> None:
        """Tell the part done, each percent once."""
        percent = int(100 * max(part, 0.0))
        if percent > self._told:
            self._told = percent
            say(json.dumps({"progress": percent / 100, "what": self._what}))

    def at_slice(self, number: int, many: int) -> None:
        """Tell how many of the slices are done."""
        self((number - 1) / many, 0.0)


@contextmanager
def progress(what: str) -> Iterator[Bar | Lines | None]:
    """Show a bar on a terminal, nothing elsewhere; lines of JSON if DPHEATMAP_PROGRESS asks for them."""
    if os.environ.get(PROGRESS) == "json":
        yield Lines(what)
        return
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Bar(bar, what)


@contextmanager
def doubts_as_lines(what: str = "place") -> Iterator[None]:
    """Tell doubts about columns, place, areas or budget in a line each, without Python's words on where they arose."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", PlaceWarning)
        warnings.simplefilter("always", BudgetWarning)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, PlaceWarning):
                say(f"Check the {what}: {message}")
            elif issubclass(category, BudgetWarning):
                say(str(message))
            else:
                usual(message, category, *place, **more)

        warnings.showwarning = show
        yield


def tell_private_reports(reports: list[RowReport], path: str | None) -> None:
    """Write exact numbers of each reading of a table for the data holder: to the file they named, and the terminal.

    They never go to a log or a pipe. The file has the numbers of the only reading, or a list of those of several.
    """
    from dpheatmap.curator import remark_on

    if path is not None and reports:
        told = [{**vars(report), "remark": remark_on(report)} for report in reports]
        write_private(path, told[0] if len(told) == 1 else {"readings": told})
    for report in reports if sys.stderr.isatty() else []:
        rate = report.rows / max(report.seconds, 1e-9)
        people = "1 person" if report.people == 1 else f"{report.people:,} people"
        say(
            f"For your eyes only: {report.rows:,} rows ({rate:,.0f} a second), {report.inside:,} inside by "
            f"{people}; left out: {report.outside:,} outside, {report.invalid:,} without valid "
            f"coordinates or weight, {report.without_person:,} without a person."
        )
        if report.broken_lines:
            say(f"Broken lines that were left out: {report.broken_lines:,}.")
        if remark := remark_on(report):
            say(remark)


def write_private(path: str, values: Mapping[str, Any]) -> None:
    """Write exact numbers to a file that only its owner may read, with a warning at its top."""
    marked = {"private": "exact numbers about people: do not publish", **values}
    with replace_whole(path, private=True) as temporary:
        temporary.write_text(json.dumps(marked, indent=2) + "\n")
