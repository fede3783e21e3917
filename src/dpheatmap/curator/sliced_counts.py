"""The counts of all slices of an axis, as one value. Private: they hold exact weights of people."""

from __future__ import annotations

from dataclasses import dataclass

from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.place.domain import Domain
from dpheatmap.slicing.axis import Axis
from dpheatmap.slicing.part import Part


@dataclass(frozen=True, eq=False, repr=False)
class SlicedCounts:
    """Weights of the occupied cells in all slices. Private: never publish them.

    :func:`dpheatmap.read_counts` makes them, and :func:`dpheatmap.release` takes them.

    Attributes
    ----------
    axis : Axis
        The public slices.
    slices : tuple of Counts
        The counts of each slice, in the order of the axis.

    Notes
    -----
    Contract: together the slices keep that of :class:`Counts`. Adding one person's data adds non-negative integers to
    all of them whose sum is at most W.
    """

    axis: Axis
    slices: tuple[Counts, ...]

    @property
    def domain(self) -> Domain:
        """The public place."""
        return self.slices[0].domain

    @property
    def report(self) -> RowReport | None:
        """What was read, over all slices."""
        return self.slices[0].report

    @property
    def part(self) -> Part | None:
        """The part of the population that the counts are about, if it is not everybody."""
        return self.slices[0].part

    def __repr__(self) -> str:
        return f"<SlicedCounts of a {self.domain.kind} domain, private: {len(self.slices)} slices>"
