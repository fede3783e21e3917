"""Collections about places with a boundary: what lies outside is not sent, and what comes out lies inside."""

from __future__ import annotations

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.collect.local import LocalTerms, report
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.collect.shuffle_terms import ShuffleTerms
from dpheatmap.collect.simulate import simulate
from dpheatmap.testing import SeededSource, generated_people

TRIANGLE = {"type": "Polygon", "coordinates": [[[7.30, 46.90], [7.50, 46.90], [7.40, 47.02], [7.30, 46.90]]]}
REGION = dph.Domain.polygon(TRIANGLE, resolution=2000)
CORNER = (7.31, 47.01)  # in the box, not in the triangle


def terms_of(model: str, domain: dph.Domain) -> ServerTerms | ShuffleTerms:
    if model == "servers":
        return ServerTerms.of(domain, epsilon=8, n_min=20, n_max=100)
    return ShuffleTerms.of(domain, epsilon=8, delta=1e-3, n_min=20, n_max=100)


@pytest.mark.parametrize("model", ["servers", "shuffle"])
def test_points_outside_are_not_sent(model: str) -> None:
    terms = terms_of(model, REGION)
    codes, _ = terms.tree.leaves([CORNER[0], 7.40], [CORNER[1], 46.95])
    assert len(codes) == 1
    assert terms.tree.size < terms_of(model, dph.Domain.bbox(*REGION.extent, resolution=2000)).tree.size
    assert type(terms).from_dict(terms.to_dict()).domain == REGION


@pytest.mark.parametrize("model", ["servers", "shuffle"])
def test_what_comes_out_lies_inside(model: str) -> None:
    terms = terms_of(model, REGION)
    points = generated_people(60, extent=REGION.extent).fetchnumpy()
    people = [
        (points["x"][points["person"] == one], points["y"][points["person"] == one])
        for one in np.unique(points["person"])
    ]
    made = simulate(terms, people, SeededSource(1))
    for level in np.unique(made.measurements.levels):
        here = made.measurements.levels == level
        assert np.isin(made.measurements.codes[here], REGION.codes(int(level))).all()
    heat = made.heatmap(sigma=500, size=24)
    assert heat.values.sum() == pytest.approx(1)
    assert (heat.values == 0).any()


def test_a_local_report_of_somebody_outside_is_one_of_nobody() -> None:
    terms = LocalTerms.of(REGION, epsilon=2)
    outside = [report(terms, CORNER[:1], CORNER[1:], SeededSource(seed)) for seed in range(40)]
    nobody = [report(terms, [], [], SeededSource(seed)) for seed in range(40)]
    assert outside == nobody
    assert LocalTerms.from_dict(terms.to_dict()).domain == REGION
