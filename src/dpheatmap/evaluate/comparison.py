"""Comparison of every method on one data set, over epsilons and trials, for ``dpheatmap compare``."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpheatmap._util.parameters import check
from dpheatmap.curator import Counts
from dpheatmap.design.shares import read_epsilon
from dpheatmap.errors import ParameterError
from dpheatmap.evaluate.baselines import MOST_CELLS
from dpheatmap.evaluate.methods import METHODS
from dpheatmap.evaluate.process_pool import run_all
from dpheatmap.evaluate.score_table import Series, series_of
from dpheatmap.evaluate.trial import Trial, group_scores, run_trial
from dpheatmap.heatmap.smoothing import default_sigma
from dpheatmap.place.domain import Domain

LARGEST_SIZE = 256


@dataclass(frozen=True)
class Settings:
    """The settings of a comparison, checked before any data is read."""

    epsilons: tuple[Fraction, ...]
    methods: tuple[str, ...]
    left_out: tuple[str, ...]
    trials: int
    sigma: float
    size: int

    @classmethod
    def for_domain(
        cls,
        domain: Domain,
        *,
        epsilons: Sequence[object],
        methods: Sequence[str] | None = None,
        trials: int = 5,
        sigma: float | None = None,
        size: int | None = None,
    ) -> Settings:
        """Make settings with all methods unless some are named; those that can't hold all finest cells are left out."""
        asked = list(METHODS) if methods is None else methods
        for name in asked:
            if name not in METHODS:
                raise ParameterError(f"A method must be one of {', '.join(METHODS)}; it was {name!r}. Pick from these.")
        finest = domain.cells(domain.depth)
        fits = [name for name in METHODS if name in asked and (METHODS[name].any_depth or finest.count <= MOST_CELLS)]
        if not fits:
            raise ParameterError(
                f"The methods asked for hold every finest cell, at most {MOST_CELLS:,}; the domain has "
                f"{finest.count:,}. Use a coarser domain, or other methods."
            )
        sigma = default_sigma(domain) if sigma is None else sigma
        size = min(LARGEST_SIZE, max(finest.columns, finest.rows)) if size is None else size
        check(sigma=sigma, size=size)
        left_out = tuple(name for name in asked if name not in fits)
        exact = tuple(read_epsilon(e.strip() if isinstance(e, str) else e) for e in epsilons)
        return cls(exact, tuple(fits), left_out, trials, sigma, size)


def compare(counts: Counts, settings: Settings, *, progress: Callable[[float, float], None] | None = None) -> Series:
    """Compute the mean scores of each method at each epsilon against the true map. Private: they depend on the data.

    Every run draws its own cryptographic noise.
    """
    tasks = [
        Trial(counts, epsilon, settings.methods, settings.sigma, settings.size)
        for epsilon in settings.epsilons
        for _ in range(settings.trials)
    ]
    results, start = [], time.monotonic()
    for done, (trial, scores) in enumerate(run_all(run_trial, tasks), 1):
        results.append((float(trial.epsilon), scores))
        if progress is not None:
            progress(done / len(tasks), time.monotonic() - start)
    return series_of(group_scores(results))
