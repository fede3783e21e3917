from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpheatmap.render.basemap.coast_file import DEGREE, Steps, Tile, read_tile, write_coast

points = st.integers(3, 12).flatmap(lambda n: arrays(np.int64, (n, 2), elements=st.integers(0, DEGREE)))
SQUARE = DEGREE * np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])


def eastward(degrees: int) -> Steps:
    return np.array([degrees * DEGREE, 0])


def close(ring: Steps) -> Steps:
    return np.concatenate([ring, ring[:1]])


keys = st.tuples(st.integers(-180, 179), st.integers(-90, 89))
shapes = st.tuples(st.lists(points, max_size=4), st.lists(points, max_size=3)).filter(any)


@settings(max_examples=25)
@given(st.dictionaries(keys, shapes, max_size=4))
def test_what_is_written_is_read(given_tiles: dict[tuple[int, int], tuple[list[Steps], list[Steps]]]) -> None:
    tiles = {
        key: Tile(
            [close(ring) + np.multiply(key, DEGREE) for ring in rings], [r + np.multiply(key, DEGREE) for r in rivers]
        )
        for key, (rings, rivers) in given_tiles.items()
    }
    with TemporaryDirectory() as folder:
        path = Path(folder) / "coast.tiles"
        write_coast(path, tiles)
        for key, tile in tiles.items():
            for got, want in zip(read_tile(path, *key), tile, strict=True):
                assert [line.tolist() for line in got] == [line.tolist() for line in want]


def test_tiles_of_land_and_sea_take_no_room(tmp_path: Path) -> None:
    empty, land = tmp_path / "empty", tmp_path / "land"
    write_coast(empty, {})
    write_coast(land, {(x, 10): Tile([SQUARE + np.multiply((x, 10), DEGREE)], []) for x in range(100)})
    assert land.stat().st_size < empty.stat().st_size + 50
    assert read_tile(land, 7, 10).rings[0].tolist() == (SQUARE + np.multiply((7, 10), DEGREE)).tolist()
    assert read_tile(land, 7, 11) == ([], [])


def test_longitudes_go_round_the_world(tmp_path: Path) -> None:
    path = tmp_path / "coast.tiles"
    triangle = close(np.array([[0, 0], [5000, 0], [0, 5000]]))
    write_coast(path, {(-180, 0): Tile([triangle - eastward(180)], [])})
    for west in (-180, 180, 540):
        assert (read_tile(path, west, 0).rings[0] == triangle + eastward(west)).all()
