"""Faults of inputs and machines, told as stories; those of ledgers are in `curator/ledger/test_ledger_faults.py`."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpheatmap as dph
from dpheatmap.cli import run
from dpheatmap.errors import DataError, ReleaseFileError
from dpheatmap.releases.release_file import KEY, describe
from helpers import ROOT
from helpers.stories import START, story, table
from helpers.tables import UNIT, Columns, W, as_csv, as_parquet, outcome, people

PAGE = ROOT / "docs/reference/reliability.md"
COLUMNS = ["--user", "user", "--x", "x", "--y", "y", "--unit", "--depth", "3", "--epsilon", "1", "--no-ledger"]


def test_the_table_of_stories_is_up_to_date() -> None:
    told = PAGE.read_text()
    assert START + told.partition(START)[2] == table(), "run scripts/stories"


@story("Truncated Parquet input", "Refused with exit code 3 and a sentence; nothing is charged or written.")
def test_truncated_parquet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, output = tmp_path / "t.parquet", tmp_path / "a.dph.parquet"
    pq.write_table(pa.table({"user": ["a"], "x": [0.5], "y": [0.5]}), path)
    path.write_bytes(path.read_bytes()[:-10])
    assert run(["release", str(path), *COLUMNS, "-o", str(output)]) == 3
    assert "Check that the file is whole" in capsys.readouterr().err
    assert not output.exists()


@story(
    "Truncated gzip input", "Refused with exit code 3: the rows before the cut are not released as if they were all."
)
def test_truncated_gzip(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    rows = "".join(f"{k},0.{k % 997:03},0.{k % 991:03}\n" for k in range(50_000))
    path.write_bytes(gzip.compress(f"user,x,y\n{rows}".encode())[:-5000])
    with pytest.raises(DataError):
        people(path)


@story("Truncated release file", "Loading it says that it is cut short; no map is drawn from a part.")
def test_truncated_release(tmp_path: Path) -> None:
    path = tmp_path / "a.dph.parquet"
    none = np.zeros(0, np.int64)
    dph.release(dph.Counts.from_cells(UNIT, none, none, none), epsilon=1).save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(ReleaseFileError):
            dph.load(path)


@story(
    "A small release file that unpacks to tens of millions of rows",
    "Refused by its row count, before memory is taken for them.",
)
def test_a_bomb_of_a_release(tmp_path: Path) -> None:
    import json
    import resource

    path = tmp_path / "bomb.dph.parquet"
    none = np.zeros(0, np.int64)
    metadata = json.dumps(describe(dph.release(dph.Counts.from_cells(UNIT, none, none, none), epsilon=1)))
    zeros = pa.array(np.zeros(10**6, np.int64))
    names = ("level", "x", "y", "noisy_count", "budget_share")
    rows = pa.table(dict.fromkeys(names, zeros)).replace_schema_metadata({KEY: metadata})
    with pq.ParquetWriter(path, rows.schema, compression="zstd") as writer:
        for _ in range(30):
            writer.write_table(rows)
    assert path.stat().st_size < 10**6
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ReleaseFileError, match="more rows than a release of its size"):
        dph.load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


@story("A compressed input that unpacks to a thousand times its size", "Read row by row within the memory that is set.")
def test_a_compressed_bomb_of_an_input(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"user,x,y\n")
        for _ in range(100):
            file.write(b"a,0.10000000000000000000000000000000000,0.5\n" * 20_000)
    assert path.stat().st_size < 500_000
    assert outcome(path)[1]["rows"] == 2_000_000


@story("Low memory", "What does not fit goes to a private temporary folder; if that is full too, a sentence says so.")
def test_low_memory(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with path.open("w") as file:
        file.write("user,x,y\n")
        file.writelines(f"person number {k},0.{k % 997:03},0.{k % 991:03}\n" for k in range(300_000))
    counted = outcome(path, memory=64)[1]
    assert counted["people"] == 300_000


@story(
    "Ids of thousands of letters, and ids that are numbers of 30 digits",
    "They are told apart byte by byte, like any others. In text files an id of more than 4 kB is nobody's.",
)
def test_huge_ids(tmp_path: Path) -> None:
    for long, known in (("x" * 4000, 4), ("x" * 10**6, 2)):
        columns: Columns = {"user": [long + "a", long + "b", "1" * 30, "1" * 29 + "2"], "x": [0.5] * 4, "y": [0.5] * 4}
        assert people(as_csv(columns, tmp_path / "t.csv")) == known
        assert people(as_parquet(columns, tmp_path / "t.parquet")) == 4


@story(
    "Ids in any script, with accents written in two ways", "Nothing is folded or normalised: each spelling is a person."
)
def test_unicode_ids(tmp_path: Path) -> None:
    ids = ["é", "e\u0301", "É", "東京", "🙂", "e", "\u200be", "e "]
    columns: Columns = {"user": ids, "x": [0.5] * len(ids), "y": [0.5] * len(ids)}
    assert people(as_csv(columns, tmp_path / "t.csv")) == len(ids)


@story("Files, folders and columns with names in any script", "They work like others.")
def test_unicode_names(tmp_path: Path) -> None:
    folder = tmp_path / "日本 'q' [x]"
    folder.mkdir()
    path = as_csv({"utilisatrice é": ["a"], "x": [0.1], "y": [0.1]}, folder / "żółć*.csv")
    assert outcome(path, user="utilisatrice é")[0] == {(0, 0): W}


@story(
    "Another time zone, or another language, on the machine",
    "The same rows are released: a predicate on time reads times as they are written.",
)
def test_time_zones(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("user,x,y,at\na,0.1,0.1,2024-06-01 00:30:00\nb,0.9,0.9,2024-05-31 23:30:00\n")
    code = (
        "import sys, dpheatmap as dph; c = dph.aggregate(sys.argv[1], dph.Domain.unit(3), user='user', x='x', y='y', "
        "where=\"at >= CAST('2024-06-01' AS TIMESTAMP)\"); print(c.report.inside, c.codes.tolist())"
    )
    said = set()
    for zone, language in (("UTC", "C"), ("Pacific/Auckland", "de_DE.UTF-8"), ("America/Los_Angeles", "tr_TR.UTF-8")):
        environment = {**os.environ, "TZ": zone, "LC_ALL": language}
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        said.add(done.stdout)
    assert said == {"1 [0]\n"}


@story("A folder for outputs that is missing, or a disk for them that is full",
       "Refused before anything is read or charged: a megabyte is written there first, on trial.")  # fmt: skip
def test_outputs_are_tried_first(small_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = "/nonexistent.csv"  # not even looked at
    assert run(["release", path, *COLUMNS, "-o", str(small_disk / "a.dph.parquet")]) == 1
    assert "could not be written" in capsys.readouterr().err
    assert os.listdir(small_disk) == []
    assert run(["release", path, *COLUMNS, "-o", str(tmp_path / "no" / "a.dph.parquet")]) == 2
