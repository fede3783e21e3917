"""A picture to publish: the heat with its coordinates, its colours explained, and what was promised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from dpheatmap.domain import Floats
from dpheatmap.heatmap import Heatmap
from dpheatmap.render.colour import colours
from dpheatmap.render.layout import BAR_HEIGHT, BAR_WIDTH, LABEL, NOTE, TICK, TITLE, Layout, ScaleBar
from dpheatmap.render.picture import is_smooth
from dpheatmap.render.text import Colour, draw_text
from dpheatmap.render.wording import NO_SIGNAL, NOT_PRIVATE, density_in_words, facts_of, warnings_of

_PAPER: Colour = (255, 255, 255)
_INK: Colour = (30, 30, 38)
_GREY: Colour = (105, 105, 116)
_RED: Colour = (200, 16, 32)


def write(heat: Heatmap, path: Path) -> None:
    """Draw the picture and write it as PNG; the file holds the picture and nothing else."""
    figure(heat).save(path, format="PNG")


def figure(heat: Heatmap) -> Image.Image:
    """The picture of a heatmap."""
    density, unit = density_in_words(heat)
    place = layout_of(heat, density, unit)
    image = Image.new("RGB", (place.width, place.height), _PAPER)
    draw = ImageDraw.Draw(image)
    draw_text(draw, place.left, place.title, "Where people are", size=place.px(TITLE), colour=_INK)
    heat_colours = colours(
        _enlarged(density / place.top_value, place.factor, smooth=is_smooth(heat.domain, heat.sigma, heat.values))
    )
    image.paste(Image.fromarray(heat_colours), (place.left, place.top))
    _draw_frame(draw, place)
    _draw_colour_bar(image, draw, place)
    if place.scale_bar:
        _draw_scale_bar(draw, place, place.scale_bar)
    for line, note in enumerate(place.notes):
        colour = {NOT_PRIVATE: _RED, NO_SIGNAL: _INK}.get(note, _GREY)
        draw_text(draw, place.legend[0], place.note(line), note, size=place.px(NOTE), colour=colour)
    return image


def layout_of(heat: Heatmap, density: Floats, unit: str) -> Layout:
    """Where things go in the picture of a heatmap."""
    # Of a map without signal nothing is hot, so nothing should glow: it stays in the lower part of the scale.
    top = float(density.max()) * (4.0 if heat.empty else 1.0)
    rows, columns = heat.values.shape
    return Layout(heat.domain, rows, columns, top, f"{unit}, linear scale", warnings_of(heat), facts_of(heat))


def _enlarged(values: Floats, factor: int, *, smooth: bool) -> Floats:
    """Each pixel as ``factor x factor``, equal ones or linear between pixels; either way no value is invented."""
    rows, columns = values.shape
    method = Image.Resampling.BILINEAR if smooth else Image.Resampling.NEAREST
    picture = Image.fromarray(values.astype(np.float32)).resize((factor * columns, factor * rows), method)
    return np.asarray(picture, dtype=np.float64)


def _draw_frame(draw: ImageDraw.ImageDraw, place: Layout) -> None:
    """The map's edge, and its ticks to the left and below."""
    line, tick, size = place.px(1.5), place.px(TICK), place.px(LABEL)
    left, top, right, bottom = place.left, place.top, place.right, place.bottom
    draw.rectangle((left - line, top - line, right + line - 1, bottom + line - 1), outline=_INK, width=line)
    for at, label in place.across:
        x = min(left + round(at), right - 1)
        draw.rectangle((x, bottom, x + line - 1, bottom + tick), fill=_INK)
        draw_text(draw, x, bottom + place.px(TICK + 24), label, size=size, colour=_INK, align=0.5)
    for at, label in place.down:
        y = min(top + round(at), bottom - 1)
        draw.rectangle((left - 1 - tick, y, left - 1, y + line - 1), fill=_INK)
        draw_text(draw, left - tick - place.px(6), y + 0.35 * size, label, size=size, colour=_INK, align=1.0)


def _draw_colour_bar(image: Image.Image, draw: ImageDraw.ImageDraw, place: Layout) -> None:
    """The colours from 0 to the top value, with round values below."""
    line, size = place.px(1.5), place.px(LABEL)
    width, height = place.px(BAR_WIDTH), place.px(BAR_HEIGHT)
    left, baseline = place.legend
    draw_text(draw, left, baseline, place.legend_name, size=size, colour=_INK)
    strip = np.tile(colours(np.linspace(0.0, 1.0, width)), (height, 1, 1))
    image.paste(Image.fromarray(strip), (left, place.bar))
    below = place.bar + height
    for at, label in place.bar_ticks:
        x = left + min(round(at), width - 1)
        draw.rectangle((x, below, x + line - 1, below + place.px(TICK)), fill=_INK)
        draw_text(draw, x, below + place.px(TICK + 24), label, size=size, colour=_INK, align=0.5)


def _draw_scale_bar(draw: ImageDraw.ImageDraw, place: Layout, bar: ScaleBar) -> None:
    """A length on the ground: its label above a line with raised ends."""
    line = place.px(3)
    draw.rectangle((bar.left, bar.y - line, bar.left + bar.length - 1, bar.y - 1), fill=_INK)
    for x in (bar.left, bar.left + bar.length - line):
        draw.rectangle((x, bar.y - place.px(11), x + line - 1, bar.y - 1), fill=_INK)
    label = bar.y - place.px(BAR_HEIGHT + 14)
    draw_text(draw, bar.left, label, bar.label, size=place.px(LABEL), colour=_INK)
