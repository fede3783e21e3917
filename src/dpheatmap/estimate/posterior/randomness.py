"""What draws need of a random generator. The caller brings it, such as one of numpy's: nothing here makes its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

from dpheatmap.place.domain import Floats


class Randomness(Protocol):
    """A random generator."""

    def random(self, size: tuple[int, ...]) -> Floats:
        """Uniform numbers."""

    def standard_normal(self, size: int) -> Floats:
        """Normal numbers."""

    def beta(self, a: Floats, b: Floats) -> Floats:
        """Beta numbers."""

    def spawn(self, n_children: int) -> Sequence[Self]:
        """Independent generators; other ones each time."""
