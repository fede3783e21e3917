"""Plans of releases of several slices: how they will be measured, and how much of a slice will be its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpheatmap._util.number_words import digits
from dpheatmap._util.parameters import check
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import UNITS, read_epsilon
from dpheatmap.design.slice_rule import CUTTING, MOST_CELLS, POOLED, SliceRule
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.planning.plans import Plan, plan
from dpheatmap.slicing.axis import MOST_SLICES

_BLOCKS_PER_CUTTING = 2.5  # of generated people in boxes and in the unit square, 3,000 to 100,000 of them


@dataclass(frozen=True)
class SlicePlan:
    """The plan of a release of several slices of time. Nothing in it comes from data.

    Attributes
    ----------
    slices : int
        The number of slices.
    signal : float
        The signal of a slice: people times epsilon, divided by the number of slices.
    how : {"weak", "blocks", "apart"}
        How slices are measured: mostly together, together with blocks slice by slice, or each by itself.
    rule : SliceRule
        How epsilon is shared.
    blocks : int or None
        About how many blocks are counted slice by slice; None if slices are measured apart.
    noise : float or None
        The standard deviation of the noise on a block's count in a slice, in people; None if they are apart.
    map : Plan
        The plan of the map of all slices together; if they are apart, of the map of one slice.
    epsilon : Fraction
        The epsilon of all slices together.
    """

    slices: int
    signal: float
    how: str
    rule: SliceRule
    blocks: int | None
    noise: float | None
    map: Plan
    epsilon: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Describe the plan by plain values, for JSON.

        Returns
        -------
        dict
            The plan of the map, and the slices'.
        """
        slices = {
            "number": self.slices, "signal": self.signal, "how": self.how, "blocks": self.blocks, "noise": self.noise,
            "epsilon_of_map": str(self.map.epsilon),
            "epsilon_of_slices": str(self.rule.loss_of_slices(PureLoss(self.epsilon)).epsilon),
        }  # fmt: skip
        return {**self.map.to_dict(), "epsilon": str(self.epsilon), "slices": slices}

    def __str__(self) -> str:
        """Return the plan of the map, and what slices are, in sentences."""
        whose = "one slice" if self.rule.apart else f"all {self.slices} slices together"
        return "\n".join([f"The map of {whose}:", "", str(self.map), "", *self._sentences()])

    def _sentences(self) -> list[str]:
        told = (
            f"{self.slices} slices cost epsilon {self.epsilon} together: a person's weight of 1 is shared over them. "
            f"The signal of a slice is {digits(self.signal, 3)}: people times epsilon, divided by slices."
        )
        if self.rule.apart:
            return [told, "That is plenty: each slice is measured by itself, and shows as much as the map above."]
        much = {
            "weak": "That is weak: a slice is mostly the map of all, with its own number of people.",
            "blocks": "That is enough for blocks: a slice is the map of all, with its own number of people in each.",
        }[self.how]
        part = f"{round(100 * float(self.rule.pooled))} % of epsilon goes into the map of all."
        assert self.blocks is not None
        many = f"About {self.blocks} blocks are" if self.blocks > 1 else "One block, the whole place, is"
        counted = f"{many} counted slice by slice, with a noise of {digits(self.noise or 0.0, 2)} people each."
        split = (
            f"With --split epsilon each slice would have epsilon {self.epsilon / self.slices} instead, and nothing of "
            "the others: a person would weigh 1 in each."
        )
        return [told, much, f"{part} {counted}", split]


def plan_slices(domain: Domain, *, epsilon: Any, users: int, slices: int, **options: Any) -> SlicePlan:
    """Plan a release of several slices of time before any data is read.

    Parameters
    ----------
    domain : Domain
        The public place.
    epsilon : number, str or Fraction
        The epsilon of all slices together.
    users : int
        A public guess of the number of people in all slices together.
    slices : int
        The number of slices.
    **options
        Options of :func:`plan`.

    Returns
    -------
    SlicePlan
        How slices will be measured, and the plan of the map that they share.

    Examples
    --------
    >>> made = plan_slices(Domain.unit(8), epsilon=1, users=5000, slices=24)
    >>> made.how, made.blocks
    ('blocks', 26)
    """
    exact = read_epsilon(epsilon)
    check(users=users)
    if not 1 < slices <= MOST_SLICES:
        raise ParameterError(f"There may be 2 to {MOST_SLICES} slices; the number was {slices}. Choose another one.")
    if options.get("design", LadderDesign.name) != LadderDesign.name or options.get("trusted", "curator") != "curator":
        raise ParameterError("Slices are measured by a curator, with the design 'ladder'. Leave the others out.")
    rule, whole = SliceRule.after_look(users * UNITS, exact, slices), PureLoss(exact)
    each = rule.loss_of_slices(whole).epsilon
    if rule.apart:
        found = plan(domain, epsilon=each, users=max(1, users // slices), **options)
        return SlicePlan(slices, users * float(exact) / slices, "apart", rule, None, None, found, exact)
    found = plan(domain, epsilon=rule.loss_of_map(whole).epsilon, users=users, **options)
    blocks = round(_BLOCKS_PER_CUTTING * users * each / (CUTTING * slices))
    return SlicePlan(
        slices=slices, signal=users * float(exact) / slices, how="weak" if rule.pooled == POOLED["weak"] else "blocks",
        rule=rule, blocks=max(1, min(blocks, MOST_CELLS // slices)), noise=math.sqrt(2.0) / float(each), map=found,
        epsilon=exact,
    )  # fmt: skip
