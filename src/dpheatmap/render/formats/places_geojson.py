"""GeoJSON of places: their centres and their catchments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render.figure.catchments import catchments, coordinates
from dpheatmap.render.figure.outline import outlines
from dpheatmap.render.formats.metadata import facts_of_release, refuse_without_ground
from dpheatmap.render.formats.places_table import columns_of

if TYPE_CHECKING:
    from dpheatmap.estimate.places import Places

GRID = 256
"""Cells on the longer side of the grid that catchments are drawn on."""

_DIGITS = 7  # of a degree: a centimetre


def write(places: Places, path: Path) -> None:
    """Write each place twice: as a point, and as the area that is nearer to it than to all others."""
    finest = places.domain.cells(places.domain.depth)
    longer = max(finest.columns, finest.rows)
    shape = max(1, round(GRID * finest.columns / longer)), max(1, round(GRID * finest.rows / longer))
    nearest = catchments(places, *shape)
    columns = columns_of(places)
    features = []
    for k, row in enumerate(zip(*columns.values(), strict=True)):
        properties = dict(zip(columns, row, strict=True))
        middle = [round(properties[axis], _DIGITS) for axis in places.domain.place.axes]
        point = {"type": "Point", "coordinates": middle}
        area = {"type": "MultiPolygon", "coordinates": _polygons(places.domain, nearest == k)}
        features += [
            {"type": "Feature", "geometry": geometry, "properties": {"kind": kind, **properties}}
            for kind, geometry in (("centre", point), ("catchment", area))
            if geometry["coordinates"]
        ]
    about = facts_of_release(places.release, empty=places.empty) | {
        "title": f"{len(places.centres)} places near people",
        "metric": places.metric,
        "distance_in_metres": places.cost,
    }
    text = json.dumps({"type": "FeatureCollection", "dpheatmap": about, "features": features}) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")


def refuse(domain: Domain) -> None:
    """Refuse images and unit squares: GeoJSON is in degrees."""
    refuse_without_ground(domain, "GeoJSON", ".csv")


def _polygons(domain: Domain, inside: NDArray[np.bool_]) -> list[list[list[list[float]]]]:
    """The marked cells of a grid as polygons in degrees: outer rings counter-clockwise, each with its holes."""
    rows, columns = inside.shape
    found: list[list[Floats]] = []
    holes = []
    for ring in outlines(inside):
        (found.append([ring]) if _area(ring) > 0 else holes.append(ring))
    for hole in holes:
        min(found, key=lambda polygon: _area(polygon[0]) if _surrounds(polygon[0], hole) else np.inf).append(hole)
    return [[_ring_in_degrees(domain, ring, columns, rows) for ring in polygon] for polygon in found]


def _ring_in_degrees(domain: Domain, ring: Floats, columns: int, rows: int) -> list[list[float]]:
    lon, lat = coordinates(domain, ring[:, 0] / columns, ring[:, 1] / rows)
    corners: list[list[float]] = np.round(np.stack([lon, lat], axis=1)[::-1], _DIGITS).tolist()
    return [*corners, corners[0]]


def _area(ring: Floats) -> float:
    """Twice the area that a ring encloses, positive if it runs clockwise on a picture."""
    x, y = ring.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _surrounds(ring: Floats, other: Floats) -> bool:
    """Whether the box around a ring holds that around another."""
    return bool((ring.min(axis=0) <= other.min(axis=0)).all() and (ring.max(axis=0) >= other.max(axis=0)).all())
