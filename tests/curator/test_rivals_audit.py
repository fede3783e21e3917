"""An audit of the Curator's adaptive questions by their exact laws: PrivTree's tree, and the furthest cell.

The probability of every tree, and of every winner, is computed from the noise's distribution function, and the largest
log-ratio between neighbours is compared with epsilon over many data sets, worst cases among them. This finds what no
sample could; `test_the_code_has_the_law_of_...` then ties the code to those laws by sampling.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import dpheatmap as dph
from dpheatmap.curator import Curator
from dpheatmap.curator import rivals as questions
from dpheatmap.curator.core.noise import discrete_laplace
from dpheatmap.design.shares import UNITS
from dpheatmap.place.domain import Floats
from helpers.audit import chi_square

EPSILON = 1.0
GRID = 80
ROUNDING = 1e-7  # units are a 2^30th of a person: what they round away, and what floats do

# PrivTree. Counts are in people here, and so is everything derived from the rate.


class TreeLaw:
    """The law of the tree's decisions: counts are split with probability ``S(max(c - k delta, -delta))``."""

    def __init__(self, epsilon: float = EPSILON, *, rate: float = 3 / 7, decay: float = 1.0) -> None:
        self.rate = rate * epsilon
        self.delta = decay * math.log(4) / self.rate

    def log_split(self, count: float, depth: int) -> float:
        """The log-probability that a cell with that count, so deep below its root, is split."""
        x = self.rate * max(count - depth * self.delta, -self.delta)
        return x - math.log(2) if x <= 0 else math.log1p(-math.exp(-x) / 2)

    def log_leaf(self, count: float, depth: int) -> float:
        """The log-probability that it is not."""
        x = self.rate * max(count - depth * self.delta, -self.delta)
        return math.log1p(-math.exp(x) / 2) if x <= 0 else -x - math.log(2)

    def extremes(self, one: list[Floats], other: list[Floats], depth: int = 0, cell: int = 0) -> tuple[float, float]:
        """The least and the largest log-ratio of a subtree's probabilities, over all subtrees below a cell.

        ``one`` and ``other`` are the counts of the levels below a root. Decisions are independent and those of
        different children concern different subtrees, so the extremes of a sum are the sums of extremes.
        """
        if depth == len(one) - 1:
            return 0.0, 0.0
        counts = float(one[depth][cell]), float(other[depth][cell])
        leaf, split = (law(counts[1], depth) - law(counts[0], depth) for law in (self.log_leaf, self.log_split))
        if counts[0] == counts[1]:
            return 0.0, 0.0
        below = [self.extremes(one, other, depth + 1, 4 * cell + child) for child in range(4)]
        return min(leaf, split + sum(b[0] for b in below)), max(leaf, split + sum(b[1] for b in below))

    def on_a_path(self, counts: Floats, person: float = 1.0) -> float:
        """The largest absolute log-ratio if a person is added to the path's last cell: split to some depth, or less."""
        worst, splits = 0.0, 0.0
        for depth, count in enumerate(counts):
            leaf = self.log_leaf(count + person, depth) - self.log_leaf(count, depth)
            worst = max(worst, abs(splits + leaf))
            splits += self.log_split(count + person, depth) - self.log_split(count, depth)
            worst = max(worst, abs(splits))
        return worst


def levels_above(finest: Floats) -> list[Floats]:
    """The counts of all levels from the root down, given those of the finest, by Morton code."""
    levels = [finest]
    while len(levels[0]) > 1:
        levels.insert(0, levels[0].reshape(-1, 4).sum(axis=1))
    return levels


def worst_path(law: TreeLaw, longest: int = 24) -> float:
    """The largest log-ratio on paths whose counts stay the same, or fall so that they stay near a threshold."""
    worst = 0.0
    for length in (1, 2, 3, 5, 10, longest):
        depths = np.arange(length)
        for people in np.linspace(0.0, (length + 2) * math.log(4) / law.rate, GRID):
            worst = max(worst, law.on_a_path(np.full(length, people)))
            worst = max(worst, law.on_a_path(np.maximum(people - depths * people / length, 0.0)))
        for below in np.linspace(-1.0, 1.0, 9):  # each cell just as full as its threshold, the deepest first
            worst = max(worst, law.on_a_path(np.full(length, max(length * law.delta - law.delta - below, 0.0))))
    return worst


@pytest.mark.parametrize(("epsilon", "tight"), [(0.05, 0.9), (1.0, 0.75), (5.0, 0.5)])
def test_no_path_of_the_tree_tells_more_than_epsilon(epsilon: float, tight: float) -> None:
    """The smaller epsilon, the nearer the worst case comes to the bound: up to 0.93 of it."""
    assert tight * epsilon < worst_path(TreeLaw(epsilon)) <= epsilon + ROUNDING


def random_data(rng: np.random.Generator, depth: int) -> tuple[Floats, Floats]:
    """Counts of the finest cells without and with a person, who may be in one cell or spread over many."""
    cells = 4**depth
    crowd = (
        rng.exponential(1.0, cells) ** rng.integers(1, 6) * rng.choice([0.0, 0.1, 1.0, 5.0]) * (rng.random(cells) < 0.5)
    )
    spread = rng.exponential(1.0, cells) * (rng.random(cells) < rng.choice([0.02, 0.3, 1.0]))
    spread[rng.integers(cells)] += 1e-3
    return crowd, crowd + spread / spread.sum()


def test_no_tree_tells_more_than_epsilon_whatever_people_weigh() -> None:
    rng, law = np.random.default_rng(1), TreeLaw()
    for _ in range(150):
        without, added = (levels_above(finest) for finest in random_data(rng, depth=4))
        least, most = law.extremes(without, added)
        assert -EPSILON - ROUNDING <= least <= most <= EPSILON + ROUNDING


def test_audit_finds_a_tree_without_decay() -> None:
    assert worst_path(TreeLaw(decay=0.0)) > 2 * EPSILON


def test_audit_finds_a_tree_with_half_the_noise() -> None:
    assert worst_path(TreeLaw(rate=6 / 7)) > 1.4 * EPSILON


def test_audit_finds_a_tree_that_forgets_the_cells_above() -> None:
    """Noise for one decision, not for all on a path: g left out of the rate."""
    assert worst_path(TreeLaw(rate=1.0)) > 1.5 * EPSILON


PEOPLE = 6.0


def trees_of_the_code(runs: int) -> NDArray[np.int64]:
    """How often, in the four quarters of a square that hold the same people, each of five kinds of tree came out.

    All people of a quarter are in one of its finest cells, two levels down. The kinds: the quarter is a leaf; it is
    split and its full child is a leaf, with or without an empty one being split; or the full child is split, likewise.
    """
    corner = np.array([0, 16, 32, 48])
    sums = np.arange(5) * round(PEOPLE * UNITS)
    counts = dph.Counts(dph.Domain.unit(3), corner, sums)
    found = np.zeros(5, np.int64)
    for _ in range(runs):
        levels, codes = Curator(counts, Fraction(1)).private_tree(Fraction(1))
        for quarter in range(4):
            inside = (codes >> 2 * (levels - 1)) == quarter
            if inside.sum() == 1:
                found[0] += 1
                continue
            finest = codes[inside & (levels == 3)]
            full = np.any(finest >> 2 == quarter * 4)
            found[1 + 2 * int(full) + int(np.any(finest >> 2 != quarter * 4))] += 1
    return found


def law_of_the_kinds() -> Floats:
    law = TreeLaw()
    root, full, empty = (math.exp(law.log_split(*at)) for at in ((PEOPLE, 0), (PEOPLE, 1), (0.0, 1)))
    none = (1 - empty) ** 3
    below = [(1 - full) * none, (1 - full) * (1 - none), full * none, full * (1 - none)]
    return np.array([1 - root, *(root * part for part in below)])


def test_the_code_has_the_law_of_the_tree() -> None:
    assert chi_square(trees_of_the_code(4_000), law_of_the_kinds()) > 1e-8


def test_the_code_goes_down_as_deep_as_the_law_says() -> None:
    """The decay grows with every level below the root: where the tree ends above a crowd in one finest cell."""
    runs, law = 1_200, TreeLaw()
    counts = dph.Counts(dph.Domain.unit(5), np.array([0, 256, 512, 768]), np.arange(5) * round(PEOPLE * UNITS))
    found = np.zeros(5, np.int64)
    for _ in range(runs):
        levels, codes = Curator(counts, Fraction(1)).private_tree(Fraction(1))
        above = np.isin(codes << 2 * (5 - levels), counts.codes)  # the leaves that hold a crowd
        found += np.bincount(levels[above] - 1, minlength=5)
    split = [math.exp(law.log_split(PEOPLE, depth)) for depth in range(4)]
    reached = np.cumprod([1.0, *split])
    assert chi_square(found, reached * np.array([*(1 - np.array(split)), 1.0])) > 1e-8


def test_a_tree_without_decay_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "LOG_BRANCHES", Fraction(1, 1000))
    assert chi_square(trees_of_the_code(2_000), law_of_the_kinds()) < 1e-8


def test_a_tree_with_half_the_noise_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "discrete_laplace", lambda rate: discrete_laplace(rate * 2))
    assert chi_square(trees_of_the_code(2_000), law_of_the_kinds()) < 1e-8


# The furthest cell. Scores are in people; the noise's rate is epsilon / sensitivity.


def winners(scores: Floats, sensitivity: float = 2.0) -> Floats:
    """The probability that each score, with Laplace noise added, is the largest: one integral each."""
    rate = EPSILON / sensitivity
    at = np.linspace(scores.min() - 40 / rate, scores.max() + 40 / rate, 20_001)
    off = rate * (at - scores[:, None])
    below = np.where(off < 0, np.exp(-np.abs(off)) / 2, 1 - np.exp(-np.abs(off)) / 2)
    density = rate / 2 * np.exp(-np.abs(off))
    wins = [density[i] * np.delete(below, i, axis=0).prod(axis=0) for i in range(len(scores))]
    chances = np.trapezoid(wins, at, axis=1)
    normalised: Floats = chances / chances.sum()
    return normalised


def worst_winner(sensitivity: float) -> float:
    """The largest log-ratio of a winner's probabilities when each score moves by up to one, either way."""
    rng = np.random.default_rng(2)
    worst = 0.0
    for case in range(120):
        scores = np.round(rng.exponential(3.0, int(rng.integers(2, 7))), 1)
        moved = rng.choice([-1.0, 1.0], len(scores))
        if case % 2:  # the worst case: one moves away from all others
            moved = np.where(np.arange(len(scores)) == np.argmin(scores), 1.0, -1.0)
            scores[np.argmin(scores)] -= rng.uniform(0, 10)
        ratio = np.log(winners(scores + moved, sensitivity) / winners(scores, sensitivity))
        worst = max(worst, float(np.abs(ratio).max()))
    return worst


def test_no_winner_tells_more_than_epsilon() -> None:
    assert 0.9 * EPSILON < worst_winner(2.0) <= EPSILON + 1e-4


def test_audit_finds_a_sensitivity_of_one_instead_of_two() -> None:
    assert worst_winner(1.0) > 1.5 * EPSILON


def winners_of_the_code(runs: int) -> NDArray[np.int64]:
    """Winners among a quarter, the cell in it that holds its people, and another quarter: cells that overlap."""
    counts = dph.Counts(dph.Domain.unit(2), np.array([0, 15]), np.array([0, 4, 7]) * UNITS)
    levels, codes, guess = np.array([1, 2, 1]), np.array([0, 0, 3]), np.array([1.0, 6.0, 1.0])
    won = [Curator(counts, Fraction(1)).furthest(levels, codes, guess, Fraction(1)) for _ in range(runs)]
    return np.bincount(won, minlength=3)


def test_the_code_has_the_law_of_the_furthest() -> None:
    assert chi_square(winners_of_the_code(10_000), winners(np.array([3.0, 2.0, 2.0]))) > 1e-8


def test_no_number_of_people_favours_the_first_of_two() -> None:
    """Both cells hold more than can be counted. Sums held at a bound would tie there, and 5 of 8 would be the first.

    3000 fair throws are more than 6 standard deviations away from their mean with a probability below 1e-8.
    """
    counts = dph.Counts(dph.Domain.unit(1), np.array([0, 3]), np.array([0, 2**61, 2**62]))
    levels, codes, guess = np.array([1, 1]), np.array([0, 3]), np.zeros(2)
    first = sum(Curator(counts, 1).furthest(levels, codes, guess, Fraction(1)) == 0 for _ in range(3000))
    assert abs(first - 1500) < 6 * np.sqrt(750)


def test_a_sensitivity_of_one_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "discrete_laplace", lambda rate: discrete_laplace(rate * 2))
    assert chi_square(winners_of_the_code(10_000), winners(np.array([3.0, 2.0, 2.0]))) < 1e-8
