"""Files of sliced releases: what is written is read back, and what was not made by the rules is found out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpheatmap as dph
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ReleaseFileError
from dpheatmap.releases.sliced_file import columns_of
from dpheatmap.testing import generated_people

PLACE = dph.Domain.unit(6)
HOUR = "CAST(hash(x, y) % 86400 AS BIGINT) AS second"
DAY = {"start": "1970-01-01", "end": "1970-01-01"}
HOURS: dict[str, Any] = {"time": "second", "every": "hour-of-day", "time_zone": "UTC"}


def released(people: int = 3000, **options: Any) -> dph.SlicedRelease:
    table = generated_people(people).project(f"*, {HOUR}, CASE WHEN x < y THEN 'a' ELSE 'b' END AS g")
    made: dph.SlicedRelease = dph.release(table, PLACE, epsilon=1, user="person", x="x", y="y", **options)
    return made


CASES: dict[str, dict[str, Any]] = {
    "hours": HOURS,
    "groups": {"group": "g", "groups": ["a", "b", "nobody"]},
    "both": {
        **HOURS,
        "every": "6 hours",
        "start": "1970-01-01",
        "end": "1970-01-01",
        "group": "g",
        "groups": ["a", "b"],
    },
    "apart": {**HOURS, "every": "12 hours", "start": "1970-01-01", "end": "1970-01-01"},
    "epsilon split": {**HOURS, "every": "12 hours", "start": "1970-01-01", "end": "1970-01-01", "split": "epsilon"},
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_written_is_read_back(case: str, tmp_path: Path) -> None:
    made = released(**CASES[case])
    made.save(tmp_path / "week.dph.parquet")
    read = dph.load(tmp_path / "week.dph.parquet")
    assert isinstance(read, dph.SlicedRelease)
    assert (read.slices, read.epsilon, read.split, read.axis) == (made.slices, made.epsilon, made.split, made.axis)
    assert read.label == made.label
    for name, column in columns_of(made).items():
        assert np.array_equal(columns_of(read)[name], column)
    label = made.slices[-1]
    assert np.array_equal(read.heatmap(size=32)[label].values, made.heatmap(size=32)[label].values)


def test_every_case_is_what_it_is_called() -> None:
    assert "measured by itself" in released(**CASES["apart"]).label["slices"]
    assert "12 hours" in released(**CASES["epsilon split"]).label["slices"]
    assert "70 % of epsilon" in released(**CASES["both"]).label["slices"]
    assert released(**CASES["both"]).slices[4] == "b 1970-01-01 00:00"


def altered(path: Path, metadata: Callable[[dict[str, Any]], Any], rows: Callable[[pa.Table], pa.Table]) -> Path:
    table = pq.read_table(path)
    described = json.loads(table.schema.metadata[b"dpheatmap"])
    metadata(described)
    other = rows(table).replace_schema_metadata({"dpheatmap": json.dumps(described)})
    pq.write_table(other, path)
    return path


def nothing(given: Any) -> Any:
    return given


def without_first(table: pa.Table) -> pa.Table:
    return table.slice(1)


def without_last(table: pa.Table) -> pa.Table:
    return table.slice(0, len(table) - 1)


def with_value(column: str, row: int, change: Callable[[int], int]) -> Callable[[pa.Table], pa.Table]:
    def changed(table: pa.Table) -> pa.Table:
        values = table[column].to_pylist()
        values[row] = change(values[row])
        return table.set_column(
            table.column_names.index(column), column, pa.array(values, table.schema.field(column).type)
        )

    return changed


@pytest.mark.parametrize(
    ("metadata", "rows", "words"),
    [
        (lambda m: m.update(format=6), nothing, "of format 6"),
        (lambda m: m["slices"]["time"].update(every="weekday"), nothing, "can't be understood"),
        (lambda m: m["slices"]["time"].update(every="fortnight"), nothing, "can't be understood"),
        (lambda m: m["families"][0].update(pooled="1/2"), nothing, "not those that its count of everybody leads to"),
        (lambda m: m["families"][0].update(pooled="99/100"), nothing, "can't be understood"),
        (lambda m: m["families"][0].update(look="1/2"), nothing, "can't be understood"),
        (lambda m: m.update(families=[None]), nothing, "can't be understood|not measured as claimed"),
        (lambda m: m.update(split="epsilon"), nothing, "altered|can't be understood"),
        (lambda m: m.update(epsilon="2"), nothing, "altered"),
        (nothing, without_first, "can't be understood"),
        (nothing, without_last, "can't be understood"),
        (nothing, with_value("noisy_count", 0, lambda c: c + 10**6 * UNITS), "leads to"),
        (nothing, with_value("slice", -1, lambda c: 99), "can't be understood"),
        (nothing, with_value("budget_share", 0, lambda c: 5), "can't be understood"),
        (nothing, with_value("level", 0, lambda c: 3), "can't be understood"),
        (nothing, with_value("noisy_count", 0, lambda c: -(2**63)), "can't be understood"),
        (nothing, with_value("noisy_count", -1, lambda c: -(2**63)), "out of range"),
        (lambda m: m.update(delta="1/10"), nothing, "can't be understood"),
        (lambda m: m["slices"]["time"].update(time_zone="../../etc/passwd"), nothing, "can't be understood"),
        (lambda m: m["slices"].update(groups=[str(k) for k in range(9999)]), nothing, "can't be understood"),
        (lambda m: m["slices"].update(groups=["x" * 10**7]), nothing, "can't be understood"),
        (nothing, with_value("family", -1, lambda c: 1), "can't be understood"),
        (nothing, with_value("budget_share", -1, lambda c: c - 1), "can't be understood"),
        (nothing, with_value("level", -1, lambda c: c + 1), "can't be understood"),
    ],
)
def test_what_was_altered_is_found_out(metadata: Any, rows: Any, words: str, tmp_path: Path) -> None:
    released(1500, **HOURS).save(tmp_path / "week.dph.parquet")
    path = altered(tmp_path / "week.dph.parquet", metadata, rows)
    with pytest.raises(ReleaseFileError, match=words):
        dph.load(path)


def test_one_map_is_not_several(tmp_path: Path) -> None:
    from dpheatmap.releases.release import load_one

    released(500, **HOURS).save(tmp_path / "week.dph.parquet")
    with pytest.raises(dph.errors.ParameterError, match="has 24 slices, and one map is needed"):
        load_one(tmp_path / "week.dph.parquet")


def test_slices_are_named_and_unknown_ones_refused() -> None:
    made = released(500, **HOURS)
    assert made.slices == tuple(map(str, range(24)))
    with pytest.raises(dph.errors.ParameterError, match="There is no slice '24'; they are called '0' to '23'"):
        made.heatmap(size=16)["24"]
