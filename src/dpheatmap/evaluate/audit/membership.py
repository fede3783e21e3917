"""An attack on releases of the same kind as one's own: did somebody take part?

The attacker knows everything but whether one person took part: all others, the place, the design and the law of the
noise. They see a release, and weigh it by its *likelihood ratio*: how much more probable it is if the person took part.
What is measured next depends on published values, or on secret looks whose probability has no data in it
(`curator/core/measure.py`), so the ratio is that of the noise of the published counts in the person's cells, and no
other test finds more participants at the same rate of mistakes (Neyman and Pearson's lemma). Of several releases of
the same people the ratios multiply.

The ratio trusts the documents. If counts are not what they say, it may be blind, so the attacker also tries a second
test: the sum of the published counts in the person's cells, above those of the others.

The others are invented from the published map (`invented_people.py`), are counted from a table as by `release`, and
measured many times, without and with the person. Slices start from counts. The first fifth of the runs only chooses
thresholds of both tests, and which of them is right most often. The other runs judge each threshold, by the bounds of
Clopper and Pearson: a false-alarm rate is divided over all thresholds and targets. If, even so, more participants are
found than the promise allows, the promise is broken.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap.curator import Counts, aggregate, measure, measure_families
from dpheatmap.design.design import Design
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import ConcentratedLoss, PrivacyLoss, PureLoss
from dpheatmap.design.shares import SHARES, UNITS
from dpheatmap.design.slice_rule import loss_of_look
from dpheatmap.errors import ParameterError
from dpheatmap.evaluate.audit.attack_bound import AttackBound, together
from dpheatmap.evaluate.audit.confidence import clopper_pearson
from dpheatmap.evaluate.audit.invented_people import TARGETS, number_in, people_like, units_of
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, decode
from dpheatmap.releases.measurements import Measurements, SliceMeasurements
from dpheatmap.releases.release import Release
from dpheatmap.releases.sliced_release import Family, SlicedRelease
from dpheatmap.slicing.axis import Axis

FALSE_ALARM = 1e-6
RUNS = 4_000  # of each of two data sets, with an effort of 1
CHUNK = 250  # runs of a worker in one task
CHOOSING = 5  # one of this many runs chooses thresholds, the others judge them
LEVELS = np.linspace(0.02, 0.98, 25)  # parts of the choosing runs that lie below thresholds
TESTS = ("likelihood ratio", "sum")
RANGE = 0.9  # the confidence of the range of guesses


@dataclass(frozen=True)
class Threshold:
    """The result of one threshold: of ``runs`` with the person it found ``hits``, without them ``mistakes``.

    ``found`` and ``mistaken`` are bounds on the two rates, and ``allowed`` is how many the promise lets be found at the
    upper bound of mistakes.
    """

    test: str
    value: float
    hits: int
    mistakes: int
    runs: int
    found: tuple[float, float]
    mistaken: tuple[float, float]
    allowed: float

    @property
    def exceeds(self) -> bool:
        """Whether more are found than allowed, beyond doubt."""
        return self.found[0] > self.allowed


@dataclass(frozen=True)
class Attempt:
    """The result for one target: every threshold of both tests, and which was right most often when chosen."""

    target: str
    where: str
    thresholds: tuple[Threshold, ...]
    best: int

    @property
    def curve(self) -> list[Threshold]:
        """The thresholds of the test that was right most often, from those that find all on."""
        return [one for one in self.thresholds if one.test == self.thresholds[self.best].test]

    @property
    def right(self) -> tuple[int, int]:
        """How many guesses were right, and of how many, if half of the people took part."""
        best = self.thresholds[self.best]
        return best.hits + best.runs - best.mistakes, 2 * best.runs

    @property
    def accuracy(self) -> float:
        """The part of guesses that were right."""
        right, guesses = self.right
        return right / guesses

    @property
    def range(self) -> tuple[float, float]:
        """The range of the part of guesses that are right."""
        return clopper_pearson(*self.right, 1 - RANGE)


@dataclass(frozen=True)
class Attack:
    """The result of an attack on one or several releases of the same people."""

    losses: tuple[PrivacyLoss, ...]
    people: tuple[int, ...]
    others: tuple[int, ...]
    attempts: tuple[Attempt, ...]
    runs: int
    false_alarm: float
    seconds: float

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of all releases together."""
        return together(self.losses)

    @cached_property
    def bound(self) -> AttackBound:
        """What the promise allows."""
        return AttackBound.of(self.loss)

    @property
    def strongest(self) -> Attempt:
        """The attempt with the most right guesses."""
        return max(self.attempts, key=lambda attempt: attempt.accuracy)

    @property
    def fails(self) -> bool:
        """Whether more was found than the promise allows."""
        return any(threshold.exceeds for attempt in self.attempts for threshold in attempt.thresholds)

    def to_dict(self) -> dict[str, Any]:
        """The whole attack as plain values, for JSON."""
        return {
            "promise": str(self.loss), "false_alarm": self.false_alarm, "failed": self.fails,
            "people": list(self.people), "others": list(self.others), "runs": self.runs, "seconds": self.seconds,
            "right_by_coin": 0.5, "right_by_attack": self.strongest.accuracy,
            "right_by_attack_range": list(self.strongest.range), "right_at_most": self.bound.accuracy,
            "attempts": [
                {**asdict(attempt), "right": attempt.accuracy, "right_range": list(attempt.range)}
                for attempt in self.attempts
            ],
        }  # fmt: skip


def attack(
    releases: Sequence[Release | SlicedRelease],
    *,
    false_alarm: float = FALSE_ALARM,
    effort: float = 1.0,
    workers: int | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Attack:
    """Attack releases of the same kind; ``effort`` multiplies the number of runs.

    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> made = dph.release(generated_people(50), dph.Domain.unit(3), epsilon=1, user="person", x="x", y="y")
    >>> attack([made], effort=0.05, workers=1).fails
    False
    """
    for release in releases:
        _refuse(release)
    start = time.perf_counter()
    invented = [people_like(release) for release in releases]
    scenes = [
        tuple(
            _side_of(release, one.others, one.targets[target]) for release, one in zip(releases, invented, strict=True)
        )
        for target in TARGETS
    ]
    runs = max(2 * CHOOSING, math.ceil(RUNS * effort))
    values = _values(scenes, runs, workers, progress)
    losses = tuple(release.loss for release in releases)
    bound, alpha = AttackBound.of(together(losses)), false_alarm / (len(TARGETS) * len(TESTS) * len(LEVELS))
    return Attack(
        losses,
        tuple(one.people for one in invented),
        tuple(sum(map(len, one.others)) for one in invented),
        tuple(
            _attempt(target, without, added, bound, alpha)
            for target, (without, added) in zip(TARGETS, values, strict=True)
        ),
        runs,
        false_alarm,
        time.perf_counter() - start,
    )


def _refuse(release: Release | SlicedRelease) -> None:
    """Refuse releases whose mechanism can't be run again, or that promise nothing."""
    if release.trust.collected:
        raise ParameterError(
            "An attack repeats what a curator did, and this release was collected from devices, without a curator. "
            "Name releases of dpheatmap release."
        )
    if release.seeded:
        raise ParameterError(
            "This release was made with a seed: whoever knows it can subtract the noise, and needs no attack. Name a "
            "release without a seed."
        )


@dataclass(frozen=True, eq=False)
class Side:
    """One release of a scene: its mechanism, and where others and the target are, by slice."""

    domain: Domain
    loss: PrivacyLoss
    design: Design
    axis: Axis | None
    split: str
    others: tuple[Ints, ...]
    events: tuple[Ints, ...]


def _side_of(release: Release | SlicedRelease, others: tuple[Ints, ...], events: tuple[Ints, ...]) -> Side:
    sliced = isinstance(release, SlicedRelease)
    axis, split = (release.axis, release.split) if sliced else (None, "weight")  # type: ignore[union-attr]
    return Side(release.domain, release.loss, release.design, axis, split, others, events)


Task = tuple[int, bool, int, tuple[Side, ...], int]


def _values(
    scenes: Sequence[tuple[Side, ...]], runs: int, workers: int | None,
    progress: Callable[[float, float], None] | None,
) -> list[tuple[Floats, Floats]]:  # fmt: skip
    """Run each scene without and with the target, in pieces on all cores; a row is a run, a column a test."""
    tasks: list[Task] = [
        (number, added, first, scene, min(CHUNK, runs - first))
        for first in range(0, runs, CHUNK)
        for number, scene in enumerate(scenes)
        for added in (False, True)
    ]
    start, found = time.perf_counter(), {}
    for task, values in run_all(_run, tasks, workers):
        found[task[:3]] = values
        if progress is not None:
            progress(len(found) / len(tasks), time.perf_counter() - start)

    def join(number: int, added: bool) -> Floats:
        return np.concatenate([found[key] for key in sorted(found) if key[:2] == (number, added)])

    return [(join(number, False), join(number, True)) for number in range(len(scenes))]


def _run(task: Task) -> Floats:
    """The values of both tests, added up over all releases of a scene."""
    _, added, _, scene, runs = task
    found: Floats = np.sum([_values_of_side(side, added, runs) for side in scene], axis=0)
    return found


def _values_of_side(side: Side, added: bool, runs: int) -> Floats:
    assert isinstance(side.loss, (PureLoss, ConcentratedLoss))
    if side.axis is None:
        counts = _read_table(side, added)
        return np.array([
            _values_of(side, measure(counts, side.loss, side.design), side.loss, [0]) for _ in range(runs)
        ])  # fmt: skip
    assert isinstance(side.loss, PureLoss)
    assert isinstance(side.design, LadderDesign)
    sliced = _counts_of_slices(side, added)
    return np.array([
        _values_of_families(side, measure_families(sliced, side.axis, side.split, side.loss, side.design))
        for _ in range(runs)
    ])  # fmt: skip


# People


def _read_table(side: Side, added: bool) -> Counts:
    """Write everybody to a table, a row for each event, and count them as `release` does."""
    ((others,), (events,)) = side.others, side.events
    codes = np.concatenate([others, events]) if added else others
    who = [*(f"other {k}" for k in range(len(others))), *["target"] * (len(codes) - len(others))]
    u, v = ((cells.astype(np.float64) + 0.5) / 2.0**side.domain.depth for cells in decode(codes))
    x, y = side.domain.place.from_root(u, v)
    x0, y0, x1, y1 = side.domain.extent
    x, y = side.domain.place.customary(np.clip(x, x0, x1)), np.clip(y, y0, y1)
    lines = [f"{name},{a!r},{b!r}\n" for name, a, b in zip(who, x.tolist(), y.tolist(), strict=True)]
    with tempfile.TemporaryDirectory(prefix="dpheatmap-") as folder:
        path = Path(folder, "people.csv")
        path.write_text("who,x,y\n" + "".join(lines))
        return aggregate(str(path), side.domain, user="who", x="x", y="y")


def _counts_of_slices(side: Side, added: bool) -> list[Counts]:
    found = []
    for others, events, units in zip(side.others, side.events, units_of(side.events, side.split), strict=True):
        codes, place = np.unique(np.concatenate([others, events]), return_inverse=True)
        each = np.concatenate([np.full(len(others), UNITS), np.full(len(events), units * added)])
        weights = np.zeros(len(codes), np.int64)
        np.add.at(weights, place, each)
        found.append(Counts.in_order(side.domain, codes, weights))
    return found


# Tests


def _values_of(side: Side, m: Measurements, loss: PrivacyLoss, slices: Sequence[int]) -> Floats:
    """The log-ratio of measurements of some slices together, with the target to without, and the sum."""
    units = units_of(side.events, side.split)
    up = side.domain.depth - m.levels
    more: Ints = np.sum([units[k] * number_in(side.events[k], up, m.codes) for k in slices], axis=0)
    here = np.flatnonzero(more)
    others = np.sum([UNITS * number_in(side.others[k], up[here], m.codes[here]) for k in slices], axis=0)
    away, moved = (m.counts[here] - others) / UNITS, more[here] / UNITS
    parts = np.array([float(loss.part(share)) for share in m.shares[here].tolist()])
    power = 2 if isinstance(loss, ConcentratedLoss) else 1
    return np.array([parts @ (np.abs(away) ** power - np.abs(away - moved) ** power), (parts * moved) @ away])


def _values_of_families(side: Side, families: Sequence[Family]) -> Floats:
    """The same of all slices: the look, pooled maps, blocks, and slices by themselves."""
    assert side.axis is not None
    times = len(side.axis.times)
    values = [
        _values_of(side, measured, loss, slices)
        for number, family in enumerate(families)
        for measured, loss, slices in _measurements_of(side, family, range(number * times, (number + 1) * times))
    ]
    found: Floats = np.sum(values, axis=0)
    return found


def _measurements_of(
    side: Side, family: Family, slices: range
) -> Iterator[tuple[Measurements, PrivacyLoss, Sequence[int]]]:
    """What was measured of a group's slices: the counts, their loss, and of which slices together."""
    if not isinstance(family, SliceMeasurements):
        assert side.axis is not None
        each = PureLoss(side.loss.epsilon / (len(side.axis.labels) if side.split == "epsilon" else 1))
        yield from ((tree, each, [k]) for tree, k in zip(family, slices, strict=True))
        return
    level = side.domain.first_level(1)
    look, each = np.array([family.look]), family.rule.loss_of_slices(side.loss)
    yield _whole(np.array([level]), side.domain.codes(level)[:1], look), loss_of_look(side.loss), slices
    if family.rule.apart:
        yield from ((tree, each, [k]) for tree, k in zip(family.trees, slices, strict=True))
        return
    assert family.blocks is not None
    assert family.counts is not None
    yield family.trees[0], family.rule.loss_of_map(side.loss), slices
    for k, noisy in zip(slices, family.counts, strict=True):
        yield _whole(family.blocks.levels, family.blocks.codes, noisy), each, [k]


def _whole(levels: Ints, codes: Ints, counts: Ints) -> Measurements:
    """Measurements that each have all of a loss."""
    return Measurements(levels, codes, counts, np.full(len(codes), SHARES))


# Judgement


def _attempt(target: str, without: Floats, added: Floats, bound: AttackBound, alpha: float) -> Attempt:
    """Choose thresholds by the first runs, and judge them by the others."""
    first = len(without) // CHOOSING
    gains, thresholds = [], []
    for column, test in enumerate(TESTS):
        no, yes = without[:, column], added[:, column]
        for value in _cuts(np.concatenate([no[:first], yes[:first]])):
            gains.append(np.mean(yes[:first] >= value) - np.mean(no[:first] >= value))
            thresholds.append(_threshold(test, value, no[first:], yes[first:], bound, alpha))
    return Attempt(target, TARGETS[target], tuple(thresholds), int(np.argmax(gains)))


def _cuts(values: Floats) -> list[float]:
    """The values at all levels, and that of indifference between with and without."""
    cuts: list[float] = np.unique(np.append(np.quantile(values, LEVELS[1:], method="nearest"), 0.0)).tolist()
    return cuts


def _threshold(test: str, value: float, without: Floats, added: Floats, bound: AttackBound, alpha: float) -> Threshold:
    runs, hits, mistakes = len(added), int((added >= value).sum()), int((without >= value).sum())
    found, mistaken = clopper_pearson(hits, runs, alpha), clopper_pearson(mistakes, runs, alpha)
    return Threshold(test, value, hits, mistakes, runs, found, mistaken, bound.true_rate(mistaken[1]))
