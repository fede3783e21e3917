"""Large CSV files: every line counts once, also where a reader of several threads would cut the file.

DuckDB cuts at multiples of 8 MB, and reads 32 MB at a time. Each file here has one person's nasty line right at a cut.
Read in pieces, each went wrong every time, on any number of cores; so do these tests, if files are cut again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import dpheatmap as dph
from dpheatmap.curator.inspect import inspect_table
from dpheatmap.errors import DataError

PIECE, READ = 8_000_000, 32_000_000
HEADER, LINE = "user,x,y,note", "bob,0.1,0.1," + 4000 * "a"


def write(path: Path, nasty: str, at: int, newline: str, after: int = 10) -> int:
    """A file whose nasty line, which may be several, begins at a byte; the number of lines before and after it."""
    header, line = HEADER + newline, LINE + newline
    before, rest = divmod(at - len(header), len(line))
    text = header + "b" * rest + line * before + nasty + newline + line * after
    assert text[at:].startswith(nasty)
    path.write_bytes(text.encode())
    return before + after


def report(path: Path, bad_lines: str = "stop") -> tuple[int, int, int]:
    """The numbers of rows, people and lines left out."""
    columns = {"user": "user", "x": "x", "y": "y"}
    found = dph.aggregate(path, dph.Domain.unit(2), **columns, bad_lines=bad_lines).report  # type: ignore[arg-type]
    assert found is not None
    return found.rows, found.people, found.broken_lines


@pytest.mark.parametrize("bad_lines", ["stop", "skip"])
def test_quotes_after_a_cut_between_two_bytes_of_a_line_s_end_lose_nobody(tmp_path: Path, bad_lines: str) -> None:
    others = write(tmp_path / "t.csv", '"Doe, ""J""",0.1,0.1,a', PIECE + 1, "\r\n")
    assert report(tmp_path / "t.csv", bad_lines) == (others + 1, 3, 0)


def test_a_value_of_lines_that_look_like_rows_is_one_value(tmp_path: Path) -> None:
    value = "eve,0.9,0.9,a\n" * 60_000
    others = write(tmp_path / "t.csv", f'mallory,0.1,0.1,"\n{value}"', PIECE - len(value) // 2, "\n", 1000)
    assert report(tmp_path / "t.csv") == (others + 1, 3, 0)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("broken", ["mallory,0.1", "mallory,0.1,0.1,a,b"])
def test_a_broken_line_after_a_cut_is_found_and_its_number_is_right(tmp_path: Path, newline: str, broken: str) -> None:
    others = write(tmp_path / "t.csv", broken, PIECE + len(newline), newline)
    with pytest.raises(DataError, match=f"^Line {others - 10 + 2} of t.csv does not have the columns"):
        report(tmp_path / "t.csv")
    assert report(tmp_path / "t.csv", "skip") == (others, 2, 1)


@pytest.mark.parametrize("bad_lines", ["stop", "skip"])
def test_empty_lines_at_a_cut_change_no_other_and_are_not_broken(tmp_path: Path, bad_lines: str) -> None:
    """Both the line's end before them and their own end lie on the cut once."""
    for end, nasty in ((READ, "mallory,0.1,0.1,a\r\n"), (READ + 1, "mallory,0.1,0.1,a\r\n\r\n")):
        start = end - len("mallory,0.1,0.1,a\r\n")
        others = write(tmp_path / "t.csv", nasty, start, "\r\n")
        assert report(tmp_path / "t.csv", bad_lines) == (others + 1, 3, 0)


def test_the_first_column_s_values_never_begin_with_line_feeds(tmp_path: Path) -> None:
    """So that the rule above holds for every row alike, wherever it lies; other ids are what they are."""
    (tmp_path / "t.csv").write_text(
        'user,x,y\nann,0.1,0.1\n"\n\nann",0.1,0.1\n"\n",0.1,0.1\n"",0.1,0.1\n"ann\n",0.1,0.1\n'
    )
    found = dph.aggregate(tmp_path / "t.csv", dph.Domain.unit(2), user="user", x="x", y="y").report
    assert found is not None
    assert (found.rows, found.people, found.without_person) == (5, 3, 1)


@pytest.mark.parametrize("line", ['"mallory,0.1,0.1,a', 'mallory,0.1,0.1,"a', 'mallory,"0.1,0.1,a'])
@pytest.mark.parametrize("at", [3 * PIECE, PIECE // 8])
def test_a_quote_that_is_never_closed_stops_the_reading(tmp_path: Path, line: str, at: int) -> None:
    """Otherwise all lines behind it, here 10 or 40 kB of them or 12 MB, would be gone without a word."""
    write(tmp_path / "t.csv", line, at, "\n", 10 if at > PIECE else 3000)
    with pytest.raises(DataError, match="quote"):
        report(tmp_path / "t.csv")
    assert report(tmp_path / "t.csv", "skip")[2] == 1
    assert inspect_table(tmp_path / "t.csv", read_rows=False).columns.keys() == set(HEADER.split(","))
    with pytest.raises(DataError, match="quote"):
        inspect_table(tmp_path / "t.csv", read_rows=True)
