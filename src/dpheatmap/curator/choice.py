"""Which design the settings of a release name, and every refusal that they call for. Reads no data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpheatmap.adaptive import FIRST_CELLS, AdaptiveDesign
from dpheatmap.budget import PAPER_DECAY, split_over_levels
from dpheatmap.curator.measure import check_noise
from dpheatmap.dense import MOST_CELLS, DenseDesign, grid_level
from dpheatmap.design import PAPER_WIDTH, PaperDesign
from dpheatmap.domain import Domain
from dpheatmap.errors import ParameterError
from dpheatmap.parameters import as_epsilon, check
from dpheatmap.release import AnyDesign

SETTINGS = ("design", "width", "decay", "users", "first_level", "depth", "sigma")
MOST_FIRST_CELLS = 2**22
FINEST_OF_SIGMA = 0.25


def settings_in(options: dict[str, Any]) -> dict[str, Any]:
    """The settings of `chosen_design` among the options of a release; they are taken out of these."""
    return {name: options.pop(name) for name in SETTINGS if name in options}


def chosen_design(
    domain: Domain,
    epsilon: Fraction,
    *,
    design: str | AdaptiveDesign = "adaptive",
    width: int = PAPER_WIDTH,
    decay: float | Fraction = PAPER_DECAY,
    users: int | None = None,
    first_level: int | None = None,
    depth: int | None = None,
    sigma: float | None = None,
) -> AnyDesign:
    """The design that the settings of `release` name, after every refusal that they call for.

    ``design`` may also be an adaptive design with other settings, for experiments.
    """
    check(design=design.name if isinstance(design, AdaptiveDesign) else design, width=width, decay=decay)
    _check_users(users, design)
    chosen: AnyDesign
    if isinstance(design, AdaptiveDesign):
        chosen = design
    else:
        most = {PaperDesign.name: int(width), DenseDesign.name: 1}.get(design, FIRST_CELLS)
        levels = _measured_levels(domain, most, first_level, depth, sigma)
        if design == DenseDesign.name:
            chosen = _dense(domain, levels, None if users is None else epsilon * int(users))
        else:
            chosen = _design(design, levels, int(width), as_epsilon(decay), start_is_given=first_level is not None)
    check_noise(epsilon, chosen, domain)
    return chosen


def _check_users(users: int | None, design: str | AdaptiveDesign) -> None:
    if users is None:
        return
    check(users=users)
    if design != DenseDesign.name:
        name = design if isinstance(design, str) else design.name
        raise ParameterError(
            f"users is for the design 'dense', whose grid it chooses; the design was {name!r}. Leave it out."
        )


def _measured_levels(
    domain: Domain, most: int, first_level: int | None, depth: int | None, sigma: float | None
) -> range:
    """The levels that may be measured: from the deepest with at most ``most`` cells to the last one that is of use."""
    last = domain.depth
    if sigma is not None:
        check(sigma=sigma)
        last = domain.level_for(sigma * FINEST_OF_SIGMA)
    if depth is not None:
        check(depth=depth)
        last = min(last, int(depth))
    first = min(domain.first_level(most), last)
    if first_level is not None:
        check(first_level=first_level)
        first = int(first_level)
    if first > last:
        raise ParameterError(f"first_level must be at most the last level, {last}; it was {first}. Leave it out.")
    if domain.cells(first).count > MOST_FIRST_CELLS:
        raise ParameterError(
            f"first_level must have at most {MOST_FIRST_CELLS} cells, all of which are measured; level {first} "
            f"has {domain.cells(first).count}. Leave it out, or choose a smaller one."
        )
    return range(first, last + 1)


def _design(
    name: str, levels: range, width: int, decay: Fraction, *, start_is_given: bool
) -> PaperDesign | AdaptiveDesign:
    """The design of that name for the levels given; width and decay are for the paper's."""
    if name == PaperDesign.name:
        return PaperDesign(split_over_levels(levels[0], levels[-1], decay), width, decay)
    if start_is_given:
        return AdaptiveDesign(levels[0], levels[-1], total=Fraction(0))
    return AdaptiveDesign(levels[0], levels[-1])


def _dense(domain: Domain, levels: range, signal: Fraction | None) -> DenseDesign:
    """The dense design: with a declared number of people, times epsilon, there is one level and nothing to choose."""
    if domain.cells(levels[0]).count > MOST_CELLS:
        raise ParameterError(
            f"first_level must have at most {MOST_CELLS} cells in the design 'dense'; level {levels[0]} has "
            f"{domain.cells(levels[0]).count}. Leave it out, or choose a smaller one."
        )
    if signal is None:
        return DenseDesign(levels[0], levels[-1])
    level = grid_level(domain, signal, levels[0], levels[-1])
    return DenseDesign(level, level)
