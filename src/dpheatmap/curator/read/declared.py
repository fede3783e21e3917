"""Parquet files whose values may not be of the type that their column declares.

DuckDB stops at the first text that is not UTF-8, JSON that is not valid, geometry that is not well-known binary, and
time that is out of range. That would let one person's row refuse everybody's. So after a reading has failed, the files
that it fails on are copied to the private folder with another footer (see `footer.py`). In the copies the columns have
the types that are stored, and each value is understood by itself or is null.

**Why others' rows are the same.** The functions in `_UNDERSTOOD` are those that DuckDB's reader applies to a value: a
value on which they don't fail has the same result in both readings, and a test compares them. A reading never replaces
a part of a text: `utf8_validation` with "replace" or "ignore" would make one person of several.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import duckdb

from dpheatmap._util.files import not_a_pattern
from dpheatmap.curator.engines.duckdb import quietly
from dpheatmap.curator.read.footer import without_meaning
from dpheatmap.curator.read.sql_text import literal, quote_name
from dpheatmap.curator.read.table import describe

_TAIL = 8
"""Bytes after a footer: its length, and the letters that end every file."""
_UNDERSTOOD = {
    r"VARCHAR": "TRY(decode({}))",
    r"JSON": "TRY(CAST(decode({}) AS JSON))",
    r"GEOMETRY.*": "TRY(ST_GeomFromWKB({}))",
    r"TIMESTAMP": "TRY(make_timestamp({} * 1000))",
    r"TIMESTAMP WITH TIME ZONE": "TRY(make_timestamptz({} * 1000))",
}
"""By a column's type, the function that makes a value of the stored bytes or milliseconds."""


class Files:
    """Files whose named columns have the same types, as a view of a connection."""

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        name: str,
        files: Sequence[str],
        columns: Sequence[str],
        option: str,
        folder: Path,
    ) -> None:
        self._con, self._name, self._files, self._columns = con, name, files, columns
        self._option, self._folder = option, folder

    @property
    def relation(self) -> str:
        """The columns as the files declare them."""
        return f"({self._select(self._files)})"

    def view(self) -> str:
        """Create the view that reads the files, and return its name."""
        self._let(self._select(self._files))
        return self._name

    def mend(self) -> bool:
        """Let the view read files whose values are not as declared; False if there is no such file.

        A file's unreadable columns are found by reading each alone. Times that fail are those in milliseconds, because
        others are stored as DuckDB has them.
        """
        types = describe(self._con, self.relation, "the files")
        bad = {file: self._unreadable(file, types) for file in self._files}
        selects = [
            self._select([self._copy(k, file, functions)], functions)
            for k, (file, functions) in enumerate(bad.items())
            if functions
        ]
        if not selects:
            return False
        good = [file for file, functions in bad.items() if not functions]
        self._let(" UNION ALL ".join([self._select(good), *selects] if good else selects))
        return True

    def _select(self, files: Sequence[str], functions: Mapping[str, str] | None = None) -> str:
        taken = {name: (functions or {}).get(name, "{}").format(quote_name(name)) for name in self._columns}
        columns = [f"{sql} AS {quote_name(name)}" for name, sql in taken.items()] or ["NULL AS nothing"]
        names = ", ".join(literal(not_a_pattern(file)) for file in files)
        return f"SELECT {', '.join(columns)} FROM read_parquet([{names}], {self._option})"

    def _let(self, select: str) -> None:
        quietly(lambda: self._con.execute(f"CREATE OR REPLACE TEMP VIEW {self._name} AS {select}"))

    def _unreadable(self, file: str, types: Mapping[str, str]) -> dict[str, str]:
        """The columns with a value that is not of their type, and the functions that understand what is stored."""
        return {
            name: function
            for name, kind in types.items()
            for pattern, function in _UNDERSTOOD.items()
            if re.fullmatch(pattern, kind) and not self._is_readable(file, name)
        }

    def _is_readable(self, file: str, name: str) -> bool:
        try:
            self._con.execute(f"SELECT bit_xor(hash({quote_name(name)})) FROM ({self._select([file])})").fetchall()
        except duckdb.Error:
            return False
        return True

    def _copy(self, number: int, file: str, columns: Collection[str]) -> str:
        """Copy the file, under folders of the same keys, with these columns as they are stored."""
        keys = [part for part in Path(file).parts[:-1] if "=" in part]
        target = Path(self._folder, str(number), *keys, "copy.parquet")
        target.parent.mkdir(parents=True)
        if os.path.isfile(file):
            shutil.copyfile(file, target)
        else:  # in an object store
            sql = f"COPY (SELECT content FROM read_blob({literal(file)})) TO {literal(str(target))} (FORMAT blob)"
            quietly(lambda: self._con.execute(sql))
        _rewrite_footer(target, columns)
        return str(target)


def _rewrite_footer(path: Path, columns: Collection[str]) -> None:
    with path.open("r+b") as opened:
        end = opened.seek(-_TAIL, os.SEEK_END)
        length, letters = int.from_bytes(opened.read(4), "little"), opened.read(4)
        opened.seek(end - length)
        try:
            footer = without_meaning(opened.read(length), columns)
        except (ValueError, IndexError):  # DuckDB can read the footer, so this code must understand it
            raise AssertionError("a Parquet footer could not be understood; please report this") from None
        opened.seek(end - length)
        opened.write(footer + len(footer).to_bytes(4, "little") + letters)
        opened.truncate()
