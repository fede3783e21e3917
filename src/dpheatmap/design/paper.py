"""The paper's design (Algorithm 1): a fixed share of epsilon a level, and the children of the largest cells.

Its form for devices that can't be asked twice measures all cells of every level at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from dpheatmap._util.parameters import as_epsilon, check
from dpheatmap.design.design import Question
from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.design.settings import PAPER_WIDTH, Settings
from dpheatmap.design.shares import PAPER_DECAY, SHARES, split_over_levels
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, largest


@dataclass(frozen=True)
class PaperDesign:
    """The paper's design: all children of the ``width`` largest cells; the levels' shares fall by ``decay``.

    ``at_once`` is its form for devices that can't be asked twice: all cells of every level are measured, and only the
    paper's reconstruction uses the width. Where nobody is trusted, each device answers for one level with all of
    epsilon, and the shares are those of the people.
    """

    shares: Mapping[int, int]
    width: int
    decay: Fraction
    at_once: bool = False
    name: ClassVar[str] = "paper"
    takes: ClassVar[tuple[str, ...]] = ("width", "decay")
    methods: ClassVar[Mapping[str, str]] = {"paper": "dpheatmap.estimate.paper_estimate"}

    @classmethod
    def choose(cls, domain: Domain, epsilon: Fraction, settings: Settings) -> Self:
        """The design from the deepest level with at most ``width`` cells to the last."""
        width, decay = int(settings.width), as_epsilon(settings.decay)
        levels = settings.levels(domain, width)
        return cls(split_over_levels(levels[0], levels[-1], decay), width, decay)

    def to_dict(self, part: Callable[[int], Fraction]) -> dict[str, Any]:
        """Width, decay, and the levels with their shares."""
        levels = [
            {"level": level, "share": share, "epsilon": str(part(share))}
            for level, share in sorted(self.shares.items())
        ]
        once = {"at_once": True} if self.at_once else {}
        return {"width": self.width, "decay": str(self.decay), **once, "levels": levels}

    @classmethod
    def from_dict(cls, metadata: Mapping[str, Any]) -> Self:
        """The design of these levels, if their shares add up to epsilon."""
        shares = {int(entry["level"]): int(entry["share"]) for entry in metadata["levels"]}
        levels = sorted(shares)
        check(first_level=levels[0], depth=levels[-1])
        whole = min(shares.values()) > 0 and sum(shares.values()) == SHARES
        if levels != list(range(levels[0], levels[-1] + 1)) or not whole:
            raise ValueError("the shares of the levels don't add up to epsilon")
        decay = as_epsilon(metadata["decay"])
        check(width=metadata["width"], decay=decay)
        return cls(shares, metadata["width"], decay, metadata.get("at_once", False) is True)

    @property
    def last(self) -> int:
        """The deepest level."""
        return max(self.shares)

    @property
    def first(self) -> int:
        """The first level."""
        return min(self.shares)

    def begin(self, domain: Domain) -> Question:
        """All cells of the first level."""
        share = self.shares[self.first]
        return Question(self.first, domain.codes(self.first), share, SHARES - share)

    def after(self, domain: Domain, loss: PrivacyLoss, asked: Question, noisy: Ints) -> list[Question]:
        """The children of all cells of the first level, then of the largest ones, or of all again."""
        if asked.level == self.last:
            return []
        every = self.at_once or asked.level == self.first
        kept = asked.cells if every else asked.cells[largest(asked.cells, noisy, self.width)]
        share = self.shares[asked.level + 1]
        return [Question(asked.level + 1, domain.children(asked.level, kept), share, asked.left - share)]

    def possible_shares(self, domain: Domain) -> set[int]:
        """The shares of the levels."""
        return set(self.shares.values())

    def coordinates(self, domain: Domain) -> tuple[Ints, Ints]:
        """Levels and codes of all cells of all levels, in the order of a release, for measuring at once."""
        cells = [domain.codes(level) for level in sorted(self.shares)]
        return np.repeat(sorted(self.shares), [len(codes) for codes in cells]), np.concatenate(cells)


def all_at_once(
    domain: Domain, *, width: int = PAPER_WIDTH, decay: Fraction = PAPER_DECAY, depth: int | None = None
) -> PaperDesign:
    """The paper's levels down to ``depth`` (default: the domain's) for devices that can't be asked twice.

    >>> levels, codes = all_at_once(Domain.unit(3)).coordinates(Domain.unit(3))
    >>> levels.tolist().count(2), levels.tolist().count(3)
    (16, 64)
    """
    levels = _levels(domain, width, depth)
    return PaperDesign(split_over_levels(levels[0], levels[-1], decay), width, decay, at_once=True)


def one_level_each(domain: Domain, *, width: int = PAPER_WIDTH, depth: int | None = None) -> PaperDesign:
    """The same levels where each device answers for one of them, drawn with the probability of its share.

    The error of a map is the sum over levels of 2^-i times the errors of the cells that matter, at most 4 w of them,
    each about 1 / sqrt(people who answer for the level). Given the number of people, it is least for probabilities
    proportional to ``(2^-i min(cells, 4 w))^(2/3)``: cube roots of whole numbers, the same on every machine. The first
    level takes what whole shares leave over.
    """
    levels = _levels(domain, width, depth)
    weights = [_cube_root((min(domain.count(level), 4 * width) << 96 >> level) ** 2) for level in levels]
    shares = {level: max(1, SHARES * w // sum(weights)) for level, w in zip(levels, weights, strict=True)}
    shares[levels[0]] += SHARES - sum(shares.values())
    return PaperDesign(shares, width, Fraction(1), at_once=True)


def depth_worth_asking(domain: Domain, signal: Fraction | int, *, width: int = PAPER_WIDTH) -> int:
    """The last level to ask for, where so many people over the variance of a report answer for one level each.

    With the signal S, it is the last level of at most ``S^(2/3)`` cells, one below the first level at least. People who
    were asked for deeper ones would be missing above, and show nothing. The power and the factor 1 were chosen on other
    maps than those that ``docs/explanation/local.md`` reports.

    >>> [depth_worth_asking(Domain.unit(8), signal) for signal in (100, 5000, 10**6, 10**9)]
    [3, 4, 6, 8]
    """
    levels = _levels(domain, width, None)
    return max(level for level in levels if level <= levels[0] + 1 or domain.count(level) ** 3 <= signal**2)


def _cube_root(number: int) -> int:
    """The largest whole number whose cube is not larger: Newton's method, from above.

    >>> [_cube_root(number) for number in (0, 7, 8, 26, 10**60)] == [0, 1, 2, 2, 10**20]
    True
    """
    root = 1 << -(-number.bit_length() // 3)
    while root**3 > number:
        root = (2 * root + number // root**2) // 3
    return root


def _levels(domain: Domain, width: int, depth: int | None) -> range:
    last = domain.depth if depth is None else min(depth, domain.depth)
    return range(min(domain.first_level(width), last), last + 1)
