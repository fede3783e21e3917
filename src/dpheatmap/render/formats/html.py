"""An interactive map in one file that works from disk, without a network."""

from __future__ import annotations

from pathlib import Path

from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.web.page import check_surroundings, page


def write(heat: Heatmap, path: Path, look: Look, *, tiles: str | None = None) -> None:
    """Write the map as HTML; the page loads nothing from the network but ``tiles``, if they are given."""
    path.write_text(page(picture_of(heat, look), look, tiles=tiles), encoding="utf-8", newline="\n")


def refuse(domain: Domain, look: Look, *, tiles: str | None = None) -> None:
    """Refuse contours, tiles for a domain that is not on the ground, and a background that does not fit the domain."""
    if look.style == "contour":
        raise ParameterError("An .html has bands or smooth heat, and the style was contour. Use .png, .svg or .pdf.")
    check_surroundings(domain, tiles, look.background)
