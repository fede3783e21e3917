"""The settings of a release: its design and the design's options. They are public, and read no data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypedDict

from dpheatmap._util.parameters import check
from dpheatmap.design.shares import PAPER_DECAY
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain

if TYPE_CHECKING:
    from dpheatmap.design.design import Design

PAPER_WIDTH = 20
"""The paper's w."""
MOST_FIRST_CELLS = 2**22
FINEST_OF_SIGMA = 0.25


class DesignOptions(TypedDict, total=False):
    """The options of functions that choose a design; `Settings` explains them."""

    design: str | Design
    width: int
    decay: float | Fraction
    users: int | None
    first_level: int | None
    depth: int | None
    sigma: float | None
    people_share: float | Fraction | None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The design of a release, and its options.

    Parameters
    ----------
    design : {"ladder", "adaptive", "paper", "dense"}, default "ladder"
        "ladder" gives each cell what it needs of epsilon, which it finds out free of charge; "adaptive" pays for that;
        "paper" has about twice the error; "dense", the paper's other one, measures one grid of about epsilon cells a
        person.
    width : int, default 20
        For experts: the number of cells that the paper's design keeps at each level.
    decay : float, default 1 / sqrt(2)
        For experts: the factor by which the levels' parts of epsilon fall in the paper's design.
    users : int, optional
        The number of people, only if that is public. The size of the dense design's grid follows it; without it, 5 % of
        epsilon go into a noisy number.
    first_level, depth : int, optional
        For experts: the first and the last measured level.
    sigma : float, optional
        How much the map will be smoothed: levels whose cells are finer than a quarter of it are not measured, which
        leaves more of epsilon to the others.
    people_share : float, optional
        The part of epsilon that goes into the number of all people, at most 0.5. "ladder" and "adaptive" need a
        hundredth to know where to start, as by default; more tells the number better, and the map a little worse.
    """

    design: str | Design = "ladder"
    width: int = PAPER_WIDTH
    decay: float | Fraction = PAPER_DECAY
    users: int | None = None
    first_level: int | None = None
    depth: int | None = None
    sigma: float | None = None
    people_share: float | Fraction | None = None

    def __post_init__(self) -> None:
        """Refuse values that break their rules."""
        check(width=self.width, decay=self.decay)
        optional = {name: getattr(self, name) for name in ("users", "first_level", "depth", "sigma", "people_share")}
        check(**{name: value for name, value in optional.items() if value is not None})

    def levels(self, domain: Domain, most: int) -> range:
        """The levels that may be measured: from the deepest with at most ``most`` cells to the last useful one."""
        last = domain.depth if self.sigma is None else domain.level_for(self.sigma * FINEST_OF_SIGMA)
        if self.depth is not None:
            last = min(last, int(self.depth))
        first = min(domain.first_level(most), last) if self.first_level is None else int(self.first_level)
        if first > last:
            raise ParameterError(f"first_level must be at most the last level, {last}; it was {first}. Leave it out.")
        if domain.count(first) > MOST_FIRST_CELLS:
            raise ParameterError(
                f"first_level must have at most {MOST_FIRST_CELLS} cells, all of which are measured; level {first} "
                f"has {domain.count(first)}. Leave it out, or choose a smaller one."
            )
        return range(first, last + 1)
