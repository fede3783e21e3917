"""Files of a ladder's release: they are read back, and altered ones are refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpheatmap as dph
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.errors import ReleaseFileError
from dpheatmap.releases.release import Release
from helpers.ladder_rows import (
    ANY_CELLS,
    EXTRA,
    NOT_SPLIT,
    OTHER_SHARES,
    made_of_all,
    rows_of,
)
from helpers.stored import metadata_of, write_again


@pytest.fixture(scope="module")
def release() -> Release:
    """A release with cells of every kind."""
    return made_of_all()


@pytest.fixture
def saved(release: Release, tmp_path: Path) -> Path:
    path = tmp_path / "a.dph.parquet"
    release.save(path)
    return path


def test_it_is_saved_and_read_back(release: Release, saved: Path) -> None:
    after = dph.load(saved)
    assert after.design == release.design == LadderDesign(2, 7)
    assert rows_of(after) == rows_of(release)
    assert metadata_of(saved)["design"] == "ladder"
    assert metadata_of(saved)["rule"] == {
        "first": "2", "last": "7", "total": "1/100", "start": "24", "spent": "3/10", "closing": "7", "deepening": "14",
        "opening": "28", "splitting": "8", "evenness": "3/5", "even_once": "10", "even_twice": "40", "roughness": "1/4",
        "even_cells": "400",
    }  # fmt: skip
    write_again(saved, pa.Table.from_pylist(pq.read_table(saved).to_pylist()[::-1]), metadata_of(saved))
    assert sorted(rows_of(dph.load(saved))) == sorted(rows_of(release))


Change = Callable[[list[dict[str, Any]], dict[str, Any]], Any]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows, m: rows.pop(0), "cells measured at level 0"),
        (lambda rows, m: rows.pop(), ANY_CELLS),
        (lambda rows, m: rows.clear(), "not all cells of its first level"),
        (lambda rows, m: rows.append(dict(rows[-1])), EXTRA),
        (lambda rows, m: rows[-1].update(budget_share=1), OTHER_SHARES),
        (lambda rows, m: rows[0].update(noisy_count=2**60), ANY_CELLS),
        (lambda rows, m: rows[5].update(noisy_count=2**61 + 1), "counts are out of range"),
        (lambda rows, m: m.update(epsilon="1/1000"), f"{ANY_CELLS}|{OTHER_SHARES}"),
        (lambda rows, m: m.update(epsilon="1e-300"), f"{ANY_CELLS}|{OTHER_SHARES}"),
        (lambda rows, m: m.update(epsilon="1000000"), f"{ANY_CELLS}|{OTHER_SHARES}"),
        (lambda rows, m: m.update(design="adaptive"), "can't be understood"),
        (lambda rows, m: m["rule"].update(spent="1/4"), OTHER_SHARES),
        (lambda rows, m: m["rule"].update(splitting="1000000"), NOT_SPLIT),
        (lambda rows, m: m["rule"].update(last="6"), f"{ANY_CELLS}|{OTHER_SHARES}|{EXTRA}"),
        (lambda rows, m: m["rule"].update(even_signal="5"), "can't be understood"),
        (lambda rows, m: m["domain"].update(depth=6), "levels don't fit its domain"),
    ],
)
def test_altered_files_are_refused(saved: Path, change: Change, words: str) -> None:
    rows, metadata = pq.read_table(saved).to_pylist(), metadata_of(saved)
    names = list(rows[0])
    change(rows, metadata)
    table = pa.Table.from_pylist(rows) if rows else pa.table({name: pa.array([], pa.int64()) for name in names})
    write_again(saved, table, metadata)
    with pytest.raises(ReleaseFileError, match=words):
        dph.load(saved)


def test_a_start_with_far_more_cells_than_rows_is_refused_at_once(saved: Path) -> None:
    """A first level of 2^56 cells, or a total that starts on one of 2^14: neither is listed."""
    rows, metadata = pq.read_table(saved).to_pylist(), metadata_of(saved)
    metadata["domain"]["depth"] = 28
    for rule, total in (({"first": "28", "last": "28"}, 0), ({"first": "2", "last": "28"}, 2**61)):
        metadata["rule"] |= rule
        rows[0]["noisy_count"] = total
        write_again(saved, pa.Table.from_pylist(rows), metadata)
        before = time.perf_counter()
        with pytest.raises(ReleaseFileError, match=r"not all cells of its first level, 28|cells measured at level 7"):
            dph.load(saved)
        assert time.perf_counter() - before < 5


NONSENSE: list[Any] = [None, True, [], {}, "", "x", "1/0", "nan", "inf", "-inf", "1e999999", "9" * 5000, "0x10"]


@pytest.mark.parametrize("name", [field.name for field in fields(LadderDesign)])
def test_no_field_of_the_rule_may_be_nonsense_or_missing(saved: Path, name: str) -> None:
    rows, metadata = pq.read_table(saved), metadata_of(saved)
    honest = metadata["rule"].pop(name)
    for value in ("missing", *NONSENSE):
        write_again(saved, rows, metadata)
        with pytest.raises(ReleaseFileError, match="can't be understood"):
            dph.load(saved)
        metadata["rule"][name] = value
    for value in (10**300, "1e400", "1e-400", "-1", 0):  # sense for some fields: read or refused, and nothing else
        metadata["rule"][name] = value
        write_again(saved, rows, metadata)
        with suppress(ReleaseFileError):
            dph.load(saved)
    metadata["rule"][name] = honest
    write_again(saved, rows, metadata)
    assert str(vars(dph.load(saved).design)[name]) == honest
