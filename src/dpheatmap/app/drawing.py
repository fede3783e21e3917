"""Maps, thumbnails, comparisons and files of stored releases. All of it is free: nothing here sees people's data."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from dpheatmap.app.shelf import BACKGROUND, MAP, Record, Shelf
from dpheatmap.app.texts import say
from dpheatmap.difference import difference
from dpheatmap.domain import Domain
from dpheatmap.errors import DpheatmapError, ParameterError
from dpheatmap.files import replace_whole
from dpheatmap.heatmap import Heatmap, default_sigma
from dpheatmap.parameters import check
from dpheatmap.render import FORMATS, RELEASE_SUFFIX, options_of, refuse
from dpheatmap.render.page import data_of, surroundings
from dpheatmap.render.picture import Picture, picture_of, picture_of_difference
from dpheatmap.render.thumbnail import thumbnail

SIDE = 724
"""Pixels on the longer side of a map in the page; files have them all."""

THUMBNAIL = 320
_NEEDS = {".tif": "rasterio", ".parquet": "pyarrow", ".pmtiles": "pmtiles", ".nc": "xarray"}


class Drawing:
    """What is drawn from the releases of a shelf, one at a time, and remembered for a while."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._lock = Lock()
        self._heat = lru_cache(maxsize=8)(self._drawn)

    def first(self, record: Record) -> None:
        """What every visit to a release begins with, drawn when it is made."""
        if record.kind == MAP:
            self.map(record.id, None)
            self.thumbnail(record.id)

    def map(self, id: str, sigma: float | None) -> str:
        """The data of a map for the page, as JSON; the first one is kept on disk."""
        kept = self._shelf.path(id, "map.json")
        if sigma is None and kept.is_file():
            return kept.read_text(encoding="utf-8")
        with self._lock:
            text = self._data(self._picture(id, sigma), self._background(id))
            if sigma is None:
                with replace_whole(kept) as temporary:
                    temporary.write_text(text, encoding="utf-8")
            return text

    def change(self, after: str, before: str) -> str:
        """The data of the map of what changed between two releases."""
        with self._lock:
            made = difference(self._shelf.release(after), self._shelf.release(before))
            return self._data(picture_of_difference(made), None)

    def thumbnail(self, id: str) -> bytes:
        """A small picture of the heat, kept on disk."""
        kept = self._shelf.path(id, "thumbnail.png")
        if not kept.is_file():
            with self._lock, replace_whole(kept) as temporary:
                temporary.write_bytes(thumbnail(self._picture(id, None), THUMBNAIL))
        return kept.read_bytes()

    def file(self, id: str, suffix: str, sigma: float | None, title: str | None, folder: Path) -> Path:
        """A file to take away, of the format that a suffix names."""
        path = folder / f"{id}{suffix}"
        if suffix == RELEASE_SUFFIX:
            self._shelf.release(id).save(path)
            return path
        if suffix not in FORMATS:
            raise ParameterError(say("no_format", formats=", ".join([RELEASE_SUFFIX, *FORMATS])))
        given = {"title": title, "background": self._background(id)}
        look: dict[str, Any] = {name: value for name, value in given.items() if value and name in options_of(path)}
        with self._lock:
            self._heat(id, sigma).save(path, **look)
        return path

    def sigma(self, id: str) -> dict[str, Any]:
        """The smoothing of a release's map: as it is at first, and the bounds of what is worth trying."""
        domain = self._shelf.release(id).domain
        first = default_sigma(domain)
        return {"default": first, "least": first / 8, "most": first * 8, "unit": domain.unit_name}

    def formats(self, id: str) -> list[dict[str, str]]:
        """Every format, and why not, where a map of this place can't be written in it here."""
        domain = self._shelf.release(id).domain
        every = [RELEASE_SUFFIX, *FORMATS]
        return [{"suffix": suffix, "refusal": _refusal(domain, suffix)} for suffix in every]

    def _drawn(self, id: str, sigma: float | None) -> Heatmap:
        if sigma is not None:
            check(sigma=sigma)
        return self._shelf.release(id).heatmap(sigma=sigma)

    def _picture(self, id: str, sigma: float | None) -> Picture:
        return picture_of(self._heat(id, sigma))

    def _background(self, id: str) -> Path | None:
        kept = self._shelf.path(id, BACKGROUND)
        return kept if kept.is_file() else None

    def _data(self, picture: Picture, background: Path | None) -> str:
        return data_of(picture.at_most(SIDE), surroundings(picture, background=background))


def _refusal(domain: Domain, suffix: str) -> str:
    if suffix == RELEASE_SUFFIX:
        return ""
    package = _NEEDS.get(suffix)
    try:
        refuse(domain, f"map{suffix}")
    except DpheatmapError as error:
        return str(error)
    if package is not None and importlib.util.find_spec(package) is None:
        return say("needs_package", package=package)
    return ""
