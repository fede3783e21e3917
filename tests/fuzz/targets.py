"""Everything that reads what others wrote, as functions of bytes: each may refuse, and must do nothing else.

A target is given bytes and raises whatever it did not mean to: anything but the errors of `dpheatmap.errors`, or a
refusal whose text quotes a value from a row.
"""

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import dpheatmap as dph
from dpheatmap._util.canonical_json import canonical_json
from dpheatmap.cli.ledger_options import budget_from
from dpheatmap.cli.shared_options import domain_from
from dpheatmap.collect.keys import SIGNATURE, as_text
from dpheatmap.collect.receiver import Refused
from dpheatmap.curator.ledger.chain import Row, replay
from dpheatmap.curator.read.predicate import row_predicate
from dpheatmap.design.shares import read_epsilon
from dpheatmap.errors import DpheatmapError
from dpheatmap.releases import release_file as files
from helpers.collecting import Cast, terms_of

SECRET = "zq9secret"
"""Stands in rows of the tables, and must not stand in any error."""

Target = Callable[[bytes], None]


OUTCOMES: Counter[str] = Counter()
"""How many calls have taken what they were given, and how many have refused it."""


class _Scratch:
    """A folder that is made when it is needed, and goes away with the process."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def path(self, name: str) -> Path:
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="dpheatmap-fuzz-")
        return Path(self._folder.name, name)

    def file(self, name: str, data: bytes) -> Path:
        path = self.path(name)
        path.write_bytes(data)
        return path


SCRATCH = _Scratch()


def refusing(call: Callable[[], Any]) -> None:
    """Run it; errors of ours are fine, as long as they tell nothing and say what to do."""
    try:
        call()
    except DpheatmapError as error:
        said = [str(error), str(error.__cause__), str(error.__context__)]
    else:
        OUTCOMES["taken"] += 1
        return
    OUTCOMES["refused"] += 1
    assert not any(SECRET in words for words in said), "an error quotes a row"
    assert ". " in said[0] or "? " in said[0], "an error does not say what to do"


def text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def bbox(data: bytes) -> None:
    refusing(lambda: domain_from(text(data), None, None, False, None, None))


def image(data: bytes) -> None:
    refusing(lambda: domain_from(None, None, text(data), False, None, None))


def epsilon(data: bytes) -> None:
    refusing(lambda: read_epsilon(text(data)))


def budget(data: bytes) -> None:
    """The ledger's URL, the population, the partition and its part, one a line."""
    url, population, partition, part = (text(data).split("\n") + [""] * 4)[:4]
    refusing(lambda: budget_from("t.csv", f"postgresql://{url}", population, False, partition, part))
    refusing(lambda: dph.Ledger(f"postgresql://{url}").name)


def predicate(data: bytes) -> None:
    refusing(lambda: row_predicate(text(data), {"x": "DOUBLE", "time": "VARCHAR", "n": "BIGINT"}))


def release_metadata(data: bytes) -> None:
    """The JSON of a release file, on rows that are always the same."""

    def call() -> None:
        try:
            metadata = json.loads(data)
        except (ValueError, RecursionError):
            return
        if isinstance(metadata, dict):
            files.release_of(metadata, COLUMNS, "it")

    refusing(call)


def release(data: bytes) -> None:
    refusing(lambda: dph.load(SCRATCH.file("r.dph.parquet", data)))


def ledger(data: bytes) -> None:
    refusing(lambda: dph.Ledger(SCRATCH.file("l.ledger", data)).entries())


def ledger_rows(data: bytes) -> None:
    """Entries as JSON, with hashes that fit."""

    def call() -> None:
        try:
            rows = json.loads(data)
        except (ValueError, RecursionError):
            return
        kinds = [int, *[str] * (len(Row._fields) - 1)]  # what both stores see to
        if isinstance(rows, list) and all(isinstance(row, list) and [*map(type, row)] == kinds for row in rows):
            replay([Row(*row) for row in rows], "it")

    refusing(call)


def csv(data: bytes) -> None:
    if SECRET.encode() in data.partition(b"\n")[0]:
        return  # in the header it is the name of a column, which errors may tell
    path = SCRATCH.file("t.csv", data)
    refusing(lambda: dph.aggregate(path, dph.Domain.unit(3), user="who", x="x", y="y", memory=64))


def parquet(data: bytes) -> None:
    path = SCRATCH.file("t.parquet", data)
    refusing(lambda: dph.aggregate(path, dph.Domain.unit(3), user="who", x="x", y="y", memory=64))


def json_lines(data: bytes) -> None:
    path = SCRATCH.file("t.jsonl", data)
    refusing(lambda: dph.aggregate(path, dph.Domain.unit(3), user="who", x="x", y="y", memory=64))


def collection(data: bytes) -> None:
    """The JSON of a collection, signed again by its operator."""
    try:
        document = json.loads(data)
        beside = {
            "countersignatures": document.pop("countersignatures", []),
            "signature": document.pop("signature", ""),
        }
        written = canonical_json(document)
    except (AttributeError, TypeError, ValueError, RecursionError):
        return
    operator = _cast().operator
    signature = as_text(operator.sign(written, b"dpheatmap collection")[:SIGNATURE])
    path = SCRATCH.file("c.json", json.dumps({**document, **beside, "signature": signature}).encode())
    refusing(lambda: dph.collect.Collection.read(path, operator.public))


def contribution(data: bytes) -> None:
    """What a server is sent, for contributions, orders to close and lists of entries."""
    server = _cast().role(0)
    for take in (server.accept, server.close):
        try:
            take(data)
            OUTCOMES["taken"] += 1
        except Refused:
            OUTCOMES["refused"] += 1
    assert not server.closed()


TARGETS: dict[Target, int] = {
    bbox: 32_000, image: 20_000, epsilon: 20_000, budget: 8_000, predicate: 5_000, release_metadata: 12_000,
    collection: 1_000, contribution: 3_000, ledger_rows: 5_000, ledger: 2_000, release: 700,
    csv: 250, parquet: 250, json_lines: 250,
}  # fmt: skip
"""Each with the number of cases that CI tries: over 100,000 in all, most of them where a case is cheap."""


def _small_release() -> dph.Release:
    none = np.zeros(0, np.int64)
    return dph.release(dph.Counts.from_cells(dph.Domain.unit(2), none, none, none), epsilon=Fraction(1, 3))


RELEASE = _small_release()
COLUMNS = {name: np.asarray(values, np.int64) for name, values in RELEASE.columns().items()}


def seeds(target: Target) -> list[bytes]:
    """Good inputs of a target, from which the fuzzers start."""
    rows = [{"who": SECRET, "x": 0.25, "y": 0.5}, {"who": "b", "x": 0.75, "y": 0.1}]
    table = "who,x,y\n" + "".join(f"{row['who']},{row['x']},{row['y']}\n" for row in rows)
    match target.__name__:
        case "bbox":
            return [b"-74.1,40.6,-73.8,40.9", b"0,0,1,1", b"1e300,-1e-5,nan,inf", b"179,-85,180,85.06"]
        case "image":
            return [b"640x480", b"1X1", b"268435457x1", b"-3x0"]
        case "epsilon":
            return [b"0.1", b"1/3", b"1e-400", b"1e999999999", b"1_0", b"-0/5", "\uff11".encode()]
        case "budget":
            return [b"me:pw@host/db\nriders\ndistrict=a,b\na", b"[::1]/x?host=/tmp\np\nc=\n", b"h:99999999\n \n=\n="]
        case "predicate":
            return [b"time >= '2024-01-01' AND x < 3.5", b"CAST(time AS DATE) IN ('a', 'b') OR NOT n % 2 = 0", b"((("]
        case "release_metadata":
            return [json.dumps(files.describe(RELEASE)).encode()]
        case "ledger_rows":
            return [json.dumps([list(row) for row in _entries().entries()]).encode()]
        case "ledger":
            return [_entries_path().read_bytes()]
        case "collection":
            _cast().collection.save(SCRATCH.file("c.json", b""))
            return [SCRATCH.path("c.json").read_bytes()]
        case "contribution":
            return _cast().client(0).contribution([0.5], [0.5])
        case "release":
            path = SCRATCH.file("seed.dph.parquet", b"")
            RELEASE.save(path)
            return [path.read_bytes()]
        case "csv":
            return [table.encode(), ("\ufeff" + table.replace(",", ";")).encode(), b'who,x,y\n"a\nb",1,2\n']
        case "json_lines":
            return ["\n".join(map(json.dumps, rows)).encode(), b'{"who": 1e400, "x": [], "y": {}}']
        case _:
            import duckdb

            path = SCRATCH.file("seed.parquet", b"")
            with duckdb.connect() as con:
                con.execute(f"COPY (SELECT * FROM read_csv('{SCRATCH.file('seed.csv', table.encode())}')) TO '{path}'")
            return [path.read_bytes()]


@lru_cache(maxsize=1)
def _cast() -> Cast:
    """A collection in this process."""
    return Cast(SCRATCH.path("0.state").parent, terms_of("servers"))


def _entries_path() -> Path:
    path = SCRATCH.file("seed.ledger", b"")
    books = dph.Ledger(path)
    books.limit("riders", 10)
    for amount in ("1", "1/3"):
        books.charge("riders", amount)
    books.change_limit("riders", 12, was=10)
    books.change_limit("riders", 12, delta="1e-6", was=12)
    books.charge("riders", rho="1/50")
    books.charge("riders", "1/40", series=books.reserve("riders", "1/40", releases=2).number)
    books.limit("walkers", rho="1/50")
    sqlite3.connect(path).close()
    return path


def _entries() -> dph.Ledger:
    return dph.Ledger(_entries_path())


TOKENS = [b"0", b"-1", b"nan", b"1e999", b"\x00", b"\xff", b"[", b"{", b'"', b"'", b",", b"/", b"=", b"\n", b"null",
          b"9" * 30, b"\xf0\x9f\x92\xa9", b"true", b"(", b"\r", b"1/0", b"SELECT", b".", b"-", b" "]  # fmt: skip


def mutated(rng: random.Random, data: bytes) -> bytes:
    """A few random changes: bytes flipped, pieces cut, doubled, moved, tokens put in."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, length = rng.randrange(len(changed) + 1), rng.choice((1, 1, 2, 4, 16, 200))
        match rng.randrange(6):
            case 0 if changed:
                changed[at % len(changed)] = rng.randrange(256)
            case 1:
                del changed[at : at + length]
            case 2:
                changed[at:at] = changed[at : at + length] * rng.choice((1, 2, 50))
            case 3:
                changed[at:at] = rng.choice(TOKENS)
            case 4:
                changed[at : at + length] = rng.choice(TOKENS)
            case _:
                changed[at:at] = rng.randbytes(length)
    return bytes(changed[: 10**6])
