"""What is read of a file is the union of what is read of its records, whatever the records are.

One person's records, random and hostile, are put anywhere among others'. Each time the reader must agree with another
one that was written for comparison alone, everybody else's rows must be what they are without the person, and neither
the cuts of a file nor the way it is read may matter.
"""

from __future__ import annotations

import io
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.curator.read import csv_records, kernels
from dpheatmap.curator.read.arrow_stream import Batch
from dpheatmap.curator.read.blocks import Block, block_of_file, blocks_of_stream
from dpheatmap.curator.read.record_stream import RecordStream
from dpheatmap.curator.read.text import CsvHeader, CsvParser, JsonParser
from dpheatmap.curator.read.text_file import TextFile
from dpheatmap.errors import BrokenRecord
from helpers.hostile import Found, honest_csv, honest_json, mixed, read_csv, read_json, rows_of, without_nested
from helpers.tables import COMPRESS, UNIT, W, outcome

CSV = CsvParser(CsvHeader(("id", "day", "x", "y"), ",", 0), ["id", "x", "y"])
JSON = JsonParser(["x", "y", "id"], "id")
KINDS: dict[str, tuple[Any, Callable[..., bytes], Callable[[bytes], Found]]] = {
    "csv": (CSV, honest_csv, read_csv),
    "json": (JSON, honest_json, read_json),
}
CHUNKS, CASES = 10, 5_000
"""100,000 cases in all, of both kinds."""


class Slow(io.BytesIO):
    """Bytes that come a few at a time."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(1 + (self.tell() * 7) % 61)


def found_in(blocks: Iterable[Block], parser: CsvParser | JsonParser) -> Found:
    """What is read of blocks, one after the other, without threads."""
    tally = np.zeros(kernels.TALLIES, np.int64)

    def batches() -> Iterator[Batch]:
        for block in blocks:
            shape = len(parser.columns), block.most_rows
            views, valid = np.empty((*shape, 2), np.uint64), np.zeros((shape[0], (shape[1] + 7) // 8), np.uint8)
            rows = parser.rows(block, views, valid, tally)
            yield Batch(rows, views, valid, block.data)

    rows = rows_of(batches(), len(parser.columns))
    if isinstance(parser, JsonParser):  # without the id as text
        of_ids: Counter[tuple[bytes | None, ...]] = Counter()
        for (x, y, _, person), number in without_nested(rows).items():
            of_ids[x, y, person] += number
        rows = of_ids
    return rows, int(tally[kernels.BROKEN]), int(tally[kernels.EMPTY])


def plus(a: Found, b: Found) -> Found:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    """A file in memory, by a path."""
    descriptor = os.memfd_create("records")
    yield f"/proc/self/fd/{descriptor}"
    os.close(descriptor)


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_the_union_of_its_records(kind: str, chunk: int, place: str) -> None:
    parser, honest, oracle = KINDS[kind]
    rng = random.Random(1000 * chunk + len(kind))
    broken = 0
    for _ in range(CASES):
        others, theirs, everybody = mixed(rng, honest)
        with open(place, "wb") as file:
            file.write(everybody)
        cuts = sorted({0, len(everybody), *(rng.randint(0, len(everybody)) for _ in range(rng.choice([0, 1, 2, 5])))})
        whole = found_in((block_of_file(place, 0, begin, end) for begin, end in pairwise(cuts)), parser)
        assert whole == oracle(everybody), everybody
        assert whole == found_in(blocks_of_stream(Slow(everybody), 0), parser), everybody
        without, alone = (found_in(blocks_of_stream(io.BytesIO(lines), 0), parser) for lines in (others, theirs))
        assert without[1:] == (0, 0)
        assert whole == plus(without, alone), everybody
        broken += alone[1]
    assert broken > CASES / 2


# The tests above see what they are for


def a_state_that_crosses(b: Any, p: int, *rest: Any) -> int:
    """A planted bug: behind a record with an open quote, the next one is taken for a part of it."""
    found = 0
    *before, stop, delimiter, slots, id_slot, views, valid, tally = p, *rest
    lines = bytes(b[before[0] : stop]).split(b"\n")
    kept = [line for k, line in enumerate(lines) if k == 0 or lines[k - 1].count(b'"') % 2 == 0]
    data = np.frombuffer(bytearray(b"\n".join(kept) + b"\n" + bytes(kernels.PAD)), np.uint8)
    found = csv_records_as_they_are(data, 0, len(data) - kernels.PAD, delimiter, slots, id_slot, views, valid, tally)
    b[: min(len(b), len(data))] = data[: len(b)]
    return int(found)


csv_records_as_they_are = csv_records.csv_rows


def test_a_planted_state_is_found(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setattr(csv_records, "csv_rows", a_state_that_crosses)
    with pytest.raises(AssertionError):
        test_a_file_is_the_union_of_its_records("csv", 0, place)


def test_a_planted_limit_of_the_buffer_is_found(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """A planted bug: a block does not read on behind its end."""

    honest = block_of_file

    def short(path: str, start: int, begin: int, end: int) -> Block:
        block = honest(path, start, begin, end)
        block.data[min(block.stop, len(block.data) - 1)] = kernels.LF
        return block

    monkeypatch.setitem(globals(), "block_of_file", short)
    with pytest.raises(AssertionError):
        test_a_file_is_the_union_of_its_records("csv", 0, place)


# All the way, through DuckDB


HEADER = b"id,day,x,y\n"


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.zst", ".jsonl", ".jsonl.gz"])
def test_everybody_else_is_counted_as_without_the_person(ending: str, tmp_path: Path) -> None:
    """Left out or stopped, the counts of others stay, and a person moves them by at most W."""
    rng = random.Random(len(ending))
    _, honest, _ = KINDS["csv" if "csv" in ending else "json"]
    header = HEADER if "csv" in ending else b""
    compress = COMPRESS.get(Path(ending).suffix, bytes)
    paths = tmp_path / f"with{ending}", tmp_path / f"without{ending}"
    for _ in range(25):
        others, _, everybody = mixed(rng, honest)
        for path, content in zip(paths, (everybody, others), strict=True):
            path.write_bytes(compress(header + content))
        before, _ = outcome(paths[1], user="id")
        after, _ = outcome(paths[0], user="id", bad_lines="skip")
        assert sum(abs(after.get(at, 0) - before.get(at, 0)) for at in before | after) <= W
        assert all(after.get(at, 0) >= weight for at, weight in before.items()), everybody
        try:
            assert outcome(paths[0], user="id")[0] == after
        except BrokenRecord:
            continue


@pytest.mark.parametrize("kind", KINDS)
def test_threads_cuts_and_scans_agree(kind: str, tmp_path: Path) -> None:
    parser, honest, oracle = KINDS[kind]
    rng = random.Random(7)
    content = b"".join(mixed(rng, honest)[2].removesuffix(b"\n") + b"\n" for _ in range(300))
    path = tmp_path / f"t.{kind}"
    path.write_bytes(content)
    packed = tmp_path / f"t.{kind}.gz"
    packed.write_bytes(COMPRESS[".gz"](content))
    expected = found_in(blocks_of_stream(io.BytesIO(content), 0), parser)
    assert expected == oracle(content)
    for file, threads, size in [(path, 1, 1 << 20), (path, 2, 1000), (path, 8, 77), (packed, 3, 500)]:
        stream = RecordStream([TextFile(str(file), 0)], parser, skip=True, threads=threads, size=size)
        for _ in range(2):
            rows = sum(batch.rows for batch in stream.batches())
            assert (rows, stream.broken, stream.empty) == (sum(expected[0].values()), *expected[1:])
            assert stream.done == 1.0


# Files beyond every limit of a block


LARGE = {
    "a quote that is never closed": b'"mallory,d,0.5,0.5',
    "a quote at the end": b'mallory,d,0.5,0.5"',
    "carriage returns": b"mallory,d,0.5,0.5\r\r",
    "a line of 2 MiB": b"mallory,d,0.5," + b"5" * (kernels.LONGEST - 14),
    "one byte more": b"mallory,d,0.5," + b"5" * (kernels.LONGEST - 13),
    "a line of 40 MB": b"mallory," + b"a" * 40_000_000,
    "blanks": b" " * 5_000_000,
    "200,000 empty lines": b"\n" * 200_000,
    "200,000 lines of a carriage return": b"\r\n" * 200_000,
    "zeros": b"\0" * 3_000_000,
    "no text": b"\xff" * 3_000_000,
    "deep": b'{"a":' * 400_000,
    "open text": b'{"id": "e',
    "a large value": b'{"id": "e", "other": "' + b"a" * 17_000_000 + b'"}',
}


@pytest.mark.long
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nasty", LARGE)
def test_a_large_file_loses_nobody(nasty: str, kind: str, newline: bytes, tmp_path: Path) -> None:
    """Of 48 MB, with the person's line at the start, at 8 MB, at 32 MB, to the byte, and anywhere."""
    template = b"p%06d,d,0.1,0.1" if kind == "csv" else b'{"id": "p%06d", "x": 0.1, "y": 0.1}'
    lines = [template % k + newline for k in range(48_000_000 // len(template))]
    header = b"id,day,x,y" + newline if kind == "csv" else b""
    path = tmp_path / f"t.{'csv' if kind == 'csv' else 'jsonl'}"
    for at in (0, 8_000_000, 32_000_000, 32 << 20, random.Random(1).randrange(48_000_000)):
        place = min(at // len(lines[0]), len(lines))
        path.write_bytes(header + b"".join([*lines[:place], LARGE[nasty] + newline, *lines[place:]]))
        report = dph.aggregate(path, UNIT, user="id", x="x", y="y", bad_lines="skip").report
        assert report is not None
        assert report.people in (len(lines), len(lines) + 1)
        try:
            stopped = dph.aggregate(path, UNIT, user="id", x="x", y="y").report
        except BrokenRecord:
            continue
        assert stopped is not None
        assert stopped.people == report.people


def test_deep_nesting_is_of_no_consequence(tmp_path: Path) -> None:
    """As deep as a record can be."""
    deep = b"[" * 1_000_000 + b"]" * 1_000_000
    for other, rows in ((deep, 2), (deep[:-1], 1)):
        (tmp_path / "t.jsonl").write_bytes(
            b'{"id": "ann", "x": 0.1, "y": 0.1}\n{"other": %b, "id": "bob", "x": 0.1, "y": 0.1}\n' % other
        )
        assert outcome(tmp_path / "t.jsonl", user="id", bad_lines="skip")[1]["people"] == rows
