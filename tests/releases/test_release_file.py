"""The release file: opened by any tool, complete, whole or not there, and broken or altered ones found out."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpheatmap as dph
from dpheatmap.design.shares import PAPER_DECAY, SHARES
from dpheatmap.errors import DpheatmapError, ParameterError, ReleaseFileError
from dpheatmap.testing import generated_people, seeded_release
from helpers.stored import Rows, metadata_of, write_again

COLUMNS = {"user": "person", "x": "x", "y": "y"}
DOMAINS = {
    "unit": dph.Domain.unit(6),
    "image": dph.Domain.image(100, 37),
    "city": dph.Domain.bbox(6.9, 50.9, 7.3, 51.0),
    "deepest": dph.Domain.unit(28),
    "one cell": dph.Domain.unit(0),
}


def release_of(domain: dph.Domain, **options: Any) -> dph.Release:
    e = domain.extent
    people = generated_people(50, extent=(e.x0, e.y0, e.x1, e.y1))
    made: dph.Release = dph.release(people, domain, **{"epsilon": "1/3", **COLUMNS, **options})
    return made


@pytest.fixture(scope="module")
def release() -> dph.Release:
    return release_of(DOMAINS["unit"], design="paper", width=10)


@pytest.fixture
def saved(release: dph.Release, tmp_path: Path) -> Path:
    path = tmp_path / "a.dph.parquet"
    release.save(path)
    return path


# Whole files


@pytest.mark.parametrize("design", ["ladder", "adaptive", "paper", "dense"])
@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())
def test_what_was_saved_is_read_back(domain: dph.Domain, design: str, tmp_path: Path) -> None:
    before = release_of(domain, design=design, decay=Fraction(3, 4), epsilon=0.1)
    before.save(tmp_path / "r.parquet")
    after = dph.load(str(tmp_path / "r.parquet"))
    for field in ("domain", "epsilon", "design", "delta", "units", "seeded", "made"):
        assert getattr(after, field) == getattr(before, field), field
    for field in ("levels", "codes", "counts", "shares"):
        assert np.array_equal(getattr(after.measurements, field), getattr(before.measurements, field)), field
    assert dict(after.label) == dict(before.label)
    assert np.array_equal(after.heatmap(size=8).values, before.heatmap(size=8).values)


NAMES = [
    "a[1].parquet",
    "*?.parquet",
    "it's.parquet",
    'sp ace "q".parquet',
    "ünï☃.parquet",
    "no ending",
    "a{b,c}.parquet",
    "x=1",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_file_name_will_do(release: dph.Release, tmp_path: Path, name: str) -> None:
    (tmp_path / "level=5").mkdir()
    release_of(dph.Domain.unit(2)).save(tmp_path / "level=5" / "another.parquet")
    release.save(tmp_path / "level=5" / name)
    assert len(dph.load(tmp_path / "level=5" / name).measurements) == len(release.measurements)
    assert sorted(os.listdir(tmp_path / "level=5")) == sorted([name, "another.parquet"])


def test_duckdb_pyarrow_and_pandas_open_it(release: dph.Release, saved: Path) -> None:
    documented = {"level": "int8", "x": "int32", "y": "int32", "noisy_count": "int64", "budget_share": "int64"}
    expected = {name: values.tolist() for name, values in release.columns().items()}
    arrow = pq.read_table(saved)
    assert {name: str(kind) for name, kind in zip(arrow.column_names, arrow.schema.types, strict=True)} == documented
    assert arrow.to_pydict() == expected
    frame = pd.read_parquet(saved)
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == documented
    assert frame.to_dict("list") == expected
    with duckdb.connect() as con:
        rows = con.execute("SELECT * FROM read_parquet(?)", [str(saved)]).fetchall()
    assert rows == list(zip(*expected.values(), strict=True))
    order = [(row["level"], int(c)) for row, c in zip(arrow.to_pylist(), release.measurements.codes, strict=True)]
    assert order == sorted(order)


def test_the_metadata_tells_everything_public(release: dph.Release, saved: Path) -> None:
    m = metadata_of(saved)
    levels = m.pop("levels")
    made, label, noise = m.pop("made"), m.pop("label"), m.pop("noise")
    assert m.pop("neighbours").startswith("add or remove one person's whole data")
    assert m == {
        "format": 1,
        "software": f"dpheatmap {dph.__version__}",
        "domain": {"kind": "unit", "extent": [0.0, 0.0, 1.0, 1.0], "depth": 6},
        "epsilon": "1/3",
        "delta": "0",
        "trusted": "curator",
        "participants": None,
        "design": "paper",
        "units_per_person": 2**30,
        "shares_of_epsilon": 2**32,
        "width": 10,
        "decay": str(PAPER_DECAY),
        "seeded": False,
        "ledger": None,
    }
    assert [entry["level"] for entry in levels] == [1, 2, 3, 4, 5, 6]
    assert sum(Fraction(entry["epsilon"]) for entry in levels) == Fraction(1, 3)
    assert sum(entry["share"] for entry in levels) == SHARES
    for entry in levels:
        assert Fraction(entry["epsilon"]) == Fraction(1, 3) * entry["share"] / SHARES
        assert set(entry) == {"level", "share", "epsilon"}
    assert noise["family"] == "discrete Laplace"
    assert noise["summed"] == 1
    assert "exp(-|k| epsilon budget_share / (shares_of_epsilon units_per_person))" in noise["law"]
    assert abs((datetime.fromisoformat(made) - datetime.now(UTC)).total_seconds()) < 120
    assert set(label) == {"who", "from_what", "how_strongly", "trusted", "not_promised", "budget"}
    assert "epsilon = 1/3" in label["how_strongly"]


def test_a_seeded_release_says_so_in_the_file(tmp_path: Path) -> None:
    seeded_release(generated_people(9), DOMAINS["unit"], seed=1, epsilon=1, **COLUMNS).save(tmp_path / "s.parquet")
    assert metadata_of(tmp_path / "s.parquet")["seeded"] is True
    assert "NOT PRIVATE" in metadata_of(tmp_path / "s.parquet")["label"]["warning"]
    assert dph.load(tmp_path / "s.parquet").seeded
    assert "NOT PRIVATE" in repr(dph.load(tmp_path / "s.parquet"))


def test_nothing_but_the_noisy_counts_depends_on_the_data(tmp_path: Path) -> None:
    """Nobody, one person far outside, and a crowd in one spot: the same metadata, to the letter but for the time."""
    tables = {
        "nobody": pd.DataFrame({"person": ["x"], "x": [0.1], "y": [0.1]})[:0],
        "one": pd.DataFrame({"person": ["SECRET-NAME"], "x": [77.0], "y": [None]}),
        "crowd": pd.DataFrame({"person": range(100_000), "x": 0.123, "y": 0.9}),
    }
    described = []
    for name, table in tables.items():
        path = tmp_path / f"{name}.parquet"
        seeded_release(table, dph.Domain.unit(7), seed=5, epsilon=1, **COLUMNS).save(path)
        described.append({key: value for key, value in metadata_of(path).items() if key != "made"})
        assert b"SECRET-NAME" not in path.read_bytes()
        assert set(pq.read_schema(path).metadata) == {b"dpheatmap"}
        assert pq.ParquetFile(path).metadata.num_row_groups == 1
    assert described[0] == described[1] == described[2]


def test_the_same_noise_on_the_same_counts_is_the_same_file_whoever_the_people_are(tmp_path: Path) -> None:
    rows = {}
    for name, ids in (("numbers", range(200)), ("names", [f"person {k}" for k in range(200)])):
        table = pd.DataFrame({"person": ids, "x": np.linspace(0, 1, 200), "y": 0.5})
        seeded_release(table, dph.Domain.unit(7), seed=5, epsilon=1, **COLUMNS).save(tmp_path / f"{name}.parquet")
        rows[name] = pq.read_table(tmp_path / f"{name}.parquet").to_pydict()
    assert rows["numbers"] == rows["names"]


# Whole or not at all


def test_an_old_file_is_replaced_and_nothing_else_is_left(release: dph.Release, saved: Path) -> None:
    newer = release_of(DOMAINS["image"])
    newer.save(saved)
    assert dph.load(saved).domain == DOMAINS["image"]
    assert os.listdir(saved.parent) == [saved.name]


def test_a_folder_that_is_not_there_is_named(release: dph.Release, tmp_path: Path) -> None:
    with pytest.raises(DpheatmapError, match=r"no/such/folder/r.parquet could not be written.*Make the folder first"):
        release.save(tmp_path / "no/such/folder/r.parquet")


def test_a_full_disk_leaves_the_old_file(saved: Path) -> None:
    """No file of the child may grow beyond 1000 bytes, as on a full disk."""
    before = saved.read_bytes()
    code = (
        "import resource, signal, sys, dpheatmap as dph\n"
        "r = dph.load(sys.argv[1])\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n    r.save(sys.argv[1])\n"
        "except dph.errors.DpheatmapError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(saved)], capture_output=True, text=True)
    assert "could not be written: the disk is full or failed" in done.stdout
    assert done.stderr == ""
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


# Broken ones


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ReleaseFileError, match=r"There is no file .*missing.parquet"):
        dph.load(tmp_path / "missing.parquet")
    with pytest.raises(ReleaseFileError, match="no file 'postgresql://host/name'"):
        dph.load("postgresql://ann:secret@host/name")
    with pytest.raises(ReleaseFileError, match="There is no file"):
        dph.load(tmp_path)
    assert ReleaseFileError.exit_code == 3


@pytest.mark.parametrize("left", [0, 1, 4, 100, 0.5, 0.9, -9, -1])
def test_a_file_cut_short(saved: Path, left: float) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(left * len(content)) if 0 < left < 1 else int(left)])
    with pytest.raises(ReleaseFileError, match="cut short or not Parquet"):
        dph.load(saved)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"level,x,y\n1,2,3\n", b"\x00" * 1000, b"PAR1" * 100])
def test_a_file_that_is_not_parquet(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.dph.parquet").write_bytes(content)
    with pytest.raises(ReleaseFileError, match=r"x.dph.parquet can't be read as a release"):
        dph.load(tmp_path / "x.dph.parquet")


def test_parquet_of_someone_else(tmp_path: Path) -> None:
    pq.write_table(pa.table({"level": [1], "x": [1]}), tmp_path / "x.parquet")
    with pytest.raises(ReleaseFileError, match="is a Parquet file but not a release"):
        dph.load(tmp_path / "x.parquet")


def test_flipped_bytes_never_come_through_as_another_error(saved: Path) -> None:
    content = saved.read_bytes()
    rng = np.random.default_rng(3)
    came_through = 0
    for at in rng.integers(0, len(content), 25).tolist():
        saved.write_bytes(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
        with suppress(ReleaseFileError):
            dph.load(saved)  # some bytes don't matter, such as those of the label
            came_through += 1
    assert came_through < 25, "most bytes matter"


def drop(column: str) -> Callable[[Rows], Any]:
    return lambda rows: [row.pop(column) for row in rows]


def raise_smallest(rows: Rows) -> None:
    """A cell whose children were not measured gets a count for which they would have been."""
    min((row for row in rows if row["level"] == 3), key=lambda row: row["noisy_count"])["noisy_count"] = 2**61


def put(column: str, value: Any, at: int = -1) -> Callable[[Rows], Any]:
    return lambda rows: rows[at].__setitem__(column, value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows.pop(), "cells measured at level 6"),
        (lambda rows: rows.pop(0), "cells measured at level 1"),
        (lambda rows: rows.clear(), "not all cells of its first level"),
        (lambda rows: rows.append(dict(rows[-1])), "measurements that its design does not make"),
        (lambda rows: rows.append(rows[-1] | {"x": 63, "y": 63}), "measurements that its design does not make"),
        (lambda rows: rows.extend([rows[-1]] * 5000), "measurements that its design does not make"),
        (lambda rows: rows.append(rows[0] | {"level": 0, "x": 0, "y": 0}), "design does not make"),
        (lambda rows: rows.append(rows[0] | {"level": 7}), "design does not make"),
        (lambda rows: rows.append(rows[0] | {"level": -1}), "design does not make"),
        (lambda rows: rows.append(rows[0] | {"level": 2**62}), "design does not make"),
        (put("budget_share", 1), "cells measured at level 6"),
        (put("noisy_count", 2**61 + 1), "counts are out of range"),
        (put("noisy_count", -(2**63)), "counts are out of range"),
        (raise_smallest, "cells measured at level 4"),
        (put("noisy_count", None), "something is missing"),
        (put("x", None), "something is missing"),
        (put("noisy_count", 1.5), "something is missing"),
        (put("x", -1), "can't be understood"),
        (put("x", 2**48), "can't be understood"),
        (put("y", 2**31), "can't be understood"),
        (put("x", 1000), "cells measured at level 6"),
        (drop("noisy_count"), "cut short or not Parquet"),
        (lambda rows: [row.update(noisy_count=str(row["noisy_count"])) for row in rows], "something is missing"),
    ],
)
def test_altered_rows_are_found_out(saved: Path, change: Callable[[Rows], Any], words: str) -> None:
    rows = pq.read_table(saved).to_pylist()
    metadata = metadata_of(saved)
    change(rows)
    columns = ["level", "x", "y", "noisy_count", "budget_share"]
    table = pa.Table.from_pylist(rows) if rows else pa.table({name: pa.array([], pa.int64()) for name in columns})
    write_again(saved, table, metadata)
    with pytest.raises(ReleaseFileError, match=words) as refusal:
        dph.load(saved)
    assert str(refusal.value).startswith("a.dph.parquet ")


def test_other_tools_may_reorder_rows_and_widen_types(release: dph.Release, saved: Path) -> None:
    rows = pq.read_table(saved).to_pylist()
    write_again(saved, pa.Table.from_pylist(rows[::-1]), metadata_of(saved))
    again = dph.load(saved).measurements
    assert np.array_equal(again.codes, release.measurements.codes)
    assert np.array_equal(again.counts, release.measurements.counts)


def levels(change: Callable[[Rows], Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda m: change(m["levels"])


def entry(key: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda m: m.update({key: value})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (entry("format", 6), "of format 6, and this version reads up to 5. Update"),
        (entry("format", "1"), "of format '1'"),
        (lambda m: m.pop("format"), "of format None"),
        (levels(lambda entries: entries[0].update(share=1)), "can't be understood"),
        (levels(lambda entries: entries.pop()), "can't be understood"),
        (levels(lambda entries: entries.clear()), "can't be understood"),
        (levels(lambda entries: entries[-1].update(level=9)), "can't be understood"),
        (
            levels(lambda e: (e[0].update(share=e[0]["share"] - 1), e[1].update(share=e[1]["share"] + 1))),
            "cells measured at level 1",
        ),
        (
            levels(lambda e: (e[0].update(share=e[0]["share"] + 2**33), e[1].update(share=e[1]["share"] - 2**33))),
            "can't be understood",
        ),
        (levels(lambda entries: entries[0].pop("share")), "can't be understood"),
        (entry("levels", None), "can't be understood"),
        (entry("levels", [1]), "can't be understood"),
        (entry("epsilon", "0"), "can't be understood"),
        (entry("epsilon", "one"), "can't be understood"),
        (entry("epsilon", "1/0"), "can't be understood"),
        (entry("epsilon", "1e999999999"), "can't be understood"),
        (entry("epsilon", None), "can't be understood"),
        (entry("epsilon", "1." + "1" * 10**6), "can't be understood"),
        (entry("epsilon", "1/" + "7" * 4000), "can't be understood"),
        (entry("delta", "1/1000"), "units or delta"),
        (entry("units_per_person", 2**20), "units or delta"),
        (entry("width", 0), "can't be understood"),
        (entry("width", 3), "does not make|cells measured"),
        (entry("width", 11), "cells measured at level"),
        (entry("decay", "2"), "can't be understood"),
        (entry("design", "other"), "can't be understood"),
        (entry("made", "yesterday"), "can't be understood"),
        (entry("domain", {"kind": "unit", "extent": [0, 0, 2, 2], "depth": 6}), "can't be understood"),
        (entry("domain", {"kind": "unit", "extent": [0, 0, 1, 1], "depth": 5}), "levels don't fit its domain"),
        (entry("domain", {"kind": "image", "extent": [0, 0, 64, 3], "depth": 6}), "does not make|cells measured"),
        *((lambda m, key=key: m.pop(key), "can't be understood") for key in (
            "domain", "epsilon", "delta", "levels", "width", "decay", "design", "units_per_person", "seeded", "made")),
    ],
)  # fmt: skip
def test_altered_metadata_is_found_out(saved: Path, change: Callable[[dict[str, Any]], Any], words: str) -> None:
    metadata = metadata_of(saved)
    change(metadata)
    write_again(saved, pq.read_table(saved), metadata)
    with pytest.raises(ReleaseFileError, match=words):
        dph.load(saved)


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "cut short"), ("[" * 10**5, "cut short"), ("[]", "something is missing"), ("7", "something is missing")],
)
def test_metadata_that_is_not_an_object(saved: Path, text: str, words: str) -> None:
    write_again(saved, pq.read_table(saved), text)
    with pytest.raises(ReleaseFileError, match=words):
        dph.load(saved)


def test_a_file_that_claims_a_gigantic_first_level_is_refused_at_once(saved: Path) -> None:
    metadata = metadata_of(saved)
    metadata["domain"]["depth"] = 28
    metadata["levels"] = [{"level": 28, "share": SHARES, "epsilon": "1/3"}]
    write_again(saved, pq.read_table(saved), metadata)
    with pytest.raises(ReleaseFileError, match="not all cells of its first level, 28"):
        dph.load(saved)
    for levels in ([29], [0, 10**15], [-(10**15), 0], [10**300]):
        metadata["levels"] = [{"level": level, "share": SHARES // len(levels), "epsilon": "1/3"} for level in levels]
        write_again(saved, pq.read_table(saved), metadata)
        with pytest.raises(ReleaseFileError, match="can't be understood"):
            dph.load(saved)


@pytest.mark.parametrize("name", ["map.png", "MAP.HTML", "map.csv"])
def test_a_release_is_not_saved_under_the_name_of_a_map(tmp_path: Path, name: str) -> None:
    with pytest.raises(ParameterError, match=r"files hold maps; the file was .*release\.heatmap\(\)\.save"):
        release_of(dph.Domain.unit(2)).save(tmp_path / name)
    assert not list(tmp_path.iterdir())
