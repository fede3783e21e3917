"""Cells of a level that meet the domain: all of them, the children of some, and how much of them lies in it."""

from __future__ import annotations

import numpy as np

from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, children, decode, encode


def all_cells(domain: Domain, level: int) -> Ints:
    """The Morton codes, ascending, of all cells of a level that meet the domain."""
    r = domain.cells(level)
    if r.count == 4**level:  # the whole square
        return np.arange(4**level)
    x, y = np.meshgrid(np.arange(r.x0, r.x1), np.arange(r.y0, r.y1))
    return np.sort(encode(x.ravel(), y.ravel()))


def children_inside(domain: Domain, level: int, cells: Ints) -> Ints:
    """The children, one level down, of cells of a level, as far as they meet the domain."""
    four = children(cells)
    if domain.cells(level + 1).count == 4 ** (level + 1):  # the whole square
        return four
    return four[domain.meets(level + 1, *decode(four))]


def area_inside(domain: Domain, level: int, codes: Ints) -> Floats:
    """The part of each cell of a level that is inside the domain, in finest cells."""
    finest, side = domain.cells(domain.depth), 1 << (domain.depth - level)
    x, y = (at * side for at in decode(codes))
    wide = np.minimum(x + side, finest.x1) - np.maximum(x, finest.x0)
    high = np.minimum(y + side, finest.y1) - np.maximum(y, finest.y0)
    area: Floats = np.maximum(wide, 0).astype(np.float64) * np.maximum(high, 0)
    return area
