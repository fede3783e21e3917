"""Animated GIF and WebP of a series: a slide for each slice."""

from __future__ import annotations

from pathlib import Path

from dpheatmap.heatmap.series import Series
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.series_picture import picture_of_series
from dpheatmap.render.figure.series_slides import MOST_SLIDES, write_animation
from dpheatmap.render.formats.png import refuse

__all__ = ["refuse", "write"]


def write(series: Series, path: Path, look: Look) -> None:
    """Draw the slides and write them, by the suffix; the file holds the pictures and nothing else."""
    write_animation(picture_of_series(series, look, MOST_SLIDES), look, path, path.suffix.lower())
