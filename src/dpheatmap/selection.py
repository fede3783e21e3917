"""Which cells the paper's design measures, as a function of published values: the same on both sides of the wall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dpheatmap.domain import Domain
from dpheatmap.quadtree import Ints, children, decode, encode, largest

if TYPE_CHECKING:
    from dpheatmap.release import Measurements


def all_cells(domain: Domain, level: int) -> Ints:
    """The Morton codes, ascending, of all cells of a level that meet the domain."""
    r = domain.cells(level)
    x, y = np.meshgrid(np.arange(r.x0, r.x1), np.arange(r.y0, r.y1))
    return np.sort(encode(x.ravel(), y.ravel()))


def next_cells(domain: Domain, level: int, cells: Ints, noisy: Ints, width: int | None) -> Ints:
    """The cells measured one level down: the children that meet the domain of the ``width`` largest noisy values.

    Without a width, of all cells: that is the rule for the first level.
    """
    if level == domain.depth:
        return cells[:0]
    four = children(cells if width is None else cells[largest(cells, noisy, width)])
    return four[domain.meets(level + 1, *decode(four))]


def visited(domain: Domain, levels: range, width: int, measurements: Measurements) -> Iterator[tuple[int, Ints]]:
    """Level by level, the cells that the noisy values say were measured."""
    cells = all_cells(domain, levels[0])
    for level in levels:
        yield level, cells
        codes, noisy = measurements.at(level)
        if len(codes) != len(cells):
            return
        cells = next_cells(domain, level, cells, noisy, None if level == levels[0] else width)
