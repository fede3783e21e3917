"""What is measured of slices that are alike, such as hours: a map of all of them, and blocks of it slice by slice.

A person's weight of 1 is shared over all slices, so all of them together cost epsilon once. Slices that are alike
borrow strength from each other:

1. *A look.* One count of everybody in all slices, with LOOK of epsilon, tells the signal of a slice: people times
   epsilon, divided by the number of slices. What follows is chosen by it, and by nothing else of the data.
2. *Together*: the pooled part. All slices are measured as one map, by the ladder, with a part of what is left. The
   ladder starts at cells whose mean signal is START, which is less than it does otherwise: what coarser cells hold is
   told by the sums of blocks over slices, too.
3. *Blocks.* From the published values of that map alone: a cell is cut in four while its signal in a slice is above
   CUTTING, but not below the leaves of the map, nor beyond MOST_CELLS blocks in all slices.
4. *Slice by slice.* Each block is counted once in each slice, with the rest.

*Or apart*: where every slice has plenty of signal, each is measured by itself, with all that is left.

The weaker the signal, the more goes into the pooled map. Of few slices less does: their sums tell of the pooled map,
too, through noise that grows with the root of their number. The constants were set on public data: check-ins in New
York and generated commuters (`benchmarks/slices.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np

from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PrivacyLoss, PureLoss
from dpheatmap.design.shares import UNITS
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints

LOOK = Fraction(1, 100)
WEAK, SOME, PLENTY = 170, 500, 1000
"""Signals of a slice below which the pooled map gets most, more, and rather more than half."""
FEW, MANY = 6, 16
"""How many slices are not few, and many."""
POOLED = {
    "weak": Fraction(9, 10), "some": Fraction(4, 5), "few": Fraction(7, 10), "more": Fraction(13, 20),
    "plenty": Fraction(1, 2),
}  # fmt: skip
"""The pooled map's part of what the look left."""
APART, STRONG = 18, 2500
"""Slices are measured apart if the signal of each is APART times the cube of their number, or STRONG."""
START = Fraction(10)
CUTTING = 10
MOST_CELLS = 3000


class Blocks(NamedTuple):
    """Disjoint cells that cover the domain, in the order of their first finest cells."""

    levels: Ints
    codes: Ints


@dataclass(frozen=True)
class SliceRule:
    """How epsilon is shared between the look, the pooled map and the slices; ``pooled`` is 0 if they are apart."""

    pooled: Fraction

    @classmethod
    def after_look(cls, noisy: int, epsilon: Fraction, slices: int) -> Self:
        """Choose by the noisy count of everybody, in units."""
        signal = Fraction(noisy, UNITS) * epsilon / slices
        if signal >= min(APART * slices**3, STRONG):
            return cls(Fraction(0))
        if signal < WEAK:
            return cls(POOLED["weak"])
        if signal < SOME and slices < MANY:
            return cls(POOLED["few" if slices < FEW else "some"])
        return cls(POOLED["more" if signal < PLENTY and slices < MANY else "plenty"])

    @classmethod
    def every(cls) -> list[Self]:
        """All rules that a look may lead to."""
        return [cls(Fraction(0)), *(cls(part) for part in POOLED.values())]

    @property
    def apart(self) -> bool:
        """Whether each slice is measured by itself."""
        return self.pooled == 0

    def design_of_trees(self, design: LadderDesign) -> LadderDesign:
        """The design of the pooled map, or of slices that are measured apart."""
        return design if self.apart else replace(design, start=START)

    def loss_of_map(self, whole: PrivacyLoss) -> PureLoss:
        """The part of the pooled map."""
        return PureLoss(whole.epsilon * (1 - LOOK) * self.pooled)

    def loss_of_slices(self, whole: PrivacyLoss) -> PureLoss:
        """The part of each slice. With that of the look and that of the pooled map it adds up to the whole."""
        return PureLoss(whole.epsilon * (1 - LOOK) * (1 - self.pooled))

    def to_dict(self) -> dict[str, str]:
        """A description that :meth:`from_dict` reads back."""
        return {"look": str(LOOK), "pooled": str(self.pooled)}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Self:
        """The rule that :meth:`to_dict` described."""
        known = {str(rule.pooled): rule for rule in cls.every()}
        if description["look"] != str(LOOK):
            raise ValueError("the look has another part of epsilon")
        return known[description["pooled"]]


def loss_of_look(whole: PrivacyLoss) -> PureLoss:
    """The part of the look."""
    return PureLoss(whole.epsilon * LOOK)


def choose_blocks(domain: Domain, levels: Ints, codes: Ints, counts: Ints, loss: PrivacyLoss, slices: int) -> Blocks:
    """Cut the domain into blocks, from the published values of the pooled map, in whole numbers.

    ``loss`` is that of a slice. The value of a cell is the sum of the values of the leaves inside it.
    """
    leaves = _leaves(domain, levels, codes, counts)
    threshold = CUTTING * slices * UNITS // loss.epsilon
    level = domain.first_level(1)
    here, found = domain.codes(level), []
    most = max(MOST_CELLS // slices - len(here), 0)
    while len(here):
        values = leaves.sums(level, here)
        cut = np.flatnonzero([value > threshold for value in values] & leaves.hold_several(level, here))
        cut = _first(cut, values, [len(domain.children(level, here[[k]])) - 1 for k in cut], most)
        most -= sum(len(domain.children(level, here[[k]])) - 1 for k in cut)
        kept = np.setdiff1d(np.arange(len(here)), cut)
        found.append((np.full(len(kept), level), here[kept]))
        here = domain.children(level, here[cut]) if len(cut) else here[:0]
        level += 1
    chosen = Blocks(*(np.concatenate(column) for column in zip(*found, strict=True)))
    order = np.argsort(chosen.codes << 2 * (domain.depth - chosen.levels))
    return Blocks(chosen.levels[order], chosen.codes[order])


def _first(cut: Ints, values: Any, costs: list[int], most: int) -> Ints:
    """Those with the largest values, as many as there is room for."""
    if sum(costs) <= most:
        return cut
    order = sorted(range(len(cut)), key=lambda k: (-values[cut[k]], cut[k]))
    room = np.cumsum([costs[k] for k in order]) <= most
    return np.sort(cut[[k for k, fits in zip(order, room, strict=True) if fits]])


class _Leaves(NamedTuple):
    """The leaves of a map in order: first finest cells, and exact sums of the values before each."""

    depth: int
    begin: Ints
    sums_before: Any

    def sums(self, level: int, cells: Ints) -> Any:
        """The sums of the values of the leaves that begin in each cell."""
        low, high = self._range(level, cells)
        return self.sums_before[high] - self.sums_before[low]

    def hold_several(self, level: int, cells: Ints) -> Any:
        """Whether a cell holds more than one leaf, so that it can be cut."""
        low, high = self._range(level, cells)
        return high - low > 1

    def _range(self, level: int, cells: Ints) -> tuple[Ints, Ints]:
        shift = 2 * (self.depth - level)
        return self.begin.searchsorted(cells << shift), self.begin.searchsorted((cells + 1) << shift)


def _leaves(domain: Domain, levels: Ints, codes: Ints, counts: Ints) -> _Leaves:
    """The cells of a map in which no other was measured; of a cell that was measured twice, the last value."""
    begin = codes << 2 * (domain.depth - levels)
    order = np.lexsort((np.arange(len(begin)), levels, begin))
    begin, end = begin[order], begin[order] + (1 << 2 * (domain.depth - levels[order]))
    leaf = np.append(begin[1:] >= end[:-1], True)
    exact = counts[order][leaf].astype(object)
    return _Leaves(domain.depth, begin[leaf], np.concatenate([[0], np.cumsum(exact)]))
