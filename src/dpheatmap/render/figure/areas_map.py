"""The figure of areas: a map of their densities with their borders and ranks, and below it a chart of their numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpheatmap.render.content.area_picture import content_of_areas
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture
from dpheatmap.render.figure.area_marks import AreaMarks
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.rank_chart import RankChart
from dpheatmap.render.palette import THEMES

if TYPE_CHECKING:
    from dpheatmap.releases.estimable import Estimable


def figure_of_areas(release: Estimable, table: Any, look: Look | None = None, *, values: str = "share") -> Figure:
    """The figure of a table of areas."""
    look = look or Look()
    content = content_of_areas(release, table, look, values=values)
    marks = AreaMarks(content, THEMES[look.colours or "light"])
    if not content.picture.painted:
        return Figure(content.picture, look, marks)
    plain = Figure(content.picture, look)
    picture = _with_ranks(content.picture) if marks.areas(plain.frame) else content.picture
    return Figure(picture, look, marks, RankChart(content))


def _with_ranks(picture: Picture) -> Picture:
    """The picture with a legend that says what the numbers on the map are."""
    legend = picture.words.legend
    legend = replace(legend, notes=(*legend.notes, "Numbers on the map are ranks, as in the chart below"))
    return replace(picture, words=replace(picture.words, legend=legend))
