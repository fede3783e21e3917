"""A layer of somebody's own map: features of one kind inside a window, in degrees."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Bounds, Floats
from dpheatmap.render.basemap.polylines import area_of, cut_edges, cut_line, cut_ring, parts_where, simplify

PAGE_BYTES = 500_000
"""The most bytes that a layer may add to a page."""

_FEWEST = 4  # points of a ring with an area
_DIGITS = 5  # of coordinates in a page: about a metre
_COARSER = 4  # times that lines may be simplified to half of their detail to fit into a page
_LEAST = 3  # the rank of the least important roads


@dataclass(frozen=True, eq=False)
class ContextFeature:
    """A feature: polygons or lines or points, with a name and a rank.

    Attributes
    ----------
    polygons : list of lists of arrays
        Closed rings of longitudes and latitudes: an outline, and the holes in it.
    lines : list of arrays
        Lines.
    points : list of arrays
        Longitude and latitude of each.
    name : str
        Its name, or empty.
    rank : int
        Of roads: 1 for main roads to 3 for small ones.
    """

    polygons: list[list[Floats]] = field(default_factory=list)
    lines: list[Floats] = field(default_factory=list)
    points: list[Floats] = field(default_factory=list)
    name: str = ""
    rank: int = 1

    def __bool__(self) -> bool:
        return bool(self.polygons or self.lines or self.points)

    def outlines(self, window: Bounds) -> list[Floats]:
        """The outlines of polygons as lines to draw: without the edges of the window."""
        rings = [ring for polygon in self.polygons for ring in polygon]
        return [line for ring in rings for line in parts_where(ring, ~cut_edges(ring, window))]

    def middle(self) -> tuple[float, float]:
        """A point for its name: inside the largest polygon, half-way along the longest line, or the first point."""
        if self.polygons:
            return _inside(max(self.polygons, key=lambda polygon: abs(area_of(polygon[0]))))
        line = max(self.lines, key=lambda line: float(np.hypot(*np.diff(line, axis=0).T).sum()), default=None)
        x, y = (self.points[0] if line is None else line[len(line) // 2]).tolist()
        return x, y


def cut_features(features: Sequence[ContextFeature], window: Bounds, tolerance: float) -> list[ContextFeature]:
    """The parts of features inside a window, simplified so that no line moves by more than the tolerance.

    All lines are simplified at once, which is faster by far than one after the other.
    """
    near = [
        replace(
            feature,
            polygons=[polygon for polygon in feature.polygons if _meets(polygon[0], window)],
            lines=[line for line in feature.lines if _meets(line, window)],
            points=[point for point in feature.points if _meets(point[None], window)],
        )
        for feature in features
    ]
    lines = [line for feature in near for polygon in [*feature.polygons, feature.lines] for line in polygon]
    simple = iter(simplify(lines, tolerance))
    found = []
    for feature in near:
        polygons = [[*_cut_rings([next(simple) for _ in polygon], window)] for polygon in feature.polygons]
        parts = [part for _ in feature.lines for part in cut_line(next(simple), window)]
        found.append(replace(feature, polygons=[polygon for polygon in polygons if polygon], lines=parts))
    return [feature for feature in found if feature]


def _meets(line: Floats, window: Bounds) -> bool:
    """Whether the extent of a line meets a window."""
    return bool((line.max(axis=0) >= window[:2]).all() and (line.min(axis=0) <= window[2:]).all())


def _cut_rings(polygon: Sequence[Floats], window: Bounds) -> Iterable[Floats]:
    """The rings of a polygon inside a window; none if the first is outside, or too small to see."""
    for number, ring in enumerate(polygon):
        cut = cut_ring(ring, window) if len(ring) >= _FEWEST else ring[:0]
        if len(cut):
            yield cut
        elif number == 0:
            return


def _inside(polygon: Sequence[Floats]) -> tuple[float, float]:
    """The middle of the longest stretch of a polygon half-way up."""
    low, high = polygon[0][:, 1].min(), polygon[0][:, 1].max()
    y = float(low + (high - low) * 0.4999)  # seldom the height of a vertex
    crossings: list[float] = []
    for ring in polygon:
        (x0, y0), (x1, y1) = ring[:-1].T, ring[1:].T
        spans = (y0 > y) != (y1 > y)
        crossings += (x0[spans] + (y - y0[spans]) * (x1[spans] - x0[spans]) / (y1[spans] - y0[spans])).tolist()
    crossings.sort()
    stretches = [*zip(crossings[::2], crossings[1::2], strict=False)]
    if not stretches:
        return float(polygon[0][0, 0]), float(polygon[0][0, 1])
    left, right = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
    return (left + right) / 2, y


@dataclass(frozen=True, eq=False)
class ContextLayer:
    """Features of one kind from a file.

    Attributes
    ----------
    name : str
        The file's name without its suffix.
    kind : str
        How it is drawn: "water", "park", "land", "road", "rail", "border", "line" or "point".
    features : list of ContextFeature
        What is inside the window.
    window : Bounds
        What they were cut to.
    """

    name: str
    kind: str
    features: list[ContextFeature]
    window: Bounds

    def as_geojson(self, most: int = PAGE_BYTES) -> dict[str, Any]:
        """The layer as a GeoJSON FeatureCollection with ``name`` and ``rank``.

        If it would add more than ``most`` bytes to a page, it is simplified, and then small roads are left out.

        Raises
        ------
        ParameterError
            If that does not help.
        """
        for layer in self._ever_smaller():
            collection = {"type": "FeatureCollection", "features": [_geojson_of(f) for f in layer.features]}
            size = packed_size(collection)
            if size <= most:
                return collection
        raise ParameterError(
            f"The context {self.name!r} has too much inside the map for a page: {size // 1000:,} kB, and "
            f"{most // 1000:,} are allowed. Give a file with fewer features, such as main roads only."
        )

    def _ever_smaller(self) -> Iterable[ContextLayer]:
        """The layer, then with less and less detail, then without the least important features.

        What is not smaller than what came before is left out: points have no detail, and most features no rank.
        """
        yield self
        tolerance = (self.window.y1 - self.window.y0) / 2000
        fewest, last = _points_in(self.features), -1
        for rank in range(_LEAST, 0, -1):
            features = [feature for feature in self.features if feature.rank <= rank]
            if len(features) == last:
                continue
            last = len(features)
            lines = any(feature.lines or feature.polygons for feature in features)
            for step in range(_COARSER if lines else 1):
                coarser = cut_features(features, self.window, tolerance * 2**step) if lines else features
                if (points := _points_in(coarser)) < fewest:
                    fewest = points
                    yield replace(self, features=coarser)


def _points_in(features: Sequence[ContextFeature]) -> int:
    """How many points features are made of."""
    lines = [[ring for polygon in feature.polygons for ring in polygon] + feature.lines for feature in features]
    return sum(len(line) for one in lines for line in one) + sum(len(feature.points) for feature in features)


def packed_size(collection: dict[str, Any]) -> int:
    """The bytes that a collection takes in a page: deflated, in letters."""
    text = json.dumps(collection, ensure_ascii=False, separators=(",", ":"))
    return len(zlib.compress(text.encode(), 6)) * 4 // 3


def _geojson_of(feature: ContextFeature) -> dict[str, Any]:
    geometry: dict[str, Any]
    if feature.polygons:
        rings = [[_to_digits(ring) for ring in polygon] for polygon in feature.polygons]
        geometry = {"type": "MultiPolygon", "coordinates": rings}
    elif feature.lines:
        geometry = {"type": "MultiLineString", "coordinates": [_to_digits(line) for line in feature.lines]}
    else:
        geometry = {"type": "MultiPoint", "coordinates": _to_digits(np.array(feature.points))}
    return {"type": "Feature", "geometry": geometry, "properties": {"name": feature.name, "rank": feature.rank}}


def _to_digits(line: Floats) -> list[list[float]]:
    points: list[list[float]] = line.round(_DIGITS).tolist()
    return points
