"""The paper's design (Algorithm 1): a fixed share of epsilon a level, and the children of the largest cells.

Its form for devices that can't be asked twice measures all cells of every level at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from dpheatmap._util.parameters import as_epsilon, check
from dpheatmap.design.budget import PAPER_DECAY, SHARES, part, split_over_levels
from dpheatmap.design.design import Question, deepest
from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.design.settings import PAPER_WIDTH, Settings
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, largest

# The expected error is FLOOR + SCALE * (noise term / people) ^ POWER, up to CEILING, where the map says no more than
# guessing does. The noise term is the paper's: the sum over levels of (side of a cell / side of the domain) * cells
# kept over eps_i; SCALE and POWER are fitted to means of 6 cities of generated people at width 20, from a signal of 10
# to 10^5. The floor is what a tree of 20 cells a level can't show even without noise. Noise is the same everywhere, but
# this depends on the map: from 0.002 of the side for two Gaussians to 0.014 for a net of roads. It is the mean of
# eleven kinds, real cities (0.004) among them; of people in no more places than cells kept, everything is shown.
_FLOOR, _SCALE, _POWER, _CEILING = 0.007, 0.21, 0.877, 0.26


@dataclass(frozen=True)
class PaperDesign:
    """The paper's: all children of the ``width`` largest cells; the levels' shares fall by ``decay``.

    ``at_once`` is its form for devices that can't be asked twice: all cells of every level are measured, and the width
    is what the paper's reconstruction then looks at. Where nobody is trusted, each device answers for one level with
    all of epsilon, and the shares are those of the people.
    """

    shares: Mapping[int, int]
    width: int
    decay: Fraction
    at_once: bool = False
    name: ClassVar[str] = "paper"
    takes: ClassVar[tuple[str, ...]] = ("width", "decay")
    methods: ClassVar[Mapping[str, str]] = {"paper": "dpheatmap.estimate.paper_estimate"}
    why: ClassVar[str] = (
        "The paper's design finds the few places that people are in and follows them down, which a grid can't."
    )
    errors_by_places: ClassVar[Mapping[int, Sequence[float]]] = {
        50: (0.04, 0.19, 0.2, 0.2, 0.19, 0.17, 0.16),
        200: (0.014, 0.029, 0.08, 0.086, 0.073, 0.066, 0.07),
        800: (0.002, 0.009, 0.016, 0.03, 0.037, 0.029, 0.03),
        3200: (0.00052, 0.0011, 0.0033, 0.015, 0.022, 0.018, 0.012),
        12_800: (0.00018, 0.00053, 0.00077, 0.014, 0.019, 0.013, 0.0075),
    }

    @classmethod
    def choose(cls, domain: Domain, epsilon: Fraction, settings: Settings) -> Self:
        """From the deepest level with at most ``width`` cells to the last."""
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

    @classmethod
    def expected_error(
        cls, domain: Domain, epsilon: Fraction, users: int, settings: Settings, places: int | None
    ) -> float:
        """A floor, for people in more places than cells are kept, and the noise."""
        floor = 0.0 if places is not None and places <= settings.width else _FLOOR
        finest = domain.cells(domain.depth)
        side, width = max(finest.columns, finest.rows), int(settings.width)
        term = sum(
            2 ** (domain.depth - level) / side * min(width, domain.count(level)) / float(part(epsilon, share))
            for level, share in cls.planned_shares(domain, epsilon, users, settings).items()
        )
        return float(floor + min(_CEILING - _FLOOR, _SCALE * (term / users) ** _POWER))

    @classmethod
    def planned_shares(cls, domain: Domain, epsilon: Fraction, users: int, settings: Settings) -> dict[int, int]:
        """Those of the levels, which are known beforehand."""
        return split_over_levels(domain.first_level(int(settings.width)), domain.depth, settings.decay)

    @classmethod
    def finest_visible(cls, people: Fraction, parts: Sequence[Fraction], stands_out: Sequence[bool]) -> int | None:
        """The last level that stands out of its noise."""
        return deepest(stands_out)

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
        """Those of the levels."""
        return set(self.shares.values())

    def coordinates(self, domain: Domain) -> tuple[Ints, Ints]:
        """Levels and codes of all cells of all levels, in the order of a release: what is measured at once."""
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
