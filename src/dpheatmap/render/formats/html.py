"""An interactive map in one file that works from disk, without a network."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.web.page import check_surroundings, page
from dpheatmap.render.web.picture import picture_of


def write(
    heat: Heatmap,
    path: Path,
    *,
    title: str | None = None,
    tiles: str | None = None,
    background: str | PathLike[str] | None = None,
) -> None:
    """Write the map as HTML; the page loads nothing from the network but ``tiles``, if they are given."""
    picture = picture_of(heat)
    named = picture if title is None else replace(picture, title=title)
    path.write_text(page(named, tiles=tiles, background=background), encoding="utf-8", newline="\n")


def refuse(
    domain: Domain,
    *,
    title: str | None = None,
    tiles: str | None = None,
    background: str | PathLike[str] | None = None,
) -> None:
    """Refuse tiles for a domain that is not on the ground, and a background that does not fit the domain."""
    check_surroundings(domain, tiles, background)
