"""A map as cells of H3, Uber's hexagons: the heat that falls into each, at a chosen resolution.

Each pixel is cut, or pixels are gathered, into samples of about a quarter of a hexagon's edge; a sample's heat goes to
the hexagon that its middle lies in. So no heat is lost, and the shares add up to 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Floats
from dpheatmap.place.projection import latitudes_of_rows
from dpheatmap.place.quadtree import Ints
from dpheatmap.render.formats.features import Areas, density_name

_SAMPLES_AN_EDGE = 4
_MOST_SAMPLES = 8_000_000


class _Samples(NamedTuple):
    """Rectangles that the map is cut into: their middles, their heat, its uncertainty and their areas."""

    longitudes: Floats
    latitudes: Floats
    share: Floats
    std: Floats | None
    area: Floats


def hexagons(heat: Heatmap, resolution: int) -> Areas:
    """The hexagons that the map touches; their densities are those of the part inside the domain."""
    import h3.api.numpy_int as cells

    samples = _samples(heat, resolution, cells.average_hexagon_edge_length(resolution, "m"))
    middles = ((lat, lon) for lat in samples.latitudes.tolist() for lon in samples.longitudes.tolist())
    at = np.fromiter((cells.latlng_to_cell(*middle, resolution) for middle in middles), np.uint64, samples.share.size)
    inside = samples.area.ravel() > 0.0
    found, where = np.unique(at[inside], return_inverse=True)
    share, area = (_sums(column.ravel()[inside], where) for column in (samples.share, samples.area))
    std = None if samples.std is None else _joint_std(heat, _sums(samples.std.ravel()[inside], where), area)
    names = [cells.int_to_str(cell) for cell in found]
    rings = [np.array(cells.cell_to_boundary(cell))[:, ::-1] for cell in found]
    return Areas(
        {"h3": names}, rings, share, std, 1e6 * share / area, density_name(heat), smoothed=True, quantity=heat.quantity
    )


def _samples(heat: Heatmap, resolution: int, edge: float) -> _Samples:
    """Pixels cut or gathered so that a sample is about a quarter of a hexagon's edge."""
    rows, columns = heat.values.shape
    step = edge / _SAMPLES_AN_EDGE / math.sqrt(float(heat.pixel_areas.max()))  # in pixels
    cut, gathered = max(1, round(1.0 / step)), max(1, math.floor(step))
    if rows * columns * cut**2 > _MOST_SAMPLES:
        raise ParameterError(
            f"h3 must be a resolution that suits the map; its hexagons at {resolution} are about {edge:,.0f} m wide, "
            "which are too many for this place. Choose a smaller one."
        )
    share, std, area = (
        None if layer is None else _resample(layer, cut, gathered) for layer in (heat.values, heat.std, heat.ground)
    )
    assert share is not None
    assert area is not None
    b, finest = heat.domain.bounds, heat.domain.cells(heat.domain.depth)
    across, down = (_middles(pixels, cut, gathered) for pixels in (columns, rows))
    at = (finest.y0 + down * finest.rows) / 2.0**heat.domain.depth
    return _Samples(b.x0 + across * (b.x1 - b.x0), latitudes_of_rows(at), share, std, area)


def _resample(layer: Floats, cut: int, gathered: int) -> Floats:
    """Cut each pixel into ``cut x cut`` equal parts, or sum blocks of ``gathered x gathered`` pixels."""
    if cut > 1:
        return np.repeat(np.repeat(layer / cut**2, cut, axis=0), cut, axis=1)
    starts = (np.arange(0, pixels, gathered) for pixels in layer.shape)
    sums: Floats = np.add.reduceat(np.add.reduceat(layer, next(starts), axis=0), next(starts), axis=1)
    return sums


def _middles(pixels: int, cut: int, gathered: int) -> Floats:
    """The middles of the samples along a side, as fractions of it."""
    edges = np.append(np.arange(0, pixels * cut, gathered), pixels * cut) / (pixels * cut)
    middles: Floats = (edges[1:] + edges[:-1]) / 2.0
    return middles


def _sums(samples: Floats, where: Ints) -> Floats:
    """The sums of the samples of each hexagon."""
    return np.bincount(where, samples).astype(np.float64)


def _joint_std(heat: Heatmap, sums: Floats, area: Floats) -> Floats:
    """Standard deviations of sums over hexagons, from the sums of their pixels' standard deviations.

    Smoothing by sigma makes errors d apart correlate by exp(-d^2 / 4 sigma^2): close ones add up, far ones average out.
    Over an area A, with the hexagon approximated by a Gaussian of that area, this multiplies the sum by about
    1 / sqrt(1 + A / 4 pi sigma^2).
    """
    std: Floats = sums / np.sqrt(1.0 + area / (4.0 * np.pi * heat.sigma**2))
    return std
