"""The public group-by: every row belongs to one group of a public list, or to none and does not count.

Images, hours and districts are cases of it. The list is public, because one found in the data would reveal which groups
occur. A row's group follows from the row alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dpheatmap._util.parameters import check
from dpheatmap.curator.read.sql_text import literal

GROUP = "group_number"
"""The column of a canonical relation that holds the number of a row's group in the list, or null."""
VALUE = "group_value"
"""The column whose value decides the group."""


@dataclass(frozen=True)
class Grouping:
    """Rows grouped by the values of a column, of which ``names`` lists those that count."""

    column: str
    names: tuple[str, ...]

    def number_groups(self, relation: str, columns: Iterable[str]) -> str:
        """Replace the column `VALUE` of a relation with these columns by `GROUP`, as SQL."""
        # Names are listed once each, so no event is doubled.
        public = ", ".join(f"({literal(name)}, {number})" for number, name in enumerate(self.names))
        listed = f"(VALUES {public}) listed(name, {GROUP})"
        kept = ", ".join(f"events.{column}" for column in columns)
        return f"SELECT {kept}, {GROUP} FROM ({relation}) events LEFT JOIN {listed} ON events.{VALUE} = listed.name"


def listed_names(names: Iterable[str]) -> tuple[str, ...]:
    """Check a public list of names."""
    found = [] if isinstance(names, (str, bytes)) or not isinstance(names, Iterable) else list(names)
    check(images=found)
    return tuple(found)
