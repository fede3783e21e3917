"""What lies behind the heat of a box: coast, rivers and borders that are true at the map's scale."""

from __future__ import annotations

from dataclasses import replace
from math import cos, radians

from dpheatmap.place.domain import Bounds
from dpheatmap.render import basemap
from dpheatmap.render.basemap.polylines import area_of, cut_line, turns_of
from dpheatmap.render.basemap.shores import Shores, has_shores, shores, shores_of

WORLDLY = 2.0
"""Degrees: on maps at least as wide, the lines of the package itself, of 1:10 million, are as good as any."""

SMALLEST = 0.3
"""Degrees: on smaller maps, lines of 1:10 million are visibly wrong and are not drawn."""


def backdrop(bounds: Bounds, window: Bounds, pixels: int | None = None) -> Shores | None:
    """The backdrop of a map of a box, drawn in a window around it; None where the coast is not known at this scale.

    Nothing is water then, because a wrong coast is worse than none. The scale is that of the box. With the window's
    width in ``pixels``, no line moves by more than half a pixel.

    >>> [len(place.coast) for place in (backdrop(Bounds(0, 40, 5, 45), Bounds(0, 40, 5, 45)),)]
    [2]
    """
    fine = fine_shores(bounds, window, pixels)
    if is_small(bounds):
        return fine
    found = fine or _coarse(bounds, window, _half_pixel(window, pixels))
    borders = [part for border in basemap.borders(bounds) for turn in turns_of(border, window)
               for part in cut_line(turn, window)]  # fmt: skip
    whose = (*found.credits, *([basemap.LINES_CREDIT] if borders else []))
    return replace(found, borders=borders, credits=tuple(dict.fromkeys(whose)))


def fine_shores(bounds: Bounds, window: Bounds, pixels: int | None = None) -> Shores | None:
    """Shores in a window finer than those of the package itself, if a map of the box needs them and they are there."""
    return shores(window, _half_pixel(window, pixels)) if size_of(bounds) < WORLDLY else None


def lacks_coast(bounds: Bounds) -> bool:
    """Whether a map of the box has no coast, because it is small and no package with a finer one is installed."""
    return is_small(bounds) and not has_shores()


def is_small(bounds: Bounds) -> bool:
    """Whether lines of 1:10 million would be visibly wrong on a map of the box."""
    return size_of(bounds) < SMALLEST - 1e-9  # edges are sums of rounded numbers


def _half_pixel(window: Bounds, pixels: int | None) -> float:
    """Half a pixel in degrees of latitude, if the window is so many pixels wide."""
    return 0.0 if pixels is None else _shorter(window) * (window.x1 - window.x0) / pixels / 2


def size_of(bounds: Bounds) -> float:
    """The longer side of a box in degrees of latitude, 111 km each."""
    return max((bounds.x1 - bounds.x0) * _shorter(bounds), bounds.y1 - bounds.y0)


def _shorter(bounds: Bounds) -> float:
    """The length of a degree of longitude in degrees of latitude, in the middle of a box."""
    return max(0.05, cos(radians((bounds.y0 + bounds.y1) / 2)))


def _coarse(bounds: Bounds, window: Bounds, tolerance: float) -> Shores:
    """The shores of the package itself, of 1:10 million."""
    rings = [
        ring if (area_of(ring) > 0) == (number == 0) else ring[::-1]
        for polygon in basemap.land(bounds)
        for number, shore in enumerate(polygon)
        for ring in turns_of(shore, window)
    ]
    return shores_of(rings, [], window, tolerance, (basemap.LINES_CREDIT,))
