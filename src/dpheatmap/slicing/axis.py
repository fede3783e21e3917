"""The public axis of a release: slices of time, groups of a list, or both. Every slice of it is released."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from dpheatmap._util.parameters import check
from dpheatmap.slicing.period import Period

MOST_SLICES = 5000
_LARGEST = 2**27  # letters of all labels together, about


@dataclass(frozen=True)
class Axis:
    """Slices of time, if there is a ``period``, in each of the ``groups``, if there are any."""

    period: Period | None
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.period is None and not self.groups:
            raise ValueError("an axis has slices of time, or groups")
        size = max(len(self.groups), 1) * (1 if self.period is None else self.period.size)
        if len(set(self.groups)) != len(self.groups) or size > MOST_SLICES:
            raise ValueError("a group is listed twice, or there are too many slices")
        if sum(map(len, self.groups)) * size > _LARGEST:
            raise ValueError("the names of groups are too long")

    @property
    def times(self) -> tuple[str, ...]:
        """The names of the slices of time; one without a name if time plays no role."""
        return ("",) if self.period is None else self.period.labels

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of all slices: those of time in the first group, then those in the second."""
        groups = self.groups or ("",)
        return tuple(" ".join(filter(None, (group, time))) for group in groups for time in self.times)

    @property
    def words(self) -> str:
        """What the slices are, for titles and labels."""
        parts = [f"by group ({len(self.groups)} of a public list)"] * bool(self.groups)
        return ", ".join(parts + ([] if self.period is None else [self.period.words]))

    def to_dict(self) -> dict[str, Any]:
        """A description that :meth:`from_dict` reads back."""
        return {"time": self.period and self.period.to_dict(), "groups": list(self.groups)}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        """The axis that :meth:`to_dict` described."""
        time, groups = description["time"], description["groups"]
        if groups:
            check(groups=groups)
        return cls(None if time is None else Period.from_dict(time), tuple(groups))


def listed_names(names: Iterable[str], rule: str = "groups") -> tuple[str, ...]:
    """Check a public list of names."""
    found = [] if isinstance(names, (str, bytes)) or not isinstance(names, Iterable) else list(names)
    check(**{rule: found})
    return tuple(found)
