"""Whether `plan` names the better design: people in few places, in Gaussians and in other shapes; little signal, much.

A case is a kind of people on a square or in a wide box, and a signal, people times epsilon; its errors are means over
draws of people and noise, of the heatmaps that a release gives by default. It is clear if the errors of the two designs
differ by more than 20 %.

Two questions: the default design or the dense one, and the paper's design or the dense one. Each is asked without a
hint, and with one for those kinds that are so many places: their number. The advice rests on other draws of people in
so many places (`planning.py --simulate`), and on none of the other kinds. Beside it stand what always the same answer
would score, and the most that any rule could which knows no more than the signal and the domain: in each such group of
cases, the answer that is right more often.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from fractions import Fraction
from typing import NamedTuple

import numpy as np

import dpheatmap as dph
from common import bar
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Floats
from dpheatmap.testing import seeded_release
from shapes import BOX, DOMAINS, GAUSSIANS, NEW_SHAPES, PLACES, SHAPES, SQUARE, people_of

SIGMA, SIZE = 0.02, 64
DRAWS = {60: 6, 250: 6, 1000: 5, 4000: 4, 16_000: 3}
"""By signal."""
EPSILONS = (Fraction(1), Fraction(1, 4), Fraction(3))
DESIGNS = ("ladder", "paper", "dense")
CLEAR, RIGHT = 1.2, 0.9


class Case(NamedTuple):
    """People of a kind, where they are, and people times epsilon."""

    kind: str
    where: str
    signal: int


CASES = [
    *(Case(kind, SQUARE, signal) for kind in (*GAUSSIANS, *SHAPES) for signal in DRAWS),
    *(Case(kind, where, signal) for kind in (*NEW_SHAPES, *PLACES) for where in (SQUARE, BOX) for signal in DRAWS),
]


def errors(task: tuple[Case, int]) -> Floats:
    """The errors of the designs on one draw."""
    case, draw = task
    epsilon = EPSILONS[draw % len(EPSILONS)]
    counts = people_of(case.kind, round(case.signal / epsilon), draw, case.where)
    sigma = SIGMA * counts.domain.longer_side
    true = smooth(true_distribution(counts), sigma, SIZE)
    heats = (
        seeded_release(counts, seed=draw, epsilon=epsilon, design=design).heatmap(sigma=sigma, size=SIZE).values
        for design in DESIGNS
    )
    return np.array([dph.metrics.emd(true, heat, tolerance=0.01).middle for heat in heats])


def clearly_better(runs: Floats, sparse: str) -> str | None:
    """The design with the smaller error, if the case is clear."""
    means = dict(zip(DESIGNS, runs.mean(axis=0), strict=True))
    better, worse = sorted((sparse, "dense"), key=means.__getitem__)
    return better if means[worse] > CLEAR * means[better] else None


def judge(sparse: str, found: dict[Case, Floats]) -> bool:
    """How many of the clear cases the advice is right in, without the hint and with it."""
    clear = {case: better for case, runs in found.items() if (better := clearly_better(runs, sparse))}
    answers = Counter(clear.values())
    groups = {(case.where, case.signal): Counter[str]() for case in clear}
    for case, better in clear.items():
        groups[case.where, case.signal][better] += 1
    most = sum(max(group.values()) for group in groups.values())
    print(f"\n{sparse} or dense: {len(clear)} of {len(found)} cases are clear, {answers['dense']} of them for dense")
    for (where, signal), group in sorted(groups.items()):
        print(f"  {where}, signal {signal}: {group[sparse]} for {sparse}, {group['dense']} for dense")
    print(f"  always the same answer: {max(answers.values()) / len(clear):.1%}")
    print(f"  the best rule that knows no more than signal and domain: {most / len(clear):.1%}")
    scores = [_score(sparse, clear, found, hint) for hint in (False, True)]
    return all(scores)


def _score(sparse: str, clear: dict[Case, str], found: dict[Case, Floats], hint: bool) -> bool:
    """The share of clear cases that the advice is right in, with the hint of those in which there is one to give."""
    asked = {case: better for case, better in clear.items() if case.kind in PLACES or not hint}
    wrong = [case for case, better in asked.items() if advice(case, sparse, hint) != better]
    for case in wrong:
        print(f"  wrong: {case.kind}, {case.where}, signal {case.signal}: {_in_words(found[case])}")
    what = f"{sparse} or dense, {'people in so many places, told how many' if hint else 'told nothing'}: right"
    return bar(what, 1 - len(wrong) / len(asked), RIGHT, at_least=True)


def _in_words(runs: Floats) -> str:
    return " ".join(f"{design} {error:.4f}" for design, error in zip(DESIGNS, runs.mean(axis=0), strict=True))


def advice(case: Case, sparse: str, hint: bool) -> str:
    """What `plan` names."""
    places = PLACES.get(case.kind) if hint else None
    return dph.plan(DOMAINS[case.where], epsilon=1, users=case.signal, design=sparse, places=places).better


def main() -> int:
    runs: dict[Case, list[Floats]] = defaultdict(list)
    tasks = [(case, draw) for case in CASES for draw in range(DRAWS[case.signal])]
    for (case, _), error in run_all(errors, tasks):
        runs[case].append(error)
    found = {case: np.array(each) for case, each in sorted(runs.items())}
    for case, each in found.items():
        print(f"{case.kind}, {case.where}, signal {case.signal}: {_in_words(each)}", flush=True)
    return 0 if all([judge("ladder", found), judge("paper", found)]) else 1


if __name__ == "__main__":
    sys.exit(main())
