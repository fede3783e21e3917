"""Bugs planted into the measurement, each a plausible slip, to see that the audit of `test_privacy` finds them.

A bug takes pytest's monkeypatch and changes one thing in the code that `release` runs; everything else stays as it is.
None of them is planted below a cache, which would carry it into other tests or, filled already, hide it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpheatmap.budget import SHARES, UNITS
from dpheatmap.curator import api, measure, query
from dpheatmap.curator.counts import Counts
from dpheatmap.curator.noise import DiscreteLaplace, Source, discrete_laplace, saturating_add
from dpheatmap.design import AdaptiveDesign, Decision, PaperDesign
from dpheatmap.domain import Domain
from dpheatmap.quadtree import Ints
from dpheatmap.selection import all_cells, children_inside
from dpheatmap.testing import SeededSource


def scale_too_small(patch: pytest.MonkeyPatch) -> None:
    """The noise's scale is 20 % too small."""
    honest = measure.noise_of_design

    def quieter(epsilon: Fraction, shares: tuple[int, ...]) -> dict[int, DiscreteLaplace]:
        return {share: discrete_laplace(law.rate * Fraction(5, 4)) for share, law in honest(epsilon, shares).items()}

    patch.setattr(measure, "noise_of_design", quieter)


def weight_too_large(patch: pytest.MonkeyPatch) -> None:
    """A person weighs 20 % more than W."""
    honest = Counts.at
    patch.setattr(Counts, "at", lambda self, level, codes: honest(self, level, codes) * 6 // 5)


def whole_budget_on_each_level(patch: pytest.MonkeyPatch) -> None:
    """Each level spends all of epsilon."""

    def spending(epsilon: Fraction, shares: tuple[int, ...]) -> dict[int, DiscreteLaplace]:
        return dict.fromkeys(shares, discrete_laplace(epsilon / UNITS))

    patch.setattr(measure, "noise_of_design", spending)


def selection_from_true_counts(patch: pytest.MonkeyPatch) -> None:
    """The cells to visit next are chosen by their true counts."""
    _decide_by_true_counts(patch, PaperDesign)


def opening_by_true_counts(patch: pytest.MonkeyPatch) -> None:
    """Cells are opened by their true counts."""
    _decide_by_true_counts(patch, AdaptiveDesign)


def _decide_by_true_counts(patch: pytest.MonkeyPatch, kind: type[PaperDesign] | type[AdaptiveDesign]) -> None:
    true = np.zeros(0, dtype=np.int64)

    def remembering(counts: Ints, noise: Ints) -> Ints:
        nonlocal true
        true = counts
        return saturating_add(counts, noise)

    patch.setattr(measure, "saturating_add", remembering)
    honest: Callable[..., Decision] = kind.decide

    def decide(self: Any, domain: Domain, epsilon: Fraction, level: int, cells: Ints, noisy: Ints) -> Decision:
        return honest(self, domain, epsilon, level, cells, true if len(true) == len(cells) else noisy)

    patch.setattr(kind, "decide", decide)


def closed_with_all_of_epsilon(patch: pytest.MonkeyPatch) -> None:
    """A closed cell is measured again with the whole of epsilon instead of what its path has left."""
    patch.setattr(AdaptiveDesign, "rest", lambda self, level: SHARES if level < max(self.shares) else 0)


def paths_spend_twice(patch: pytest.MonkeyPatch) -> None:
    """Cells are closed with what is left, and their children are measured nevertheless."""

    def going_on(
        self: AdaptiveDesign, domain: Domain, epsilon: Fraction, level: int, cells: Ints, noisy: Ints
    ) -> Decision:
        if level == max(self.shares):
            return Decision(cells[:0], cells[:0], cells[:0])
        return Decision(cells, cells[:0], children_inside(domain, level, cells))

    patch.setattr(AdaptiveDesign, "decide", going_on)


def noise_shared_by_cells(patch: pytest.MonkeyPatch) -> None:
    """Noise is drawn once a level and added to all its cells."""
    honest = DiscreteLaplace.sample
    patch.setattr(DiscreteLaplace, "sample", lambda self, size, source: np.repeat(honest(self, 1, source), size))


def noise_shared_by_levels(patch: pytest.MonkeyPatch) -> None:
    """Noise is drawn for the first level, and the others take it over."""
    honest = DiscreteLaplace.sample
    drawn: list[Ints] = []

    def starting(domain: Domain, level: int) -> Ints:
        drawn.clear()
        return all_cells(domain, level)

    def reusing(self: DiscreteLaplace, size: int, source: Source) -> Ints:
        if not drawn:
            drawn.append(honest(self, size, source))
        return np.resize(drawn[0], size)

    patch.setattr(measure, "all_cells", starting)
    patch.setattr(DiscreteLaplace, "sample", reusing)


def noise_shared_by_releases(patch: pytest.MonkeyPatch) -> None:
    """The source starts anew at each draw, so that every release gets the same noise."""
    honest = DiscreteLaplace.sample
    patch.setattr(DiscreteLaplace, "sample", lambda self, size, source: honest(self, size, SeededSource(1)))


def rows_weigh_like_people(patch: pytest.MonkeyPatch) -> None:
    """The aggregation gives each row of a person all W units, and nothing checks what it adds up to."""
    honest = query._of_people

    def careless(weighted: bool) -> tuple[str, str]:
        totals, placed = honest(weighted)
        assert "totals.share AS units" in placed
        return totals, placed.replace("totals.share AS units", f"{UNITS} AS units")

    patch.setattr(query, "_of_people", careless)
    patch.setattr(api, "_verify", lambda counts, report: None)
