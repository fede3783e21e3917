"""Areas by codes: H3 cells and geohashes, one by one, and all H3 cells of a resolution that meet a place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.areas.area_names import told_apart
from dpheatmap.estimate.areas.named_areas import NamedAreas
from dpheatmap.place.domain import Domain
from dpheatmap.place.projection import EARTH_CIRCUMFERENCE
from dpheatmap.place.vector_rings import DEGREES

MOST_AREAS = 100_000
_ALL = "h3:"
_GEOHASH = "0123456789bcdefghjkmnpqrstuvwxyz"
_FINEST = 15  # resolution of H3
_PIECE = 60.0  # degrees of longitude: H3 takes wide polygons for their complement


def codes_in(text: str) -> list[str] | None:
    """The codes that a text lists, with commas between them, or None if it is none of them.

    >>> codes_in("dr5ru,dr72j"), codes_in("dr5ru"), codes_in("districts.gpkg")
    (['dr5ru', 'dr72j'], ['dr5ru'], None)
    """
    codes = [code.strip() for code in text.split(",")]
    if "." in text or "/" in text or (len(codes) == 1 and not _is_geohash(text) and not _is_h3(text)):
        return None
    return [code for code in codes if code]


def is_all_cells(text: str) -> bool:
    """Whether a text names all H3 cells of a resolution, such as h3:7."""
    return text.lower().startswith(_ALL)


def areas_of_codes(codes: Sequence[Any], domain: Domain) -> NamedAreas:
    """The areas of H3 cells or geohashes."""
    import shapely

    _need_ground(domain)
    if not codes:
        raise ParameterError("The list of areas is empty. Give H3 cells or geohashes.")
    wrong = next((k for k, code in enumerate(codes) if not isinstance(code, str)), None)
    if wrong is not None:
        raise ParameterError(
            f"A list of areas holds H3 cells or geohashes as text; number {wrong + 1} of it was a "
            f"{type(codes[wrong]).__name__}. Give polygons with their names, as a mapping."
        )
    if all(map(_is_geohash, codes)):
        boxes = [shapely.box(*_geohash(code.lower())) for code in codes]
        return NamedAreas(told_apart(codes), np.array(boxes, dtype=object), DEGREES)
    unknown = next((code for code in codes if not _is_h3(code)), None)
    if unknown is not None:
        raise ParameterError(f"{unknown!r} is neither an H3 cell nor a geohash. Check the list of areas.")
    return NamedAreas(told_apart(codes), _hexagons(codes), DEGREES)


def all_cells(text: str, domain: Domain) -> NamedAreas:
    """All H3 cells of a resolution that meet the place."""
    _need_ground(domain)
    digits = text[len(_ALL) :]
    if not (digits.isascii() and digits.isdigit() and int(digits) <= _FINEST):
        raise ParameterError(f"Areas such as h3:7 name a resolution from 0 to {_FINEST}; it was {text!r}. Give one.")
    resolution = int(digits)
    h3 = import_extra("h3", "geo", "H3 cells as areas")
    west, south, east, north = domain.bounds
    radius = EARTH_CIRCUMFERENCE / (2.0 * math.pi)
    across, down = math.radians(east - west), math.sin(math.radians(north)) - math.sin(math.radians(south))
    about = radius**2 * across * down / h3.average_hexagon_area(resolution, "m^2")
    found: set[str] = set()
    if about <= 2 * MOST_AREAS:
        edges = [west, *np.arange(math.floor(west / _PIECE) + 1, math.ceil(east / _PIECE)) * _PIECE, east]
        for left, right in pairwise(edges):
            turn = 360.0 * math.floor((0.5 * (left + right) + 180.0) / 360.0)
            corners = [(y, x - turn) for x, y in ((left, south), (right, south), (right, north), (left, north))]
            found |= set(h3.h3shape_to_cells_experimental(h3.LatLngPoly(corners), resolution, contain="overlap"))
    if not 0 < len(found) <= MOST_AREAS:
        raise ParameterError(
            f"The place has about {about:,.0f} H3 cells of resolution {resolution}, more than {MOST_AREAS:,}. "
            "Give a smaller resolution."
        )
    names = sorted(found)
    return NamedAreas(names, _hexagons(names), DEGREES, is_grid=True)


def _need_ground(domain: Domain) -> None:
    if not domain.geographic:
        raise ParameterError(
            f"H3 cells and geohashes lie on the ground, and the place is {domain.place.words}. Give rectangles."
        )


def _hexagons(codes: Sequence[str]) -> Any:
    """The outlines of H3 cells, those across the antimeridian in one piece."""
    import shapely

    h3 = import_extra("h3", "geo", "H3 cells as areas")
    made = []
    for code in codes:
        ring = np.array(h3.cell_to_boundary(code))[:, ::-1]
        if np.ptp(ring[:, 0]) > 180.0:
            ring[:, 0] %= 360.0
        made.append(shapely.Polygon(ring))
    return np.array(made, dtype=object)


def _is_h3(code: str) -> bool:
    return bool(import_extra("h3", "geo", "H3 cells as areas").is_valid_cell(code))


def _is_geohash(code: str) -> bool:
    return 0 < len(code) < 13 and set(code.lower()) <= set(_GEOHASH)


def _geohash(code: str) -> tuple[float, float, float, float]:
    """West, south, east and north of a geohash: its bits halve the longitude and the latitude in turn.

    >>> _geohash("u0")
    (0.0, 45.0, 11.25, 50.625)
    """
    ranges = [[-180.0, 180.0], [-90.0, 90.0]]
    bits = [_GEOHASH.index(letter) >> shift & 1 for letter in code for shift in (4, 3, 2, 1, 0)]
    for place, bit in enumerate(bits):
        ends = ranges[place % 2]
        ends[1 - bit] = 0.5 * (ends[0] + ends[1])
    (west, east), (south, north) = ranges
    return west, south, east, north
