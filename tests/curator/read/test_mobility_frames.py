"""Frames of scikit-mobility and MovingPandas, by their own column names. Their classes are known by name alone."""

from __future__ import annotations

from typing import Any

import geopandas
import pandas as pd
import pytest
import shapely

import dpheatmap as dph
from dpheatmap.errors import DataError, PrivacyRefusal
from helpers.tables import outcome as outcome_of

COLUMNS = {"uid": [1, 1, 2], "lat": [0.1, 0.1, 0.9], "lng": [0.2, 0.9, 0.2], "datetime": ["2024-06-01 08:00:00"] * 3}
NONE: dict[str, Any] = {"user": None, "x": None, "y": None}


BOX = dph.Domain.bbox(0, 0, 1, 1, depth=12)


def outcome(events: Any, **options: Any) -> Any:
    return outcome_of(events, BOX, **options)


class TrajDataFrame(pd.DataFrame):  # type: ignore[misc,unused-ignore]
    """What scikit-mobility calls its frame."""


class TrajectoryCollection:
    """What MovingPandas calls many trajectories."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def to_point_gdf(self) -> Any:
        return self._frame


def test_a_frame_of_scikit_mobility_needs_no_names() -> None:
    named = outcome(pd.DataFrame(COLUMNS), user="uid", x="lng", y="lat")
    assert outcome(TrajDataFrame(COLUMNS), **NONE) == named
    assert outcome(TrajDataFrame(COLUMNS), user="uid", x="lng", y="lat") == named
    assert outcome(TrajDataFrame(COLUMNS), **{**NONE, "user": "datetime"})[1]["people"] == 1
    assert outcome(TrajDataFrame(COLUMNS), **NONE, each_row_is_a_trip=True)[1]["people"] == 3
    week = dph.release(
        TrajDataFrame(COLUMNS), BOX, epsilon=1, time="datetime", every="weekday", time_zone="Europe/Rome"
    )  # fmt: skip
    assert week.slices[0] == "mon"


def test_only_its_own_class_has_names_by_default() -> None:
    with pytest.raises(PrivacyRefusal, match="No user column was named"):
        outcome(pd.DataFrame(COLUMNS), **NONE)
    with pytest.raises(DataError, match="no coordinate column 'lng'"):
        outcome(TrajDataFrame({"uid": [1], "lat": [0.1]}), **NONE)


def test_a_collection_of_moving_pandas_is_its_points() -> None:
    frame = geopandas.GeoDataFrame(
        {"traj_id": ["a_1", "a_2", "b_1"], "who": ["a", "a", "b"]},
        geometry=[shapely.Point(0.1, 0.1), shapely.Point(0.9, 0.1), shapely.Point(0.1, 0.1)],
        index=pd.DatetimeIndex(["2024-06-01", "2024-06-02", "2024-06-01"], name="t"),
        crs=4326,
    )
    options = {**NONE, "user": "who"}
    assert outcome(TrajectoryCollection(frame), **options) == outcome(frame, **options)
    assert outcome(TrajectoryCollection(frame), **{**NONE, "user": "traj_id"})[1]["people"] == 3
    assert outcome(TrajectoryCollection(frame), **options, where="t < '2024-06-02'")[1]["rows"] == 2
    with pytest.raises(PrivacyRefusal, match="No user column was named"):
        outcome(TrajectoryCollection(frame), **NONE)
