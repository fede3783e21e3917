"""Several divisions of one domain into cells, laid over each other: the cells that none of them cuts any further.

Each division has disjoint cells that cover the domain. Cells of a quadtree are nested or apart, so the smallest cells
of all divisions cover the domain, too, and each lies in one cell of every division.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpheatmap.estimate.inside_cells import weights_of
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints


class Division(NamedTuple):
    """Disjoint cells that cover a domain."""

    levels: Ints
    codes: Ints


@dataclass(frozen=True, eq=False)
class Overlay:
    """The smallest cells of several divisions; for each division, the cell that holds each, and its part of it."""

    cells: Division
    holders: list[Ints]
    parts: list[Floats]

    def total(self, masses: Sequence[Floats], power: int = 1) -> Floats:
        """Add up masses by division, the cells along the last axis; a cell passes mass on by area.

        With a power of 2, they are variances: those of parts are smaller by the square.
        """
        shares = zip(masses, self.holders, self.parts, strict=True)
        added: Floats = np.sum([mass[..., holder] * part**power for mass, holder, part in shares], axis=0)
        return added


def overlay(domain: Domain, divisions: Sequence[Division]) -> Overlay:
    """Lay divisions of a domain over each other.

    >>> whole, quarters = Division(np.array([0]), np.array([0])), Division(np.ones(4, np.int64), np.arange(4))
    >>> overlay(Domain.unit(2), [whole, quarters]).total([np.array([4.0]), np.array([0.0, 1.0, 2.0, 3.0])])
    array([1., 2., 3., 4.])
    """
    every = np.unique(np.concatenate([np.stack(division) for division in divisions], axis=1), axis=1)
    begin = _first_finest(domain, Division(every[0], every[1]))
    order = np.lexsort((every[0], begin))
    levels, codes, begin = every[0][order], every[1][order], begin[order]
    end = begin + (1 << 2 * (domain.depth - levels))
    smallest = np.append(begin[1:] >= end[:-1], True)
    cells = Division(levels[smallest], codes[smallest])
    holders, parts = [], []
    for division in divisions:
        starts = _first_finest(domain, division)
        ranks = np.argsort(starts)
        holder = ranks[np.searchsorted(starts[ranks], begin[smallest], side="right") - 1]
        holders.append(holder)
        parts.append(weights_of(domain, *cells) / weights_of(domain, *division)[holder])
    return Overlay(cells, holders, parts)


def _first_finest(domain: Domain, cells: Division) -> Ints:
    """The code of the first of the finest cells inside each cell."""
    first: Ints = cells.codes << 2 * (domain.depth - cells.levels)
    return first
