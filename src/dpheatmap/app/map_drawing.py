"""Drawing of the releases of a shelf, by the worker; the drawings with which every visit begins are cached."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpheatmap._util.files import replace_whole
from dpheatmap._util.worker import Worker
from dpheatmap.app import pictures
from dpheatmap.app.pages import edition
from dpheatmap.app.release_shelf import BACKGROUND, MAP, Record, Shelf
from dpheatmap.app.texts import say, without_commands
from dpheatmap.app.uploads import Upload
from dpheatmap.errors import DataError, DpheatmapError, ParameterError
from dpheatmap.heatmap.smoothing import default_sigma
from dpheatmap.place.domain import Domain
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.render import FORMATS, RELEASE_SUFFIX, refuse
from dpheatmap.render.formats.area_file import FORMATS as AREA_FORMATS
from dpheatmap.render.series_files import FORMATS as SERIES_FORMATS
from dpheatmap.render.series_files import refuse as refuse_series

_NEEDS = {".tif": "rasterio", ".parquet": "pyarrow", ".pmtiles": "pmtiles", ".nc": "xarray"}


class Drawing:
    """Maps, thumbnails, changes and files of stored releases."""

    def __init__(self, shelf: Shelf, worker: Worker) -> None:
        self._shelf, self._worker = shelf, worker

    def draw_first(self, record: Record, tell: Callable[[int, int], None]) -> None:
        """Draw the map and thumbnail with which every visit begins, when the release is made.

        ``tell`` is told which slice is being drawn, and of how many.
        """
        if record.kind == MAP:
            path = self._shelf.release_path(record.id)
            for number in range(many := self._slices(record.id)):
                tell(number + 1, many)
                self._worker.run(pictures.draw_slice, path, None, number)
            self.map(record.id, None)
            self.thumbnail(record.id)

    def map(self, id: str, sigma: float | None) -> str:
        """The data of a map for the page, as JSON; the first one is cached, for this edition of the page."""
        kept = self._shelf.path(id, f"map-{edition()}.json")
        if sigma is None and kept.is_file():
            return kept.read_text(encoding="utf-8")
        text = self._worker.run(pictures.map_of, self._shelf.release_path(id), self._background(id), sigma)
        if sigma is None:
            with replace_whole(kept) as temporary:
                temporary.write_text(text, encoding="utf-8")
        return text

    def change(self, after: str, before: str) -> str:
        """The data of the map of the difference between two releases."""
        return self._worker.run(pictures.change_of, *(self._shelf.release_path(id) for id in (after, before)))

    def pair(self, first: str, second: str) -> str:
        """The data of two maps on one scale."""
        paths = [self._shelf.release_path(id) for id in (first, second)]
        return self._worker.run(pictures.pair_of, *paths, (self._background(first), self._background(second)))

    def thumbnail(self, id: str) -> bytes:
        """A small picture of the heat, cached."""
        kept = self._shelf.path(id, f"thumbnail-{edition()}.png")
        if not kept.is_file():
            content = self._worker.run(pictures.thumbnail_of, self._shelf.release_path(id))
            with replace_whole(kept) as temporary:
                temporary.write_bytes(content)
        return kept.read_bytes()

    def file(self, id: str, suffix: str, sigma: float | None, folder: Path) -> Path:
        """Write a file to download, in the format of a suffix, with the map's title and look."""
        if suffix == RELEASE_SUFFIX:
            self._shelf.release(id)
            return self._shelf.release_path(id)
        formats = SERIES_FORMATS if self._slices(id) else FORMATS
        if suffix not in formats:
            raise ParameterError(say("no_format", formats=", ".join([RELEASE_SUFFIX, *formats])))
        path = folder / f"map{suffix}"
        record, release = self._shelf.get(id), self._shelf.release_path(id)
        self._worker.run(pictures.file_of, release, self._background(id), sigma, record.title, record.look, path)
        return path

    def areas(self, id: str, areas: Upload) -> str:
        """The people in areas, as JSON."""
        with _use_own_name(areas):
            return self._worker.run(pictures.areas_of, self._shelf.release_path(id), areas.path, self._background(id))

    def file_of_areas(self, id: str, areas: Upload, suffix: str, folder: Path) -> Path:
        """Write a file of the people in areas to download, with the map's title and look."""
        if suffix not in AREA_FORMATS:
            raise ParameterError(say("no_format", formats=", ".join(AREA_FORMATS)))
        path, record = folder / f"areas{suffix}", self._shelf.get(id)
        release, background = self._shelf.release_path(id), self._background(id)
        with _use_own_name(areas):
            self._worker.run(pictures.file_of_areas, release, areas.path, background, record.title, record.look, path)
        return path

    def sigma(self, id: str) -> dict[str, Any]:
        """The smoothing of a release's map: its default, and bounds of useful values."""
        domain = self._shelf.release(id).domain
        first = default_sigma(domain)
        return {"default": first, "least": first / 8, "most": first * 8, "unit": domain.unit_name}

    def formats(self, id: str) -> list[dict[str, str]]:
        """Every format, with the reason if a map of this place can't be written in it here."""
        domain, sliced = self._shelf.release(id).domain, self._slices(id) > 0
        formats, refuse_it = (SERIES_FORMATS, refuse_series) if sliced else (FORMATS, refuse)
        maps = [".html", *(suffix for suffix in formats if suffix != ".html")]
        found = [{"suffix": suffix, "refusal": _refusal(domain, suffix, refuse_it)} for suffix in maps]
        return [{"suffix": RELEASE_SUFFIX, "refusal": ""}, *found]

    def _slices(self, id: str) -> int:
        """The number of slices of a release; 0 if it is of one map."""
        made = self._shelf.release(id)
        return len(made.slices) if isinstance(made, SlicedRelease) else 0

    def _background(self, id: str) -> Path | None:
        kept = self._shelf.path(id, BACKGROUND)
        return kept if kept.is_file() else None


@contextmanager
def _use_own_name(areas: Upload) -> Iterator[None]:
    """Call a file in errors by the name that it had."""
    try:
        yield
    except (DataError, ParameterError) as error:
        told = str(error).replace(str(areas.path), areas.name).replace(areas.path.name, areas.name)
        raise type(error)(told) from None


def _refusal(domain: Domain, suffix: str, refuse_it: Callable[[Domain, str], None]) -> str:
    package = _NEEDS.get(suffix)
    try:
        refuse_it(domain, f"map{suffix}")
    except DpheatmapError as error:
        return without_commands(str(error))
    if package is not None and importlib.util.find_spec(package) is None:
        return say("needs_package", package=package)
    return ""
