"""Cells of a level that meet the domain: all of them, or the children of some."""

from __future__ import annotations

import numpy as np

from dpheatmap.domain import Domain
from dpheatmap.quadtree import Ints, children, decode, encode


def all_cells(domain: Domain, level: int) -> Ints:
    """The Morton codes, ascending, of all cells of a level that meet the domain."""
    r = domain.cells(level)
    x, y = np.meshgrid(np.arange(r.x0, r.x1), np.arange(r.y0, r.y1))
    return np.sort(encode(x.ravel(), y.ravel()))


def children_inside(domain: Domain, level: int, cells: Ints) -> Ints:
    """The children, one level down, of cells of a level, as far as they meet the domain."""
    four = children(cells)
    return four[domain.meets(level + 1, *decode(four))]
