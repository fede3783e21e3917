"""An audit of this installation: how much does a release tell about one person, measured from outside?

Each *shape* is a pair of neighbouring data sets, without and with one person, in which that person might show. The
whole of `release`, of `release_images` or of `discover` runs many times on both. If an event of its output has
probability p on one of them and p' on the other, epsilon is at least log(p / p'). The first fifth of the runs only
chooses events: of each statistic, in each direction, the one that looks worst. The other runs are independent of the
choice. They judge it by Clopper and Pearson's bounds, exact for any number of runs. The false-alarm rate is divided
over all shapes, statistics and directions, so the largest of the bounds exceeds the true epsilon with at most that
probability.

Shapes with Gaussian noise have a promise of rho = epsilon^2 / 2, which is what an epsilon gives. There the runs bound
rho from below, and the bound is told as the epsilon that would give it.

One shape adds several people and uses only a part of a release. The promise allows k people k times the log-ratio of
one, and a part of a release its part of epsilon. There, a log-ratio is divided by what is allowed, which gives the
epsilon that the promise would need.

A bound above the promised epsilon refutes the promise. A bound below proves only that epsilon is at least the bound;
the proof that epsilon is no larger than promised is in `docs/explanation/privacy.md`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.parameters import check
from dpheatmap.design.shares import exact_text, read_epsilon
from dpheatmap.evaluate.audit.discovery_shapes import discovery_shapes
from dpheatmap.evaluate.audit.file_shapes import file_shapes
from dpheatmap.evaluate.audit.gaussian_shapes import gaussian_shapes
from dpheatmap.evaluate.audit.group_shapes import image_shapes
from dpheatmap.evaluate.audit.look_shapes import look_shapes
from dpheatmap.evaluate.audit.shapes import CHOOSING, THRESHOLD, Sample, Shape, sampler_shape, shapes
from dpheatmap.evaluate.audit.slice_shapes import slice_shapes
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.place.domain import Floats

FALSE_ALARM = 1e-6
DESIGNS = ("ladder",)
CANDIDATES = 200
CHUNK = 8_000  # runs of a worker in one task


@dataclass(frozen=True)
class Bound:
    """The result of one event: how often it happened in the judging runs, and the bound on epsilon that follows."""

    statistic: str
    event: str
    likelier: str
    hits: int
    hits_otherwise: int
    runs: int
    epsilon: float


@dataclass(frozen=True)
class Finding:
    """The result of one shape: what was tried, and every bound, the largest first."""

    shape: str
    design: str
    why: str
    runs: int
    bounds: tuple[Bound, ...]

    @property
    def epsilon(self) -> float:
        """The largest bound."""
        return self.bounds[0].epsilon


@dataclass(frozen=True)
class Audit:
    """The result of an audit: lower bounds on the true epsilon of releases of this installation."""

    epsilon: Fraction
    false_alarm: float
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def bound(self) -> float:
        """The largest bound of all."""
        return max(finding.epsilon for finding in self.findings)

    @property
    def refuted(self) -> bool:
        """Whether more leaks than was promised."""
        return self.bound > self.epsilon

    @property
    def verdict(self) -> str:
        """The result in words."""
        promised = f"the promised epsilon of {exact_text(self.epsilon)}"
        sure = f"false-alarm rate {self.false_alarm:g}"
        if self.refuted:
            return f"REFUTED: what shows takes an epsilon of at least {self.bound:.3f}, more than {promised} ({sure})."
        part = self.bound / float(self.epsilon)
        return f"Not refuted: at least {self.bound:.3f}, {part:.0%} of {promised}, shows from outside ({sure})."

    def to_dict(self) -> dict[str, Any]:
        """The whole audit as plain values, for JSON."""
        return {
            "epsilon": str(self.epsilon), "false_alarm": self.false_alarm, "bound": self.bound,
            "refuted": self.refuted, "verdict": self.verdict, "seconds": self.seconds,
            "findings": [{**asdict(finding), "epsilon": finding.epsilon} for finding in self.findings],
        }  # fmt: skip


def audit(
    epsilon: object = 2,
    *,
    designs: Sequence[str] = DESIGNS,
    false_alarm: float = FALSE_ALARM,
    effort: float = 1.0,
    workers: int | None = None,
    only: Sequence[str] | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Audit:
    """Run the audit; ``effort`` multiplies the numbers of runs, ``only`` names shapes.

    >>> audit(2, designs=["paper"], only=["one cell"], effort=0.02, workers=1).refuted
    False
    """
    exact = read_epsilon(epsilon)
    for design in designs:
        check(design=design)
    chosen = [(design, shape) for design, shape in catalogue(designs, exact) if only is None or shape.name in only]
    start = time.perf_counter()
    samples = _samples([shape for _, shape in chosen], exact, effort, workers, progress)
    tests = 2 * sum(len(without) for without, _ in samples)
    findings = [
        Finding(
            shape.name, design, shape.why, _length(without),
            _bounds(without, added, false_alarm / tests, shape),
        )
        for (design, shape), (without, added) in zip(chosen, samples, strict=True)
    ]  # fmt: skip
    return Audit(exact, false_alarm, tuple(findings), time.perf_counter() - start)


def catalogue(designs: Sequence[str], epsilon: Fraction) -> list[tuple[str, Shape]]:
    """All shapes: for each design single releases, files and images; slices; and those without a design."""
    found = [
        (design, shape)
        for design in designs
        for shape in (
            *shapes(design, epsilon), *look_shapes(design, epsilon), *file_shapes(design), *image_shapes(design),
        )
    ]  # fmt: skip
    if "ladder" in designs:
        found += [("ladder", shape) for shape in slice_shapes()]
    found += [("adaptive, Gaussian", shape) for shape in gaussian_shapes(epsilon)]
    return found + [("any", shape) for shape in (*discovery_shapes(epsilon), sampler_shape())]


Task = tuple[int, bool, int, Shape, Fraction, int]


def _samples(
    chosen: Sequence[Shape], epsilon: Fraction, effort: float, workers: int | None,
    progress: Callable[[float, float], None] | None,
) -> list[tuple[Sample, Sample]]:  # fmt: skip
    """Run each shape without and with the person, in pieces on all cores."""
    tasks: list[Task] = []
    for place, shape in enumerate(chosen):
        runs = max(CHOOSING, math.ceil(shape.runs * effort))
        chunk = max(CHUNK, shape.runs // 10)
        for piece in range(-(-runs // chunk)):
            size = min(chunk, runs - piece * chunk)
            tasks += [(place, added, piece, shape, epsilon, size) for added in (False, True)]
    start, found = time.perf_counter(), {}
    for task, sample in run_all(_run, tasks, workers):
        found[task[:3]] = sample
        if progress is not None:
            progress(len(found) / len(tasks), time.perf_counter() - start)

    def join(place: int, added: bool) -> Sample:
        pieces = [found[key] for key in sorted(found) if key[:2] == (place, added)]
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}

    return [(join(place, False), join(place, True)) for place in range(len(chosen))]


def _run(task: Task) -> Sample:
    _, added, _, shape, epsilon, runs = task
    return shape.sample(added, epsilon, runs)


def _length(sample: Sample) -> int:
    return len(next(iter(sample.values())))


def _bounds(without: Sample, added: Sample, alpha: float, shape: Shape) -> tuple[Bound, ...]:
    """Compute one bound for each statistic and direction, the largest first."""
    found = []
    for name in without:
        for likelier, here, there in (("with them", added, without), ("without them", without, added)):
            a, b = here[name], there[name]
            choose, judge = slice(0, len(a) // CHOOSING), slice(len(a) // CHOOSING, None)
            pick = _threshold if name.startswith(THRESHOLD) else _value
            words, event = pick(a[choose], b[choose], shape.estimate)
            hits, otherwise = int(event(a[judge]).sum()), int(event(b[judge]).sum())
            size = len(a[judge])
            bound = shape.bound(hits, size, otherwise, size, alpha)
            found.append(Bound(name, words, likelier, hits, otherwise, size, bound))
    return tuple(sorted(found, key=lambda bound: -bound.epsilon))


Estimate = Callable[[NDArray[np.int64], NDArray[np.int64], int], Floats]
"""Estimates the bounds that events will give, from numbers of hits in so many choosing runs of both data sets."""
Event = Callable[[NDArray[Any]], NDArray[np.bool_]]


def _threshold(a: Floats, b: Floats, estimate: Estimate) -> tuple[str, Event]:
    """The event "at least t" or "at most t" that looks worst."""
    at = np.unique(np.quantile(np.concatenate([a, b]), np.linspace(0, 1, CANDIDATES), method="nearest"))
    a, b = np.sort(a), np.sort(b)
    more, fewer = (tuple(np.searchsorted(s, at, side) for s in (a, b)) for side in ("left", "right"))
    above = estimate(len(a) - more[0], len(b) - more[1], len(a))
    below = estimate(fewer[0], fewer[1], len(a))
    if above.max() >= below.max():
        t = at[np.argmax(above)]
        return f"at least {t:.6g}", lambda values: values >= t
    t = at[np.argmax(below)]
    return f"at most {t:.6g}", lambda values: values <= t


def _value(a: NDArray[np.int64], b: NDArray[np.int64], estimate: Estimate) -> tuple[str, Event]:
    """The event "equal to v" that looks worst."""
    values, hits = np.unique(a, return_counts=True)
    others, number = np.unique(b, return_counts=True)
    place = np.minimum(np.searchsorted(others, values), len(others) - 1)
    v = values[np.argmax(estimate(hits, np.where(others[place] == values, number[place], 0), len(a)))]
    return "one value", lambda found: found == v
