"""SQL expressions with the operators of numbers, so that one formula serves arrays and statements."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sql:
    """An SQL expression with the operators of a number."""

    text: str

    def __mul__(self, other: Sql | float) -> Sql:
        return Sql(f"({self.text} * {text_of(other)})")

    def __truediv__(self, other: Sql | float) -> Sql:
        return Sql(f"({self.text} / {text_of(other)})")

    def __radd__(self, other: float) -> Sql:
        return Sql(f"({text_of(other)} + {self.text})")

    def __rsub__(self, other: float) -> Sql:
        return Sql(f"({text_of(other)} - {self.text})")

    def __rmul__(self, other: float) -> Sql:
        return Sql(f"({text_of(other)} * {self.text})")

    def __ge__(self, other: Sql | float) -> Sql:
        return Sql(f"({self.text} >= {text_of(other)})")

    def __le__(self, other: Sql | float) -> Sql:
        return Sql(f"({self.text} <= {text_of(other)})")

    def __and__(self, other: Sql) -> Sql:
        return Sql(f"({self.text} AND {other.text})")


def text_of(value: Sql | float) -> str:
    """The SQL of a value; of a number, the shortest decimal that every engine reads back as the same float."""
    return value.text if isinstance(value, Sql) else f"CAST('{value!r}' AS DOUBLE)"
