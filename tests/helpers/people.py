"""People in domains, or nobody, and what an estimate puts on each finest cell."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.curator import Counts
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.testing import generated_people

every_domain = pytest.mark.parametrize(
    "domain",
    [
        Domain.unit(0),
        Domain.unit(5),
        Domain.image(37, 21),
        Domain.image(3, 90),
        Domain.bbox(-74.1, 40.6, -73.8, 40.9, depth=16),
    ],
    ids=lambda domain: f"{domain.kind}{domain.depth}",
)


def nobody_in(domain: Domain) -> Counts:
    """The counts of an empty table."""
    none = np.zeros(0, np.int64)
    return Counts.from_cells(domain, none, none, none)


@lru_cache
def people_in(domain: Domain, people: int = 300) -> Counts:
    """Generated people all over a domain."""
    return dph.aggregate(generated_people(people, extent=domain.extent), domain, user="person", x="x", y="y")


def some_in_one_cell(domain: Domain, weight: int) -> Counts:
    """So many units in the first cell; nobody for 0."""
    finest = domain.cells(domain.depth)
    one = np.ones(int(weight > 0), np.int64)
    return Counts.from_cells(domain, finest.x0 * one, finest.y0 * one, weight * one)


def on_finest_cells(distribution: Distribution) -> Floats:
    """The mass of every finest cell."""
    finest = distribution.domain.cells(distribution.domain.depth)
    return distribution.raster(finest.columns, finest.rows)
