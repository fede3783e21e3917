"""The look of a picture or a page, as far as its maker chooses it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from os import PathLike


@dataclass(frozen=True)
class Look:
    """Words around the map, and what lies under and over the heat; `Heatmap.save` explains each."""

    title: str | None = None
    subtitle: str = ""
    source: str = ""
    what: str = ""
    style: str = "bands"
    colours: str | None = None
    limits: tuple[float, float] | None = None
    background: str | PathLike[str] | None = None
    basemap: bool = True


OPTIONS = tuple(field.name for field in fields(Look))
"""The names of the choices."""
