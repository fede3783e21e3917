"""An interactive map in one file that works from disk, without a network."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from dpheatmap.domain import Domain
from dpheatmap.heatmap import Heatmap
from dpheatmap.render.page import check_surroundings, page
from dpheatmap.render.picture import picture_of


def write(
    heat: Heatmap, path: Path, *, tiles: str | None = None, background: str | PathLike[str] | None = None
) -> None:
    """Write the map as HTML; nothing but ``tiles``, if they are given, is ever asked of the network."""
    path.write_text(page(picture_of(heat), tiles=tiles, background=background), encoding="utf-8", newline="\n")


def refuse(domain: Domain, *, tiles: str | None = None, background: str | PathLike[str] | None = None) -> None:
    """Tiles lie on the ground, and a background under an image."""
    check_surroundings(domain, tiles, background)
