"""Integer weights per cell, as a sparse quadtree sized by the occupied cells. Private: never publish it.

The tree is two sorted arrays. All descendants of a cell are one range of Morton codes, so the weight of any cell of any
level is a difference of two prefix sums found by bisection: nothing is stored per level or per empty cell. A question
touches only what a bisection reads, so the arrays may lie on disk (`counts_file.py`).

Prefix sums of more than 8 billion people don't fit into 64 bits. They are kept modulo 2^64, with the few positions at
which they wrap around, so differences are exact for any number of people. A table can't be refused for its number of
people, because the refusal would reveal it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, NoReturn

import numpy as np

from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.design.shares import FARTHEST, UNITS
from dpheatmap.errors import MissingDependency, PrivacyRefusal
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, decode, encode
from dpheatmap.slicing.part import Part

LARGEST = np.uint64(2**63 - 1)
NOT_ADDED = (
    "Counts can't be added up: a person's weight of 1 is shared over all their events, so one who is in several of "
    "them would weigh more than 1. Aggregate all events at once, or release each for an epsilon of its own."
)


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """Weights of the occupied cells at the finest level. Private: never publish them.

    :func:`dpheatmap.aggregate` makes them.

    Attributes
    ----------
    domain : Domain
        The public place.
    codes : array of int
        The Morton codes of the occupied cells, ascending.
    sums : array of int
        The weight of all cells before each, and of everybody at the end, in units of 1/W of a person, modulo 2^64.
    report : RowReport or None
        What was read.
    part : Part or None
        The part of the population that the counts are about, if it is not everybody.
    turns : array of int
        The positions at which ``sums`` turn over.
    unit : str
        What stands for a person, and is protected: such as "person" or "trip".

    Notes
    -----
    Contract: the weights are integers >= 0, and adding one person's data to the table adds non-negative integers to
    them whose sum is at most W. Then every level, as a vector over its cells, changes by at most W in L1 norm. With a
    ``part`` they are about the people of that part alone: adding anybody else adds nothing.
    """

    domain: Domain
    codes: Ints
    sums: Ints
    report: RowReport | None = None
    part: Part | None = None
    turns: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    unit: str = "person"

    @classmethod
    def from_cells(cls, domain: Domain, x: Ints, y: Ints, weight: Ints, report: RowReport | None = None) -> Counts:
        """Make counts of cells of the finest level in any order.

        Parameters
        ----------
        domain : Domain
            The public place.
        x, y : array of int
            The columns and rows of the cells, each cell once.
        weight : array of int
            Their weights, in units of 1/W of a person. The caller answers for the contract of this class.
        report : RowReport, optional
            What was read.

        Returns
        -------
        Counts
            The counts, sorted by Morton code.
        """
        codes = encode(x, y)
        order = np.argsort(codes)
        return replace(cls.in_order(domain, codes[order], np.asarray(weight, dtype=np.int64)[order]), report=report)

    @classmethod
    def in_order(cls, domain: Domain, codes: Ints, weights: Ints) -> Counts:
        """Make counts of cells of the finest level in the order of their Morton codes.

        Parameters
        ----------
        domain : Domain
            The public place.
        codes : array of int
            The Morton codes, strictly ascending.
        weights : array of int
            Their weights, in units of 1/W of a person.

        Returns
        -------
        Counts
            The counts.
        """
        if np.min(weights, initial=0) < 0:
            raise AssertionError("an engine gave a cell less than nobody; please report this")
        sums = np.zeros(len(weights) + 1, dtype=np.int64)
        np.cumsum(weights, out=sums[1:])
        return cls(domain, codes, sums, turns=_turns(sums))

    @property
    def total(self) -> int:
        """The weight of everybody, in units of 1/W of a person."""
        return (len(self.turns) << 64) + int(self.sums[-1:].view(np.uint64)[0])

    def at(self, level: int, codes: Ints) -> Ints:
        """Compute the weights of cells of a level; those above 2^61 units are clipped to that.

        Parameters
        ----------
        level : int
            The level.
        codes : array of int
            The Morton codes of the cells.

        Returns
        -------
        array of int
            Their weights, in units of 1/W of a person.

        Notes
        -----
        Clipping moves the weights of neighbouring tables no further apart. Noisy values are clipped at the same bound.
        """
        held: Ints = np.minimum(self.exact(level, codes), FARTHEST).astype(np.int64)
        return held

    def exact(self, level: int, codes: Ints) -> Ints:
        """Compute the weights of cells of a level, whatever their size: none is clipped.

        Parameters
        ----------
        level : int
            The level.
        codes : array of int
            The Morton codes of the cells.

        Returns
        -------
        array of int
            Their weights, in units of 1/W of a person: Python's integers if some don't fit into 64 bits.
        """
        shift = 2 * (self.domain.depth - level)
        low, high = (self.codes.searchsorted(start << shift) for start in (codes, codes + 1))
        before, after = self.sums[low].view(np.uint64), self.sums[high].view(np.uint64)
        weights = after - before
        if len(self.turns):
            passed = self.turns.searchsorted(high, side="right") - self.turns.searchsorted(low, side="right")
            rounds = passed - (after < before)  # how often the sums wrap around in between
            if rounds.any():
                whole: Ints = weights.astype(object) + rounds.astype(object) * 2**64
                return whole
        fitting: Ints = weights.astype(np.int64 if np.max(weights, initial=0) <= LARGEST else object)
        return fitting

    def to_arrow(self) -> Any:
        """Convert the occupied cells to an Arrow table. Private: exact weights of people.

        Returns
        -------
        pyarrow.Table
            The columns x, y and weight.
        """
        try:
            import pyarrow as pa
        except ImportError as error:
            raise MissingDependency("pyarrow", "to_arrow") from error
        x, y = decode(self.codes)
        return pa.table({"x": x, "y": y, "weight": np.diff(self.sums)})

    def save(self, path: str | PathLike[str]) -> None:
        """Write the counts to a file that only its owner may read. Private: exact weights of people.

        Parameters
        ----------
        path : path
            A file such as ``city.counts.npy``, which is mapped into memory when it is read, or ``city.counts.parquet``.

        Examples
        --------
        >>> import tempfile
        >>> from dpheatmap import Counts
        >>> here = np.array([3, 5])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Counts.from_cells(Domain.unit(4), here, here, here * UNITS).save(f"{folder}/city.counts.parquet")
        ...     Counts.load(f"{folder}/city.counts.parquet").total // UNITS
        8
        """
        from dpheatmap.curator.counts_file import save

        save(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> Counts:
        """Read counts that :meth:`save` wrote.

        Parameters
        ----------
        path : path
            The file. A .npy is mapped into memory: only the parts that are used are read from disk.

        Returns
        -------
        Counts
            The counts. Private: exact weights of people.
        """
        from dpheatmap.curator.counts_file import load

        return load(path)

    def __add__(self, other: object) -> NoReturn:
        """Refuse: a person who is in both would weigh up to twice as much, and be protected half as well."""
        raise PrivacyRefusal(NOT_ADDED)

    __radd__ = __add__

    def __repr__(self) -> str:
        return f"<Counts of a {self.domain.kind} domain, private: {UNITS} units a person>"


def _turns(sums: Ints) -> Ints:
    """The positions at which prefix sums modulo 2^64, of weights below 2^63 each, are smaller than the one before."""
    unsigned = sums.view(np.uint64)
    return np.flatnonzero(unsigned[1:] < unsigned[:-1]) + 1
