"""The sheet of a series: small maps on one scale, each with its name, and below them a chart of the volumes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture
from dpheatmap.render.content.series_picture import SeriesPicture, picture_of_series, words_on
from dpheatmap.render.figure.canvas import Area, Box, Canvas
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.lettering import SEMIBOLD, short, text_width
from dpheatmap.render.figure.map_ground import MapGround
from dpheatmap.render.figure.map_on_page import MapDrawing
from dpheatmap.render.figure.page_layout import SCALE, SIDE, WIDTH, PageLayout
from dpheatmap.render.figure.volume_chart import VolumeChart
from dpheatmap.render.palette import Theme, rgb_of

if TYPE_CHECKING:
    from dpheatmap.heatmap.series import Series

MOST_MAPS = 24
"""The most maps on a sheet."""

_GAP, _HEAD = 10.0, 24.0  # between maps, and the room of the name above each
_NAME, _WORDS = 12.5, 12.0  # sizes of letters
_SHALLOW = 12.0  # the least height of a map


@dataclass(frozen=True)
class SheetLayout(PageLayout):
    """The layout of a sheet: so many maps, in columns, in place of one."""

    many: int = 1
    columns: int = 1

    @property
    def _panel(self) -> tuple[int, int]:
        """The width and the height of a map, in pixels of the picture."""
        rows, columns = self.shape
        width = round(SCALE * (WIDTH - 2 * SIDE - _GAP * (self.columns - 1)) / self.columns)
        tallest = SCALE * (WIDTH - 2 * SIDE)
        height = min(round(width * rows / columns), tallest)
        return max(1, min(width, round(height * columns / rows))), max(height, round(SCALE * _SHALLOW))

    @cached_property
    def panels(self) -> list[Box]:
        """The edges of the maps, row by row, in pixels of the picture."""
        (width, height), found = self._panel, []
        across = (SCALE * (WIDTH - 2 * SIDE) + SCALE * _GAP) / self.columns
        for number in range(self.many):
            row, column = divmod(number, self.columns)
            left = round(SCALE * SIDE + column * across)
            top = round(self.map_top + SCALE * _HEAD + row * (height + SCALE * (_HEAD + _GAP / 2)))
            found.append(Box(left, top, left + width, top + height))
        return found

    @cached_property
    def map(self) -> Box:
        """The edges of all maps together."""
        return Box(SCALE * SIDE, self.map_top, SCALE * (WIDTH - SIDE), self.panels[-1].bottom)


@dataclass(frozen=True, eq=False)
class WordsMark:
    """The words on a map that has no colour."""

    words: str
    theme: Theme

    def areas(self, box: Box) -> list[Area]:
        """None: a map without colour has no names."""
        return []

    def draw_under_names(self, canvas: Canvas, box: Box) -> None:
        """Nothing."""

    def draw_over_names(self, canvas: Canvas, box: Box) -> None:
        """Draw the words in the middle, smaller where there is little room."""
        size = min(_WORDS, _WORDS * (box.width / SCALE - 8) / text_width(self.words, _WORDS))
        canvas.text(
            (box.left + box.right) / 2, (box.top + box.bottom) / 2 + SCALE * 0.36 * size, self.words,
            size=SCALE * size, colour=rgb_of(self.theme.ink), align=0.5, halo=rgb_of(self.theme.page),
        )  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesSheet(Figure):
    """A figure with many maps in place of one; ``picture`` has the words around all of them."""

    content: SeriesPicture
    columns: int

    def _new_layout(self) -> SheetLayout:
        plain = super()._new_layout()
        return SheetLayout(
            plain.words, plain.shape, outlined=plain.outlined, chart=plain.chart, many=len(self.content.pictures),
            columns=self.columns,
        )  # fmt: skip

    @cached_property
    def panels(self) -> list[MapDrawing]:
        """The maps; one alone has names and a scale bar."""
        layout = self._without_credits
        assert isinstance(layout, SheetLayout)
        width, height = layout.panels[0].width, layout.panels[0].height
        named = MapGround(self.picture.domain, self.look, width, height)
        bare = replace(named, named=False)
        return [
            self._panel(named if number == self._named else bare, picture, box)
            for number, (picture, box) in enumerate(zip(self.content.pictures, layout.panels, strict=True))
        ]

    @property
    def _named(self) -> int | None:
        """The map that has names and a scale bar: the first that shows something."""
        return next((number for number, picture in enumerate(self.content.pictures) if not words_on(picture)), None)

    def _panel(self, ground: MapGround, picture: Picture, box: Box) -> MapDrawing:
        words = words_on(picture)
        return MapDrawing(ground, picture, box, WordsMark(words, self.theme) if words else None)

    @cached_property
    def map(self) -> MapDrawing:
        """The map with names, whose makers are given credit."""
        return self.panels[self._named or 0]

    def _draw_maps(self, canvas: Canvas) -> None:
        """Draw every map with its name above it."""
        for number, panel in zip(self.content.numbers, self.panels, strict=True):
            name = short(self.content.names.words[number], panel.box.width / SCALE, _NAME, SEMIBOLD)
            canvas.text(
                panel.box.left, panel.box.top - SCALE * 6, name, size=SCALE * _NAME, colour=rgb_of(self.theme.ink),
                weight=SEMIBOLD,
            )  # fmt: skip
            canvas.image(panel.pixels(), panel.box)
            panel.draw_over(canvas)


def sheet_of(series: Series, look: Look | None = None) -> SeriesSheet:
    """The sheet of a series."""
    look = look or Look()
    content = picture_of_series(series, look, MOST_MAPS)
    columns = content.names.columns(MOST_MAPS)
    return SeriesSheet(content.whole, look, chart=VolumeChart(content.volumes), content=content, columns=columns)
