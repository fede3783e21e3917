"""Points and people that engines are likely to disagree on, and what they must agree on, in NumPy and whole numbers."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa

from dpheatmap.curator.core.query import COUNTERS
from dpheatmap.place.box import Box
from dpheatmap.place.domain import Domain
from dpheatmap.place.projection import latitude_of_row

W = 2**30
IDS = [
    "a", "A", "a ", " a", "", "ä", "a\u0308", "ß", "ss", "\u0130", "i", "\u0131", "a\u200b", "x" * 3000, str(2**53),
    str(2**53 + 1), "7", "07", "7.0", "NULL", "null", "'", '"', "\\", "%", "😀", "\ufb01", "fi", None,
]  # fmt: skip
NUMBERS = [
    0.0, -0.0, 5e-324, -5e-324, 2.3e-308, -2.3e-308, 1e-200, -1e-200, 1e-101, -1e-101, 1e-99, -1e-99, 1e-16, 1.0, 0.1,
    0.3, 5.0, 1e17, 1e30, 1.7976931348623157e308, -1.7976931348623157e308, math.nan, math.inf, -math.inf, None,
]  # fmt: skip
WEIGHTS = [0, 1, 2, 3, 7, 2**31, 2**31 - 1, 2**31 + 1, -1, 2**62, None]
SCHEMA = pa.schema(
    [("u", pa.string()), ("x", pa.float64()), ("y", pa.float64()), ("w", pa.int64()), ("d", pa.string())]
)


REGION = Domain.polygon(
    {
        "type": "MultiPolygon",
        "coordinates": [
            [[[-40, -30], [50, -20], [10, 60], [-40, -30]], [[0, 0], [5, 5], [9, 0], [0, 0]]],
            [[[60, 10], [80, 10], [80, 12], [60, 12], [60, 10]]],
        ],
    },
    depth=8,
)
"""A triangle with a hole, around the place where coordinates are tiny, and a strip."""

BEYOND = Domain.polygon(
    {
        "type": "MultiPolygon",
        "coordinates": [
            [[[100, -50], [180, -40], [180, 40], [100, -50]]],
            [[[-180, -40], [-110, 0], [-180, 40], [-180, -40]]],
        ],
    },
    depth=7,
)
"""A region on both sides of the antimeridian."""

AROUND = {"type": "Polygon", "coordinates": [[[0, -9], [180, -9], [360, 2], [180, 9], [0, 9], [0, -9]]]}
UP_TO_GREENWICH = [Domain.bbox(170, -10, 360, 10, depth=4), Domain.polygon(AROUND, depth=5)]
"""Places on a turned world whose eastern edge is at 360, where tiny longitudes below 0 are."""


def near_edges(domain: Domain, size: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Points on edges of finest cells, or at most three floats beside them."""
    cells = domain.cells(domain.depth)
    columns, rows = rng.integers(cells.x0, cells.x1 + 1, size), rng.integers(cells.y0, cells.y1 + 1, size)
    side = float(2**domain.depth)
    x: Any
    y: Any
    if isinstance(domain.place, Box):
        x = domain.place.customary(360.0 * (columns / side - domain.place.greenwich))
        y = np.array([latitude_of_row(float(row / side)) for row in rows])
    else:
        x, y = columns * (domain.place.widest_root / side), rows * (domain.place.widest_root / side)
    for _ in range(3):
        x = np.nextafter(x, x + rng.integers(-1, 2, size))
        y = np.nextafter(y, y + rng.integers(-1, 2, size))
    return x, y


def table(domain: Domain, size: int, seed: int = 1) -> pa.Table:
    """People with awkward ids, weights and places; d is a function of the person for all but a few."""
    rng = np.random.default_rng(seed)
    x, y = (coordinate.tolist() for coordinate in near_edges(domain, size, rng))
    for coordinates in (x, y):
        for k in rng.choice(size, size // 5, replace=False):
            coordinates[k] = NUMBERS[rng.integers(len(NUMBERS))]
    crowd = [*IDS, *(f"p{k}" for k in range(size // 8))]
    who = rng.integers(0, len(crowd), size)
    weights = [WEIGHTS[k] for k in rng.integers(0, len(WEIGHTS), size)]
    parts = ["north" if k % 2 else "south" for k in np.where(rng.random(size) < 0.01, who + 1, who)]
    return pa.table([[crowd[k] for k in who], x, y, weights, parts], schema=SCHEMA)


def expected(events: pa.Table, domain: Domain, *, weighted: bool = False, each: bool = False) -> tuple[Any, Any]:
    """The weights of the cells and the counters, by section 3 of the specification."""
    counters = dict.fromkeys(COUNTERS, 0) | {"rows": len(events)}
    rows = events.to_pylist()
    x, y = (np.array([math.nan if row[name] is None else row[name] for row in rows]) for name in "xy")
    columns, lines, within = domain.locate(x, y)
    finite = np.isfinite(x) & np.isfinite(y)
    theirs: defaultdict[Any, list[tuple[Any, int]]] = defaultdict(list)
    for k, row in enumerate(rows):
        fine = finite[k] and (not weighted or (row["w"] is not None and 0 <= row["w"] <= 2**31))
        if row["u"] is None and not each:
            counters["without_person"] += 1
        elif not fine or not within[k]:
            counters["outside" if fine else "invalid"] += 1
        else:
            counters["inside"] += 1
            theirs[k if each else row["u"]].append(((int(columns[k]), int(lines[k])), row["w"] if weighted else 1))
    counters["people"] = len(theirs)
    cells: defaultdict[Any, int] = defaultdict(int)
    for events_of_one in theirs.values():
        total = sum(weight for _, weight in events_of_one)
        for at, weight in events_of_one if total else []:
            cells[at] += W * weight // total
    return {at: weight for at, weight in cells.items() if weight}, counters
