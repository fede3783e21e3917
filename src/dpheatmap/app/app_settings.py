"""What is the same for all maps of one user: the name under which they publish."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from dpheatmap._util.files import replace_whole
from dpheatmap.app.texts import say
from dpheatmap.errors import ParameterError

LONGEST = 120


class Settings:
    """Settings in the app's folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "settings.json"

    @property
    def publisher(self) -> str:
        """Who publishes the maps, as it stands on their labels; empty if nobody said."""
        with suppress(OSError, ValueError, AttributeError):
            return str(json.loads(self._path.read_text(encoding="utf-8")).get("publisher", ""))
        return ""

    def change(self, publisher: str) -> None:
        """Store the publisher's name."""
        name = " ".join(publisher.split())
        if len(name) > LONGEST or not name.isprintable():
            raise ParameterError(say("bad_publisher", most=LONGEST))
        with replace_whole(self._path) as temporary:
            temporary.write_text(json.dumps({"publisher": name}), encoding="utf-8")
