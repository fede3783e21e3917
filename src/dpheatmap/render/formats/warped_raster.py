"""A map on the grid of another system of coordinates, such as an equal-area one, for GIS.

Densities are read off the map at points of each new pixel, between the middles of the map's own. A pixel's ground is
that of its four corners on the sphere; density times ground is its share. All are scaled so that shares add up to what
they do on the map.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import RULES
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.box import Box
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.projection import EARTH_CIRCUMFERENCE

_POINTS = 3  # of a pixel, across and down
_AROUND = 64  # points on each edge of the map
_MOST = 20_000_000  # pixels


class Warped(NamedTuple):
    """Pixels in a system: left and top edges, their side, values, standard deviations, and ground in km2."""

    left: float
    top: float
    side: float
    share: Floats
    std: Floats | None
    km2: Floats


def check_projection(crs: str) -> Any:
    """The system that a text names; refuse one that is not projected, or that PROJ does not know."""
    pyproj = import_extra("pyproj", "geo", "Another system of coordinates")
    try:
        known = pyproj.CRS.from_user_input(crs)
    except pyproj.exceptions.CRSError:
        known = None
    if known is None or not known.is_projected:
        rule = RULES["crs"]
        raise ParameterError(f"crs must be {rule.words}, in metres or feet; it was {crs!r}. {rule.advice}")
    return known


def warp(heat: Heatmap, crs: str) -> Warped:
    """Read a map on a grid of another system, whose pixels are about as large as the map's."""
    pyproj = import_extra("pyproj", "geo", "Another system of coordinates")
    known = check_projection(crs)
    there = pyproj.Transformer.from_crs("EPSG:4326", known, always_xy=True)
    back = pyproj.Transformer.from_crs(known, "EPSG:4326", always_xy=True)
    x0, y0, x1, y1 = _bounds(heat.domain, there)
    metres = float(known.axis_info[0].unit_conversion_factor or 1.0)
    side = math.sqrt(float(np.median(heat.pixel_areas))) / metres
    columns, rows = math.ceil((x1 - x0) / side), math.ceil((y1 - y0) / side)
    if columns * rows > _MOST:
        raise ParameterError(f"In {crs} the map would have {columns:,} x {rows:,} pixels. Give a smaller size.")
    offsets = (np.arange(_POINTS) + 0.5) / _POINTS
    x = x0 + side * (np.arange(columns)[:, None] + offsets).ravel()
    y = y1 - side * (np.arange(rows)[:, None] + offsets).ravel()
    layers = [heat.density] if heat.std is None else [heat.density, _density_of_std(heat)]
    read = [_mean(layer, rows, columns) for layer in _read(heat, layers, back, x, y)]
    across, down = np.arange(columns + 1, dtype=np.float64), np.arange(rows + 1, dtype=np.float64)
    km2 = _ground(back, x0 + side * across, y1 - side * down) / 1e6
    share = read[0] * km2 * 1e6
    scale = float(heat.values.sum()) / max(float(share.sum()), 1e-300)
    std = None if heat.std is None else scale * read[1] * km2 * 1e6
    return Warped(x0, y1, side, scale * share, std, km2)


def _density_of_std(heat: Heatmap) -> Floats:
    assert heat.std is not None
    ground = heat.ground
    found: Floats = heat.std / np.where(ground > 0.0, ground, np.inf)
    return found


def _bounds(domain: Domain, there: Any) -> tuple[float, float, float, float]:
    """The box around a map in another system: its edges are bent there."""
    b = domain.bounds
    along = np.linspace(0.0, 1.0, _AROUND)
    lon, lat = b.x0 + (b.x1 - b.x0) * along, b.y0 + (b.y1 - b.y0) * along
    edges = [(lon, np.full(_AROUND, b.y0)), (lon, np.full(_AROUND, b.y1))]
    edges += [(np.full(_AROUND, b.x0), lat), (np.full(_AROUND, b.x1), lat)]
    x, y = (np.concatenate(each) for each in zip(*(there.transform(*edge) for edge in edges), strict=True))
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ParameterError("The place reaches beyond what this system of coordinates can show. Give another crs.")
    return float(x.min()), float(y.min()), float(x.max()), float(y.max())


def _read(heat: Heatmap, layers: list[Floats], back: Any, x: Floats, y: Floats) -> list[Floats]:
    """The values of layers at the points of a grid, row by row, linear between pixels and 0 beyond the map."""
    found = [np.zeros((len(y), len(x))) for _ in layers]
    domain = heat.domain
    assert isinstance(domain.place, Box)
    finest, whole = domain.cells(domain.depth), 2.0**domain.depth
    rows, columns = heat.values.shape
    for row, at in enumerate(y.tolist()):
        lon, lat = back.transform(x, np.full(len(x), at))
        lon = np.where(domain.place.turned & (lon < 0), lon + 360.0, lon)
        _, v = domain.to_root(np.clip(lon, -180.0, 360.0), np.clip(lat, -85.0, 85.0))
        across = (domain.place.columns_of(lon) * whole - finest.x0) / finest.columns * columns
        down = (v * whole - finest.y0) / finest.rows * rows
        there = (across >= 0) & (across <= columns) & (down >= 0) & (down <= rows)
        for k, layer in enumerate(layers):
            found[k][row, there] = _between(layer, across[there] - 0.5, down[there] - 0.5)
    return found


def _between(layer: Floats, column: Floats, row: Floats) -> Floats:
    """A layer between the middles of its pixels, which are the points of whole numbers."""
    rows, columns = layer.shape
    j, i = np.clip(np.floor(column), 0, columns - 1).astype(int), np.clip(np.floor(row), 0, rows - 1).astype(int)
    right, below = np.minimum(j + 1, columns - 1), np.minimum(i + 1, rows - 1)
    s, t = np.clip(column - j, 0.0, 1.0), np.clip(row - i, 0.0, 1.0)
    upper = layer[i, j] * (1 - s) + layer[i, right] * s
    lower = layer[below, j] * (1 - s) + layer[below, right] * s
    found: Floats = upper * (1 - t) + lower * t
    return found


def _mean(points: Floats, rows: int, columns: int) -> Floats:
    """The means over the points of each pixel."""
    found: Floats = points.reshape(rows, _POINTS, columns, _POINTS).mean(axis=(1, 3))
    return found


def _ground(back: Any, x: Floats, y: Floats) -> Floats:
    """The areas on the sphere, in square metres, of the pixels between edges.

    Longitude and the sine of the latitude are coordinates of an equal-area map, on which a pixel is nearly a polygon.
    """
    lon, lat = back.transform(*np.meshgrid(x, y))
    u, v = np.radians(lon), np.sin(np.radians(lat))
    corners = [(slice(None, -1), slice(None, -1)), (slice(None, -1), slice(1, None)), (slice(1, None), slice(1, None)),
               (slice(1, None), slice(None, -1))]  # fmt: skip
    area = np.zeros((len(y) - 1, len(x) - 1))
    for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
        area += u[a] * v[b] - u[b] * v[a]
    radius = EARTH_CIRCUMFERENCE / (2.0 * np.pi)
    found: Floats = 0.5 * np.abs(area) * radius**2
    return found
