"""The slides of a series: one figure for each slice, all alike but for the heat, and their animation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from PIL import Image

from dpheatmap.place.quadtree import Ints
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture
from dpheatmap.render.content.series_picture import SeriesPicture, words_on
from dpheatmap.render.figure.canvas import Area, Box, Canvas, PillowCanvas
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.lettering import SEMIBOLD, text_width
from dpheatmap.render.figure.map_ground import MapGround
from dpheatmap.render.figure.map_on_page import MapDrawing
from dpheatmap.render.figure.page_layout import SCALE
from dpheatmap.render.figure.volume_chart import VolumeChart
from dpheatmap.render.palette import THEMES, Theme, rgb_of

MOST_SLIDES = 200
"""The most slices of an animation."""

MILLISECONDS = 800
"""How long a slide is shown."""

_LABEL, _HEIGHT, _INSET, _TOP = 17.0, 32.0, 14.0, 10.0  # of the name on the map
_SAMPLES = 6  # slides whose colours make the palette
_COLOURS = 128
_PACKED = np.array([1 << 16, 1 << 8, 1])  # red, green and blue as one number


@dataclass(frozen=True, eq=False)
class NameMark:
    """The name of a slice at the top of its map."""

    name: str
    theme: Theme

    def _box(self, box: Box) -> Box:
        wide = text_width(self.name, _LABEL, SEMIBOLD) / 2 + _INSET
        x, y = (box.left + box.right) / 2 / SCALE, box.top / SCALE + _TOP
        return Box(*(round(SCALE * at) for at in (x - wide, y, x + wide, y + _HEIGHT)))

    def areas(self, box: Box) -> list[Area]:
        """The card with the name."""
        return [self._box(box)]

    def draw_under_names(self, canvas: Canvas, box: Box) -> None:
        """Nothing."""

    def draw_over_names(self, canvas: Canvas, box: Box) -> None:
        """Draw the card and the name."""
        card = self._box(box)
        rim = Box(card.left - SCALE, card.top - SCALE, card.right + SCALE, card.bottom + SCALE)
        canvas.fill(rim, rgb_of(self.theme.faint), rim.height / 2)
        canvas.fill(card, rgb_of(self.theme.page), card.height / 2)
        canvas.text(
            (card.left + card.right) / 2, card.top + SCALE * 22, self.name, size=SCALE * _LABEL,
            colour=rgb_of(self.theme.ink), align=0.5, weight=SEMIBOLD,
        )  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class Slide(Figure):
    """A figure that shows one map of a series; ``picture`` has the words of all, and ``below`` is the ground of all."""

    shown: Picture
    below: MapGround

    @cached_property
    def map(self) -> MapDrawing:
        """The map of the slice on the ground of all."""
        return MapDrawing(self.below, self.shown, self._without_credits.map, self.marks)


def slides_of(content: SeriesPicture, look: Look) -> Iterator[Slide]:
    """A slide for each map, with its name on it and its slice marked in the chart."""
    theme, names = THEMES[look.colours or "light"], content.names.words
    said = [
        ": ".join(filter(None, (names[number], words_on(picture))))
        for number, picture in zip(content.numbers, content.pictures, strict=True)
    ]
    widest = NameMark(max(said, key=lambda words: text_width(words, _LABEL, SEMIBOLD)), theme)
    below = Figure(content.whole, look, widest, VolumeChart(content.volumes)).map.ground
    for number, picture, words in zip(content.numbers, content.pictures, said, strict=True):
        chart = VolumeChart(content.volumes, number)
        yield Slide(content.whole, look, NameMark(words, theme), chart, shown=picture, below=below)


def write_animation(content: SeriesPicture, look: Look, path: Path, suffix: str) -> None:
    """Write the slides as an animated GIF or WebP, which goes on for ever; all of them have one palette."""
    palette = _palette(content, look)

    def frames() -> Iterator[Image.Image]:
        for slide in slides_of(content, look):
            yield _in_colours(_frame(slide), palette)

    first, *others = frames()
    if suffix == ".gif":
        first.save(path, format="GIF", save_all=True, append_images=others, duration=MILLISECONDS, loop=0)
    else:
        first.save(
            path, format="WEBP", save_all=True, append_images=others, duration=MILLISECONDS, loop=0, lossless=True
        )


def _frame(slide: Slide) -> Image.Image:
    """A slide at the size of the page."""
    return slide.draw(PillowCanvas).picture.reduce(SCALE)


def _palette(content: SeriesPicture, look: Look) -> Ints:
    """The colours of a few slides, with the most heat among them, and exactly those of paper and ink."""
    many = len(content.pictures)
    hottest = max(range(many), key=lambda k: float(content.pictures[k].values.max()) * content.pictures[k].painted)
    chosen = sorted({hottest, *range(0, many, -(-many // _SAMPLES))})
    few = replace(content, pictures=[content.pictures[k] for k in chosen], numbers=[content.numbers[k] for k in chosen])
    drawn = [_frame(slide) for slide in slides_of(few, look)]
    sheet = Image.new("RGB", (drawn[0].width, sum(frame.height for frame in drawn)))
    for k, frame in enumerate(drawn):
        sheet.paste(frame, (0, k * frame.height))
    found = sheet.quantize(_COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).getpalette() or []
    theme = THEMES[look.colours or "light"]
    exactly = [rgb_of(colour) for colour in (theme.page, theme.land, theme.water, theme.ink)]
    return np.concatenate([np.array(exactly), np.array(found).reshape(-1, 3)])


def _in_colours(frame: Image.Image, palette: Ints) -> Image.Image:
    """A frame in the nearest colours of a palette; Pillow takes neighbours for one, such as a page and its water."""
    colours, at = np.unique(np.asarray(frame).reshape(-1, 3) @ _PACKED, return_inverse=True)
    found = np.stack([colours // step % 256 for step in _PACKED.tolist()], axis=1)
    nearest = ((found[:, None] - palette[None]) ** 2).sum(axis=2).argmin(axis=1).astype(np.uint8)
    shown = Image.fromarray(nearest[at].reshape(frame.height, frame.width), "P")
    shown.putpalette(palette.ravel().tolist())
    return shown
