"""The unit square, 0 to 1 both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from dpheatmap.place.place import Bounds, Planar, Units

SQUARE = Bounds(0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True)
class UnitSquare(Planar):
    """The root square itself."""

    extent: Bounds = SQUARE
    kind: ClassVar[str] = "unit"
    words: ClassVar[str] = "a unit square"
    units: ClassVar[Units] = Units("of the side", "sides", "density", "1", 1.0, ())
    root_side: ClassVar[float] = 1.0

    @property
    def option(self) -> str:
        """The option ``--unit``."""
        return "--unit"

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        """Return the unit square, which has no parameters."""
        if tuple(map(float, description["extent"])) != (0, 0, 1, 1):
            raise ValueError("not the unit square's extent")
        return cls()
