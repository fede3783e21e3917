"""What is known to be true of the land around a map, at the map's own scale."""

from __future__ import annotations

from dataclasses import dataclass

from dpheatmap.place.domain import Bounds, Floats
from dpheatmap.render import basemap

_COARSEST = 1.0  # degrees: on a smaller map, lines of 1:10 million would be visibly wrong


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Land as rings, and lines, in degrees; ``land`` is None where the coast is not known well enough to be drawn."""

    land: list[list[Floats]] | None
    coast: list[Floats]
    rivers: list[Floats]
    borders: list[Floats]
    credits: tuple[str, ...]


def surroundings(bounds: Bounds, pixels: int) -> Surroundings:
    """The land in and around bounds, on a map of so many pixels."""
    if bounds.x1 - bounds.x0 < _COARSEST:
        return Surroundings(None, [], [], [], ())
    return Surroundings(
        basemap.land(bounds), basemap.coast(bounds), [], basemap.borders(bounds), (basemap.LINES_CREDIT,)
    )
