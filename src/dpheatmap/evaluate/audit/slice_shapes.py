"""Shapes of the audit with slices of time: the person is in one slice, in all, or in some more than in others."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap.curator import release
from dpheatmap.design.shares import SHARES, UNITS
from dpheatmap.design.slice_rule import LOOK
from dpheatmap.evaluate.audit.shapes import Sample, Shape, first_place, hash_of, likelihood_and_sum
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.measurements import Measurements, SliceMeasurements
from dpheatmap.releases.sliced_release import SlicedRelease

TOGETHER = 250
"""Groups that are released at once."""
HOURS, SLICES = 8, 3
DAY = "2024-06-03"
_TIMES: dict[str, Any] = {"time": "when", "every": f"{HOURS} hours", "time_zone": "UTC", "start": DAY, "end": DAY}


@dataclass(frozen=True)
class SlicesShape(Shape):
    """One person's events in three slices of a day, read from a CSV file; each group is an independent run.

    Groups are independent, as in `ImagesShape`: a group with its person and one without are neighbours. ``events`` has
    the number of the person's events in each slice. Others are in the first slice.
    """

    events: tuple[int, ...] = (1, 0, 0)

    def rows(self, group: int, added: bool) -> list[tuple[str, int, tuple[int, int]]]:
        """Who was where, in which slice."""
        others = [cell for cell, number in self.others.items() for _ in range(int(number))]
        there = [(f"other {k} of {group}", 0, cell) for k, cell in enumerate(others)]
        if added:
            (cell,) = self.person
            there += [(f"they of {group}", k, cell) for k, n in enumerate(self.events) for _ in range(n)]
        return there

    def truths(self, added: bool) -> list[Ints]:
        """For each slice, the true weight of every cell of every level, in the order of `Shape.truth`."""
        others = Shape("", "", self.domain, self.others, {}).truth(False)
        theirs = Shape("", "", self.domain, {}, self.person).truth(True) * added
        each = [others if k == 0 else 0 * others for k in range(SLICES)]
        return [one + theirs // sum(self.events) * n for one, n in zip(each, self.events, strict=True)]

    def sample(self, added: bool, epsilon: Fraction, runs: int) -> Sample:
        """Release groups and return their statistics."""
        without, with_them = self.truths(False), self.truths(True)
        columns: dict[str, list[Any]] = {}
        for start in range(0, runs, TOGETHER):
            made = self.release_groups(min(TOGETHER, runs - start), added, epsilon)
            for family in made.families:
                assert isinstance(family, SliceMeasurements)
                for name, value in _statistics(family, without, with_them).items():
                    columns.setdefault(name, []).append(value)
        return {name: np.array(values) for name, values in columns.items()}

    def release_groups(self, groups: int, added: bool, epsilon: Fraction) -> SlicedRelease:
        """Release groups at once."""
        side = 2**self.domain.depth
        lines = [
            f"{who},{group},{DAY} {HOURS * number:02}:30,{(x + 0.5) / side},{(y + 0.5) / side}\n"
            for group in range(groups)
            for who, number, (x, y) in self.rows(group, added)
        ]
        with tempfile.TemporaryDirectory(prefix="dpheatmap-") as folder:
            path = Path(folder, "trips.csv")
            path.write_text("who,group,when,x,y\n" + "".join(lines))
            made: SlicedRelease = release(
                str(path), self.domain, epsilon=epsilon, group="group", groups=[str(k) for k in range(groups)],
                user="who", x="x", y="y", **_TIMES,
            )  # fmt: skip
        return made


def _statistics(family: SliceMeasurements, without: list[Ints], with_them: list[Ints]) -> dict[str, Any]:
    """The statistics of the slices of a group, jointly, because the promise is about all of them.

    * *likelihood* and *weighted sum*, as of a single release, added up over the look, the pooled map and the blocks,
      each times its part of epsilon;
    * *blocks*: do they depend on the data?
    * *difference of* two *slices* in the first block: do they share noise?
    * *everything*: does an output repeat?
    """
    rest = 1 - LOOK
    whole = [int(sum(truth[first_place(0)] for truth in truths)) for truths in (without, with_them)]
    parts = [(float(LOOK), (abs(family.look - whole[0]) - abs(family.look - whole[1])) / UNITS, family.look / UNITS)]
    if family.blocks is None or family.counts is None:  # the look was so far off that slices were measured apart
        for tree, before, after in zip(family.trees, without, with_them, strict=True):
            parts.append((float(rest), *likelihood_and_sum(tree, before, after)))
        return {
            "likelihood": sum(part * likelihood for part, likelihood, _ in parts),
            "weighted sum": sum(part * weighted for part, _, weighted in parts),
            "blocks": 0, "difference of slices 1 and 2": 1, "difference of slices 2 and 3": 1,
            "everything": hash_of(*(tree.counts for tree in family.trees)),
        }  # fmt: skip
    pooled, blocks, counts = family.trees[0], family.blocks, family.counts
    parts.append((float(rest * family.rule.pooled), *likelihood_and_sum(pooled, sum(without), sum(with_them))))  # type: ignore[arg-type]
    for noisy, before, after in zip(counts, without, with_them, strict=True):
        measured = Measurements(blocks.levels, blocks.codes, noisy, np.full(len(noisy), SHARES))
        parts.append((float(rest * (1 - family.rule.pooled)), *likelihood_and_sum(measured, before, after)))
    return {
        "likelihood": sum(part * likelihood for part, likelihood, _ in parts),
        "weighted sum": sum(part * weighted for part, _, weighted in parts),
        "blocks": hash_of(blocks.levels, blocks.codes),
        "difference of slices 1 and 2": hash_of(counts[1] - counts[0]),
        "difference of slices 2 and 3": hash_of(counts[2] - counts[1]),
        "everything": hash_of(pooled.counts, counts),
    }


def slice_shapes() -> list[Shape]:
    """The shapes of three slices."""
    whose = {
        "in one slice": ((0, 0, 1), "the person is in one slice, and the others in another"),
        "in all slices": ((1, 1, 1), "the person is in all slices alike: one weight, and noise for each"),
        "in slices unevenly": ((1, 2, 5), "the person is in all slices, more in one than in another"),
    }
    return [
        SlicesShape(name, why, Domain.unit(1), {(0, 0): 1}, {(1, 0): 1}, runs=4_000, events=events)
        for name, (events, why) in whose.items()
    ]
