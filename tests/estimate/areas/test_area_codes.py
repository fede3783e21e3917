"""H3 cells and geohashes are areas, in a list, in a text, and all of a resolution at once."""

from __future__ import annotations

from typing import Any

import h3
import numpy as np
import pytest
import shapely

import dpheatmap as dph
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.areas.area_source import read_areas
from dpheatmap.estimate.areas.named_areas import NamedAreas
from dpheatmap.testing import seeded_release

CITY = dph.Domain.bbox(7.3, 46.9, 7.5, 47.02, resolution=200)
IMAGE = dph.Domain.image(64, 48)
NOBODY = np.zeros((3, 0), np.int64)


def sizes(read: NamedAreas) -> Any:
    return read.shapes(CITY).sizes


def test_geohashes_and_h3_cells() -> None:
    names = ["u4pruydqqvj", "u4pru"]
    read = read_areas(names, CITY)
    known = shapely.Point(10.40744, 57.64911)
    assert read.geometries[0].distance(known) < 1e-5, "a published example"
    assert read.geometries[1].covers(known)
    cells = [h3.latlng_to_cell(46.95, 7.4, resolution) for resolution in (7, 8)]
    larger, smaller = sizes(read_areas(cells, CITY))
    assert larger == pytest.approx(7 * smaller, rel=0.05)
    with pytest.raises(ParameterError, match="neither an H3 cell nor a geohash"):
        read_areas(["some where"], CITY)
    with pytest.raises(ParameterError, match="lie on the ground"):
        read_areas(names, IMAGE)


def test_a_text_lists_codes() -> None:
    assert read_areas("u0m7,u0m6", CITY).names == ["u0m7", "u0m6"]
    assert read_areas("u0m7", CITY).names == ["u0m7"]
    cell = h3.latlng_to_cell(46.95, 7.4, 7)
    assert read_areas(f"{cell}, {cell}", CITY).names == [cell, f"{cell} (2)"]


def test_all_cells_of_a_resolution_cover_the_place() -> None:
    read = read_areas("h3:7", CITY)
    x0, y0, x1, y1 = CITY.bounds
    place = shapely.box(x0, y0, x1, y1)
    assert shapely.union_all(read.geometries).buffer(1e-9).covers(place)
    assert all(cell.intersects(place) for cell in read.geometries)
    assert len(set(read.names)) == len(read.names)


def test_only_cells_that_meet_the_place_are_counted() -> None:
    square = shapely.Polygon([(7.3, 46.9), (7.5, 46.9), (7.3, 47.02)])
    half = dph.Domain.polygon(square, resolution=300)
    made = seeded_release(dph.Counts.from_cells(half, *NOBODY), seed=1, epsilon=1)
    table = made.areas("h3:7")
    assert table["rank"].notna().all()
    assert table["share"].sum() == pytest.approx(1.0, abs=0.02), "cells that both borders pass through are rough"
    assert 0.4 < len(table) / len(read_areas("h3:7", half).names) < 0.8
    assert len(made.exceeds("h3:6")) == len(made.areas("h3:6"))


def test_cells_across_the_antimeridian_are_in_one_piece() -> None:
    fiji = dph.Domain.bbox(177, -20, 182, -16, resolution=5000)
    read = read_areas("h3:4", fiji)
    assert max(shape.bounds[2] - shape.bounds[0] for shape in read.geometries) < 2
    made = seeded_release(dph.Counts.from_cells(fiji, *NOBODY), seed=1, epsilon=1)
    assert made.areas("h3:4")["share"].sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("areas", "words"),
    [
        ("h3:16", "a resolution from 0 to 15; it was"),
        ("h3:x", "a resolution from 0 to 15; it was"),
        ("h3:13", "more than 100,000. Give a smaller resolution"),
        ([], "The list of areas is empty"),
        ([shapely.box(0, 0, 1, 1)], "number 1 of it was a Polygon"),
        (["u0", 3], "number 2 of it was a int"),
    ],
)
def test_bad_codes_get_a_short_sentence(areas: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        read_areas(areas, CITY)
    assert len(str(caught.value)) < 200
