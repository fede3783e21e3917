"""Counts on disk: what comes back is what was written, mapped; what is no counts is refused; nothing adds up."""

from __future__ import annotations

import mmap
import os
import stat
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.budget import UNITS
from dpheatmap.curator import counts_file
from dpheatmap.curator.counts import Counts
from dpheatmap.curator.parquet_bytes import MAGIC, Column, footer, page_header
from dpheatmap.errors import DataError, PrivacyRefusal
from dpheatmap.testing import generated_people, seeded_release

COLUMNS = {"user": "person", "x": "x", "y": "y"}


@pytest.fixture(scope="module")
def city() -> Counts:
    return dph.aggregate(generated_people(400), dph.Domain.unit(9), **COLUMNS)  # type: ignore[arg-type]


@pytest.fixture
def stored(city: Counts, tmp_path: Path) -> Path:
    city.save(tmp_path / "city.counts.parquet")
    return tmp_path / "city.counts.parquet"


def same(one: Counts, other: Counts) -> bool:
    arrays = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("codes", "sums", "turns"))
    return arrays and (one.domain, one.report, one.part) == (other.domain, other.report, other.part)


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    weights=st.dictionaries(st.integers(0, 4**9 - 1), st.sampled_from([0, 1, UNITS, 2**62]), max_size=40),
    domain=st.sampled_from([dph.Domain.unit(9), dph.Domain.image(333, 500), dph.Domain.bbox(7, 46, 8, 47, depth=17)]),
    page=st.sampled_from([3, 7, 2**27]),
)
def test_what_comes_back_is_what_was_written(
    weights: dict[int, int], domain: dph.Domain, page: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with pages so small that a column has several of them."""
    monkeypatch.setattr(counts_file, "PAGE", page)
    codes = np.array(sorted(weights), dtype=np.int64)
    counts = Counts.in_order(domain, codes, np.array([weights[code] for code in codes.tolist()], dtype=np.int64))
    path = tmp_path / "c.parquet"
    counts.save(path)
    assert same(Counts.load(path), counts)
    assert Counts.load(path).total == sum(weights.values())
    table = pq.read_table(path).to_pydict()
    assert table == {"code": [*codes.tolist(), 4**domain.depth], "weight_before": counts.sums.tolist()}
    with duckdb.connect() as con:
        rows = con.execute(f"SELECT code, weight_before FROM read_parquet('{path}')").fetchall()
    assert rows == list(zip(*table.values(), strict=True))


def test_the_report_and_the_part_come_along(tmp_path: Path) -> None:
    people = generated_people(100).project("*, CASE WHEN person < 50 THEN 'n' ELSE 's' END AS side")
    options: dict[str, Any] = {**COLUMNS, "partition": {"side": ["n", "s"]}, "part": "n"}
    counts = dph.aggregate(people, dph.Domain.unit(5), **options)
    counts.save(tmp_path / "north.parquet")
    back = Counts.load(tmp_path / "north.parquet")
    assert same(back, counts)
    assert back.part is not None
    assert back.report is not None
    assert back.report.people == 50


def test_a_release_from_the_file_is_the_release(city: Counts, stored: Path) -> None:
    for design in ("adaptive", "paper"):
        one, other = (
            seeded_release(c, seed=3, epsilon=1, design=design).measurements for c in (city, Counts.load(stored))
        )
        assert np.array_equal(one.counts, other.counts)


def test_it_is_mapped_not_read(stored: Path) -> None:
    """Aligned, so that a bisection works on the file's own pages instead of on a copy."""
    counts = Counts.load(stored)
    for array in (counts.codes, counts.sums):
        assert array.flags.aligned
        assert not array.flags.owndata
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        assert isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)


def test_others_read_any_number_of_columns_and_words(tmp_path: Path) -> None:
    """Lists of 15 or more, and texts of 128 bytes or more, are written in another way than shorter ones."""
    written, columns = bytearray(MAGIC), []
    for k in range(20):
        start = len(written)
        written += page_header(3) + np.arange(k, k + 3).tobytes()
        columns.append(Column(f"column {k}", start, len(written), 3))
    words = {f"key {k}": "ä" * 60 * k for k in range(20)}
    (tmp_path / "t.parquet").write_bytes(written + footer(columns, words))
    found = pq.read_table(tmp_path / "t.parquet")
    assert found.to_pydict() == {f"column {k}": [k, k + 1, k + 2] for k in range(20)}
    assert {key.decode(): text.decode() for key, text in found.schema.metadata.items()} == words


def test_only_its_owner_may_read_it(city: Counts, tmp_path: Path) -> None:
    path = tmp_path / "city.counts.parquet"
    path.write_text("")
    path.chmod(0o644)
    city.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == [path.name]
    assert b"exact weights of people: never publish this file" in path.read_bytes()


def test_a_file_that_is_no_counts_is_refused(city: Counts, stored: Path, tmp_path: Path) -> None:
    whole = stored.read_bytes()
    for left in (0, 3, 40, len(whole) // 2, len(whole) - 1):
        stored.write_bytes(whole[:left])
        with pytest.raises(DataError, match=r"city\.counts\.parquet is cut short or not Parquet"):
            Counts.load(stored)
    first = next(iter(counts_file.pages(len(city.sums))))
    for place in (first.start, first.values - 1):
        stored.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DataError, match="does not fit together"):
            Counts.load(stored)
    for old, new, words in (
        (b'"format": 1', b'"format": 2', "newer format"),
        (b'"people": 400', b'"people": 399', "does not fit together"),
        (b'"depth": 9', b'"depth": 8', "does not fit together"),
        (b'"units_per_person": 1073741824', b'"units_per_person": 2147483648', "does not fit together"),
    ):
        assert old in whole
        stored.write_bytes(whole.replace(old, new))
        with pytest.raises(DataError, match=words):
            Counts.load(stored)
    dph.release(city, epsilon=1).save(tmp_path / "r.dph.parquet")
    with pytest.raises(DataError, match=r"r\.dph\.parquet holds no counts"):
        Counts.load(tmp_path / "r.dph.parquet")
    with pytest.raises(DataError, match="There is no file"):
        Counts.load(tmp_path / "none")


def test_counts_are_not_added_up(city: Counts, stored: Path) -> None:
    """A person of both days would weigh 2 in the sum, which a release protects as if they weighed 1."""
    for unsound in (
        lambda: city + city,
        lambda: sum([city, city]),
        lambda: dph.release([city, city], epsilon=1),
        lambda: dph.release((city,), epsilon=1),
    ):
        with pytest.raises(PrivacyRefusal, match="Counts can't be added up: a person's weight of 1"):
            unsound()
    for files in (stored, f"{stored.parent}/*.counts.parquet", stored.parent):
        with pytest.raises(PrivacyRefusal, match="holds counts, not events"):
            dph.release(files, dph.Domain.unit(9), epsilon=1, **COLUMNS)  # type: ignore[arg-type]
