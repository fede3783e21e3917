"""Whether `plan` names the better design: people in few places, in Gaussians and in other shapes; little signal, much.

A case is a kind of people, their number and epsilon; its errors are means over draws of people and noise, of the
heatmaps that a release gives by default. It is clear if the errors of the two designs differ by more than 20 %. Two
questions: the default design or the dense one, and the paper's design or the dense one. Of people in few places the
plan is told how many; of the others nothing.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from fractions import Fraction

import numpy as np

import dpheatmap as dph
from common import bar
from dpheatmap.domain import Floats
from dpheatmap.evaluate.pool import run_all
from dpheatmap.evaluate.truth import true_distribution
from dpheatmap.experiments.bounds import few_places
from dpheatmap.experiments.mixtures import mixture
from dpheatmap.experiments.places import Place
from dpheatmap.smoothing import smoothed
from dpheatmap.testing import seeded_release

SIGMA, SIZE, DEPTH, DRAWS = 0.02, 64, 7, 3
GAUSSIANS = {"2 Gaussians": 0.01, "6 Gaussians": 0.04, "30 Gaussians": 0.2, "120 Gaussians": 0.7}
"""And the share of cells that they fill."""
PLACES = {"4 places": 4, "16 places": 16}
CASES = ((200, "1/4"), (200, "1"), (1000, "1"), (1000, "5"), (1000, "40"))
DESIGNS = ("adaptive", "paper", "dense")
CLEAR, RIGHT, SEED = 1.2, 0.9, 20_262

Case = tuple[str, int, str]


def everywhere(people: int, rng: np.random.Generator) -> Floats:
    """Evenly."""
    return rng.random((people, 2))


def roads(people: int, rng: np.random.Generator) -> Floats:
    """Along twelve straight roads between random places."""
    ends, road = rng.random((12, 2, 2)), rng.integers(12, size=people)
    points: Floats = ends[road, 0] + rng.random((people, 1)) * (ends[road, 1] - ends[road, 0])
    return points


def ring(people: int, rng: np.random.Generator) -> Floats:
    """Around an empty middle."""
    turn, radius = rng.uniform(0, 2 * np.pi, people), rng.normal(0.3, 0.02, people)
    points: Floats = 0.5 + radius[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return points


def slope(people: int, rng: np.random.Generator) -> Floats:
    """Everywhere, more and more to one side."""
    return np.stack([np.sqrt(rng.random(people)), rng.random(people)], axis=1)


def towns(people: int, rng: np.random.Generator) -> Floats:
    """In sixty towns whose sizes fall as 1 / rank."""
    shares = 1 / np.arange(1, 61)
    return rng.random((60, 2))[rng.choice(60, people, p=shares / shares.sum())] + rng.normal(0, 0.006, (people, 2))


def half_a_crowd(people: int, rng: np.random.Generator) -> Floats:
    """Half of them in one place, the others anywhere."""
    points = rng.random((people, 2))
    points[: people // 2] = points[-1]
    return points


def spiral(people: int, rng: np.random.Generator) -> Floats:
    """Along a line that winds outwards three times."""
    way = np.sqrt(rng.random(people))
    at = 6 * np.pi * way
    turns = np.stack([np.cos(at), np.sin(at)], axis=1)
    points: Floats = 0.5 + 0.45 * way[:, None] * turns + rng.normal(0, 0.004, (people, 2))
    return points


def coast(people: int, rng: np.random.Generator) -> Floats:
    """Inland of a wavy shore, most of them near it."""
    x = rng.random(people)
    return np.stack([x, 0.4 + 0.1 * np.sin(9 * x) + rng.exponential(0.06, people)], axis=1)


def villages(people: int, rng: np.random.Generator) -> Floats:
    """In 8 x 8 villages of one size."""
    points: Floats = (rng.integers(8, size=(people, 2)) + 0.5) / 8 + rng.normal(0, 0.008, (people, 2))
    return points


def crossing(people: int, rng: np.random.Generator) -> Floats:
    """On two broad streets, and a few anywhere."""
    points = rng.random((people, 2))
    street = rng.integers(5, size=people)
    for axis in (0, 1):
        mine = (street % 2 == axis) & (street < 4)
        points[mine, axis] = rng.normal(0.3 + 0.4 * axis, 0.01, int(mine.sum()))
    return points


SHAPES = {
    "everywhere": everywhere, "roads": roads, "a ring": ring, "a slope": slope, "towns": towns,
    "half a crowd": half_a_crowd, "a spiral": spiral, "a coast": coast, "villages": villages, "a crossing": crossing,
}  # fmt: skip


def people_of(kind: str, people: int, draw: int) -> dph.Counts:
    rng = np.random.default_rng([SEED, people, draw, *kind.encode()])
    if kind in PLACES:
        place = few_places(PLACES[kind], people, draw + SEED).at_depth(DEPTH)
    elif kind in GAUSSIANS:
        place = mixture(int(kind.split()[0]), GAUSSIANS[kind], people=people, depth=DEPTH, rng=rng)
    else:
        x, y = np.clip(SHAPES[kind](people, rng), 0, 1 - 1e-9).T
        place = Place(kind, dph.Domain.unit(DEPTH), np.arange(people), x, y)
    return place.sample(people, rng)


def errors(task: tuple[Case, int]) -> dict[str, float]:
    """The error of each design on one draw."""
    (kind, people, epsilon), draw = task
    counts = people_of(kind, people, draw)
    true = smoothed(true_distribution(counts), SIGMA, SIZE)
    found = {}
    for design in DESIGNS:
        heat = seeded_release(counts, seed=draw, epsilon=Fraction(epsilon), design=design).heatmap(
            sigma=SIGMA, size=SIZE
        )
        found[design] = dph.metrics.emd(true, heat.values, tolerance=0.01).middle
    return found


def judge(sparse: str, means: dict[Case, dict[str, float]]) -> bool:
    """How many of the clear cases the advice is right in."""
    clear, right = 0, 0
    for (kind, people, epsilon), error in means.items():
        better, worse = sorted((sparse, "dense"), key=error.__getitem__)
        if error[worse] <= CLEAR * error[better]:
            continue
        domain, known = dph.Domain.unit(DEPTH), PLACES.get(kind)
        advice = dph.plan(domain, epsilon=epsilon, users=people, design=sparse, places=known).better
        clear, right = clear + 1, right + (advice == better)
        if advice != better:
            print(f"wrong: {kind}, {people} people, epsilon {epsilon}: {error}")
    always = max(sum(e[a] * CLEAR < e[b] for e in means.values()) for a, b in ((sparse, "dense"), ("dense", sparse)))
    print(f"{clear} of {len(means)} cases are clear; always the same answer would be right in {always}")
    return bar(f"{sparse} or dense: advice right in the clear cases", right / clear, RIGHT, at_least=True)


def main() -> int:
    cases = [(kind, *case) for kind in (*PLACES, *GAUSSIANS, *SHAPES) for case in CASES]
    found: dict[Case, list[dict[str, float]]] = defaultdict(list)
    for (case, _), error in run_all(errors, [(case, draw) for case in cases for draw in range(DRAWS)]):
        found[case].append(error)
    means = {case: {d: float(np.mean([e[d] for e in runs])) for d in DESIGNS} for case, runs in found.items()}
    for case, error in sorted(means.items()):
        print(case, " ".join(f"{design} {value:.4f}" for design, value in error.items()), flush=True)
    return 0 if all([judge("adaptive", means), judge("paper", means)]) else 1


if __name__ == "__main__":
    sys.exit(main())
