"""The sentences of the app, which are in one file for the server and the page."""

from __future__ import annotations

import json
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


def isolate(name: str) -> str:
    """A name in a script that runs to the left is kept from pulling the numbers after it to its other side.

    >>> len(isolate("riders")), len(isolate("\u05d0"))
    (6, 3)
    """
    leftward = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name)
    return f"\u2068{name}\u2069" if leftward else name
