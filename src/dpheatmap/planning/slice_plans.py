"""Plans of releases of several slices: how they will be measured, how much of a slice will be its own, and its error.

The error of a slice that is measured in blocks lies between two others. If slices are alike, it is that of the map of
all. However they differ, it is about that of a slice measured by itself with all of epsilon, or less
(`benchmarks/slices.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
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
from dpheatmap.slicing.axis import MOST_SLICES, listed_names

_BLOCKS_PER_CUTTING = 2.5  # of generated people in boxes and in the unit square, 3,000 to 100,000 of them


@dataclass(frozen=True)
class SlicePlan:
    """The plan of a release of several slices, made by :func:`plan`. Nothing in it comes from data.

    Attributes
    ----------
    slices : int
        The number of slices, in all groups together.
    groups : tuple of str
        The public list of groups, if there is one. People are taken to be spread over them evenly.
    signal : float
        The signal of a slice: people times epsilon, divided by the number of slices.
    expected_emd : tuple of two float
        The expected earth mover's distance of a slice's map to the truth, in sides of the domain: if slices are alike,
        and at most.
    how : {"weak", "blocks", "apart"}
        How slices are measured: mostly together, together with blocks slice by slice, or each by itself.
    rule : SliceRule or None
        How epsilon is shared; None for groups without slices of time, each of which has all of it.
    blocks : int or None
        About how many blocks are counted slice by slice; None if slices are measured apart.
    noise : float or None
        The standard deviation of the noise on a block's count in a slice, in people; None if they are apart.
    map : Plan
        The plan of the map of all slices of a group together; if they are apart, of the map of one slice.
    epsilon : Fraction
        The epsilon of all slices together.
    """

    slices: int
    groups: tuple[str, ...]
    signal: float
    expected_emd: tuple[float, float]
    how: str
    rule: SliceRule | None
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
            "number": self.slices, "groups": list(self.groups), "signal": self.signal, "how": self.how,
            "expected_emd": list(self.expected_emd), "blocks": self.blocks, "noise": self.noise,
            "epsilon_of_map": str(self.map.epsilon), "epsilon_of_slices": str(self._epsilon_of_slices),
        }  # fmt: skip
        return {**self.map.to_dict(), "epsilon": str(self.epsilon), "slices": slices}

    @property
    def _epsilon_of_slices(self) -> Fraction:
        return self.epsilon if self.rule is None else self.rule.loss_of_slices(PureLoss(self.epsilon)).epsilon

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Return the plan of the map, and what slices are, in sentences."""
        times = self.slices // max(len(self.groups), 1)
        of_group = " of one group" if self.groups and times > 1 else ""
        apart = "one group" if times == 1 else f"one slice{of_group}"
        whose = apart if self.how == "apart" else f"all {times} slices{of_group} together"
        return "\n".join([f"The map of {whose}:", "", str(self.map), "", *self.sentences])

    @property
    def sentences(self) -> list[str]:
        """What slices cost and show, in sentences."""
        told = (
            f"{self.slices} slices cost epsilon {self.epsilon} together: a person's weight of 1 is shared over them. "
            f"The signal of a slice is {digits(self.signal, 3)}: people times epsilon, divided by slices."
        )
        even = [f"People are taken to be spread evenly over {len(self.groups)} groups, each measured by itself."]
        lines = [told, *(even if self.groups else ())]
        if self.rule is None:
            return [*lines, f"A group shows as much as the map above: {self._error}."]
        if self.how == "apart":
            plenty = "That is plenty: each slice is measured by itself, and shows as much as the map above"
            return [*lines, f"{plenty}: {self._error}."]
        much = {
            "weak": "That is weak: a slice is mostly the map of all, with its own number of people.",
            "blocks": "That is enough for blocks: a slice is the map of all, with its own number of people in each.",
        }[self.how]
        part = f"{round(100 * float(self.rule.pooled))} % of epsilon goes into the map of all."
        assert self.blocks is not None
        many = f"About {self.blocks} blocks are" if self.blocks > 1 else "One block, the whole place, is"
        counted = f"{many} counted slice by slice, with a noise of {digits(self.noise or 0.0, 2)} people each."
        error = f"Expected error of a slice: {self._error}, as if it were measured by itself with all of epsilon."
        split = (
            f"With --split epsilon each slice would have epsilon {self.epsilon / self.slices} instead, and nothing of "
            "the others: a person would weigh 1 in each."
        )
        return [*lines, much, f"{part} {counted}", error, split]

    @property
    def _error(self) -> str:
        domain = self.map.domain
        least, most = (domain.length_in_words(domain.longer_side * error) for error in self.expected_emd)
        if self.how == "apart":
            return f"people are misplaced by {least} on average"
        return f"people are misplaced by {least} on average if slices are alike, and else by up to {most}"


def plan_slices(
    domain: Domain,
    *,
    epsilon: Any,
    users: int,
    slices: int | None = None,
    groups: Iterable[str] | None = None,
    **options: Any,
) -> SlicePlan:
    """Plan a release of several slices before any data is read.

    Parameters
    ----------
    domain : Domain
        The public place.
    epsilon : number, str or Fraction
        The epsilon of all slices together.
    users : int
        A public guess of the number of people in all slices together.
    slices : int, optional
        The number of slices of time, if there are any.
    groups : iterable of str, optional
        The public list of groups, if there is one.
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
    >>> plan_slices(Domain.unit(8), epsilon=1, users=5000, groups=["bike", "walk"]).map.users
    2500
    """
    exact = read_epsilon(epsilon)
    check(users=users)
    names = () if groups is None else listed_names(groups)
    times, families = 1 if slices is None else _number_in_range(slices, 2), max(len(names), 1)
    many = _number_in_range(times * families, 1)
    if options.get("design", LadderDesign.name) != LadderDesign.name or options.get("trusted", "curator") != "curator":
        raise ParameterError("Slices are measured by a curator, with the design 'ladder'. Leave the others out.")
    people, whole = max(1, users // families), PureLoss(exact)
    rule = None if times == 1 else SliceRule.after_look(people * UNITS, exact, times)
    signal = users * float(exact) / many
    if rule is None or rule.apart:
        each = exact if rule is None else rule.loss_of_slices(whole).epsilon
        found = plan(domain, epsilon=each, users=max(1, people // times), **options)
        error = found.expected_emd, found.expected_emd
        return SlicePlan(many, names, signal, error, "apart", rule, None, None, found, exact)
    each = rule.loss_of_slices(whole).epsilon
    found = plan(domain, epsilon=rule.loss_of_map(whole).epsilon, users=people, **options)
    alone = plan(domain, epsilon=exact, users=max(1, people // times), **options)
    blocks = round(_BLOCKS_PER_CUTTING * people * each / (CUTTING * times))
    return SlicePlan(
        slices=many, groups=names, signal=signal,
        expected_emd=(found.expected_emd, max(found.expected_emd, alone.expected_emd)),
        how="weak" if rule.pooled == POOLED["weak"] else "blocks", rule=rule,
        blocks=max(1, min(blocks, MOST_CELLS // times)), noise=math.sqrt(2.0) / float(each), map=found, epsilon=exact,
    )  # fmt: skip


def _number_in_range(slices: int, least: int) -> int:
    """Refuse a number of slices that no release has."""
    whole = isinstance(slices, int) and not isinstance(slices, bool)
    if not whole or not least <= slices <= MOST_SLICES:
        raise ParameterError(f"There may be 2 to {MOST_SLICES} slices; the number was {slices}. Choose another one.")
    return slices
