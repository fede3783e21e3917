"""The privacy loss of the ladder, exactly: all outputs of tiny trees, with the probabilities that the real code gives.

Nothing is sampled, and nothing of the proof is used: for every output and every pair of neighbours, the log-ratio of
its probabilities is compared with what is allowed (`helpers/enumerated.py`). Counts and thresholds are a few units, so
that every branch is likely. The same computation finds each planted bug.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpheatmap.curator.core import publishing
from dpheatmap.design.ladder import LadderDesign
from helpers import planted, planted_looks
from helpers.enumerated import NOTHING, RATE, Data, Loss, Tree, compare

Bug = Callable[[pytest.MonkeyPatch], None]

NEVER = Fraction(10**9)
STEEP = LadderDesign(
    0, 2, total=Fraction(0), spent=Fraction(2, 5), closing=RATE, splitting=RATE, deepening=3 * RATE,
    opening=7 * RATE, even_once=NEVER, even_twice=NEVER,
)  # fmt: skip
"""Thresholds of 1, 1, 3 and 7 units, and no rule for even maps."""
LOW = replace(STEEP, deepening=2 * RATE, opening=3 * RATE)
"""Cells of a few units are opened, again and again."""
EVEN = replace(LOW, opening=4 * RATE, evenness=Fraction(9, 10), even_once=RATE * 3 / 2, even_twice=3 * RATE)
"""Maps are even from 3/2 units a cell on, and measured two levels down from 3 on."""

TWO_BY_TWO = Tree((0, 1, 4, 5), 2, STEEP, ((5, 3),))
FIRST_OUTSIDE = Tree((6, 7, 13), 2, STEEP, ((5, 4),))
ONE_CHILD = Tree((9, 11), 2, STEEP, ((6, 5),))
ONE_GRANDCHILD = Tree((14,), 2, STEEP, ((7, 7),))
THREE_CHILDREN = Tree((3, 7, 14), 2, STEEP, ((5, 4),))
ABOVE_LAST = Tree((1, 2, 3), 1, STEEP, ((0, 6),))
LAST = Tree((0,), 0, STEEP, ((0, 6),))
OPENED = Tree((1, 2, 7), 2, LOW, ((3, 1), (0, 3)))
OPENED_TWICE = Tree((22, 23), 3, replace(LOW, last=3), ((2, 1), (2, 1), (0, 2)))
NEARLY_ALIKE = Tree((1, 2, 17), 3, replace(EVEN, first=1, last=3), ((2, 1),), top=1)
SPOTTY = replace(NEARLY_ALIKE, design=replace(NEARLY_ALIKE.design, even_cells=Fraction(0)))

SOUND: dict[str, tuple[Tree, Sequence[Data], Sequence[Data]]] = {
    "two by two": (
        TWO_BY_TWO,
        [(0, 0, 0, 0), (1, 1, 1, 1), (3, 1, 0, 0), (2, 2, 1, 1)],
        [(2, 0, 0, 0), (0, 1, 0, 1), (0, 0, 0, 2)],
    ),
    "the first child and grandchild outside": (
        FIRST_OUTSIDE,
        [(0, 0, 0), (1, 2, 1)],
        [(2, 0, 0), (0, 1, 1), (0, 0, 2)],
    ),
    "one child": (ONE_CHILD, [(0, 0), (2, 1), (3, 3)], [(2, 0), (1, 1), (0, 1)]),
    "one grandchild": (ONE_GRANDCHILD, [(0,), (2,), (6,)], [(1,), (2,)]),
    "three children": (THREE_CHILDREN, [(0, 0, 0), (2, 2, 1)], [(2, 0, 0), (1, 0, 1)]),
    "above the last level": (ABOVE_LAST, [(0, 0, 0), (1, 0, 1)], [(2, 0, 0), (1, 0, 1), (0, 1, 0)]),
    "the last level": (LAST, [(0,), (3,)], [(1,), (2,)]),
    "below an opened cell": (OPENED, [(0, 0, 0), (2, 1, 1)], [(2, 0, 0), (0, 1, 1), (0, 0, 1)]),
    "opened twice": (OPENED_TWICE, [(1, 0), (3, 2)], [(2, 0), (1, 1)]),
    "nearly alike": (NEARLY_ALIKE, [(1, 0, 2)], [(1, 0, 0), (0, 0, 1)]),
    "spotty": (SPOTTY, [(1, 0, 2)], [(1, 0, 0), (0, 0, 1)]),
}
"""Trees, with data and people who are added to them: two units or one, in one cell or in two."""


@pytest.mark.parametrize("name", SOUND)
def test_no_output_tells_more_than_is_paid_for(name: str) -> None:
    """And the worst tells as much; what is decided in secret tells nothing that published values don't."""
    loss = compare(*SOUND[name])
    assert loss.impossible == 0
    assert loss.worst <= 1 + 1e-9
    assert loss.charged == pytest.approx(1, rel=1e-6)
    assert loss.worst == pytest.approx(1, rel=1e-6)
    assert loss.departure < 1e-9
    assert loss.compared >= 20


def ways(tree: Tree, data: Data) -> dict[tuple[tuple[int, int, str], ...], float]:
    """The cells that are measured together, with the kind of their share, and how likely that is."""
    rows, chances = tree.published(data), tree.noises[1]
    kinds = {share: f"{name}{step}" for step, rung in enumerate(tree.rungs) for name, share in rung._asdict().items()}
    slots = [(level, cell, kinds[share]) for level, cell, share in tree.slots]
    patterns, place = np.unique(rows != NOTHING, axis=0, return_inverse=True)
    sums = np.bincount(place.ravel(), chances / chances.sum())
    return {
        tuple(slot for slot, there in zip(slots, pattern, strict=True) if there): float(chance)
        for pattern, chance in zip(patterns, sums, strict=True)
    }


def test_every_way_is_likely() -> None:
    found = ways(TWO_BY_TWO, (1, 1, 1, 1))
    split = {0: [(2, 0), (2, 1)], 1: [(2, 4), (2, 5)]}
    leaves = [[(0, 0)], [(1, 0), (1, 1)], [(1, 1), *split[0]], [(1, 0), *split[1]], [*split[0], *split[1]]]
    expected = [((0, 0, "taken0"),), *(tuple((*cell, "left0") for cell in cells) for cells in leaves)]
    assert set(found) == set(expected)
    assert min(found.values()) > 0.02


def test_every_way_of_an_even_map_is_likely() -> None:
    found = ways(NEARLY_ALIKE, (1, 1, 2))
    assert found[(2, 0, "left0"), (2, 4, "left0")] > 0.1
    assert found[(3, 1, "left0"), (3, 2, "left0"), (3, 17, "left0")] > 0.1
    assert sum(chance for way, chance in found.items() if any(kind == "taken0" for _, _, kind in way)) > 1e-3
    assert found[(1, 0, "left0"), (1, 1, "left0")] > 0.01


def test_below_an_opened_cell_all_of_epsilon_is_spent() -> None:
    for tree, opened in ((OPENED, 1), (OPENED_TWICE, 2)):
        deepest = [
            way for way in ways(tree, (3,) * len(tree.finest)) if sum(k.startswith("t") for *_, k in way) == opened
        ]
        assert deepest
        for way in deepest:
            assert {kind for *_, kind in way if kind.startswith("l")} == {f"left{opened}"}


def test_clipping_what_is_published_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are held at 3 units: those beyond add up, all but the half percent of them that windows cut off."""
    monkeypatch.setattr(publishing, "FARTHEST", 3)
    tree = Tree((9, 11), 2, STEEP, ((16, 14),))
    loss = compare(tree, [(2, 1), (1, 0)], [(1, 0), (1, 1)])
    assert loss.impossible == 0
    assert max(loss.worst, loss.charged) <= 1.005
    rows = tree.published((2, 1))
    assert np.unique(rows[rows != NOTHING]).tolist() == [-3, -2, -1, 0, 1, 2, 3]


# The same with bugs

EVENLY = Tree((2, 18), 3, replace(EVEN, first=1, last=3), ((3, 1),), top=1)
SMALL = Tree((1, 6), 2, LOW, ((3, 2), (3, 2)))

PLANTED: dict[Bug, tuple[Tree, Data, Data, float]] = {
    planted_looks.closed_with_the_noise_of_its_look: (TWO_BY_TWO, (3, 1, 0, 0), (2, 0, 0, 0), 1.5),
    planted_looks.looks_without_own_noise: (TWO_BY_TWO, (1, 1, 1, 1), (2, 0, 0, 0), 1.1),
    planted_looks.children_share_noise: (TWO_BY_TWO, (1, 1, 1, 1), (2, 0, 0, 0), math.inf),
    planted_looks.split_by_other_noise: (TWO_BY_TWO, (1, 1, 1, 1), (2, 0, 0, 0), math.inf),
    planted_looks.deepened_by_two_looks: (TWO_BY_TWO, (1, 1, 1, 1), (0, 2, 0, 0), math.inf),
    planted_looks.noise_reused_below: (OPENED, (2, 1, 1), (0, 0, 1), math.inf),
    planted_looks.evenness_without_own_noise: (EVENLY, (0, 3), (0, 1), 1.4),
    planted_looks.counts_clipped_in_looks: (TWO_BY_TWO, (3, 1, 0, 0), (2, 0, 0, 0), 1.5),
    planted_looks.first_of_four: (FIRST_OUTSIDE, (1, 2, 1), (2, 0, 0), math.inf),
    planted_looks.opened_for_nothing: (SMALL, (2, 1), (1, 0), 1.39),
    planted_looks.opened_by_true_counts: (TWO_BY_TWO, (2, 2, 1, 1), (2, 0, 0, 0), math.inf),
    planted_looks.closed_by_true_counts: (TWO_BY_TWO, (0, 0, 0, 0), (2, 0, 0, 0), math.inf),
    planted_looks.evenness_by_true_counts_of_looks: (EVENLY, (1, 1), (1, 0), math.inf),
}
"""The tree, data and person that show each bug, and how much more than is allowed; infinite if neighbours differ."""


@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug.__name__)
def test_planted(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, base, person, least = PLANTED[bug]
    assert compare(tree, [base], [person]).sound
    planted.unchecked(monkeypatch)
    bug(monkeypatch)
    loss = compare(replace(tree), [base], [person])
    assert not loss.sound
    assert max(loss.worst, loss.charged, math.inf if loss.impossible else 0) >= least, loss


def test_an_opened_cell_that_is_charged_to_nobody_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    planted_looks.opened_for_nothing(monkeypatch)
    with pytest.raises(AssertionError, match="a design would spend more on a path than it has left"):
        replace(SMALL).published((2, 1))


def test_a_loss_that_is_too_large_would_be_seen() -> None:
    assert not Loss(1.01, 1, 0, 0, 9).sound
    assert not Loss(1, 1.01, 0, 0, 9).sound
    assert not Loss(1, 1, 0, 1, 9).sound
