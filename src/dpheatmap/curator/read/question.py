"""Which columns a question names. Nothing else of a table is read, so nothing else of a row is of any consequence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dpheatmap.curator.read.grouping import Grouping
from dpheatmap.curator.read.predicate import columns_of
from dpheatmap.curator.read.reading import Reading


@dataclass(frozen=True)
class Question:
    """The columns by their names; ``user`` is the one that tells whose a row is.

    With ``points``, no coordinates are named: they are the points that the table describes.
    """

    columns: frozenset[str]
    user: str | None
    points: bool = False

    @classmethod
    def of(cls, reading: Reading, grouping: Grouping | None = None) -> Question:
        """What a reading names, its ``where`` and its grouping included."""
        named = set(reading.columns)
        if grouping is not None:
            named.add(grouping.column)
        if reading.where is not None:
            named |= columns_of(reading.where)
        return cls(frozenset(named), reading.user, points=reading.x is None and reading.geometry is None)

    def among(self, names: Iterable[str], points: Iterable[str] = ()) -> list[str]:
        """Those of a table's names that are asked for, in its order; ``points`` are those that it describes."""
        described = set(list(points)[:1]) if self.points else set()
        return [name for name in names if name in self.columns or name in described]
