"""Places to files: a table, GeoJSON with their catchments, or a map."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.projection import latitudes_of_rows
from dpheatmap.place.quadtree import Ints
from dpheatmap.render.figure.outline import outlines
from dpheatmap.render.formats.metadata import facts, refuse_without_ground
from dpheatmap.render.wording import length_in_words

if TYPE_CHECKING:
    from dpheatmap.estimate.kmedian import Places
    from dpheatmap.heatmap.heatmap import Heatmap
    from dpheatmap.render.figure.canvas import Box, Canvas
    from dpheatmap.render.figure.figure import Figure

FORMATS = (".csv", ".geojson", ".png", ".svg", ".pdf")
"""Suffixes of the files that places can be saved as."""

GRID = 256
"""Cells on the longer side of the grid that catchments are drawn on in GeoJSON."""

_DIGITS = 7  # of a degree: a centimetre
_MARK = 9.0  # radius of a centre's ring, in units, as long as there is room
_ROOM = 0.15  # of the distance to the next centre if all were evenly spread: the largest radius where they are many
_CROWDED = 1  # other rings or numbers that a number may touch; one that would touch more is left out
_BEYOND = 10  # pixels
_LIGHT, _DARK = (255, 255, 255), (10, 10, 16)


def save(places: Places, path: str | PathLike[str]) -> None:
    """Write places to the format that the suffix names, whole or not at all."""
    refuse(places.domain, path)
    suffix = Path(path).suffix.lower()
    with replace_whole(path) as temporary:
        if suffix == ".csv":
            temporary.write_text(_table(places), encoding="ascii", newline="\n")
        elif suffix == ".geojson":
            temporary.write_text(_geojson(places), encoding="utf-8", newline="\n")
        else:
            _draw(places, temporary, suffix)


def refuse(domain: Domain, path: str | PathLike[str]) -> None:
    """Refuse a file that places of a domain can't be written to."""
    suffix = suffix_of(path, "a file of places", FORMATS)
    if suffix == ".geojson":
        refuse_without_ground(domain, "GeoJSON", ".csv")
    if suffix in (".svg", ".pdf"):
        from dpheatmap.render.figure import vector

        vector.refuse(domain)


def columns_of(places: Places) -> dict[str, list[Any]]:
    """One row a place: where it is, the people nearest to it, and how far they are on average.

    Where it is known how sure the numbers of people are, their interval of 90 % stands beside them.
    """
    names = ("lon", "lat") if places.domain.geographic else ("x", "y")
    unit = {"bbox": "metres", "image": "pixels", "unit": "sides"}[places.domain.kind]
    ends = places.intervals() if places.has_intervals else ()
    sure = {name: end.tolist() for name, end in zip(("people_low", "people_high"), ends, strict=False)}
    return {
        "place": list(range(1, len(places.centres) + 1)),
        names[0]: places.centres[:, 0].tolist(),
        names[1]: places.centres[:, 1].tolist(),
        "people": places.weights.tolist(),
        **sure,
        "share": places.shares.tolist(),
        f"distance_in_{unit}": places.distances.tolist(),
    }


def _table(places: Places) -> str:
    columns = columns_of(places)
    rows = (",".join(f"{value:.10g}" for value in row) for row in zip(*columns.values(), strict=True))
    return "\n".join([",".join(columns), *rows]) + "\n"


def _geojson(places: Places) -> str:
    """Each place twice: as a point, and as the area that is nearer to it than to all others."""
    finest = places.domain.cells(places.domain.depth)
    longer = max(finest.columns, finest.rows)
    shape = max(1, round(GRID * finest.columns / longer)), max(1, round(GRID * finest.rows / longer))
    nearest = catchments(places, *shape)
    columns = columns_of(places)
    features = []
    for k, row in enumerate(zip(*columns.values(), strict=True)):
        properties = dict(zip(columns, row, strict=True))
        middle = [round(at, _DIGITS) for at in places.centres[k].tolist()]
        point = {"type": "Point", "coordinates": middle}
        area = {"type": "MultiPolygon", "coordinates": _polygons(places.domain, nearest == k)}
        features += [
            {"type": "Feature", "geometry": geometry, "properties": {"kind": kind, **properties}}
            for kind, geometry in (("centre", point), ("catchment", area))
            if geometry["coordinates"]
        ]
    about = facts(_heat(places), smoothed=False) | {
        "title": f"{len(places.centres)} places near people",
        "metric": places.metric,
        "distance_in_metres": places.cost,
    }
    return json.dumps({"type": "FeatureCollection", "dpheatmap": about, "features": features}) + "\n"


def _polygons(domain: Domain, inside: Any) -> list[list[list[list[float]]]]:
    """The marked cells of a grid as polygons in degrees: outer rings counter-clockwise, each with its holes."""
    rows, columns = inside.shape
    found: list[list[Floats]] = []
    holes = []
    for ring in outlines(inside):
        (found.append([ring]) if _area(ring) > 0 else holes.append(ring))
    for hole in holes:
        min(found, key=lambda polygon: _area(polygon[0]) if _surrounds(polygon[0], hole) else np.inf).append(hole)
    return [[_in_degrees(domain, ring, columns, rows) for ring in polygon] for polygon in found]


def _in_degrees(domain: Domain, ring: Floats, columns: int, rows: int) -> list[list[float]]:
    lon, lat = coordinates(domain, ring[:, 0] / columns, ring[:, 1] / rows)
    corners: list[list[float]] = np.round(np.stack([lon, lat], axis=1)[::-1], _DIGITS).tolist()
    return [*corners, corners[0]]


def _area(ring: Floats) -> float:
    """Twice what a ring encloses, above 0 if it runs clockwise on a picture."""
    x, y = ring.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _surrounds(ring: Floats, other: Floats) -> bool:
    """Whether the box around a ring holds that around another."""
    return bool((ring.min(axis=0) <= other.min(axis=0)).all() and (ring.max(axis=0) >= other.max(axis=0)).all())


def catchments(places: Places, columns: int, rows: int) -> Ints:
    """The number of the nearest place at the middle of each cell of a grid over the domain."""
    middles = ((np.arange(count) + 0.5) / count for count in (columns, rows))
    x, y = coordinates(places.domain, *middles)
    return places.catchment(*np.meshgrid(x, y))


def coordinates(domain: Domain, across: Floats, down: Floats) -> tuple[Floats, Floats]:
    """Parts of the way across and down the domain's rectangle of cells to its coordinates."""
    bounds, finest = domain.bounds, domain.cells(domain.depth)
    x = bounds.x0 + across * (bounds.x1 - bounds.x0)
    if domain.geographic:
        return x, latitudes_of_rows((finest.y0 + down * finest.rows) / 2.0**domain.depth)
    return x, bounds.y0 + down * (bounds.y1 - bounds.y0)


# The map


C = TypeVar("C", bound="Canvas")


def _heat(places: Places) -> Heatmap:
    return places.release.heatmap(method=places.method)


def _draw(places: Places, path: Path, suffix: str) -> None:
    from dpheatmap.render.figure.figure import figure_of

    away = length_in_words(places.cost, places.domain)
    many = "1 place" if len(places.centres) == 1 else f"{len(places.centres)} places"
    figure = figure_of(_heat(places), title=f"{many}, {away} from people on average")
    if suffix == ".png":
        from dpheatmap.render.figure.canvas import PillowCanvas

        drawn_over(places, figure, PillowCanvas).picture.save(path, format="PNG")
    else:
        from dpheatmap.render.figure.vector import save_figure

        save_figure(lambda new: drawn_over(places, figure, new), path, suffix)


def drawn_over(places: Places, figure: Figure, new: Callable[..., C]) -> C:
    """The heat with the borders of the catchments, and rings around the centres, numbered by their people."""
    from dpheatmap.render.figure.figure_layout import LABEL

    place = figure.place
    box = place.map
    halos = ((_DARK, place.px(3)), (_LIGHT, 0))

    def draw_borders(canvas: C) -> None:
        borders = _borders(places, box)
        for colour, wider in halos:
            canvas.lines(borders, box, width=place.px(2) + wider, colour=colour, opacity=0.75)

    canvas = figure.draw(new, draw_borders)
    centres = _placed(places, box)
    spread = math.sqrt((box.right - box.left) * (box.bottom - box.top) / len(centres))
    radius = min(place.px(_MARK), _ROOM * spread)
    rings = [_ring(at, radius) for at in centres]
    for colour, wider in halos:
        width = (place.px(4) + wider) * radius / place.px(_MARK)
        canvas.lines(rings, box, width=max(1, round(width)), colour=colour, opacity=1.0)
    size = place.px(1.2 * LABEL)
    for number, spot in enumerate(_beside(centres, box, radius, size), 1):
        if spot is not None:
            x, baseline, align = spot
            canvas.text(x, baseline, str(number), size=size, colour=_LIGHT, align=align, halo=_DARK)
    return canvas


def _borders(places: Places, box: Box) -> list[Floats]:
    """The outlines of all catchments, in pixels of the picture; those along its edge lie beyond it."""
    nearest = np.pad(catchments(places, box.right - box.left, box.bottom - box.top), _BEYOND, mode="edge")
    corner = np.array([box.left - _BEYOND, box.top - _BEYOND])
    rings = [ring for k in range(len(places.centres)) for ring in outlines(nearest == k)]
    return [corner + np.concatenate([ring, ring[:1]]) for ring in rings]


def _placed(places: Places, box: Box) -> list[tuple[float, float]]:
    """The centres in pixels of the picture."""
    domain = places.domain
    finest, whole = domain.cells(domain.depth), 2.0**domain.depth
    u, v = domain.to_root(places.centres[:, 0], places.centres[:, 1])
    x = box.left + (u * whole - finest.x0) / finest.columns * (box.right - box.left)
    y = box.top + (v * whole - finest.y0) / finest.rows * (box.bottom - box.top)
    return list(zip(x.tolist(), y.tolist(), strict=True))


def _beside(
    centres: list[tuple[float, float]], box: Box, radius: float, size: float
) -> list[tuple[float, float, float] | None]:
    """Where the numbers stand: x, baseline and alignment, beside, above or below their rings.

    The first of four places that lies inside the picture and touches no other ring and no number before it, or else
    the one that touches fewest; nowhere, if that touches several. So busy places, which come first, keep theirs.
    """
    taken = [(x - radius, y - radius, x + radius, y + radius) for x, y in centres]
    found: list[tuple[float, float, float] | None] = []
    for number, (x, y) in enumerate(centres, 1):
        wide, aside = 0.6 * size * len(str(number)), radius + 0.25 * size
        above, below = y - aside - 0.4 * size, y + aside + 0.4 * size
        spots = [(x + aside, y, 0.0), (x - aside, y, 1.0), (x, above, 0.5), (x, below, 0.5)]
        areas = [
            (left - align * wide, middle - 0.4 * size, left + (1 - align) * wide, middle + 0.4 * size)
            for left, middle, align in spots
        ]
        touched = [
            sum(_touch(area, other) for k, other in enumerate(taken) if k != number - 1) + 100 * _beyond(area, box)
            for area in areas
        ]
        best = touched.index(min(touched))
        if touched[best] > _CROWDED:
            found.append(None)
            continue
        taken.append(areas[best])
        found.append((spots[best][0], spots[best][1] + 0.35 * size, spots[best][2]))
    return found


Area = tuple[float, float, float, float]


def _touch(one: Area, other: Area) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _beyond(area: Area, box: Box) -> bool:
    return area[0] < box.left or area[1] < box.top or area[2] > box.right or area[3] > box.bottom


def _ring(at: tuple[float, float], radius: float) -> Floats:
    turn = np.linspace(0.0, 2.0 * np.pi, 33)
    return np.stack([at[0] + radius * np.cos(turn), at[1] + radius * np.sin(turn)], axis=1)
