"""Hostile records of one person, honest ones of others, and readers that are written for comparison alone."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dpheatmap.curator.read import kernels
from dpheatmap.curator.read.arrow_stream import Batch

Rows = Counter[tuple[bytes | None, ...]]
Found = tuple[Rows, int, int]
"""Rows, broken records and empty ones."""

ATOMS = [
    b'"', b'""', b'"""', b"\r", b"\r\r", b"\0", b"\xef\xbb\xbf", b",", b",,,", b";", b"\t", b"|", b"'", b"\\", b'\\"',
    b"#", b"//", b"\xff", b"\xc3", b"\xc3\xa9", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xe2\x80\xa8", b"\x85", b"\x0b",
    b"\x0c",
    b"\x1a", b"\x1c\x1d\x1e\x1f", b"e,d,0.5,0.5", b"e", b"0.1", b"NULL", b"nan", b'"e","d","0.5","0.5"', b" ",
    b"id,day,x,y", b"x" * 13, b"x" * 300, b"{", b"}", b"[", b"]", b'"id":"e"', b":", b'{"id": "e", "x": 0.5, "y": 0.5}',
    b'"x": 1', b'"ID": 7', b"\\u0000", b"\\ud800", b"\\ud83d\\ude00", b'"\\u0069d"', b"null", b"1e999", b"-0", b"01",
    b"\xf4\x90\x80\x80", b"\xe0\x80\x80", b"[" * 40, b'{"a":' * 40,
]  # fmt: skip


def hostile_record(rng: random.Random) -> bytes:
    """Bytes without a line feed: what one person may write into a line."""
    if rng.random() < 0.15:
        return bytes(rng.choice([*range(10), *range(11, 256)]) for _ in range(rng.randint(0, 60)))
    return b"".join(rng.choice(ATOMS) for _ in range(rng.randint(0, 9)))


def honest_csv(rng: random.Random, number: int) -> bytes:
    """A line of somebody else."""
    values = [b"p%d" % number, b"2024-06-01", b"%.4f" % rng.random(), b"%.4f" % rng.random()]
    if rng.random() < 0.1:
        values[0] = b"O'Neil \xc3\xa9 with a name that is long %d" % number
    if rng.random() < 0.3:
        values = [b'"' + value + b'"' for value in values]
    if rng.random() < 0.1:
        values[0] = b'"O""Neil with a long name %d"' % number
    if rng.random() < 0.1:
        values[2] = b""
    return b",".join(values) + (b"\r" if rng.random() < 0.3 else b"")


def honest_json(rng: random.Random, number: int) -> bytes:
    """A line of somebody else."""
    name: Any = rng.choice([f"p{number}", f"Zoë {number}", number, f'O"Neil\n with a long name {number}', number > 3])
    record: dict[str, Any] = {"id": name, "day": ["2024", {"x": 7}], "x": round(rng.random(), 4), "y": str(number)}
    if rng.random() < 0.1:
        del record["x"]
    text = json.dumps(record, ensure_ascii=rng.random() < 0.5)
    return (b" \t" if rng.random() < 0.2 else b"") + text.encode() + (b"\r" if rng.random() < 0.3 else b"")


def mixed(
    rng: random.Random, honest: Callable[[random.Random, int], bytes]
) -> tuple[bytes, bytes, bytes]:  # fmt: skip
    """Lines of others, of one person, and of all of them, the person's anywhere among the others'."""
    others = [honest(rng, number) for number in range(rng.randint(0, 6))]
    theirs = [hostile_record(rng) for _ in range(rng.randint(1, 3))]
    everybody = list(others)
    for record in theirs:
        everybody.insert(rng.randint(0, len(everybody)), record)
    end = b"\n" if rng.random() < 0.8 or not everybody[-1] else b""  # what has no byte and no end is no record
    return (
        b"".join(record + b"\n" for record in others),
        b"".join(record + b"\n" for record in theirs),
        b"\n".join(everybody) + end,
    )


# Readers that share nothing with the one they are compared with


def records(content: bytes) -> Iterator[bytes]:
    """The records of a file; what follows the last line feed is one, unless it is empty."""
    *whole, last = content.split(b"\n")
    yield from whole
    if last:
        yield last


_FIELD = rb'(?:"((?:[^"]|"")*)"|([^",]*))'
_LINE = re.compile(rb"(?s)" + b",".join([_FIELD] * 4))


def read_csv(content: bytes) -> Found:
    """id, x and y of lines with four fields, by a regular expression."""
    rows, broken, empty = Counter[tuple[bytes | None, ...]](), 0, 0
    for record in records(content):
        text = record.removesuffix(b"\r")
        if not text:
            empty += 1
            continue
        fits = _LINE.fullmatch(text) if len(record) <= kernels.LONGEST and _is_text(text) else None
        if fits is None:
            broken += 1
            continue
        groups = fits.groups()
        values = [
            groups[2 * k].replace(b'""', b'"') if groups[2 * k] is not None else groups[2 * k + 1] or None
            for k in range(4)
        ]
        rows[values[0], values[2], values[3]] += 1
    return rows, broken, empty


def read_json(content: bytes) -> Found:
    """x, y and the id of lines, by Python's JSON."""
    rows, broken, empty = Counter[tuple[bytes | None, ...]](), 0, 0
    for record in records(content):
        text = record.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r")
        if not text:
            empty += 1
            continue
        try:
            if len(record) > kernels.LONGEST:
                raise ValueError
            found: Any = json.loads(
                record.removeprefix(b"\xef\xbb\xbf").decode(), object_pairs_hook=_Pairs, parse_int=_Written,
                parse_float=_Written, parse_constant=_no_constant,
            )  # fmt: skip
        except ValueError:
            found = None
        if not isinstance(found, _Pairs):
            broken += 1
            continue
        named = [(key, value) for key, value in found.pairs if key in ("id", "x", "y")]
        known = dict(named) if len({key for key, _ in named}) == len(named) else {}
        x, y = (_value(known.get(key), text) for key in ("x", "y"))
        rows[x, y, _id(known.get("id"))] += 1
    return rows, broken, empty


class _Pairs:
    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        self.pairs = pairs


class _Written(str):
    """A number as it is written."""


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _value(value: Any, record: bytes) -> bytes | None:
    if isinstance(value, (_Pairs, list)):
        return b"nested"
    if isinstance(value, bool):
        return str(value).lower().encode()
    return None if value is None or not _encodes(value) else value.encode()


def _id(value: Any) -> bytes | None:
    if isinstance(value, bool):
        return str(value).lower().encode()
    if isinstance(value, _Written):
        return value.encode() if re.fullmatch("-?[0-9]+", value) else None
    return b'"' + value.encode() if isinstance(value, str) and _encodes(value) else None


def _encodes(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_text(record: bytes) -> bool:
    try:
        record.decode()
    except UnicodeDecodeError:
        return False
    return True


# What the reader gives


def rows_of(batches: Iterator[Batch], columns: int) -> Rows:
    """The rows of Arrow's views, read by hand."""
    rows: Rows = Counter()
    for batch in batches:
        text = batch.text.tobytes()
        values = []
        for views, valid in zip(batch.views[:columns], batch.valid[:columns], strict=True):
            flags = np.unpackbits(valid, bitorder="little")
            raw = views.tobytes()
            column = (raw[16 * row : 16 * row + 16] for row in range(batch.rows))
            values.append([_of_view(view, text) if flag else None for view, flag in zip(column, flags, strict=False)])
        rows.update(zip(*values, strict=True))
    return rows


def _of_view(view: bytes, text: bytes) -> bytes:
    size = int.from_bytes(view[:4], "little")
    if size <= 12:
        assert not any(view[4 + size :])
        return view[4 : 4 + size]
    buffer, at = int.from_bytes(view[8:12], "little"), int.from_bytes(view[12:], "little")
    assert buffer == 0
    assert text[at : at + 4] == view[4:8]
    return text[at : at + size]


def without_nested(rows: Rows) -> Rows:
    """The same rows with lists and objects as one word, for readers write them differently."""
    plain: Rows = Counter()
    for row, count in rows.items():
        plain[tuple(b"nested" if value is not None and value[:1] in (b"[", b"{") else value for value in row)] += count
    return plain
