"""Names of files to take away: public files must not be mistaken for the private table that they were made from.

A table ``trips.csv`` and a map of it as ``trips.csv`` would lie side by side in a folder of downloads, and one of them
would be sent to somebody. So every name begins with what the file is, and has the price that was paid for it.
"""

from __future__ import annotations

import re
from pathlib import Path

from dpheatmap.app.release_shelf import Record
from dpheatmap.render import RELEASE_SUFFIX

_LONGEST = 60


def public_name(record: Record, suffix: str) -> str:
    """The name of a file made from a release.

    >>> record = Record("0", "map", "done", "", "trips.csv", {"epsilon": "1/2"}, "")
    >>> public_name(record, ".csv"), public_name(record, ".dph.parquet")
    ('public-map_trips_epsilon-1-2.csv', 'public-release_trips_epsilon-1-2.dph.parquet')
    """
    kind = "release" if suffix == RELEASE_SUFFIX else "map"
    called = _plain(record.title) or _plain(Path(record.file).name.partition(".")[0]) or "people"
    return f"public-{kind}_{called}_epsilon-{_plain(record.wanted['epsilon'])}{suffix}"


def _plain(text: str) -> str:
    """Text as a part of a file's name: letters and digits of any script, with hyphens and points between them.

    >>> _plain("Où sont-ils ? / Été 2026"), _plain("../..")
    ('Où-sont-ils-Été-2026', '')
    """
    return re.sub(r"[^\w.]+", "-", text)[:_LONGEST].strip("-_.")
