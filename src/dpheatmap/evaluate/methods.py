"""All methods that can be compared, by name: ours, the paper's, its baselines, and the rivals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from dpheatmap.curator import Counts, Curator, release
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.baselines import TOPS, noise_on_every_cell
from dpheatmap.evaluate.peers import PEERS
from dpheatmap.testing import seeded_curator, seeded_release


@dataclass(frozen=True)
class Method:
    """A method from counts to a distribution under epsilon-DP; ``title`` is its name in tables and figures."""

    name: str
    title: str
    estimate: Callable[[Counts, object, int | None], Distribution]
    """Takes counts, epsilon, and a seed for experiments that repeat, or None for cryptographic noise."""
    any_depth: bool = False
    """Whether it works without holding every finest cell."""


def _by_release(design: str, method: str) -> Callable[[Counts, object, int | None], Distribution]:
    def estimate(counts: Counts, epsilon: object, seed: int | None) -> Distribution:
        if seed is None:
            made = release(counts, epsilon=epsilon, design=design)
        else:
            made = seeded_release(counts, seed=seed, epsilon=epsilon, design=design)
        return made.distribution(method=method)

    return estimate


def _by_curator(algorithm: Callable[[Curator], Distribution]) -> Callable[[Counts, object, int | None], Distribution]:
    def estimate(counts: Counts, epsilon: object, seed: int | None) -> Distribution:
        return algorithm(Curator(counts, epsilon) if seed is None else seeded_curator(counts, epsilon, seed=seed))

    return estimate


METHODS = {
    method.name: method
    for method in (
        Method("ladder", "Ladder of free looks, posterior", _by_release("ladder", "posterior"), any_depth=True),
        Method("adaptive", "Adaptive paths, posterior", _by_release("adaptive", "posterior"), any_depth=True),
        Method("paper", "Paper's algorithm", _by_release("paper", "paper"), any_depth=True),
        Method("dense", "Paper's dense algorithm", _by_release("dense", "dense"), any_depth=True),
        Method("baseline", "Baseline", _by_curator(noise_on_every_cell)),
        *(
            Method(f"top-{top:g}", f"Baseline, top {top:g} %", _by_curator(partial(noise_on_every_cell, top=top)))
            for top in TOPS
        ),
        *(Method(peer.name, peer.title, _by_curator(peer.algorithm), peer.any_depth) for peer in PEERS),
    )
}
"""All methods, in the order of tables and legends."""
