"""Parts of people, not of rows: who is of a part, and that nobody is of two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpheatmap.errors import DataError
from helpers.tables import Columns, W, by_kind, outcome, table

PARTED: Columns = {
    "user": ["ann", "ann", "bob", "eve", "eve", "zoe", None, "gil", "gil"],
    "x": [0.1, 0.9, 0.1, 0.1, 0.9, 0.5, 0.1, 0.9, 7.0],
    "y": [0.1, 0.1, 0.1, 0.1, 0.9, 0.5, 0.1, 0.9, 7.0],
    "home": ["north", "north", "south", "north", "south", "north", "north", "south", None],
}
"""Ann and zoe are of the north, bob is of the south; eve has two values, and gil none in a row outside the domain."""


def of_part(events: Any, part: str, **options: Any) -> tuple[dict[Any, int], int]:
    cells, counters = outcome(events, partition={"home": ["north", "south"]}, part=part, **options)
    return cells, counters["people"]


@by_kind
def test_people_of_two_values_are_left_out_whole(kind: str, tmp_path: Path) -> None:
    events = table(kind, PARTED, tmp_path)
    assert of_part(events, "north") == ({(0, 0): W // 2, (7, 0): W // 2, (4, 4): W}, 2)


def test_the_value_is_judged_by_all_rows_whatever_where_says(tmp_path: Path) -> None:
    """Otherwise eve would be of the north in one release and of the south in another, and paid for once."""
    events = table("csv", PARTED, tmp_path)
    assert of_part(events, "south") == ({(0, 0): W}, 1)
    assert of_part(events, "south", where="x > 0.8") == ({}, 0)
    assert of_part(events, "north", where="x < 0.2") == ({(0, 0): W}, 1)


def test_parts_are_about_disjoint_people_and_rows_may_be_people(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [0.1, 0.9, 0.9], "y": [0.1, 0.9, 0.9], "home": [1, 2, 2]})
    options: dict[str, Any] = {"user": None, "each_row_is_a_person": True}
    parts = [outcome(frame, partition={"home": ["1", "2"]}, part=part, **options)[1]["people"] for part in ("1", "2")]
    assert parts == [1, 2]


def test_a_partition_needs_a_column_whose_values_stay_apart() -> None:
    frame = pd.DataFrame({"user": ["a"], "x": [0.1], "y": [0.1], "home": [1.5]})
    with pytest.raises(DataError, match="The partition column 'home' is of type DOUBLE, in which different values"):
        of_part(frame, "north")
    with pytest.raises(DataError, match="There is no partition column 'home'"):
        of_part(frame.drop(columns="home"), "north")
