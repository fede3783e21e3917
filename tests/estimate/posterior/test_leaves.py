"""The cells that a release knows: disjoint, covering, with shares that add up and standard deviations that hold."""

from __future__ import annotations

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.estimate.posterior.leaves import leaves, leaves_of_posterior
from dpheatmap.estimate.posterior.posterior import posterior
from dpheatmap.place.domain import Domain
from dpheatmap.place.projection import EARTH_CIRCUMFERENCE
from dpheatmap.place.quadtree import encode
from dpheatmap.releases.release import Release
from dpheatmap.testing import generated_people, seeded_release

DOMAINS = {
    "square": Domain.unit(6),
    "image": Domain.image(37, 21),
    "box": Domain.bbox(-3.3, 55.9, -3.1, 56.0, depth=15),
    "world": Domain.bbox(-180, -85.05, 180, 85.05, depth=6),
    "point": Domain.unit(0),
}


def released(domain: Domain, design: str = "adaptive") -> Release:
    b = domain.extent
    table = generated_people(400, extent=(b.x0, b.y0, b.x1, b.y1), seed=2)
    return seeded_release(table, domain, seed=1, epsilon=2, user="person", x="x", y="y", design=design)


@pytest.mark.parametrize("design", ["ladder", "adaptive", "paper"])
@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
def test_every_finest_cell_lies_in_one_leaf(domain: Domain, design: str) -> None:
    found = leaves(released(domain, design), method="paper" if design == "paper" else "posterior")
    finest = domain.cells(domain.depth)
    x, y = np.meshgrid(np.arange(finest.x0, finest.x1), np.arange(finest.y0, finest.y1))
    codes = encode(x.ravel(), y.ravel())
    inside = np.zeros(len(codes), np.int64)
    for level in np.unique(found.levels):
        inside += np.isin(codes >> 2 * (domain.depth - level), found.codes[found.levels == level])
    assert (inside == 1).all()
    assert found.share.sum() == pytest.approx(1.0)
    assert (found.share >= 0).all()
    assert (found.std is None) == (design == "paper")


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
def test_the_leaves_fill_the_place(domain: Domain) -> None:
    found, b = leaves(released(domain)), domain.bounds
    e = found.edges
    assert (e.x0.min(), e.y0.min(), e.x1.max(), e.y1.max()) == pytest.approx((b.x0, b.y0, b.x1, b.y1))
    assert (e.x1 > e.x0).all()
    assert (e.y1 > e.y0).all()
    if domain.kind == "bbox":
        radius = EARTH_CIRCUMFERENCE / 2 / np.pi
        width, sines = np.radians(b.x1 - b.x0), np.sin(np.radians([b.y0, b.y1]))
        assert found.area.sum() == pytest.approx(radius**2 * width * (sines[1] - sines[0]))
    else:
        assert found.area == pytest.approx((e.x1 - e.x0) * (e.y1 - e.y0))
        assert found.area.sum() == pytest.approx((b.x1 - b.x0) * (b.y1 - b.y0))


def test_standard_deviations_are_those_of_draws() -> None:
    """Of 400 draws a standard deviation is known to 3.5 %; the formula is of first order, so 25 % are allowed."""
    exact = posterior(released(DOMAINS["square"]))
    found = leaves_of_posterior(exact)
    assert found is not None
    assert found.std is not None
    is_leaf = [(kids < 0).all(axis=1) for kids in exact.cells.kids]
    node = np.concatenate([node[leaf] for node, leaf in zip(exact.cells.node, is_leaf, strict=True)])
    rng = np.random.default_rng(0)
    draws = np.array([exact.draw(rng) for _ in range(400)])
    drawn = (draws[:, node] / draws[:, :1]).std(axis=0)
    large = found.share > 0.005
    assert large.sum() > 20
    assert found.std[large] == pytest.approx(drawn[large], rel=0.25)


@pytest.mark.parametrize(("people", "epsilon"), [(300, 1), (3000, 1), (500, 5)])
def test_they_hold_the_truth_as_often_as_they_should(people: int, epsilon: int) -> None:
    """Of intervals of 90 %, by seeded noise: no false alarms. Also of the busiest fifth of the cells."""
    domain = DOMAINS["square"]
    counts = dph.aggregate(generated_people(people), domain, user="person", x="x", y="y")
    found = leaves(seeded_release(counts, seed=3, epsilon=epsilon))
    assert found.std is not None
    units = np.array([counts.at(level, code) for level, code in zip(found.levels, found.codes[:, None], strict=True)])
    held = np.abs(units[:, 0] / counts.sums[-1] - found.share) < 1.645 * found.std
    assert 0.84 < held.mean() < 0.99
    assert held[found.share > np.quantile(found.share, 0.8)].mean() > 0.8


def test_the_only_cell_has_everything_for_sure() -> None:
    found = leaves(released(DOMAINS["point"]))
    assert found.share.tolist() == [1.0]
    assert found.std is not None
    assert found.std.tolist() == [0.0]
