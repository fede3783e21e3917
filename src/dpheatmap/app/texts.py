"""The sentences of the app, from one file for the server and the page."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from importlib import resources
from typing import Any


@cache
def _texts() -> dict[str, dict[str, str]]:
    text = (resources.files("dpheatmap.app") / "texts.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = json.loads(text)
    return found


def say(key: str, /, **values: Any) -> str:
    """A sentence of the server by its name, with values in their places.

    >>> say("not_found")
    'There is nothing at this address. Go back to the start.'
    """
    return _texts()["server"][key].format(**{name: isolate(str(value)) for name, value in values.items()})


_SENTENCES = re.compile(r"(?<=[.?!]) (?=[A-Z])")
_OPTION = re.compile(r" \(--[a-z][^)]*\)")
_COMMAND = re.compile(r"\bdpheatmap [a-z]|(?<!\w)--[a-z]|\bpip install\b")


def without_commands(message: str) -> str:
    """A message of the library without advice for the command line, which nobody has on a page.

    >>> without_commands("There is no column 'x'. Run dpheatmap inspect to see what fits.")
    "There is no column 'x'."
    >>> without_commands("Mend the line, or leave it out (--bad-lines skip).")
    'Mend the line, or leave it out.'
    """
    first, *more = _SENTENCES.split(_OPTION.sub("", message))
    return " ".join([first, *(sentence for sentence in more if _COMMAND.search(sentence) is None)])


def isolate(name: str) -> str:
    """Isolate a name in a right-to-left script, so that it does not reorder the numbers after it.

    >>> len(isolate("riders")), len(isolate("\u05d0"))
    (6, 3)
    """
    leftward = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name)
    return f"\u2068{name}\u2069" if leftward else name
