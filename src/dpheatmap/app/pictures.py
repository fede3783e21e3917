"""Maps, thumbnails, differences and files from release files: post-processing, which never sees people's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from dpheatmap._util.parameters import check
from dpheatmap.heatmap.differences import difference
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.releases.release import Release, load
from dpheatmap.render import options_of
from dpheatmap.render.figure.thumbnail import thumbnail
from dpheatmap.render.web.page import data_of, surroundings
from dpheatmap.render.web.picture import Picture, picture_of, picture_of_difference
from dpheatmap.render.wording import unit_of_density

SIDE = 724
"""Pixels on the longer side of a map in the page; files have all pixels."""

THUMBNAIL = 320


def map_of(release: Path, background: Path | None, sigma: float | None) -> str:
    """The data of a map for the page, as JSON."""
    picture = picture_of(_heat(release, sigma))
    return _data(picture, background, stands_out=stands_out(picture))


def change_of(after: Path, before: Path) -> str:
    """The data of the map of the difference between two releases."""
    return _data(picture_of_difference(difference(_release(after), _release(before))), None)


def pair_of(first: Path, second: Path, backgrounds: tuple[Path | None, Path | None]) -> str:
    """The data of two maps to look at side by side, as a JSON list."""
    both = on_one_scale([_heat(first, None), _heat(second, None)])
    data = [_data(picture, background) for picture, background in zip(both, backgrounds, strict=True)]
    return f"[{','.join(data)}]"


def on_one_scale(heats: Sequence[Heatmap]) -> list[Picture]:
    """Maps in one unit and with one top of their colours, the largest of all: equal colours are equal densities.

    Maps of places of different kinds, as of a city and of an image, keep their own scales.
    """
    if len({heat.domain.kind for heat in heats}) > 1:
        return [picture_of(heat) for heat in heats]
    hottest = max(float(heat.density.max()) for heat in heats)
    shown = []
    for heat in heats:
        picture = picture_of(heat)
        factor, unit = unit_of_density(heat.domain, hottest)
        ratio = factor / unit_of_density(heat.domain, float(heat.density.max()))[0]
        std = None if picture.std is None else picture.std * ratio
        values = picture.values * ratio
        shown.append(replace(picture, values=values, std=std, unit=unit, top=hottest * factor))
    return shown


def thumbnail_of(release: Path) -> bytes:
    """A small picture of the heat."""
    return thumbnail(picture_of(_heat(release, None)), THUMBNAIL)


def file_of(
    release: Path, background: Path | None, sigma: float | None, title: str, look: dict[str, Any], path: Path
) -> None:
    """Write a file to download; its suffix is the format."""
    wanted = {"background": background, "title": title or None, **save_options_of(look)}
    taken = options_of(path)
    options = {name: value for name, value in wanted.items() if value is not None and name in taken}
    _heat(release, sigma).save(path, **options)


def save_options_of(look: dict[str, Any]) -> dict[str, Any]:
    """The options of `Heatmap.save` that correspond to how the page showed a map; each format takes some of them.

    >>> save_options_of({"axis": "log", "opacity": 0.5})
    {'scale': 'log'}
    """
    return {"scale": look["axis"]} if look.get("axis") in ("linear", "log") else {}


def stands_out(picture: Picture) -> bool:
    """Whether any place rises above the noise. It follows from the noisy release alone, which is public and paid for.

    The number of rows inside the place would tell more, and is nobody's to publish.
    """
    return picture.clear is None or bool(picture.clear.any())


def _data(picture: Picture, background: Path | None, **more: object) -> str:
    return data_of(picture.at_most(SIDE), {**surroundings(picture, background=background), **more})


@lru_cache(maxsize=8)
def _heat(release: Path, sigma: float | None) -> Heatmap:
    if sigma is not None:
        check(sigma=sigma)
    return _release(release).heatmap(sigma=sigma)


@lru_cache(maxsize=4)
def _release(path: Path) -> Release:
    """Load a release, cached with its posterior. Its file is written once and never changed."""
    return load(path)
