"""Maps, thumbnails, differences and files from release files: post-processing, which never sees people's data."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from dpheatmap._util.parameters import check
from dpheatmap.heatmap.differences import difference
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.releases.release import Release, load
from dpheatmap.render import options_of
from dpheatmap.render.content.changes import picture_of_difference
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture, picture_of
from dpheatmap.render.figure.thumbnail import thumbnail
from dpheatmap.render.web.page import around_heat, data_of

SIDE = 724
"""Pixels on the longer side of a map in the page; files have all pixels."""

THUMBNAIL = 320


def map_of(release: Path, background: Path | None, sigma: float | None) -> str:
    """The data of a map for the page, as JSON."""
    look = Look(background=background)
    return _data(picture_of(_heat(release, sigma), look), look)


def change_of(after: Path, before: Path) -> str:
    """The data of the map of the difference between two releases."""
    return _data(picture_of_difference(difference(_release(after), _release(before))), Look())


def thumbnail_of(release: Path) -> bytes:
    """A small picture of the heat."""
    return thumbnail(picture_of(_heat(release, None)), THUMBNAIL)


def file_of(release: Path, background: Path | None, sigma: float | None, path: Path) -> None:
    """Write a file to download; its suffix is the format."""
    fits = background is not None and "background" in options_of(path)
    look: dict[str, Any] = {"background": background} if fits else {}
    _heat(release, sigma).save(path, **look)


def _data(picture: Picture, look: Look) -> str:
    return data_of(picture.at_most(SIDE), around_heat(picture, look))


@lru_cache(maxsize=8)
def _heat(release: Path, sigma: float | None) -> Heatmap:
    if sigma is not None:
        check(sigma=sigma)
    return _release(release).heatmap(sigma=sigma)


@lru_cache(maxsize=4)
def _release(path: Path) -> Release:
    """Load a release, cached with its posterior. Its file is written once and never changed."""
    return load(path)
