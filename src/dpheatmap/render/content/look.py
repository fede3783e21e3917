"""The look of a picture or a page, as far as its maker chooses it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from os import PathLike

from dpheatmap.render.content.subject import is_pitch


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
    context: tuple[str, ...] = ()
    context_credit: str = ""

    @property
    def over_a_picture(self) -> bool:
        """Whether the heat lies over a picture; a pitch is paper like any other."""
        return self.background is not None and not is_pitch(self.background)


OPTIONS = tuple(field.name for field in fields(Look))
"""The names of the choices."""
