"""Variants of methods for ablations: ours with a part left out, and rivals' measurements with our posterior.

They are for experiments; `compare` does not offer them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpheatmap.curator import Counts, Curator
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.start import FIRST_CELLS
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.posterior.cells import cell_tree
from dpheatmap.estimate.posterior.likelihood import LAPLACE
from dpheatmap.estimate.posterior.observations import Observations
from dpheatmap.estimate.posterior.posterior import infer
from dpheatmap.evaluate.methods import METHODS, Method
from dpheatmap.evaluate.peers.federated import federated_heatmap
from dpheatmap.evaluate.peers.grids import BALANCE, TOTAL_SHARE
from dpheatmap.evaluate.peers.non_negative import nearest_non_negative
from dpheatmap.evaluate.peers.private_measure import pmm
from dpheatmap.evaluate.peers.private_tree import privtree
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.release import Release
from dpheatmap.testing import SeededSource, seeded_release

Reconstruction = Callable[[Release], Distribution]


def posterior_mean(release: Release) -> Distribution:
    """Our own reconstruction: the posterior mean."""
    return release.distribution(method="posterior")


def without_neighbours(release: Release) -> Distribution:
    """The posterior with a prior of even splits, and mass even inside leaves."""
    return Distribution.from_people(release.domain, *infer(Observations.of(release), neighbours=False).leaves)


def counts_of_leaves(release: Release) -> Distribution:
    """Use the leaves' own noisy counts, weighted by precision, without inference; the rest offsets negative counts."""
    seen = Observations.of(release)
    tree = cell_tree(release.domain, seen.levels, seen.codes)
    levels, codes, people = [], [], []
    for depth, (cells, kids) in enumerate(zip(tree.codes, tree.kids, strict=True)):
        leaves = cells[(kids < 0).all(axis=1)]
        here = seen.levels == tree.top + depth
        at = np.searchsorted(leaves, seen.codes[here]) % max(len(leaves), 1)
        mine = np.zeros(0, np.bool_) if len(leaves) == 0 else leaves[at] == seen.codes[here]
        weight = np.bincount(at[mine], seen.scales[here][mine] ** -2.0, len(leaves))
        total = np.bincount(at[mine], (seen.people / seen.scales**2)[here][mine], len(leaves))
        levels.append(np.full(len(leaves), tree.top + depth))
        codes.append(leaves)
        people.append(total / np.maximum(weight, 1e-300))
    masses = nearest_non_negative(np.concatenate(people))
    return Distribution.from_people(release.domain, np.concatenate(levels), np.concatenate(codes), masses)


class Recorder(Curator):
    """A curator who records the answers about cells, for another reconstruction."""

    def __init__(self, counts: Counts, epsilon: object, source: SeededSource | None) -> None:
        super().__init__(counts, epsilon, source)
        self._answers: list[tuple[Ints, Ints, Floats, Floats]] = []

    def cells(self, levels: Ints | int, codes: Ints, epsilon: Fraction) -> Floats:
        """Noisy counts, as by a curator."""
        people = super().cells(levels, codes, epsilon)
        at = np.array(np.broadcast_to(np.asarray(levels, np.int64), np.shape(codes)))
        self._answers.append((at, codes, people, np.full(len(codes), float(1 / epsilon))))
        return people

    def posterior(self) -> Distribution:
        """Our posterior given all the answers."""
        levels, codes, people, scales = (np.concatenate(column) for column in zip(*self._answers, strict=True))
        return infer(Observations(self.domain, levels, codes, people, scales, LAPLACE)).distribution()


def dyadic_grid(curator: Curator) -> None:
    """The uniform grid, with the power of two nearest to the authors' size."""
    people = max(curator.total(curator.part(TOTAL_SHARE)), 1.0)
    wanted = max(people * float(curator.rest) / BALANCE, 1.0)
    levels = range(curator.domain.depth + 1)
    level = min(levels, key=lambda k: abs(np.log(curator.domain.count(k) / wanted)))
    curator.cells(level, curator.domain.codes(level), curator.rest)


def _variant(
    change: Callable[[LadderDesign], LadderDesign | str], reconstruct: Reconstruction = posterior_mean
) -> Callable[[Counts, object, int | None], Distribution]:
    def estimate(counts: Counts, epsilon: object, seed: int | None) -> Distribution:
        domain = counts.domain
        design = change(LadderDesign(domain.first_level(FIRST_CELLS), domain.depth))
        return reconstruct(seeded_release(counts, seed=seed or 0, epsilon=epsilon, design=design))

    return estimate


def _refit(algorithm: Callable[[Curator], object]) -> Callable[[Counts, object, int | None], Distribution]:
    def estimate(counts: Counts, epsilon: object, seed: int | None) -> Distribution:
        curator = Recorder(counts, epsilon, None if seed is None else SeededSource(seed))
        algorithm(curator)
        return curator.posterior()

    return estimate


def _of_width(width: int) -> Callable[[Counts, object, int | None], Distribution]:
    def estimate(counts: Counts, epsilon: object, seed: int | None) -> Distribution:
        made = seeded_release(counts, seed=seed or 0, epsilon=epsilon, design="paper", width=width)
        return made.distribution(method="paper")

    return estimate


ABLATIONS = (
    Method("paid-looks", "Looks paid for (adaptive)", _variant(lambda d: "adaptive"), any_depth=True),
    Method("no-finish", "No finished cells", _variant(lambda d: replace(d, closing=d.deepening)), any_depth=True),
    Method("no-deep", "No deepened cells", _variant(lambda d: replace(d, deepening=d.opening)), any_depth=True),
    Method("no-total", "Start at the first level", _variant(lambda d: replace(d, total=Fraction(0))), any_depth=True),
    Method(
        "no-even", "Even maps as all others", _variant(lambda d: replace(d, evenness=Fraction(10**9))), any_depth=True
    ),
    Method("no-neighbours", "Prior without neighbours", _variant(lambda d: d, without_neighbours), any_depth=True),
    Method("leaf-counts", "Counts instead of the posterior", _variant(lambda d: d, counts_of_leaves), any_depth=True),
    Method("paper-posterior", "Paper's levels + posterior", _variant(lambda d: "paper"), any_depth=True),
)
"""Our method with one part left out or replaced."""

RIVALS_WITH_POSTERIOR = (
    Method("privtree-posterior", "PrivTree + posterior", _refit(privtree), any_depth=True),
    Method("federated-posterior", "Adaptive federated + posterior", _refit(federated_heatmap), any_depth=True),
    Method("pmm-posterior", "Private measure + posterior", _refit(pmm), any_depth=True),
    Method("grid-posterior", "Uniform grid (dyadic) + posterior", _refit(dyadic_grid), any_depth=True),
)
"""Rivals whose measurements are counts of cells, with our posterior on them."""

WIDTHS = (4, 16, 64, 256)
OF_WIDTHS = tuple(Method(f"paper-{w}", f"Paper's algorithm, w = {w}", _of_width(w), any_depth=True) for w in WIDTHS)
"""The paper's algorithm with other widths."""

EVERY_METHOD = {**METHODS, **{method.name: method for method in (*ABLATIONS, *RIVALS_WITH_POSTERIOR, *OF_WIDTHS)}}

COLLECTED = {
    "shuffle": "Shuffle model, posterior",
    "shuffle-paper": "Shuffle model, paper's algorithm",
    "local": "Local model, posterior",
    "local-paper": "Local model, paper's algorithm",
}
"""Titles of the methods without a curator, which do not start from counts."""

TITLES = {**{name: method.title for name, method in EVERY_METHOD.items()}, **COLLECTED}
"""Titles of all methods in tables and figures, in order."""
