"""Lines by which one person broke the promise, before each record was read by itself.

Readers of CSV that keep a state across line feeds lost, moved or merged other people's rows here, most without a word:
at quotes, at carriage returns, and where a file is cut into blocks. Each file here did it to some version of ours.
"""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.curator.read.blocks import SIZE
from dpheatmap.curator.read.kernels import LONGEST
from dpheatmap.errors import BrokenRecord, DataError
from helpers.stories import story
from helpers.tables import UNIT, W, outcome, people

HEADER = b"user,x,y,note\n"


def report(path: Path, bad_lines: str = "stop") -> RowReport:
    found = dph.aggregate(path, UNIT, user="user", x="x", y="y", bad_lines=bad_lines).report
    assert found is not None
    return found


def read(path: Path, bad_lines: str = "skip") -> tuple[int, int, int]:
    """The numbers of rows, people and broken lines."""
    found = report(path, bad_lines)
    return found.rows, found.people, found.broken_lines


@story(
    "A line of CSV with a quote that is never closed",
    "It is broken, and nobody else's is. The release stops before anything is charged, with exit code 3, or leaves the "
    "line out (`--bad-lines skip`).",
)
@pytest.mark.parametrize("nasty", [b'"mallory,0.5,0.5,', b'mallory,0.5,"0.5,', b'mallory,0.5,0.5,"', b'""","'])
@pytest.mark.parametrize("at", [0, SIZE - 3, SIZE, 2 * SIZE + 1, -1])
def test_an_open_quote_takes_nobody_with_it(nasty: bytes, at: int, tmp_path: Path) -> None:
    lines = [b"u%06d,0.1,0.1,n\n" % k for k in range(200_000)]
    place = len(lines) if at < 0 else at // len(lines[0])
    (tmp_path / "t.csv").write_bytes(HEADER + b"".join([*lines[:place], nasty + b"\n", *lines[place:]]))
    assert read(tmp_path / "t.csv") == (200_000, 200_000, 1)
    with pytest.raises(BrokenRecord) as caught:
        read(tmp_path / "t.csv", "stop")
    assert caught.value.place.startswith(f"Line {place + 2} of t.csv has ")


def test_nobody_vanishes_from_a_file_of_36_megabytes(tmp_path: Path) -> None:
    """All but a thousand of 1.4 million people were gone: the quote was opened in the last block but one of 32 MB."""
    lines = [b"person-%07d,0.1,0.1,ab\n" % k for k in range(1_400_000)]
    content = HEADER + b"".join([*lines[:1000], b'"mallory,0.5,0.5,\n', *lines[1000:]])
    assert 34_000_000 < len(content) < 38_000_000
    (tmp_path / "t.csv").write_bytes(content)
    assert read(tmp_path / "t.csv") == (1_400_000, 1_400_000, 1)
    with pytest.raises(BrokenRecord):
        read(tmp_path / "t.csv", "stop")


def test_quotes_around_others_lines_don_t_swallow_them(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b'user,x,y\n"e,0.1,0.1\nann,0.1,0.1\nbob,0.1,0.1\ne",0.1,0.1\n')
    assert read(tmp_path / "t.csv") == (2, 2, 2)
    with pytest.raises(BrokenRecord):
        read(tmp_path / "t.csv", "stop")


@pytest.mark.parametrize("bad_lines", ["stop", "skip"])
def test_a_second_carriage_return_is_a_byte_of_its_own_value(bad_lines: str, tmp_path: Path) -> None:
    """It made the next id another one's: one person moved the counts by 1001 W."""
    lines = b"".join(b"b%d,0.%d,0.1\r\n" % (k, k % 9 + 1) for k in range(1000))
    (tmp_path / "t.csv").write_bytes(b"user,x,y\r\n" + lines)
    before, _ = outcome(tmp_path / "t.csv")
    hostile = b"".join(b"e,0.5,0.5\r\r\nb%d,0.%d,0.1\r\n" % (k, k % 9 + 1) for k in range(1000))
    (tmp_path / "t.csv").write_bytes(b"user,x,y\r\n" + hostile)
    after, counters = outcome(tmp_path / "t.csv", bad_lines=bad_lines)
    assert counters["people"] in (1000, 1001)
    assert sum(abs(after.get(at, 0) - before.get(at, 0)) for at in before | after) <= W


def test_a_file_of_carriage_returns_alone_is_refused_without_quoting_it(tmp_path: Path) -> None:
    """A first line that began with a line feed took the first letter off every id."""
    for content in (b"user,x,y\rann,0.1,0.1\rbob,0.1,0.1\r", b"user,x,y\r\nann,0.1,0.1\rbob,0.1,0.1\r"):
        (tmp_path / "t.csv").write_bytes(content)
        if b"\n" in content:  # the header ends with LF, and the rest is one record
            assert read(tmp_path / "t.csv") == (0, 0, 1)
            continue
        with pytest.raises(DataError, match="holds a carriage return") as caught:
            read(tmp_path / "t.csv")
        assert "ann" not in str(caught.value)


@story(
    "A line of many megabytes in a text file",
    "A line of more than 2 MiB is broken, by its own length alone; no more of it than that is held in memory.",
)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_line_is_too_long_by_itself_alone(ending: str, tmp_path: Path) -> None:
    """To the byte, wherever the blocks are cut; and a line of many blocks costs nobody else theirs."""
    path = tmp_path / f"t.csv{ending}"
    fits = b"mallory,0.1,0.1," + b"a" * (LONGEST - 16)
    for line, broken in ((fits, 0), (fits + b"a", 1), (fits[:-1] + b"\r", 0), (fits + b"\r", 1), (fits * 9, 1)):
        for before in (b"", b"ann,0.1,0.1,n\n" * 70_000):
            content = HEADER + before + line + b"\n" + b"bob,0.1,0.1,\n" * 3
            path.write_bytes(gzip.compress(content, 1) if ending else content)
            found = read(path)
            assert found[0] == before.count(b"\n") + 3 + (1 - broken)
            assert found[2] == broken


def test_empty_lines_are_nobody_s_and_are_counted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"user,x,y\r\n\r\n\nann,0.1,0.1\n\r\n\n\n" + b"\r\n" * SIZE + b"bob,0.1,0.1\n\n")
    found = report(tmp_path / "t.csv")
    assert (found.rows, found.people, found.broken_lines, found.empty_lines) == (2, 2, 0, SIZE + 6)


def test_lines_may_end_in_both_ways_and_the_last_one_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b'user,x,y\nann,0.1,0.1\r\n"bob",0.1,"0.1"\r\ncleo,0.1,0.1\ndan,0.1,0.1\r')
    assert read(tmp_path / "t.csv", "stop") == (4, 4, 0)


def test_ids_keep_every_byte(tmp_path: Path) -> None:
    ids = [
        b"ann",
        b" ann",
        b"ann ",
        b"\rann",
        b"ann\0",
        b"\0ann",
        b"\xef\xbb\xbfann",
        b'"a""nn"',
        b"a\rnn",
        b"x" * 4096,
    ]
    ids += [b"x" * 4095, b"123456789012", b"1234567890123", b"1234567890124", b"12345678", b"1234567"]
    (tmp_path / "t.csv").write_bytes(b"user,x,y\n" + b"".join(b"%b,0.1,0.1\n" % name for name in 2 * ids))
    cells, counters = outcome(tmp_path / "t.csv")
    assert counters["people"] == len(ids)
    assert cells == {(0, 0): len(ids) * W}


@pytest.mark.parametrize(
    ("start", "match"),
    [
        (b"\xff\xfeu\0,\0x\0\n\0", "UTF-16 or UTF-32"),
        (b"\0\0\xfe\xff\0\0\0u", "UTF-16 or UTF-32"),
        (b"us\0er,x,y\n", "a carriage return or a zero byte"),
        (b"u" * 70_000 + b",x,y\n", "longer than 64 kB"),
        (b"u" * 7_000_000, "longer than 64 kB"),
        (b'user,"x,y\nann,0.1,0.1\n', "a quote that does not close"),
        (b'us"er,x,y\n', "a quote that does not close, or out of place"),
        (b"", "has no header line"),
        (b"\nuser,x,y\n", "has no header line"),
        (b"us\xe9r,x,y\n", "has no header line, or none in UTF-8"),
        (b"user,x,,y\n", "empty or repeated names"),
    ],
)
def test_headers_that_are_none_are_refused_and_not_quoted(start: bytes, match: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(start)
    with pytest.raises(DataError, match=match) as caught:
        people(tmp_path / "t.csv")
    assert "ann" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_a_header_alone_is_a_table_of_nobody(tmp_path: Path) -> None:
    for content in (b"user,x,y", b"user,x,y\n", b"\xef\xbb\xbfuser,x,y\r\n", b'"user","x","y"\r\n\r\n'):
        (tmp_path / "t.csv").write_bytes(content)
        assert read(tmp_path / "t.csv", "stop") == (0, 0, 0)


@pytest.mark.parametrize(
    "name", ["file", "id", "column0", "dpheatmap_records", "dpheatmap_rows", "person", 'a"b', "ID_"]
)
def test_columns_may_have_the_names_that_we_use_ourselves(name: str, tmp_path: Path) -> None:
    quoted = name.replace('"', '""')
    (tmp_path / "t.csv").write_text(f'"{quoted}",x,y\nann,0.1,0.1\nbob,0.9,0.9\n')
    lines = [{name: who, "x": at, "y": at} for who, at in (("ann", 0.1), ("bob", 0.9))]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    for path in (tmp_path / "t.csv", tmp_path / "t.jsonl"):
        assert outcome(path, user=name)[0] == {(0, 0): W, (7, 7): W}
        where = f"\"{quoted}\" = 'ann'"
        assert outcome(path, user=name, where=where)[0] == {(0, 0): W}
        assert outcome(path, user="x", x=name)[0] == {}


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_ids_of_megabytes_are_nobody_s_and_refuse_nobody(ending: str, tmp_path: Path) -> None:
    """600 of 2 MB each did not fit into the memory of the engine, by one person's will."""
    path = tmp_path / f"t{ending}"
    line = "%s,0.1,0.1" if ending == ".csv" else '{"user": "%s", "x": 0.1, "y": 0.1}'
    with path.open("w") as file:
        file.write("user,x,y\n" if ending == ".csv" else "")
        for who in ("ann", *["z" * 2_000_000] * 600, "y" * 4095, "x" * 4097):
            file.write(line % who + "\n")
    found = report(path)
    assert (found.rows, found.people, found.without_person) == (603, 2, 601)


def test_names_of_images_of_megabytes_refuse_nobody(tmp_path: Path) -> None:
    with (tmp_path / "t.csv").open("w") as file:
        file.write("user,image,x,y\nann,a,0.1,0.1\n")
        for _ in range(600):
            file.write(f"eve,{'z' * 2_000_000},0.1,0.1\n")
    made = dph.release_images(
        tmp_path / "t.csv", UNIT, image="image", images=["a"], epsilon=1, user="user", x="x", y="y", memory=400
    )
    assert list(made) == ["a"]


def test_a_line_of_blanks_that_is_too_long_is_broken_wherever_it_is_cut(tmp_path: Path) -> None:
    content = b" " * (3 << 20) + b'{"user": "ann", "x": 0.1, "y": 0.1}\n{"user": "bob", "x": 0.1, "y": 0.1}\n'
    (tmp_path / "t.jsonl").write_bytes(content)
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(content))
    for name in ("t.jsonl", "t.jsonl.gz"):
        found = report(tmp_path / name, "skip")
        assert (found.people, found.broken_lines, found.empty_lines) == (1, 1, 0)


def test_folders_of_json_are_columns_as_those_of_csv_are(tmp_path: Path) -> None:
    for day in ("1", "2"):
        (tmp_path / f"day={day}").mkdir()
        (tmp_path / f"day={day}" / "t.jsonl").write_text(json.dumps({"user": f"u{day}", "x": 0.1, "y": 0.1, "day": 7}))
    assert people(f"{tmp_path}/*/t.jsonl", where="day = '1'") == 1
    with pytest.raises(dph.errors.PrivacyRefusal, match="stands in the names of folders"):
        people(f"{tmp_path}/*/t.jsonl", user="day")


def test_a_pattern_is_a_literal(tmp_path: Path) -> None:
    """Of two columns, a line of 2 MiB takes a quarter of an hour."""
    (tmp_path / "t.csv").write_text("user,x,y,a,b\nann,0.1,0.1,aa,a%\n")
    with pytest.raises(dph.errors.ParameterError, match="LIKE takes a pattern in quotes"):
        people(tmp_path / "t.csv", where="a LIKE b")
    assert people(tmp_path / "t.csv", where="a LIKE 'a%'") == 1


def test_a_broken_line_goes_through_a_pool_of_processes(tmp_path: Path) -> None:
    error = pickle.loads(pickle.dumps(BrokenRecord("broken", "Line 7")))
    assert (str(error), error.place) == ("broken", "Line 7")
