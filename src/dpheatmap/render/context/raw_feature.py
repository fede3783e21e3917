"""A feature as a file has it: one shape in degrees, and its properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpheatmap.place.domain import Floats
from dpheatmap.render.context.kinds import Shape


@dataclass(frozen=True, eq=False)
class RawFeature:
    """One shape in degrees, and its properties.

    ``parts`` are polygons, each a list of rings, or lines or points, each in a list of its own.
    """

    shape: Shape
    parts: Sequence[Sequence[Floats]]
    tags: Mapping[str, Any]
