"""A part of a population: the people who have one value of a public partition."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from dpheatmap._util.parameters import check
from dpheatmap.errors import ParameterError


class Part(NamedTuple):
    """One value of a partition of people: the column, the value, and the public list that it is from."""

    column: str
    value: str
    values: tuple[str, ...]

    @classmethod
    def of(cls, partition: object, part: object) -> Part | None:
        """The part that the parameters ``partition`` and ``part`` name, checked; None if neither is given."""
        check(**{name: value for name, value in (("partition", partition), ("part", part)) if value is not None})
        if partition is None and part is None:
            return None
        if partition is None or part is None:
            raise ParameterError(
                "partition and part go together, and one of them is missing. Give partition={'column': ['a', 'b']}, "
                "part='a'."
            )
        assert isinstance(partition, Mapping)
        assert isinstance(part, str)
        ((column, values),) = partition.items()
        if part not in values:
            raise ParameterError(
                f"part must be on the partition's list, {', '.join(values)}; it was {part!r}. Mend it."
            )
        return cls(column, part, tuple(values))

    @classmethod
    def read(cls, text: str) -> Part | None:
        """The part that a ledger's entry is about; None if it is about everybody."""
        if not text:
            return None
        column, value, values = json.loads(text)
        part = cls.of({column: values}, value)
        assert part is not None
        return part

    def __str__(self) -> str:
        return json.dumps([self.column, self.value, list(self.values)])
