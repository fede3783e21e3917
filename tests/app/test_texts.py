"""One file of sentences, all of them used, none missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dpheatmap
from dpheatmap.app.texts import say, without_commands
from dpheatmap.cli import run
from helpers import ROOT

APP = Path(dpheatmap.__file__).parent / "app"
PAGE = ROOT / "web/src/app"
TEXTS = json.loads((APP / "texts.json").read_text(encoding="utf-8"))


def test_every_sentence_of_the_server_is_used_and_none_is_missing() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in APP.rglob("*.py"))
    used = set(re.findall(r"""(?:say|refusal)\((?:\d+, )?["'](\w+)["']""", source))
    used |= set(re.findall(r"4\d\d: \"(\w+)\"", source)) | {"unexpected"}
    assert used == set(TEXTS["server"])


def test_every_sentence_of_the_page_is_used() -> None:
    """That none is missing is what the type checker of the page checks."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in PAGE.rglob("*.ts"))
    unused = [
        f"{part}.{name}"
        for part, texts in TEXTS["page"].items()
        for name in texts
        if part != "steps" and f"t.{part}.{name}" not in source
    ]
    assert unused == []


def test_the_page_has_no_sentences_of_its_own() -> None:
    """What people read comes from the one file: no element is given words in the source."""
    for path in PAGE.rglob("*.ts"):
        words = re.findall(r"""(?:\}, |button\()"([A-Z][a-z]+ [a-z]+[^"]*)\"""", path.read_text(encoding="utf-8"))
        assert words == [], path.name


def test_values_stand_in_their_places() -> None:
    assert say("no_file", path="/a{b}") == "There is no file /a{b} on this machine. Check the path."


TERMINAL = {"already_running", "folder_of_others", "folder_unusable", "no_password", "not_loopback", "port_taken"}
"""Sentences that are told where the app is started, which is a command line."""
COMMANDS = re.compile(r"--[a-z]|pip install|dpheatmap (?!app)[a-z]|terminal|command")
JARGON = re.compile(r"posterior|sigma|variance|standard deviation|logarithm|density|mechanism|post-process|JSON|GIS\b")


def sentences(texts: Any) -> Iterator[str]:
    for value in texts.values():
        if isinstance(value, str):
            yield value
        else:
            yield from sentences(value)


def test_the_page_gives_no_advice_for_a_command_line() -> None:
    """Except beside the command itself, for programmers."""
    page = {**TEXTS["page"], "map": {**TEXTS["page"]["map"], "command": "", "same": ""}}
    told = [*sentences(page), *(words for name, words in TEXTS["server"].items() if name not in TERMINAL)]
    assert [words for words in told if COMMANDS.search(words)] == []


def test_the_page_speaks_plainly() -> None:
    told = [*sentences(TEXTS["page"]), *sentences(TEXTS["server"])]
    formats = "CSV, TSV, Parquet or JSON."
    assert [words for words in told if JARGON.search(words.replace(formats, ""))] == []


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("It is so. Run: pip install 'dpheatmap[geo]'", "It is so."),
        ("No limit. Check it, or: dpheatmap ledger limit L --population p --epsilon 3", "No limit."),
        ("Mend it, or leave it out (--bad-lines skip). Then go on.", "Mend it, or leave it out. Then go on."),
        ("One thing. Did you mean 'lon'?", "One thing. Did you mean 'lon'?"),
        ("dpheatmap inspect alone stays", "dpheatmap inspect alone stays"),
    ],
)  # fmt: skip
def test_advice_for_the_command_line_is_left_out(message: str, shown: str) -> None:
    assert without_commands(message) == shown


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_a_missing_package_is_named(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    assert run(["app", "--no-open"]) == 1
    error = capsys.readouterr().err
    assert f"The app needs the package {package}" in error
    assert "pip install 'dpheatmap[app]'" in error
