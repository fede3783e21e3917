"""Every method that is compared puts people inside a boundary only, with as much noise as it likes outside of it."""

from __future__ import annotations

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.evaluate.methods import METHODS
from dpheatmap.heatmap.smoothing import parts_inside, smooth
from dpheatmap.testing import generated_people

TRIANGLE = {"type": "Polygon", "coordinates": [[[7.30, 46.90], [7.50, 46.90], [7.40, 47.02], [7.30, 46.90]]]}
REGION = dph.Domain.polygon(TRIANGLE, resolution=500)


@pytest.fixture(scope="module")
def counts() -> dph.Counts:
    return dph.aggregate(generated_people(300, extent=REGION.extent), REGION, user="person", x="x", y="y")


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_nobody_is_outside(name: str, seed: int, counts: dph.Counts) -> None:
    found = METHODS[name].estimate(counts, "1/10", seed)
    heat = smooth(found, 300, 32)
    outside = parts_inside(REGION, heat.shape) == 0
    assert outside.any()
    assert heat[outside].max() == 0
    assert 0.5 < heat.sum() <= 1 + 1e-9
    assert found.mass.sum() == pytest.approx(1)


def test_the_top_is_taken_among_cells_inside(counts: dph.Counts) -> None:
    for seed in range(20):
        found = METHODS["top-0.1"].estimate(counts, "1/100", seed)
        assert not found.empty
        assert REGION.weight(REGION.depth, found.codes).min() > 0
        assert len(found.codes) == max(1, round(REGION.count(REGION.depth) / 1000))
        assert np.isfinite(found.mass).all()
