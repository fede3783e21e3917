"""The releases that are served, by names that are fit for addresses; no address holds the path of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from os import stat
from pathlib import Path

from dpheatmap.errors import ParameterError, PrivacyRefusal, ReleaseFileError
from dpheatmap.releases.release import Release, load
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.render import RELEASE_SUFFIX

MOST = 100
"""The most releases that one server has."""

Stamp = tuple[int, int]
"""When a file was changed, in nanoseconds, and its size."""


@dataclass(frozen=True)
class Listed:
    """A release that is served: its name in addresses, its file, and the file's stamp when it was read."""

    name: str
    path: Path
    stamp: Stamp
    slices: tuple[str, ...]
    geographic: bool


def read_catalogue(paths: Sequence[str]) -> list[Listed]:
    """Read the releases, and refuse what is none, or is not private."""
    if len(paths) > MOST:
        raise ParameterError(f"A server has at most {MOST} releases; there were {len(paths)}. Start several servers.")
    found: list[Listed] = []
    for path in map(Path, paths):
        release, stamp = load_with_stamp(path)
        if release.seeded:
            raise PrivacyRefusal(
                f"{path.name} was made with a seed and is not private, and what is served is public. Release the "
                "people anew without a seed."
            )
        slices = release.slices if isinstance(release, SlicedRelease) else ()
        name = _free_name(path.name, {listed.name for listed in found})
        found.append(Listed(name, path.resolve(), stamp, slices, release.domain.geographic))
    return found


def load_with_stamp(path: Path) -> tuple[Release | SlicedRelease, Stamp]:
    """A release, and the stamp of its file."""
    try:
        found = stat(path)
    except OSError:
        found = None
    release: Release | SlicedRelease = load(path)
    return release, (found.st_mtime_ns, found.st_size) if found else (0, 0)


def load_again(listed: Listed) -> Release | SlicedRelease:
    """The release of a file, which must not have changed since the server began."""
    release, stamp = load_with_stamp(listed.path)
    if stamp != listed.stamp:
        raise ReleaseFileError(f"The file of {listed.name} was changed since the server began. Start the server again.")
    return release


def _free_name(file: str, taken: set[str]) -> str:
    """The name of a file as a name in addresses that is not taken.

    >>> _free_name("June 2026.dph.parquet", set()), _free_name("a.dph.parquet", {"a"}), _free_name("...", set())
    ('june-2026', 'a-2', 'release')
    """
    name = re.sub(r"[^a-z0-9]+", "-", file.lower().removesuffix(RELEASE_SUFFIX).removesuffix(".parquet")).strip("-")
    name, number = name or "release", 1
    free = name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free
