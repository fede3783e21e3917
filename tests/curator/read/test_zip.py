"""Zipped text: members are read as files are, and what is no honest zip is refused before a row is read."""

from __future__ import annotations

import random
import resource
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

import dpheatmap as dph
from dpheatmap.errors import BrokenRecord, DataError
from helpers.hostile import honest_csv, mixed
from helpers.tables import W, outcome, people

HEADER = b"id,day,x,y\n"
KIND = zipfile.ZIP_DEFLATED


def pack(path: Path, members: dict[str, bytes], kind: int = KIND) -> Path:
    with zipfile.ZipFile(path, "w", kind) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def rows(names: str) -> bytes:
    return HEADER + b"".join(b"%s,d,0.1,0.1\n" % name.encode() for name in names)


def test_one_or_several_members_are_a_table(tmp_path: Path) -> None:
    one = pack(tmp_path / "one.zip", {"202406-tripdata.csv": rows("ab")})
    assert people(one, user="id") == 2
    several = {
        "t/202406_1.csv": rows("ab"), "t/202406_2.csv": rows("bc"), "__MACOSX/t/._202406_1.csv": b"\0\5\x16",
        "t/.DS_Store": b"x", "README.md": b"notes", "map.pdf": b"%PDF", "inner.zip": b"PK", "t/": b"",
    }  # fmt: skip
    cells, counters = outcome(pack(tmp_path / "several.zip", several), user="id")
    assert counters["people"] == 3
    assert cells == {(0, 0): 3 * W}
    assert people(f"{tmp_path}/*.zip", user="id") == 3
    stored = pack(tmp_path / "stored.ZIP", {"a.csv": rows("ab")}, zipfile.ZIP_STORED)
    assert people(stored, user="id") == 2
    lines = pack(tmp_path / "lines.zip", {"a.jsonl": b'{"id": 7, "x": 0.1, "y": 0.1}\n'})
    assert people(lines, user="id") == 1


def test_zips_and_folders_together(tmp_path: Path) -> None:
    (tmp_path / "year=2024").mkdir()
    pack(tmp_path / "year=2024" / "06.zip", {"06.csv": rows("ab")})
    (tmp_path / "year=2024" / "07.csv").write_bytes(rows("c"))
    assert people(tmp_path, user="id") == 3
    assert people(tmp_path, user="id", where="year = '2024'") == 3


@pytest.mark.parametrize("place", ["the last member", "the first member", "a member of its own"])
def test_everybody_else_is_counted_as_without_the_person(place: str, tmp_path: Path) -> None:
    rng = random.Random(len(place))
    for _ in range(15):
        others, theirs, everybody = mixed(rng, honest_csv)
        more = HEADER + b"q,d,0.9,0.9\n"
        before, _ = outcome(pack(tmp_path / "a.zip", {"1.csv": HEADER + others, "2.csv": more}), user="id")
        members = {
            "the last member": {"0.csv": more, "1.csv": HEADER + everybody},
            "the first member": {"1.csv": HEADER + everybody, "2.csv": more},
            "a member of its own": {"1.csv": HEADER + others, "2.csv": more, "3.csv": HEADER + theirs},
        }[place]
        after, _ = outcome(pack(tmp_path / "b.zip", members), user="id", bad_lines="skip")
        assert all(after.get(at, 0) >= weight for at, weight in before.items()), everybody
        assert sum(abs(after.get(at, 0) - before.get(at, 0)) for at in before | after) <= W


def test_a_broken_line_is_told_by_its_member(tmp_path: Path) -> None:
    path = pack(tmp_path / "t.zip", {"a.csv": rows("ab"), "b.csv": rows("c") + b'"open,d,0.1,0.1\n'})
    with pytest.raises(BrokenRecord, match=r"A line of 'b\.csv' is broken") as problem:
        people(path, user="id")
    assert problem.value.place == "Line 3 of b.csv has a quote that does not close on it."


def encrypted(path: Path) -> None:
    """Set the bit that says so, in both headers."""
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(mark) + at] |= 1
    path.write_bytes(data)


def overlapping(path: Path) -> None:
    """Let the second member begin where the first does."""
    data = bytearray(path.read_bytes())
    first = data.index(b"PK\1\2")
    second = data.index(b"PK\1\2", first + 1)
    data[second + 42 : second + 46] = struct.pack("<I", 0)
    path.write_bytes(data)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    at = data.index(b"id,day")
    data[at + 20] ^= 1
    path.write_bytes(data)


def lying_about_its_size(path: Path) -> None:
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\1\2")
    data[at + 24 : at + 28] = struct.pack("<I", 20)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (encrypted, "are encrypted"), (overlapping, "overlap"), (cut_short, "not a zip, or not whole"),
        (damaged, "can't be unpacked to its end"), (lying_about_its_size, "can't be unpacked"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
@pytest.mark.parametrize("bad_lines", ["stop", "skip"])
def test_what_is_no_honest_zip_is_refused(harm: Any, words: str, bad_lines: str, tmp_path: Path) -> None:
    path = pack(tmp_path / "t.zip", {"a.csv": rows("ab") * 9, "b.csv": rows("ab") * 9}, zipfile.ZIP_STORED)
    harm(path)
    with pytest.raises(DataError, match=words):
        people(path, user="id", bad_lines=bad_lines)


def test_what_is_in_no_zip_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no file in it that ends in"):
        people(pack(tmp_path / "t.zip", {"notes.md": b"x", "u.zip": b"PK"}), user="id")
    with pytest.raises(DataError, match="neither stored nor deflated"):
        people(pack(tmp_path / "t.zip", {"a.csv": rows("ab")}, zipfile.ZIP_BZIP2), user="id")
    with pytest.raises(DataError, match=r"'b\.csv' does not have the columns of 'a\.csv'"):
        people(pack(tmp_path / "t.zip", {"a.csv": rows("ab"), "b.csv": b"name,lat,lon\n"}), user="id")
    (tmp_path / "t.zip").write_bytes(b"")
    with pytest.raises(DataError, match="not a zip"):
        people(tmp_path / "t.zip", user="id")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as file:
        for name in "ab":
            file.writestr("a.csv", rows(name))
    with pytest.raises(DataError, match="have one name"):
        people(tmp_path / "t.zip", user="id")


def test_a_bomb_takes_time_and_no_memory(tmp_path: Path) -> None:
    """A line of 300 MB of one letter, packed to 300 kB: it is broken, and others count."""
    with zipfile.ZipFile(tmp_path / "t.zip", "w", KIND) as file, file.open("a.csv", "w") as member:
        member.write(rows("ab"))
        for _ in range(300):
            member.write(b"a" * 1_000_000)
        member.write(b"\nc,d,0.1,0.1\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = dph.aggregate(tmp_path / "t.zip", dph.Domain.unit(3), user="id", x="x", y="y", bad_lines="skip").report
    assert report is not None
    assert (report.people, report.broken_lines) == (3, 1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "kB"
