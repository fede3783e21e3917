"""The columns that a question names. Nothing else of a table is read, so nothing else of a row has any effect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpheatmap.curator.read.predicate import columns_of
from dpheatmap.curator.read.reading import Reading

if TYPE_CHECKING:
    from dpheatmap.curator.read.slice_numbers import Slices


@dataclass(frozen=True)
class Question:
    """The names of the columns; ``user`` is the column of ids.

    With ``points``, no coordinates are named: they are the points that the table describes.
    """

    columns: frozenset[str]
    user: str | None
    points: bool = False

    @classmethod
    def of(cls, reading: Reading, slices: Slices | None = None) -> Question:
        """The columns that a reading names, including those of its ``where`` and its slices."""
        named = set(reading.columns)
        if slices is not None:
            named.update(slices.columns)
        if reading.where is not None:
            named |= columns_of(reading.where)
        return cls(frozenset(named), reading.user, points=reading.x is None and reading.geometry is None)

    def among(self, names: Iterable[str], points: Iterable[str] = ()) -> list[str]:
        """The requested ones of a table's columns, in its order; ``points`` are the geometries that it describes."""
        described = set(list(points)[:1]) if self.points else set()
        return [name for name in names if name in self.columns or name in described]
