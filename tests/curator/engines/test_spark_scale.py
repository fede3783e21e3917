"""Spark scans a table once, and finishes where one person has most rows or all people are in one cell."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpheatmap as dph
from helpers.spark import Work, session, work_of
from helpers.tables import outcome

pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java: scripts/test installs it")
COLUMNS: dict[str, Any] = {"user": "u", "x": "x", "y": "y"}
PLACE = dph.Domain.unit(6)
BROADCAST = "spark.sql.autoBroadcastJoinThreshold"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="module")
def spark(home: Path) -> Iterator[Any]:
    settings = {"spark.sql.shuffle.partitions": "4", "spark.driver.memory": "700m"}
    with session("local[2]", home, **settings) as found:
        yield found


@pytest.fixture
def work(spark: Any, home: Path) -> Callable[[Callable[[], object]], Work]:
    """What Spark did when it was called."""

    def of(call: Callable[[], object]) -> Work:
        before = work_of(spark, home)
        call()
        return work_of(spark, home).since(before)

    return of


def table(rows: int, people: int) -> dict[str, Any]:
    """People at random places, a few of them outside."""
    rng = np.random.default_rng(rows)
    return {
        "u": rng.integers(0, people, rows), "x": rng.random(rows) * 1.1, "y": rng.random(rows),
        "w": rng.integers(0, 9, rows), "d": rng.choice(["north", "south"], rows),
    }  # fmt: skip


def write(columns: dict[str, Any], path: Path) -> str:
    pq.write_table(pa.table(columns), path, row_group_size=1 + len(columns["u"]) // 4)
    return str(path)


@pytest.mark.parametrize("broadcast", ["10m", "-1"], ids=["totals sent to all", "both sorted by person"])
@pytest.mark.parametrize(
    "options", [{}, {"weight": "w"}, {"user": None, "each_row_is_a_person": True}], ids=["plain", "weighted", "rows"]
)
def test_a_table_is_scanned_once(
    spark: Any, work: Callable[..., Work], options: dict[str, Any], broadcast: str, tmp_path: Path
) -> None:
    rows = 20_000
    path = write(table(rows, 500), tmp_path / "events.parquet")
    spark.conf.set(BROADCAST, broadcast)
    found: list[Any] = []
    done = work(lambda: found.append(outcome(path, PLACE, engine="spark", **{**COLUMNS, **options})))
    assert found == [outcome(path, PLACE, **{**COLUMNS, **options})]
    assert done.scanned == rows
    assert done.shuffled > 0
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0
    assert [view.name for view in spark.catalog.listTables()] == []


def test_scans_are_counted(spark: Any, work: Callable[..., Work], tmp_path: Path) -> None:
    frame = spark.read.parquet(write(table(5_000, 50), tmp_path / "events.parquet"))
    assert work(lambda: [frame.groupBy("u").count().collect() for _ in range(3)]).scanned == 15_000


def one_person(rows: int) -> dict[str, Any]:
    """One person with most of the rows, among a thousand others."""
    columns = table(rows + 5_000, 1_000)
    return {**columns, "u": np.where(np.arange(rows + 5_000) < rows, -1, columns["u"])}


def one_cell(rows: int) -> dict[str, Any]:
    """Many people, all of them in one cell."""
    return {**table(rows, rows // 2), "x": np.full(rows, 0.3), "y": np.full(rows, 0.7)}


LARGE = pytest.param(10**6, marks=pytest.mark.long)


@pytest.mark.parametrize("broadcast", ["10m", "-1"], ids=["totals sent to all", "both sorted by person"])
@pytest.mark.parametrize("rows", [60_000, LARGE])
@pytest.mark.parametrize("skewed", [one_person, one_cell])
def test_skew_changes_no_integer(
    spark: Any, skewed: Callable[[int], dict[str, Any]], rows: int, broadcast: str, tmp_path: Path
) -> None:
    path = write(skewed(rows), tmp_path / "events.parquet")
    spark.conf.set(BROADCAST, broadcast)
    there = outcome(path, PLACE, engine="spark", weight="w", **COLUMNS)
    assert there == outcome(path, PLACE, weight="w", **COLUMNS)
