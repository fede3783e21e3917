"""The part of each cell that lies in an area (`ring_parts.py`), and the ground that areas cover."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpheatmap.estimate.inside_cells import cut_at_boundary, weights_of
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, decode
from dpheatmap.place.ring_parts import NEGLIGIBLE, fill_parts
from dpheatmap.place.rings import Shapes


class Coverage(NamedTuple):
    """Pairs of an area and a cell that meet, with the part of the cell inside.

    For each area, it tells the ground covered in squares of the domain's unit of lengths, and what part of the area is
    in the domain.
    """

    areas: Ints
    cells: Ints
    parts: Floats
    ground: Floats
    inside: Floats

    def total(self, masses: Floats) -> Floats:
        """Add up the masses of cells by area."""
        found: Floats = np.bincount(self.areas, self.parts * masses[self.cells], len(self.ground)).astype(np.float64)
        return found


def cover(shapes: Shapes, domain: Domain, levels: Ints, codes: Ints) -> Coverage:
    """Find the part of each of the disjoint cells that cover a domain that lies in each area.

    A cell counts with what is in the domain. Where both the domain's boundary and an area's border pass through one of
    the finest cells, they are taken for the same line.
    """
    cut = cut_at_boundary(domain, levels, codes, int(levels.max()))
    boxes = boxes_of_cells(domain, cut.levels, cut.codes)
    x0, y0, x1, y1 = boxes.T
    sizes = (x1 - x0) * (y1 - y0)
    within = weights_of(domain, cut.levels, cut.codes) / sizes
    areas, cells, parts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for k in range(len(shapes.names)):
        found = np.zeros(len(boxes))
        fill_parts(shapes.edges[shapes.starts[k] : shapes.starts[k + 1]], boxes, found)
        here = np.flatnonzero(found > NEGLIGIBLE)
        areas.append(np.full(len(here), k))
        cells.append(here)
        parts.append(np.minimum(found[here] / within[here], 1.0))
    unknown = np.zeros(len(shapes.names))
    rough = Coverage(np.concatenate(areas), np.concatenate(cells), np.concatenate(parts), unknown, unknown)
    inside = rough.total(sizes * within) / np.where(shapes.sizes > 0, shapes.sizes, 1.0)
    ground = rough.total(domain.place.area(*(boxes.T / 2.0**domain.depth)) * within)
    return Coverage(rough.areas, cut.holder[rough.cells], rough.parts * cut.part[rough.cells], ground, inside)


def boxes_of_cells(domain: Domain, levels: Ints, codes: Ints) -> Floats:
    """Left, top, right and bottom of cells, as far as they are in the domain, in units of the finest cells."""
    x, y = decode(codes)
    shift = domain.depth - levels
    whole = domain.cells(domain.depth)
    edges = (
        np.maximum(x << shift, whole.x0),
        np.maximum(y << shift, whole.y0),
        np.minimum((x + 1) << shift, whole.x1),
        np.minimum((y + 1) << shift, whole.y1),
    )
    return np.stack(edges, axis=1).astype(np.float64)
