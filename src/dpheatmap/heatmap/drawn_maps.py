"""Maps drawn from the posterior of an estimate, smoothed like the map itself."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dpheatmap.estimate.distribution import Distribution, Rasteriser
from dpheatmap.estimate.posterior.map_estimate import MapEstimate
from dpheatmap.heatmap.smoothing import gaussian_filter
from dpheatmap.place.domain import Domain, Floats


class DrawnMaps:
    """Maps on a grid of pixels. They are drawn when they are first asked for, and kept for who asks for more.

    With the same estimate, the first maps are the same each time. They are of shares; or of people, in units of a
    ``total``, if that is given.
    """

    def __init__(
        self, estimate: MapEstimate, domain: Domain, sigma: float, shape: tuple[int, int], total: float | None = None
    ) -> None:
        self.estimate, self.domain, self.sigma, self.shape, self.total = estimate, domain, sigma, shape, total
        self._maps: Floats = np.zeros((0, *shape))

    @cached_property
    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.estimate.seed)

    def first(self, count: int) -> Floats:
        """The first so many maps, one along the first axis; one without any mass is uniform."""
        missing = count - len(self._maps)
        if missing > 0:
            rows, columns = self.shape
            levels, codes, masses = self.estimate.draws(missing, self._rng)
            raster = Rasteriser(self.domain, levels, codes, columns, rows).raster
            uniform = Distribution.uniform(self.domain).raster(columns, rows)
            drawn = [
                raster(people / (self.total or people.sum())) if people.sum() > 0.0 else uniform for people in masses
            ]
            self._maps = np.concatenate([self._maps, gaussian_filter(np.array(drawn), self.domain, self.sigma)])
        return self._maps[:count]
