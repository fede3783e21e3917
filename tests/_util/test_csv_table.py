"""Tables that people open in spreadsheets."""

from __future__ import annotations

import csv
import io

import pytest

from dpheatmap._util.csv_table import csv_table


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_text_of_every_column_is_no_formula(start: str) -> None:
    text = f"{start}1+1"
    written = csv_table(["a", "b", "c"], [(text, 1, text), (-1, "a-1", f"a{text}")])
    rows = list(csv.reader(io.StringIO(written, newline="")))
    text = text.replace("\r", " ")
    assert rows == [["a", "b", "c"], [f"'{text}", "1", f"'{text}"], ["-1", "a-1", f"a{text}"]]
