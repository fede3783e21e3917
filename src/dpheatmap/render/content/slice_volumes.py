"""How many people are in each slice, as it is shown: numbers with ranges, and which slices may be the busiest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dpheatmap._util.number_words import plain
from dpheatmap.heatmap.volumes import Volumes
from dpheatmap.place.domain import Floats
from dpheatmap.render.content.numbers import range_in_words
from dpheatmap.render.content.slice_names import SliceNames
from dpheatmap.render.content.words import sentence

CONFIDENCE = 0.9
_NAMED = 2  # further slices that may be the busiest are named, if they are not more


class Ranges(NamedTuple):
    """The ends of the ranges of all slices."""

    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class SliceVolumes:
    """The numbers of people in slices, or of every ``base`` people how many are in each."""

    volumes: Volumes
    names: SliceNames
    persons: str = "people"
    quantity: str = "share"

    @cached_property
    def base(self) -> int | None:
        """Of how many people the numbers are: enough for two digits of the largest; None for numbers of people."""
        if self.quantity == "people":
            return None
        base = 100
        while base * float(self.volumes.share.max()) < 10.0:
            base *= 10
        return base

    @property
    def unit(self) -> str:
        """What the numbers count, after them."""
        return self.persons if self.base is None else f"of every {plain(self.base)} {self.persons}"

    @property
    def title(self) -> str:
        """What the numbers count, above them."""
        where = f"are in each of the {len(self.values)} {self.names.kind}"
        many = "How many people" if self.base is None else f"Of every {plain(self.base)} {self.persons}, how many"
        return f"{many.replace('people', self.persons)} {where}"

    @property
    def values(self) -> Floats:
        """The number of each slice."""
        return self.volumes.people if self.base is None else self.base * self.volumes.share

    @cached_property
    def ranges(self) -> Ranges:
        """A range for each slice that holds the truth with 90 %."""
        if self.base is None:
            return Ranges(*self.volumes.interval(CONFIDENCE))
        low, high = self.volumes.interval_of_share(CONFIDENCE)
        return Ranges(self.base * low, self.base * high)

    @cached_property
    def ranges_together(self) -> Ranges:
        """Ranges that hold the truth of all slices at once with 90 %, so also that of the busiest."""
        draws = self.volumes.draws
        if self.base is not None:
            draws = self.base * draws / np.maximum(draws.sum(axis=1, keepdims=True), 1e-9)
        std = np.maximum(draws.std(axis=0), 1e-9)
        reach = np.quantile((np.abs(draws - self.values) / std).max(axis=1), CONFIDENCE) * std
        low, high = np.maximum(self.values - reach, 0.0), self.values + reach
        return Ranges(np.minimum(low, self.ranges.low), np.maximum(high, self.ranges.high))

    @cached_property
    def busiest(self) -> list[int]:
        """The slices that may have the most people, the one with the highest number first."""
        low, high = self.ranges_together
        order = np.argsort(-self.values, kind="stable")
        return [int(k) for k in order if high[k] >= low[order[0]]]

    @cached_property
    def quietest(self) -> list[int]:
        """The slices that may have the fewest people, the one with the lowest number first."""
        low, high = self.ranges_together
        order = np.argsort(self.values, kind="stable")
        return [int(k) for k in order if low[k] <= high[order[0]]]

    @property
    def takeaway(self) -> str:
        """Which slices are the busiest and the quietest, as far as that can be told."""
        many = len(self.values)
        if many == 1:
            return sentence(f"{self._range(0)} {self.unit}")
        if len(self.busiest) == len(self.quietest) == many:
            return f"Which of the {many} {self.names.kind} are the busiest can't be told from the noise."
        busiest = f"Busiest {self.names.phrases[self.busiest[0]]}, with {self._range(self.busiest[0])} {self.unit}"
        quietest = f"Quietest {self.names.phrases[self.quietest[0]]}"
        return f"{busiest}{self._or(self.busiest)}. {quietest}{self._or(self.quietest)}."

    def _or(self, tied: list[int]) -> str:
        """The other slices that may be the busiest or the quietest."""
        others = tied[1:]
        if not others:
            return ""
        if len(others) > _NAMED:
            return f", or in one of {len(others)} other {self.names.kind} whose ranges overlap"
        return f", or {' or '.join(self.names.phrases[k] for k in others)}: the ranges overlap"

    def _range(self, number: int) -> str:
        low, high = self.ranges_together
        return range_in_words(float(low[number]), float(high[number]))
