"""A place: where the root square of the quadtree lies, and what its coordinates, lengths and areas are.

Boxes on the ground, images and the unit square are places (`box.py`, `image.py`, `unit_square.py`); a new kind is a
class of its own and a line in `PLACES` of `domain.py`. Coordinates are converted by arithmetic that gives the same
result in NumPy and in SQL (`projection.py`), because a row's cell must be the same on every engine.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.number_words import digits
from dpheatmap.place.mask import CellRange, Mask, RectangleMask

Floats = NDArray[np.float64]


class Bounds(NamedTuple):
    """A rectangle in a place's own coordinates: degrees, pixels or fractions of the side."""

    x0: float
    y0: float
    x1: float
    y1: float


class Units(NamedTuple):
    """The units of a place's lengths and areas, and their names."""

    length: str
    """The unit of lengths such as sigma."""
    lengths: str
    """The unit of lengths in names of columns."""
    density: str
    """The name of columns of densities."""
    per_area: str
    """The unit of densities, by the CF conventions."""
    area: float
    """The area that densities are per, in squares of the unit of lengths."""
    areas: tuple[tuple[float, str], ...]
    """Familiar areas and their names; none where a density of 1 is that of an even map."""


class Functions(NamedTuple):
    """What coordinates are converted with besides operators, on arrays or on SQL expressions."""

    sqrt: Callable[[Any], Any]
    let: Callable[[Any], Any]
    """Names an intermediate result, which is a column in SQL; in NumPy it does nothing."""
    choose: Callable[[Any, Any, Any], Any]
    """The second where the first is true, else the third."""


ON_ARRAYS = Functions(np.sqrt, lambda step: step, np.where)


class Place(ABC):
    """The place that a domain lies on. ``extent`` is the rectangle that holds all of it, edges included."""

    extent: Bounds
    kind: ClassVar[str]
    """Its name in files."""
    geographic: ClassVar[bool] = False
    """Whether coordinates are degrees on the ground, and cells map tiles."""
    words: ClassVar[str]
    """Its name in sentences."""
    units: ClassVar[Units]
    axes: ClassVar[tuple[str, str]] = ("x", "y")
    """The names of the two coordinates in tables."""

    # Coordinates

    @abstractmethod
    def to_root(self, x: Any, y: Any, on: Functions) -> tuple[Any, Any]:
        """Map points to the root square [0, 1]^2, rows downward; takes arrays or SQL expressions."""

    @abstractmethod
    def from_root(self, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Map points of the root square to the place's coordinates."""

    @abstractmethod
    def edges(self, left: float, top: float, right: float, bottom: float) -> Bounds:
        """The edges of a rectangle of the root square in the place's coordinates."""

    def within(self, x: Any, y: Any, on: Functions) -> Any:
        """Tell which points lie in the extent, of arrays or of SQL expressions.

        A point there is inside if its finest cell meets the place (`mask`): what is counted is then measured. In the
        extent of a rectangle, every finest cell does.
        """
        e = self.extent
        return (x >= e.x0) & (x <= e.x1) & (y >= e.y0) & (y <= e.y1)

    def mask(self, depth: int) -> Mask:
        """The cells that meet the place."""
        return RectangleMask(self.finest(depth), depth)

    @property
    def outline(self) -> list[Floats]:
        """The rings of a boundary as points of the root square, each closed; none around a rectangle."""
        return []

    def finest(self, depth: int) -> CellRange:
        """The rectangle of finest cells that holds the extent."""
        e = self.extent
        u, v = self.to_root(np.array([e.x0, e.x1]), np.array([e.y0, e.y1]), ON_ARRAYS)
        side = 2**depth
        x0, y0 = (min(max(math.floor(min(at) * side), 0), side - 1) for at in (u.tolist(), v.tolist()))
        x1, y1 = (min(math.ceil(max(at) * side), side) for at in (u.tolist(), v.tolist()))
        return CellRange(x0, y0, max(x1, x0 + 1), max(y1, y0 + 1))

    # Lengths and areas

    @abstractmethod
    def width_of_root(self, v: Floats) -> Floats:
        """The length of the root square's side at each row, in ground metres, pixels or sides."""

    @property
    @abstractmethod
    def widest_root(self) -> float:
        """The largest of these lengths anywhere in the place."""

    @property
    @abstractmethod
    def lengths_of_units(self) -> tuple[float, float]:
        """The lengths of a step of 1 in x and in y, about the middle of the place."""

    @abstractmethod
    def area(self, left: Floats, top: Floats, right: Floats, bottom: Floats) -> Floats:
        """The areas of rectangles of the root square: square metres on the ground, square pixels or square sides."""

    # Words and files

    def customary(self, x: Floats) -> Floats:
        """Coordinates x as tables tell them."""
        return x

    def readable_length(self, length: float) -> tuple[float, str]:
        """A length in the unit that reads best, and that unit."""
        return length, self.units.length

    def length_in_words(self, length: float) -> str:
        """A length for people: to three digits, or two of a larger unit."""
        number, unit = self.readable_length(length)
        return f"{digits(number, 3 if unit == self.units.length else 2)} {unit}"

    @property
    @abstractmethod
    def option(self) -> str:
        """The place as an option of the command line."""

    def to_dict(self) -> dict[str, Any]:
        """A description that :meth:`from_dict` reads back, for the metadata of files."""
        return {"kind": self.kind, "extent": list(self.extent)}

    @classmethod
    @abstractmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        """Make the place that :meth:`to_dict` described; raises ValueError or DomainError for anything else."""


class Planar(Place):
    """A place on a plane: one length everywhere, and rows that grow downward as y does."""

    @property
    @abstractmethod
    def root_side(self) -> float:
        """The side of the root square in the place's coordinates."""

    def to_root(self, x: Any, y: Any, on: Functions) -> tuple[Any, Any]:
        """Divide by the side of the root square."""
        return x / self.root_side, y / self.root_side

    def from_root(self, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Multiply by the side of the root square."""
        return u * self.root_side, v * self.root_side

    def edges(self, left: float, top: float, right: float, bottom: float) -> Bounds:
        """Multiply by the side of the root square."""
        return Bounds(*(self.root_side * at for at in (left, top, right, bottom)))

    def width_of_root(self, v: Floats) -> Floats:
        """The side of the root square, the same on every row."""
        return np.full(np.shape(v), self.root_side)

    @property
    def widest_root(self) -> float:
        """The side of the root square."""
        return self.root_side

    @property
    def lengths_of_units(self) -> tuple[float, float]:
        """1 and 1: lengths are counted in the coordinates' own unit."""
        return 1.0, 1.0

    def area(self, left: Floats, top: Floats, right: Floats, bottom: Floats) -> Floats:
        """Width times height."""
        area: Floats = self.root_side**2 * (right - left) * (bottom - top)
        return area
