"""The projection against mpmath, and the query's SQL against NumPy, cell by cell, on points chosen to break it."""

from __future__ import annotations

import math

import duckdb
import mpmath
import numpy as np
import pytest

from dpheatmap.curator.core.query import aggregation, events_step, location_steps
from dpheatmap.place import projection
from dpheatmap.place.box import Box
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.projection import NORTHERNMOST, latitude_of_row, mercator_column, mercator_row

EDGE = NORTHERNMOST
rng = np.random.default_rng(20240501)


def row(latitude: Floats | float) -> Floats:
    return mercator_row(np.asarray(latitude, dtype=np.float64), np.sqrt, lambda step: step)


def exact_row(latitude: float) -> mpmath.mpf:
    with mpmath.workdps(50):
        return mpmath.mpf(1) / 2 - mpmath.atanh(mpmath.tan(mpmath.radians(mpmath.mpf(latitude)) / 2)) / mpmath.pi


def test_rows_are_right_to_1e_15_everywhere() -> None:
    latitudes = np.concatenate(
        [
            np.linspace(-EDGE, EDGE, 3001),
            rng.uniform(-EDGE, EDGE, 2000),
            EDGE - np.geomspace(1e-14, 5, 300),
            np.geomspace(1e-300, 5, 300),
            [0.0, -0.0, EDGE, -EDGE, 5e-324, math.nextafter(EDGE, 0)],
        ]
    )
    worst = max(abs(exact_row(at) - float(got)) for at, got in zip(latitudes, row(latitudes), strict=True))
    assert worst < 1e-15


def test_rows_fall_from_south_to_north() -> None:
    """Never a step in the wrong direction, also between neighbouring floats: cells are whole."""
    coarse = np.sort(np.concatenate([rng.uniform(-EDGE, EDGE, 500_000), np.linspace(-EDGE, EDGE, 200_001)]))
    assert np.all(np.diff(row(coarse)) <= 0)
    apart = coarse[::100]
    assert np.all(row(apart + 1e-9) < row(apart))


def test_the_ends_and_the_middle() -> None:
    assert float(row(0.0)) == 0.5
    assert float(row(EDGE)) == pytest.approx(0, abs=1e-15)
    assert float(row(-EDGE)) == pytest.approx(1, abs=1e-15)
    assert (mercator_column(-180.0), mercator_column(0.0), mercator_column(180.0)) == (0.0, 0.5, 1.0)
    assert pytest.approx(6_378_137 * 2 * math.pi) == projection.EARTH_CIRCUMFERENCE


def test_latitude_of_row_undoes_it() -> None:
    for at in np.linspace(-EDGE, EDGE, 501):
        assert latitude_of_row(float(row(at))) == pytest.approx(at, abs=1e-11)


# SQL and NumPy

TRIANGLE = {"type": "Polygon", "coordinates": [[[-3.1, 50.3], [4.7, 47.9], [1.3, 55.5], [-3.1, 50.3]]]}
ISLANDS = {
    "type": "MultiPolygon",
    "coordinates": [
        [
            [[178.0, -19.0], [180.0, -18.3], [180.0, -16.1], [178.0, -19.0]],
            [[179.4, -18.2], [179.8, -17.9], [179.6, -17.4]],
        ],
        [[[-180.0, -18.3], [-179.1, -17.0], [-180.0, -16.1], [-180.0, -18.3]]],
    ],
}

DOMAINS = {
    "unit": Domain.unit(8),
    "unit, one cell": Domain.unit(0),
    "unit, deepest": Domain.unit(28),
    "image": Domain.image(640, 480),
    "image, coarser than pixels": Domain.image(1000, 3, depth=5),
    "image, deepest": Domain.image(3, 7, depth=28),
    "city": Domain.bbox(-74.1, 40.6, -73.8, 40.9, resolution=50),
    "world": Domain.bbox(-180, -EDGE, 180, EDGE, depth=10),
    "world, deepest": Domain.bbox(-180, -EDGE, 180, EDGE, depth=28),
    "odd box": Domain.bbox(-0.1, -33.3, math.pi, 71.7, depth=23),
    "tiny box": Domain.bbox(1.25, 2.5, 1.25 + 1e-9, 2.5 + 1e-9, depth=28),
    "beyond the antimeridian": Domain.bbox(176, -20.1, -177.5, -15.5, depth=17),
    "a third of the world, turned": Domain.bbox(100.1, -EDGE, -100.1, EDGE, depth=9),
    "triangle": Domain.polygon(TRIANGLE, depth=14),
    "islands beyond the antimeridian": Domain.polygon(ISLANDS, depth=15),
}
POINTS = 100_000


def nasty(edges: Floats, low: float, high: float, size: int) -> Floats:
    """Cell edges and the floats around them, the ends of the extent and beyond, tiny and huge numbers, plain ones."""
    near = rng.choice(edges, size // 2)
    for _ in range(3):
        near = np.where(rng.random(len(near)) < 0.5, near, np.nextafter(near, rng.choice([-1e308, 1e308], len(near))))
    special = [low, high, np.nextafter(low, -1e308), np.nextafter(high, 1e308), np.nextafter(low, 1e308), 0.0, -0.0]
    special += [np.nextafter(high, -1e308), 5e-324, -5e-324, 1e308, -1e308, 90.0, -90.0, 89.99999, 180.0, -180.0, 1e19]
    plain = rng.uniform(low, high, size - len(near) - size // 10)
    return rng.permutation(np.concatenate([near, plain, rng.choice(special, size // 10)]))


def points_for(domain: Domain) -> tuple[Floats, Floats]:
    r, e = domain.cells(domain.depth), domain.extent
    columns, rows = (
        np.unique(np.concatenate([rng.integers(a, b + 1, 3000), [a, b]])) for a, b in ((r.x0, r.x1), (r.y0, r.y1))
    )
    side = 2**domain.depth
    if isinstance(domain.place, Box):
        x_edges = 360.0 * (columns / side - domain.place.greenwich)
        y_edges = np.array([latitude_of_row(k / side) for k in rows.tolist()])
    else:
        x_edges, y_edges = (k * (domain.place.widest_root / side) for k in (columns, rows))
    x = nasty(x_edges, e.x0, e.x1, POINTS)
    x = np.where(rng.random(POINTS) < 0.5, x, domain.place.customary(x))  # longitudes are read either way
    return x, nasty(y_edges, e.y0, e.y1, POINTS)


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())
def test_duckdb_places_a_million_points_as_numpy_does(domain: Domain) -> None:
    """All domains together have more than a million points. The query itself, one row a person, gives the cells."""
    x, y = points_for(domain)
    columns, rows, inside = domain.locate(x, y)
    with duckdb.connect() as con:
        con.register("points", {"x": x, "y": y})
        sql = aggregation("SELECT x, y FROM points", domain, weighted=False, each_row_is_a_person=True)
        found = con.execute(f"SELECT cx, cy, weight // {2**30} FROM ({sql}) WHERE cx >= 0 ORDER BY ALL").fetchall()
    cells, counts = np.unique(np.stack([columns, rows])[:, inside], axis=1, return_counts=True)
    assert found == list(zip(*cells.tolist(), counts.tolist(), strict=True))
    assert counts.sum() > POINTS / 8


LOCATED = "SELECT *, x AS px, y AS py FROM events WHERE valid AND inside"


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())
def test_every_single_point_falls_into_the_same_cell(domain: Domain) -> None:
    """Counts could agree by chance; here each point is followed on its own."""
    from dpheatmap.curator.core.query import RUNS, mask_steps, runs_step

    x, y = points_for(domain)
    columns, rows, inside = domain.locate(x, y)
    with duckdb.connect() as con:
        con.register("points", {"k": np.arange(len(x)), "x": x, "y": y})
        steps = {"dpheatmap_rows": "SELECT * FROM points"}
        if domain.runs is None:
            steps |= {"events": events_step(domain, weighted=False, grouped=False)} | location_steps(domain, LOCATED)
        else:
            steps |= {RUNS: runs_step(domain)} | mask_steps(domain, weighted=False, grouped=False)
            steps |= {"located": "SELECT * FROM events WHERE inside"}
        known = ", ".join(f"{name} AS ({step})" for name, step in steps.items())
        got = con.execute(f"WITH {known} SELECT k, cx, cy FROM located").fetchnumpy()
    assert np.array_equal(np.sort(got["k"]), np.flatnonzero(inside))
    assert np.array_equal(got["cx"], columns[got["k"]])
    assert np.array_equal(got["cy"], rows[got["k"]])
