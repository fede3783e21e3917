"""The sentences of the app, which are in one file for the server and the page."""

from __future__ import annotations

import json
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
    return _texts()["server"][key].format(**values)
