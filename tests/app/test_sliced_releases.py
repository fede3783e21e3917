"""A release of several slices in the app: it shows one map, so it refuses in words what has several."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.app import pictures
from dpheatmap.app.release_shelf import MAP, Shelf
from dpheatmap.errors import ParameterError
from dpheatmap.testing import generated_people

REFUSAL = "release.dph.parquet has 2 slices, and one map is needed here. Draw it with export"


def test_a_sliced_release_on_the_shelf_is_refused_in_words(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    record = shelf.add(MAP, "trips.csv", {}, "")
    path = shelf.release_path(record.id)
    people = generated_people(50).project("*, CASE WHEN x < 0.5 THEN 'west' ELSE 'east' END AS side")
    slices = {"group": "side", "groups": ["west", "east"]}
    dph.release(people, dph.Domain.unit(3), epsilon=1, user="person", x="x", y="y", **slices).save(path)  # type: ignore[call-overload]
    for asked in (
        lambda: shelf.release(record.id),
        lambda: pictures.map_of(path, None, None),
        lambda: pictures.thumbnail_of(path),
        lambda: pictures.file_of(path, None, None, "", {}, tmp_path / "map.png"),
    ):
        with pytest.raises(ParameterError, match=REFUSAL):
            asked()
    assert [found.id for found in Shelf(tmp_path).all()] == [record.id], "the shelf itself can be read"
