"""The disk that a process needs, told before it starts: at the end it is too late to find out that there is too little.

A state holds all contributions. Deleting them takes as much again, for a while: SQLite copies every page that it
overwrites into its journal. The shuffler also holds what it mixed, beside what it mixed it from.
"""

from __future__ import annotations

import shutil
from os import PathLike
from pathlib import Path

from dpheatmap.collect.client import body_size
from dpheatmap.collect.collection import Collection

_PAGE, _ROW = 4096, 160
_TIMES = {"server": 2, "shuffler": 3, "analyser": 2}


def disk_size(collection: Collection, number: int) -> int:
    """The bytes of disk that the party of that number needs for n_max contributions, until all is deleted."""
    name = collection.roles[number].split()[0]
    content = body_size(collection, 0 if name == "analyser" else number)
    whole = content + _ROW if content < _PAGE // 2 else -(-content // (_PAGE - 4)) * _PAGE + _ROW
    return _TIMES[name] * collection.terms.n_max * whole


def disk_in_words(collection: Collection, number: int, state: str | PathLike[str]) -> str:
    """How much disk is needed where the state is to be, and whether it is there."""
    needed, there = disk_size(collection, number), shutil.disk_usage(Path(state).absolute().parent).free
    words = (
        f"It needs up to {_size(needed)} of disk for {collection.terms.n_max:,} contributions; {_size(there)} are free"
    )
    return f"{words}." if there >= needed else f"{words}: TOO LITTLE. Make room before devices send."


def _size(count: float) -> str:
    """A number of bytes for people.

    >>> _size(1_500), _size(2_340_000_000)
    ('2 KB', '2.3 GB')
    """
    for unit in ("KB", "MB"):
        count /= 1000
        if count < 1000:
            return f"{count:.0f} {unit}"
    return f"{count / 1000:.1f} GB"
