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
        coordinates = (reading.x, reading.y, reading.geometry)
        by = (one.column for one in (reading.people, grouping) if one is not None)
        given = (reading.user, *coordinates, reading.weight, *by)
        named = frozenset(name for name in given if name is not None)
        looked_at = frozenset[str]() if reading.where is None else columns_of(reading.where)
        return cls(named | looked_at, reading.user, points=all(name is None for name in coordinates))

    def among(self, names: Iterable[str], points: Iterable[str] = ()) -> list[str]:
        """Those of a table's names that are asked for, in its order; ``points`` are those that it describes."""
        described = set(list(points)[:1]) if self.points else set()
        return [name for name in names if name in self.columns or name in described]
