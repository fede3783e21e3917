"""The report of a reading: the only exact numbers that leave the private side, for the data holder."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RowReport:
    """A report of what the aggregation read: exact numbers, for the data holder's eyes only.

    Attributes
    ----------
    rows : int
        All rows that were read.
    without_person : int
        Rows without a person's id.
    invalid : int
        Rows with coordinates or a weight that can't be used.
    outside : int
        Rows outside the domain.
    inside : int
        Rows inside the domain, which count.
    people : int
        People with a row inside the domain.
    seconds : float
        How long the reading took.
    broken_lines, empty_lines : int
        Lines of text that were left out: those that can't be read, and those without anything.
    """

    rows: int
    without_person: int
    invalid: int
    outside: int
    inside: int
    people: int
    seconds: float
    broken_lines: int = 0
    empty_lines: int = 0
