"""Maps, thumbnails, differences and files from release files: post-processing, which never sees people's data."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from dpheatmap.heatmap.differences import difference
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.series import Series
from dpheatmap.releases.release import Release, load, load_one
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.render import options_of, series_files
from dpheatmap.render.content.area_picture import content_of_areas
from dpheatmap.render.content.changes import picture_of_difference
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture, on_one_scale, picture_of
from dpheatmap.render.content.slice_names import SliceNames
from dpheatmap.render.figure.thumbnail import thumbnail, thumbnail_sheet
from dpheatmap.render.palette import THEMES
from dpheatmap.render.web import series_page
from dpheatmap.render.web.page import areas_data, around_heat, between_tags, data_of

SIDE = 724
"""Pixels on the longer side of a map in the page; files have all pixels."""

SIDES_OF_SLICES = ((50, 320), (200, 256), (1000, 181))
"""The same for each map of so many slices at most, and for those of more."""
SIDE_OF_MANY = 128

THUMBNAIL = 320
ON_A_SHEET = (9, 6, 4, 3, 2, 1)
"""How many maps of slices fill a thumbnail."""


def map_of(release: Path, background: Path | None, sigma: float | None) -> str:
    """The data of a map for the page, as JSON, and whether any place stands out from the noise.

    That follows from the noisy release alone, which is public and paid for. The number of rows inside the place would
    tell more, and is nobody's to publish.
    """
    look, maps = Look(background=background), _maps(release, sigma)
    if isinstance(maps, Series):
        return _data_of_series(maps, look)
    picture = picture_of(maps, look)
    return _data(picture, look, stands_out=picture.painted)


def _data_of_series(series: Series, look: Look) -> str:
    pictures = series_page.pictures_of(series, look)
    around = {**around_heat(pictures[0], look), "stands_out": any(picture.painted for picture in pictures)}
    side = next((side for most, side in SIDES_OF_SLICES if len(series) <= most), SIDE_OF_MANY)
    return series_page.data_of(series, pictures, around, side)


def draw_slice(release: Path, sigma: float | None, number: int) -> None:
    """Draw the map of one slice, which the others are shown with; `map_of` finds it drawn."""
    maps = _maps(release, sigma)
    assert isinstance(maps, Series)
    picture_of(maps[maps.labels[number]])


def change_of(after: Path, before: Path) -> str:
    """The data of the map of the difference between two releases."""
    return _data(picture_of_difference(difference(_release(after), _release(before))), Look())


def pair_of(first: Path, second: Path, backgrounds: tuple[Path | None, Path | None]) -> str:
    """The data of two maps to look at side by side, on one scale if they can have one, as a JSON list."""
    looks = [Look(background=background) for background in backgrounds]
    both = on_one_scale([_heat(first, None), _heat(second, None)], looks)
    return f"[{','.join(_data(picture, look) for picture, look in zip(both, looks, strict=True))}]"


def thumbnail_of(release: Path) -> bytes:
    """A small picture of the heat; of slices, of some of them on one scale, evenly spaced."""
    maps = _maps(release, None)
    if not isinstance(maps, Series):
        return thumbnail(picture_of(maps), THUMBNAIL)
    some = SliceNames(maps.release.axis).choice(max(ON_A_SHEET))
    many = next(many for many in ON_A_SHEET if many <= len(some))
    heats = [maps[maps.labels[some[place * len(some) // many]]] for place in range(many)]
    return thumbnail_sheet(on_one_scale(heats, [Look()] * len(heats)), THUMBNAIL)


def file_of(
    release: Path, background: Path | None, sigma: float | None, title: str, look: dict[str, Any], path: Path
) -> None:
    """Write a file to download; its suffix is the format."""
    wanted = {"background": background, "title": title or None, **save_options_of(look)}
    maps = _maps(release, sigma)
    taken = series_files.options_of(path) if isinstance(maps, Series) else options_of(path)
    options = {name: value for name, value in wanted.items() if value is not None and name in taken}
    maps.save(path, **options)


def areas_of(release: Path, areas: Path, background: Path | None) -> str:
    """The people in areas, as JSON: what stands out, how to read it, and a layer of the map with all areas by rank."""
    made, look = _release(release), Look(background=background)
    content = content_of_areas(made, made.areas(areas), look, values="people")
    return between_tags({"takeaway": content.picture.words.takeaway, "layer": areas_data(content, look)})


def file_of_areas(
    release: Path, areas: Path, background: Path | None, title: str, look: dict[str, Any], path: Path
) -> None:
    """Write a file of the people in areas to download; its suffix is the format."""
    colours = save_options_of(look).get("colours")
    _release(release).save_areas(
        areas, path, values="people", title=title or None, background=background, colours=colours
    )


def save_options_of(look: dict[str, Any]) -> dict[str, Any]:
    """The options of `Heatmap.save` that correspond to how the page showed a map; each format takes some of them.

    >>> save_options_of({"smooth": True, "theme": "dark", "layer": "values"})
    {'style': 'smooth', 'colours': 'dark'}
    """
    style = {"style": "smooth"} if look.get("smooth") is True else {}
    return style | ({"colours": look["theme"]} if look.get("theme") in THEMES else {})


def _data(picture: Picture, look: Look, **more: object) -> str:
    return data_of(picture.at_most(SIDE), {**around_heat(picture, look), **more})


@lru_cache(maxsize=8)
def _heat(release: Path, sigma: float | None) -> Heatmap:
    return _release(release).heatmap(sigma=sigma)


def _maps(release: Path, sigma: float | None) -> Heatmap | Series:
    """The map of a release, or those of its slices."""
    return _series(release, sigma) if isinstance(_load(release), SlicedRelease) else _heat(release, sigma)


@lru_cache(maxsize=2)
def _series(release: Path, sigma: float | None) -> Series:
    made = _load(release)
    assert isinstance(made, SlicedRelease)
    return made.heatmap(sigma=sigma)


def _release(path: Path) -> Release:
    """A release of one map; one of slices is refused."""
    made = _load(path)
    return made if isinstance(made, Release) else load_one(path)


@lru_cache(maxsize=4)
def _load(path: Path) -> Release | SlicedRelease:
    """Load a release, cached with its posterior. Its file is written once and never changed."""
    return load(path)
