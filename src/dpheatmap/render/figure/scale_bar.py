"""The scale bar of a map: a round length on the ground, or on a pitch."""

from __future__ import annotations

from os import PathLike
from typing import NamedTuple

from dpheatmap._util.number_words import plain
from dpheatmap.place import projection
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.numbers import length_in_words
from dpheatmap.render.content.subject import PITCH_LENGTH, PITCH_WIDTH, is_pitch
from dpheatmap.render.figure.canvas import Area
from dpheatmap.render.figure.lettering import text_width
from dpheatmap.render.figure.page_layout import SCALE
from dpheatmap.render.figure.painting import Singles

_LONGEST, _PART = 90.0, 0.45  # pixels of the page, and the most of a narrow map's width
_LABEL = 11.0  # size of the letters


class ScaleBar(NamedTuple):
    """A length in pixels of the page, and its label."""

    length: float
    label: str


def scale_bar_of(domain: Domain, width: int, background: str | PathLike[str] | None = None) -> ScaleBar | None:
    """The scale bar of a map ``width`` pixels of the picture wide; only boxes and pitches have one."""
    longest = min(_LONGEST, _PART * width / SCALE)
    if is_pitch(background):
        across, down = domain.extent[2:]
        metre = (width / SCALE) / (PITCH_LENGTH if across >= down else PITCH_WIDTH)
        metres = round_length(longest / metre)
        return ScaleBar(metres * metre, f"{plain(metres)} m")
    if not domain.geographic:
        return None
    finest, depth = domain.cells(domain.depth), domain.depth
    middle = (finest.y0 + finest.y1) / 2
    cells = domain.lengths_of_cells(depth, [finest.y0, middle, finest.y1])
    metre = (width / SCALE) / (float(cells[1]) * finest.columns)
    metres = round_length(longest / metre)
    label = length_in_words(metres, domain)
    if cells.max() > 1.05 * cells.min():
        latitude = round(projection.latitude_of_row(middle / 2**depth))
        label += f" at {abs(latitude)}°" + "NS"[latitude < 0] * (latitude != 0)
    return ScaleBar(metres * metre, label)


def room_of_bar(bar: ScaleBar, width: int, height: int, inside: Singles | None) -> Area:
    """The room of the bar on a map, in pixels: the lower left corner, or the one of which least is inside a boundary.

    ``inside`` is the part of each pixel inside the boundary, if there is one.
    """
    wide, high = SCALE * (max(bar.length, text_width(bar.label, _LABEL)) + 40.0), SCALE * 40.0
    right, bottom = max(width - wide, 0.0), max(height - high, 0.0)
    corners = [(0.0, bottom), (right, bottom), (right, 0.0), (0.0, 0.0)]

    def cover(corner: tuple[float, float]) -> float:
        x, y = corner
        return 0.0 if inside is None else float(inside[int(y) : int(y + high), int(x) : int(x + wide)].mean())

    x, y = min(corners, key=cover)
    return x, y, x + wide, y + high


def round_length(most: float) -> float:
    """The largest of 1, 2 and 5 times powers of ten that is at most ``most``.

    >>> round_length(730.0), round_length(2.0)
    (500.0, 2.0)
    """
    power = 10.0 ** len(f"{int(most)}") if most >= 1 else 1.0
    while True:
        for digit in (5.0, 2.0, 1.0):
            if digit * power <= most:
                return digit * power
        power /= 10.0
