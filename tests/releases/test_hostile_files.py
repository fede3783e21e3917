"""Files of adaptive releases that were altered or made to harm: each is refused in words, in no time and little memory.

Nothing that a file claims is believed. Whoever loads one walks through its design again, with its own noisy counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import SHARES
from dpheatmap.errors import ReleaseFileError
from dpheatmap.place.boundary import GRID, MOST_CELLS, Boundary
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.release import Release
from dpheatmap.testing import generated_people, seeded_release
from helpers.stored import Rows, metadata_of, write_again

Change = Callable[[Rows, dict[str, Any]], Any]
NAMES = [field.name for field in fields(AdaptiveDesign)]


@pytest.fixture(scope="module")
def release() -> dph.Release:
    """A release in which cells are closed, finished and opened."""
    counts = dph.aggregate(generated_people(400), dph.Domain.unit(6), user="person", x="x", y="y")
    return seeded_release(counts, epsilon=2, seed=1, design="adaptive")


@pytest.fixture
def saved(release: dph.Release, tmp_path: Path) -> Path:
    path = tmp_path / "a.dph.parquet"
    release.save(path)
    return path


def test_the_rule_is_written_down_in_full_and_read_back(release: dph.Release, saved: Path) -> None:
    metadata = metadata_of(saved)
    assert metadata["design"] == "adaptive"
    assert metadata["rule"] == {
        "first": "2", "last": "6", "total": "1/100", "start": "24", "spent": "1/4", "closing": "5", "opening": "10",
        "evenness": "3/4", "even_signal": "5",
    }  # fmt: skip
    assert dph.load(saved).design == release.design == AdaptiveDesign(2, 6)
    changed = replace(release, design=AdaptiveDesign(2, 6, evenness=Fraction(7, 9)))
    changed.save(saved)
    assert dph.load(saved).design == changed.design


def test_it_is_read_back_whatever_the_order_of_its_rows(release: dph.Release, saved: Path) -> None:
    before = release.measurements
    assert len(before) > len(np.unique(before.codes + 4.0**before.levels)), "some cells have two rows"
    write_again(saved, pa.Table.from_pylist(pq.read_table(saved).to_pylist()[::-1]), metadata_of(saved))
    after = dph.load(saved).measurements
    rows = [sorted(zip(m.levels, m.codes, m.shares, m.counts, strict=True)) for m in (before, after)]
    assert rows[0] == rows[1]
    assert np.all(np.diff(after.levels) >= 0)


def closed(rows: Rows) -> int:
    """The place of the first measurement that is a cell's second: it follows the first one."""
    cells = [(row["level"], row["x"], row["y"]) for row in rows]
    return next(k for k in range(1, len(cells)) if cells[k] == cells[k - 1])


def of_level(rows: Rows, level: int) -> dict[str, Any]:
    return next(row for row in rows if row["level"] == level)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows, m: rows.pop(0), "cells measured at level 0"),
        (lambda rows, m: rows.pop(closed(rows)), "cells measured at level 2"),
        (lambda rows, m: rows.pop(closed(rows) - 1), "cells measured at level 2"),
        (lambda rows, m: rows.pop(), "cells measured at level"),
        (lambda rows, m: rows.clear(), "not all cells of its first level"),
        (lambda rows, m: rows.append(dict(rows[closed(rows)])), "design does not make"),
        (lambda rows, m: rows.append(dict(rows[0])), "design does not make"),
        (lambda rows, m: rows.append(rows[-1] | {"level": 6, "x": 63, "y": 63}), "design does not make"),
        (lambda rows, m: rows.append(rows[0] | {"level": 2**40}), "design does not make"),
        (lambda rows, m: rows[closed(rows)].update(budget_share=1), "cells measured at level 2"),
        (lambda rows, m: rows[closed(rows)].update(budget_share=2**32), "cells measured at level 2"),
        (lambda rows, m: rows[closed(rows)].update(budget_share=-1), "cells measured at level 2"),
        (lambda rows, m: rows[closed(rows) - 1].update(noisy_count=2**50), "cells measured at level"),
        (lambda rows, m: rows[0].update(noisy_count=2**60), "cells measured at level 5"),
        (lambda rows, m: rows[0].update(budget_share=rows[0]["budget_share"] + 1), "cells measured at level 0"),
        (lambda rows, m: of_level(rows, 3).update(noisy_count=2**61 + 1), "counts are out of range"),
        (lambda rows, m: m.update(epsilon="1/1000"), "cells measured at level"),
        (lambda rows, m: m.update(epsilon="1e-300"), "cells measured at level"),
        (lambda rows, m: m.update(epsilon="1000000"), "cells measured at level"),
        (lambda rows, m: m.update(design="paper"), "can't be understood"),
        (lambda rows, m: m.pop("rule"), "can't be understood"),
        (lambda rows, m: m.update(rule=None), "can't be understood"),
        (lambda rows, m: m.update(rule=[]), "can't be understood"),
        (lambda rows, m: m.update(rule="first"), "can't be understood"),
        (lambda rows, m: m.update(rule=list(m["rule"])), "can't be understood"),
        (lambda rows, m: m["rule"].update(depth="6"), "can't be understood"),
        (lambda rows, m: m["rule"].update(name="adaptive"), "can't be understood"),
        (lambda rows, m: m["domain"].update(depth=5), "levels don't fit its domain"),
    ],
)
def test_altered_files_are_found_out(saved: Path, change: Change, words: str) -> None:
    refuse(saved, change, words)


def refuse(path: Path, change: Change, words: str) -> None:
    rows, metadata = pq.read_table(path).to_pylist(), metadata_of(path)
    names = list(rows[0])
    change(rows, metadata)
    table = pa.Table.from_pylist(rows) if rows else pa.table({name: pa.array([], pa.int64()) for name in names})
    write_again(path, table, metadata)
    with pytest.raises(ReleaseFileError, match=words) as refusal:
        dph.load(path)
    assert str(refusal.value).startswith("a.dph.parquet is damaged")


NONSENSE: list[Any] = [
    None, True, [], {}, "", "x", "1/0", "nan", "inf", "-inf", "-1", -1, "1e999999", "9" * 5000,
    "1." + "1" * 10**6, "0x10", float("nan"),
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_no_field_of_the_rule_may_be_nonsense_or_missing(saved: Path, name: str) -> None:
    rows, metadata = pq.read_table(saved), metadata_of(saved)
    honest = metadata["rule"].pop(name)
    write_again(saved, rows, metadata)
    with pytest.raises(ReleaseFileError, match="can't be understood"):
        dph.load(saved)
    for value in NONSENSE:
        metadata["rule"][name] = value
        write_again(saved, rows, metadata)
        with pytest.raises(ReleaseFileError, match=r"can't be understood|cells measured|not all cells|don't fit"):
            dph.load(saved)
    for value in (10**300, "1e400", "1e-400"):  # sense for some fields: read or refused, and nothing else
        metadata["rule"][name] = value
        write_again(saved, rows, metadata)
        with suppress(ReleaseFileError):
            dph.load(saved)
    metadata["rule"][name] = honest
    write_again(saved, rows, metadata)
    assert str(vars(dph.load(saved).design)[name]) == honest


@pytest.mark.parametrize("name", ["first", "last"])
@pytest.mark.parametrize("value", ["2.5", "11/2", "29", "1000000000", "1e300", "-1"])
def test_levels_are_whole_and_not_too_deep(saved: Path, name: str, value: str) -> None:
    refuse(saved, lambda rows, m: m["rule"].update({name: value}), "can't be understood")


ANYTHING = st.one_of(
    st.fractions(-2, 40).map(str), st.integers(-3, 40).map(str), st.sampled_from(["1e-9", "1e9", "1e-300", "1e300"])
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rule=st.dictionaries(st.sampled_from(NAMES), ANYTHING), depth=st.integers(0, 28), first=st.integers(0, 28))
def test_whatever_a_rule_says_the_file_is_read_or_refused(
    release: dph.Release, saved: Path, rule: dict[str, str], depth: int, first: int
) -> None:
    """Never another error, such as one of the check of paths, which is for faults of designs."""
    release.save(saved)
    metadata = metadata_of(saved)
    metadata["rule"] = {**metadata["rule"], "first": str(first), "last": str(depth), **rule}
    metadata["domain"]["depth"] = depth
    write_again(saved, pq.read_table(saved), metadata)
    with suppress(ReleaseFileError):
        assert dph.load(saved).measured_levels == release.measured_levels


def test_rows_that_nobody_asked_for_can_not_stand_in_for_second_measurements() -> None:
    """With half of what is left for each level, a cell's two measurements have equal shares. Both must be there."""
    from dpheatmap.releases.release_file import problem_of

    design = AdaptiveDesign(0, 1, total=Fraction(0), spent=Fraction(1, 2))

    def problem(levels: list[int], codes: list[int]) -> str | None:
        zeros = np.zeros(len(levels), np.int64)
        m = Measurements(np.array(levels), np.array(codes), zeros, zeros + SHARES // 2)
        return problem_of(Release(dph.Domain.unit(1), PureLoss(Fraction(1)), m, design))

    assert problem([0, 0], [0, 0]) is None
    assert problem([0, 100], [0, 0]) == "it has measurements that its design does not make"
    assert problem([0, 1], [0, 3]) == "it has measurements that its design does not make"


def test_more_rows_than_bytes_are_not_unpacked(release: dph.Release, saved: Path) -> None:
    """Fifty million equal rows compress to next to nothing; a child with 1 GB more than it needs refuses them."""
    metadata = metadata_of(saved)
    block = pa.table({name: np.zeros(10**6, np.int64) for name in release.columns()})
    schema = block.schema.with_metadata({"dpheatmap": json.dumps(metadata)})
    with pq.ParquetWriter(saved, schema, compression="zstd") as writer:
        for _ in range(50):
            writer.write_table(block)
    assert saved.stat().st_size < 2 * 10**6
    code = (
        "import re, sys, dpheatmap as dph\n"
        "try:\n    dph.load(sys.argv[1])\n"
        "except dph.errors.ReleaseFileError as error:\n    print(error)\n"
        "print(re.search('VmHWM: *\\t* *([0-9]+)', open('/proc/self/status').read())[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(saved)], capture_output=True, text=True, timeout=300)
    words, kilobytes = done.stdout.splitlines()
    assert "a.dph.parquet is damaged" in words
    assert int(kilobytes) < 1_000_000, "50 million rows are 2 GB"


@pytest.mark.parametrize("column", ["level", "x", "noisy_count", "budget_share"])
def test_columns_that_are_not_whole_numbers_are_not_even_read(saved: Path, column: str) -> None:
    table, metadata = pq.read_table(saved), metadata_of(saved)
    for values in (["a" * 1000] * len(table), [[1]] * len(table), [1.0] * len(table)):
        write_again(saved, table.set_column(table.column_names.index(column), column, pa.array(values)), metadata)
        with pytest.raises(ReleaseFileError, match="something is missing"):
            dph.load(saved)


def test_a_boundary_that_would_not_fit_into_memory_is_not_made(saved: Path) -> None:
    """A few hundred bytes of rings that run up and down along sixteen million cells."""
    points = np.array([[0, GRID * (MOST_CELLS - 1) * (k % 2)] for k in range(200)] + [[GRID, 0]])
    rings = Boundary(points, np.array([len(points)])).pack()
    domain = {"kind": "polygon", "extent": [-180.0, 80.0, -179.0, 85.0], "rings": rings, "depth": 28}
    refuse(saved, lambda rows, metadata: metadata.update(domain=domain), "metadata can't be understood")


def test_running_out_of_memory_is_a_damaged_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(description: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(dph.Domain, "from_dict", too_large)
    with pytest.raises(ReleaseFileError, match="damaged"):
        dph.load(saved)
