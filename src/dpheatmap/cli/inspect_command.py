"""``dpheatmap inspect``: the contents of a table, for the data holder."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence

import click

from dpheatmap.cli.shared_options import check_place, json_option, table_option
from dpheatmap.cli.terminal import answer, say, write_private


@click.command("inspect")
@click.argument("file")
@click.option("--private-report", metavar="FILE", help="Write exact numbers (rows, nulls, ranges) to this file.")
@table_option
@json_option
def command(file: str, private_report: str | None, table: str | None, as_json: bool) -> None:
    """Columns of FILE, guesses at user, x, y and time, and problems.

    Names and types go to stdout. Numbers that depend on people go to your terminal or the private report only.
    """
    from dpheatmap.curator import inspect_table

    if private_report is not None:
        check_place(private_report, read=(file,))
    terminal = sys.stderr.isatty()
    found = inspect_table(file, read_rows=terminal or private_report is not None, table=table)
    columns = [f"{name:<24} {kind}" for name, kind in found.columns.items()]
    columns += [""]
    columns += [f"{role}: {', '.join(names) or 'no column looks like it'}" for role, names in found.guesses.items()]
    columns += [f"Problem: {problem}" for problem in found.schema_problems]
    values = {
        "columns": dict(found.columns),
        "guesses": {role: list(names) for role, names in found.guesses.items()},
        "problems": list(found.schema_problems),
    }
    if found.public:
        answer(as_json, values, "\n".join(columns))
    else:
        told = "The keys of JSON stand in people's rows: they are shown on your terminal, or in the private report."
        answer(as_json, {"columns": {}, "guesses": {}, "problems": [told]}, told)
    if private_report is not None:
        write_private(private_report, found.private if found.public else {**values, **found.private})
    if terminal:
        say("\nFor your eyes only:")
        for line in [] if found.public else columns:
            say(line)
        for name, numbers in found.private["columns"].items():
            say(f"{name:<24} " + ", ".join(f"{key} {_number_text(value)}" for key, value in numbers.items()))
        say(f"rows: {found.private['rows']:,}")
        for hint in found.private["hints"]:
            say(f"Hint: {hint}")
        if any("lowest" in numbers for numbers in found.private["columns"].values()):
            say(
                "A place that is chosen by these ranges is taken from the data, and tells where people are. Choose one "
                "that is known without them, or let dpheatmap discover find it for a part of epsilon."
            )
    if not as_json and (found.public or terminal):
        chosen = "" if table is None else f"--table {shlex.quote(table)} "
        say(f"\nNext: {_release_of(file, found.guesses, chosen)}")
        for name in found.guesses.get("time", ())[:1]:
            say(f"For maps by time in one release, add: {_slices_of(name, found.columns[name])}")


def _release_of(file: str, guesses: Mapping[str, Sequence[str]], table: str) -> str:
    """The release command for these guesses; the place is not taken from the data."""
    trips = "to_x" in guesses
    roles = ["user", *(() if guesses.get("geometry") else ("x", "y")), *(("to_x", "to_y") if trips else ())]
    given = {role: f"--{role.replace('_', '-')} {shlex.quote(next(iter(guesses[role]), 'COLUMN'))}" for role in roles}
    if trips and not guesses["user"]:
        given["user"] = "--each-row-is-a-trip"
    columns = " ".join([*given.values(), *(["--points both"] if trips else [])])
    place = "--bbox=W,S,E,N (or --image WxH, or --unit)"
    return f"dpheatmap release {shlex.quote(file)} --epsilon 1 {table}{columns} -o map.dph.parquet -o map.html {place}"


def _slices_of(name: str, kind: str) -> str:
    """The options of a release by time; dates have no hours, and need no zone."""
    every = "weekday" if kind == "DATE" else "hour-of-day --time-zone ZONE"
    return f"--time {shlex.quote(name)} --every {every}"


def _number_text(value: float | None) -> str:
    """Format a number for people; None is the extreme of an empty column."""
    return "none" if value is None else f"{value:,}"
