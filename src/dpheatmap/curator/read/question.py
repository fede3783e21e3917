"""Which columns a question names. Nothing else of a table is read, so nothing else of a row is of any consequence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dpheatmap.curator.predicate import columns_of

ROLES = ("user", "x", "y", "geometry", "weight")


@dataclass(frozen=True)
class Question:
    """The columns by their names; ``user`` is the one that tells whose a row is.

    With ``points``, no coordinates are named: they are the points that the table describes.
    """

    columns: frozenset[str]
    user: str | None
    points: bool = False

    @classmethod
    def of(cls, columns: Mapping[str, Any], *others: str | None) -> Question:
        """What a caller's columns by their roles, their ``where`` and ``others`` name."""
        given = [*(columns.get(role) for role in ROLES), *others]
        named = frozenset(name for name in given if name is not None)
        where = columns.get("where")
        points = all(columns.get(role) is None for role in ("x", "y", "geometry"))
        return cls(named if where is None else named | columns_of(where), columns["user"], points)

    def among(self, names: Iterable[str], points: Iterable[str] = ()) -> list[str]:
        """Those of a table's names that are asked for, in its order; ``points`` are those that it describes."""
        described = set(list(points)[:1]) if self.points else set()
        return [name for name in names if name in self.columns or name in described]
