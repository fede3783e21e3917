"""All that is drawn of a release before the first request: tiles, page, thumbnail and words.

A map has some dozens of tiles, because a pixel of the last zoom is one of its cells and web maps enlarge that by
themselves. So nothing is drawn for a request, and memory does not grow with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.series import Series
from dpheatmap.place.domain import Domain
from dpheatmap.releases.label import HEADINGS
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture, on_one_scale, picture_of
from dpheatmap.render.content.slice_names import SliceNames
from dpheatmap.render.content.words import badge_of
from dpheatmap.render.figure.thumbnail import thumbnail
from dpheatmap.render.formats.map_tiles import TileBounds, bounds_of_tiles, draw_tiles, own_zooms, tiles_metadata
from dpheatmap.render.web import series_page
from dpheatmap.render.web.page import page
from dpheatmap.serve.catalogue import Listed, load_again

_THUMBNAIL = 480  # pixels
_SIDE_OF_SLICE = 512  # pixels on the longer side of each of several maps, which are in memory at once


@dataclass(frozen=True)
class Tiles:
    """The tiles of one map that show something, by zoom, row and column; and what viewers show beside it."""

    zooms: tuple[int, int]
    pngs: Mapping[tuple[int, int, int], bytes]
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class PublicMap:
    """A release as it is served; ``tiles`` are by slice, None for a release of one map, and empty off the ground."""

    name: str
    title: str
    takeaway: str
    badge: str
    facts: tuple[str, ...]
    label: Mapping[str, str]
    made: str
    epsilon: str
    kind: str
    bounds: TileBounds | None
    slices: Mapping[str, str]
    """The names of slices, and the same in words."""
    tiles: Mapping[str | None, Tiles]
    page: bytes
    thumbnail: bytes

    @property
    def size(self) -> int:
        """The bytes of its answers."""
        tiles = sum(len(png) for one in self.tiles.values() for png in one.pngs.values())
        return tiles + len(self.page) + len(self.thumbnail)


def draw(listed: Listed) -> PublicMap:
    """Draw everything of a release."""
    release = load_again(listed)
    if isinstance(release, SlicedRelease):
        return _draw_series(listed, release.heatmap(size=_SIDE_OF_SLICE if listed.geographic else None))
    heat, look = release.heatmap(), Look()
    picture = picture_of(heat, look)
    tiles: dict[str | None, Tiles] = {None: _tiles(heat, picture)} if listed.geographic else {}
    return _public(listed, heat, picture, badge=picture.words.badge, tiles=tiles, slices={}, html=page(picture, look))


def _draw_series(listed: Listed, series: Series) -> PublicMap:
    """Draw a release of slices: all maps have the bands of one scale."""
    release, look = series.release, Look()
    pictures = on_one_scale((series[label] for label in series.labels), [look] * len(series))
    drawn = zip(series.labels, pictures, strict=True)
    tiles: dict[str | None, Tiles] = {}
    if listed.geographic:
        tiles = {label: _tiles(series[label], picture) for label, picture in drawn}
    whose = f"per {pictures[0].unit.subject.person} for all {len(series)} maps together"
    return _public(
        listed,
        series[series.labels[0]],
        pictures[0],
        badge=badge_of(release.loss, whose, seeded=release.seeded),
        tiles=tiles,
        slices=dict(zip(series.labels, SliceNames(release.axis).words, strict=True)),
        html=series_page.page(series, look),
    )


def _public(
    listed: Listed,
    heat: Heatmap,
    picture: Picture,
    *,
    badge: str,
    tiles: Mapping[str | None, Tiles],
    slices: Mapping[str, str],
    html: str,
) -> PublicMap:
    words, label = picture.words, picture.label
    return PublicMap(
        name=listed.name,
        title=words.title,
        takeaway=f"{len(slices)} maps on one scale: {', '.join(_ends(slices))}." if slices else words.takeaway,
        badge=badge,
        facts=words.facts,
        label={HEADINGS[part]: label[part] for part in HEADINGS if part in label},
        made=heat.made.isoformat(),
        epsilon=str(heat.epsilon),
        kind=heat.domain.kind,
        bounds=_bounds(heat.domain),
        slices=slices,
        tiles=tiles,
        page=html.encode(),
        thumbnail=thumbnail(picture, _THUMBNAIL),
    )


def _bounds(domain: Domain) -> TileBounds | None:
    return bounds_of_tiles(domain) if domain.geographic else None


def _ends(slices: Mapping[str, str]) -> list[str]:
    """The first and the last slice in words, or all of a few."""
    words = list(slices.values())
    return words if len(words) < 5 else [f"{words[0]} to {words[-1]}"]


def _tiles(heat: Heatmap, picture: Picture) -> Tiles:
    zooms = own_zooms(heat)
    pngs = {(tile.zoom, tile.y, tile.x): png for tile, png in draw_tiles(heat, picture, *zooms)}
    return Tiles(zooms, pngs, tiles_metadata(heat, picture))
