"""Counts on disk: what comes back is what was written, mapped; what is no counts is refused; nothing adds up."""

from __future__ import annotations

import base64
import json
import mmap
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.core.counts import Counts
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import DataError, PrivacyRefusal
from dpheatmap.testing import generated_people, seeded_release

COLUMNS = {"user": "person", "x": "x", "y": "y"}
SUFFIXES = ("npy", "parquet")
EARLIER = (
    "UEFSMQAAABUAFTAVMCwVBhUAFQYVBgAADwAAAAAAAAAzAAAAAAAAAAABAAAAAAAAAAAAAAAAABUAFTAVMCwVBhUAFQYVBgAAAAAAAAAAAAAA"
    "AADAAAAAAAAAAAACAAAAFQIZPEgGc2NoZW1hFQQAFQQlABgEY29kZQAVBCUAGA13ZWlnaHRfYmVmb3JlABYGGRwZLCYOHBUEGRUAGRgEY29k"
    "ZRUAFgYWUhZSJg4AACZuHBUEGRUAGRgNd2VpZ2h0X2JlZm9yZRUAFgYWUhZSJm4AABakARYGABkcGBBkcGhlYXRtYXAtY291bnRzGN8BeyJw"
    "cml2YXRlIjogImV4YWN0IHdlaWdodHMgb2YgcGVvcGxlOiBuZXZlciBwdWJsaXNoIHRoaXMgZmlsZSIsICJmb3JtYXQiOiAxLCAiZG9tYWlu"
    "IjogeyJraW5kIjogInVuaXQiLCAiZXh0ZW50IjogWzAuMCwgMC4wLCAxLjAsIDEuMF0sICJkZXB0aCI6IDR9LCAidW5pdHNfcGVyX3BlcnNv"
    "biI6IDEwNzM3NDE4MjQsICJwYXJ0IjogbnVsbCwgInJlcG9ydCI6IG51bGwsICJ0dXJucyI6IFtdfQAYCWRwaGVhdG1hcAB8AQAAUEFSMQ=="
)
"""A file that an earlier version wrote: 3 people in the cell (3, 3) and 5 in (5, 5) of the unit square, depth 4."""


@pytest.fixture(scope="module")
def city() -> Counts:
    return dph.aggregate(generated_people(400), dph.Domain.unit(9), **COLUMNS)  # type: ignore[arg-type]


@pytest.fixture(params=SUFFIXES)
def stored(city: Counts, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / f"city.counts.{request.param}"
    city.save(path)
    return path


def same(one: Counts, other: Counts) -> bool:
    arrays = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("codes", "sums", "turns"))
    return arrays and (one.domain, one.report, one.part) == (other.domain, other.report, other.part)


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    weights=st.dictionaries(st.integers(0, 4**9 - 1), st.sampled_from([0, 1, UNITS, 2**62]), max_size=40),
    domain=st.sampled_from([dph.Domain.unit(9), dph.Domain.image(333, 500), dph.Domain.bbox(7, 46, 8, 47, depth=17)]),
    suffix=st.sampled_from(SUFFIXES),
)
def test_what_comes_back_is_what_was_written(
    weights: dict[int, int], domain: dph.Domain, suffix: str, tmp_path: Path
) -> None:
    codes = np.array(sorted(weights), dtype=np.int64)
    counts = Counts.in_order(domain, codes, np.array([weights[code] for code in codes.tolist()], dtype=np.int64))
    path = tmp_path / f"c.{suffix}"
    counts.save(path)
    assert same(Counts.load(path), counts)
    assert Counts.load(path).total == sum(weights.values())
    if suffix == "parquet":
        table = pq.read_table(path).to_pydict()
        assert table == {"code": [*codes.tolist(), 4**domain.depth], "weight_before": counts.sums.tolist()}


def test_an_array_of_many_pieces_comes_back(monkeypatch: pytest.MonkeyPatch, city: Counts, tmp_path: Path) -> None:
    for piece in (1, 7, len(city.codes), len(city.sums)):
        monkeypatch.setattr("dpheatmap.curator.counts_file._PIECE", piece)
        city.save(tmp_path / "c.npy")
        assert same(Counts.load(tmp_path / "c.npy"), city)


def test_a_file_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    (tmp_path / "old.counts.parquet").write_bytes(base64.b64decode(EARLIER))
    here = np.array([3, 5])
    assert same(
        Counts.load(tmp_path / "old.counts.parquet"), Counts.from_cells(dph.Domain.unit(4), here, here, here * UNITS)
    )


def test_the_report_and_the_part_come_along(tmp_path: Path) -> None:
    people = generated_people(100).project("*, CASE WHEN person < 50 THEN 'n' ELSE 's' END AS side")
    options: dict[str, Any] = {**COLUMNS, "partition": {"side": ["n", "s"]}, "part": "n"}
    counts = dph.aggregate(people, dph.Domain.unit(5), **options)
    counts.save(tmp_path / "north.npy")
    back = Counts.load(tmp_path / "north.npy")
    assert same(back, counts)
    assert back.part is not None
    assert back.report is not None
    assert back.report.people == 50


def test_a_release_from_the_file_is_the_release(city: Counts, stored: Path) -> None:
    for design in ("ladder", "adaptive", "paper"):
        one, other = (
            seeded_release(c, seed=3, epsilon=1, design=design).measurements for c in (city, Counts.load(stored))
        )
        assert np.array_equal(one.counts, other.counts)


def test_an_array_is_mapped_not_read(city: Counts, tmp_path: Path) -> None:
    """Aligned, so that a bisection works on the file's own pages instead of on a copy."""
    city.save(tmp_path / "c.npy")
    counts = Counts.load(tmp_path / "c.npy")
    for array in (counts.codes, counts.sums):
        assert array.flags.aligned
        assert not array.flags.owndata
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        assert isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_only_its_owner_may_read_it(city: Counts, tmp_path: Path, suffix: str) -> None:
    files = {f"city.counts.{suffix}"} | ({"city.counts.npy.json"} if suffix == "npy" else set())
    for name in files:
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o644)
    city.save(tmp_path / f"city.counts.{suffix}")
    assert set(os.listdir(tmp_path)) == files
    for name in files:
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    written = b"".join((tmp_path / name).read_bytes() for name in files)
    assert b"exact weights of people: never publish this file" in written


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_is_cut_short_is_refused(city: Counts, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"city.counts.{suffix}"
    city.save(path)
    whole = path.read_bytes()
    for left in (0, 3, 40, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:left])
        with pytest.raises(DataError, match=rf"city\.counts\.{suffix} is (cut short or not Parquet|damaged)"):
            Counts.load(path)


def test_what_tells_about_an_array_must_fit_it(city: Counts, tmp_path: Path) -> None:
    path, beside = tmp_path / "city.counts.npy", tmp_path / "city.counts.npy.json"
    city.save(path)
    whole = json.loads(beside.read_text())
    altered: list[tuple[dict[str, Any], str]] = [
        *(({"format": other}, "newer format") for other in (3, 0, True, "2", None)),
        ({"report": {**whole["report"], "people": 399}}, "does not fit together"),
        ({"domain": {**whole["domain"], "depth": 8}}, "does not fit together"),
        ({"units_per_person": 2**31}, "does not fit together"),
        ({"token": whole["token"] + 1}, "does not fit together"),
        ({"private": None}, "holds no counts"),
        ({"turns": [10**400]}, "does not fit together"),
    ]
    for changed, words in altered:
        beside.write_text(json.dumps({**whole, **changed}))
        with pytest.raises(DataError, match=words):
            Counts.load(path)
    beside.write_text("[" * 10**5)
    with pytest.raises(DataError, match="holds no counts"):
        Counts.load(path)
    beside.unlink()
    with pytest.raises(DataError, match=r"has no city\.counts\.npy\.json beside it"):
        Counts.load(path)
    beside.write_text(json.dumps(whole))
    for array in (np.zeros((2, 5)), np.zeros((3, 5), np.int64), np.zeros(5, np.int64), np.array([{}], object)):
        np.save(path, array, allow_pickle=True)
        with pytest.raises(DataError, match="does not fit together"):
            Counts.load(path)


def test_one_saves_array_is_not_taken_for_anothers(city: Counts, tmp_path: Path) -> None:
    """A run that was killed between the two files leaves one of each: what is about whom must not be mixed up."""
    city.save(tmp_path / "a.npy")
    city.save(tmp_path / "b.npy")
    (tmp_path / "a.npy.json").write_bytes((tmp_path / "b.npy.json").read_bytes())
    with pytest.raises(DataError, match="does not fit together"):
        Counts.load(tmp_path / "a.npy")


def test_what_is_no_file_of_counts_is_refused(city: Counts, tmp_path: Path) -> None:
    dph.release(city, epsilon=1).save(tmp_path / "r.dph.parquet")
    with pytest.raises(DataError, match=r"r\.dph\.parquet holds no counts"):
        Counts.load(tmp_path / "r.dph.parquet")
    with pytest.raises(DataError, match="There is no file"):
        Counts.load(tmp_path / "none")
    (tmp_path / "r.dph.npy").write_bytes(b"")
    with pytest.raises(DataError, match=r"r\.dph\.npy has no r\.dph\.npy\.json beside it"):
        Counts.load(tmp_path / "r.dph.npy")


def test_a_name_of_any_other_ending_is_a_table_as_it_always_was(city: Counts, tmp_path: Path) -> None:
    for name in ("city.counts", "city", "city.PARQUET"):
        city.save(tmp_path / name)
        assert same(Counts.load(tmp_path / name), city)
        assert pq.read_table(tmp_path / name).num_rows == len(city.sums)


def test_saving_an_array_replaces_no_file_but_its_own(tmp_path: Path) -> None:
    """The table that was counted may be called like the counts."""
    rows = [json.dumps({"person": i, "x": 0.1 * (i % 9), "y": 0.5}) for i in range(20)]
    table = tmp_path / "trips.json"
    table.write_text("\n".join(rows))
    dph.aggregate(str(table), dph.Domain.unit(6), **COLUMNS).save(tmp_path / "trips.npy")  # type: ignore[arg-type]
    assert table.read_text() == "\n".join(rows)
    assert sorted(os.listdir(tmp_path)) == ["trips.json", "trips.npy", "trips.npy.json"]


def test_counts_are_not_added_up(city: Counts, tmp_path: Path) -> None:
    """A person of both days would weigh 2 in the sum, which a release protects as if they weighed 1."""
    for unsound in (
        lambda: city + city,
        lambda: sum([city, city]),
        lambda: dph.release([city, city], epsilon=1),
        lambda: dph.release((city,), epsilon=1),
    ):
        with pytest.raises(PrivacyRefusal, match="Counts can't be added up: a person's weight of 1"):
            unsound()
    stored = tmp_path / "city.counts.parquet"
    city.save(stored)
    for files in (stored, f"{tmp_path}/*.counts.parquet", tmp_path):
        with pytest.raises(PrivacyRefusal, match="holds counts, not events"):
            dph.release(files, dph.Domain.unit(9), epsilon=1, **COLUMNS)  # type: ignore[call-overload]
