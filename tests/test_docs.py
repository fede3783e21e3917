"""The documentation keeps up with the code."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

import dpheatmap as dph
from dpheatmap.cli import COMMANDS, cli
from dpheatmap.evaluate.peers import PEERS
from dpheatmap.releases import sliced_file
from dpheatmap.releases.release_file import describe
from dpheatmap.testing import generated_people
from helpers import ROOT
from helpers.command_reference import reference

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")])


def test_the_command_reference_is_what_the_commands_say() -> None:
    assert (ROOT / "docs/reference/commands.md").read_text() == reference(), "run scripts/commands"


def every_command() -> list[click.Command]:
    """All of them, those below others too."""
    with click.Context(cli) as context:
        found = [command for command in (cli.get_command(context, name) for name in COMMANDS) if command]
    return found + [below for group in found if isinstance(group, click.Group) for below in group.commands.values()]


def test_every_command_and_option_has_words() -> None:
    assert len(every_command()) > len(COMMANDS)
    for command in every_command():
        assert command.help
        for option in (p for p in command.params if isinstance(p, click.Option)):
            assert option.help, f"dpheatmap {command.name} {option.opts[0]} is undocumented"


@pytest.mark.parametrize("width", [80, 200])
def test_help_breaks_no_example_and_cuts_no_summary(width: int) -> None:
    """What is pasted from it runs: a line that was wrapped would be two commands."""
    for command in every_command():
        shown = command.get_help(click.Context(command, terminal_width=width, max_content_width=width))
        assert "..." not in shown.partition("Commands:")[2], f"dpheatmap {command.name} has summaries that don't fit"
        for example in re.findall(r"\x08\n\s*(.+)", command.help or ""):
            assert f"  {example}\n" in shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_named_in_the_pages_exist(page: Path) -> None:
    known = {opt for command in every_command() for param in command.params for opt in param.opts} | {"--help"}
    of_scripts = {"--again", "--control", "--install", "--long", "--only", "--sample"}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page.read_text()))
    assert named <= known | of_scripts


def test_every_key_of_the_release_file_is_documented() -> None:
    columns = {"user": "person", "x": "x", "y": "y"}
    paper, adaptive, dense = (
        dph.release(generated_people(20), dph.Domain.unit(3), epsilon=1, design=design, **columns)  # type: ignore[call-overload]
        for design in ("paper", "adaptive", "dense")
    )
    page = (ROOT / "docs/reference/release-format.md").read_text()
    for key in [*describe(paper), *paper.columns(), *describe(paper)["label"], *describe(paper)["levels"][0]]:
        assert f"`{key}`" in page, key
    for key in [*describe(adaptive), *describe(adaptive)["rule"], *describe(dense), *describe(dense)["rule"]]:
        assert f"`{key}`" in page, key
    slices = {"time": "person", "every": "weekday", "time_zone": "UTC", **columns}
    sliced = dph.release(generated_people(20), dph.Domain.unit(3), epsilon=1, **slices)  # type: ignore[call-overload]
    told = sliced_file.describe(sliced)
    for key in [*told, *told["slices"], *told["slices"]["time"], *told["families"][0], *sliced_file.columns_of(sliced)]:
        assert f"`{key}`" in page, key


def test_every_rival_is_named_with_its_authors_and_year() -> None:
    """In the table of methods, and where nobody is said to be better: that says nothing about others."""
    table, results = ((ROOT / "docs" / page).read_text() for page in ("guides/evaluation.md", "explanation/results.md"))
    verdict = " ".join(re.search(r"\*\*In short\.\*\*.*?\n\n", results, re.DOTALL)[0].split())  # type: ignore[index]
    for peer in PEERS:
        assert f"`{peer.name}`" in table
        published = peer.reference.removesuffix(", HB")
        assert published in table, peer
        assert published in verdict, peer
