"""The figure of areas: a map of their densities with their borders and ranks, and below it a chart of their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpheatmap.render.content.area_picture import content_of_areas
from dpheatmap.render.content.look import Look
from dpheatmap.render.figure.area_marks import AreaMarks
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.rank_chart import RankChart
from dpheatmap.render.inks import inks_of
from dpheatmap.render.palette import THEMES

if TYPE_CHECKING:
    from dpheatmap.releases.release import Release


def figure_of_areas(release: Release, table: Any, look: Look | None = None, *, values: str = "share") -> Figure:
    """The figure of a table of areas."""
    look = look or Look()
    content = content_of_areas(release, table, look, values=values)
    theme = THEMES[look.colours or "light"]
    inks = inks_of(theme, len(content.picture.edges), over_a_picture=look.over_a_picture)
    marks = AreaMarks(content, theme, inks.swatches)
    return Figure(content.picture, look, marks, RankChart(content))
