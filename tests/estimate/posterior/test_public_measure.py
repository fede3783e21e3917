"""Base measures from public priors: additive, with a floor, public, and believed only where the evidence agrees."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from dpheatmap import Counts
from dpheatmap import release as make_release
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.estimate.posterior.posterior import posterior
from dpheatmap.estimate.posterior.public_measure import FLOOR, MixedMeasure, PublicMeasure, public_measure
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import decode
from dpheatmap.releases.release import Release

DOMAINS = {"square": Domain.unit(5), "image": Domain.image(37, 21), "box": Domain.bbox(6, 50, 7, 51, depth=17)}
WEST = {"type": "Polygon", "coordinates": [[[0, 0], [0.5, 0], [0.5, 1], [0, 1], [0, 0]]]}


def raster(seed: int = 1) -> Floats:
    return np.random.default_rng(seed).exponential(1.0, (16, 16))


def released(truth: Floats, epsilon: float = 1.0) -> Release:
    """A release of people spread over a square of 16 x 16 cells; its noise is not seeded."""
    rows, columns = np.nonzero(truth >= 0)
    weights = np.floor(truth[rows, columns] * 2**30).astype(np.int64)
    kept = weights > 0
    return make_release(Counts.from_cells(Domain.unit(4), columns[kept], rows[kept], weights[kept]), epsilon=epsilon)


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
@pytest.mark.parametrize("belief", [0.5, 1.0])
def test_children_add_up_and_the_floor_holds(domain: Domain, belief: float) -> None:
    values = raster() * (np.arange(16) > 7)
    measure = MixedMeasure(public_measure(values, domain), belief)
    for level in range(domain.depth):
        codes = domain.codes(level)[:500]
        four = codes[:, None] * 4 + np.arange(4)
        np.testing.assert_allclose(measure.weight(level + 1, four).sum(axis=1), measure.weight(level, codes), rtol=1e-9)
        assert (measure.weight(level, codes) >= 0.999 * FLOOR * domain.weight(level, codes)).all()
    everything = measure.weight(0, np.zeros(1, np.int64))
    assert everything == pytest.approx(domain.weight(0, np.zeros(1, np.int64)))


def test_polygons_hold_all_but_the_floor() -> None:
    measure = public_measure(WEST, Domain.unit(4))
    codes = Domain.unit(4).codes(1)
    west = decode(codes)[0] == 0
    share = measure.weight(1, codes) / measure.weight(0, np.zeros(1, np.int64))
    assert share[west].sum() == pytest.approx(1.0 - FLOOR / 2)


def test_polygons_of_a_file_with_a_hole(tmp_path: Path) -> None:
    """The hole is the middle of the square: 4 of 16 cells of level 2."""
    hole = [[0.25, 0.25], [0.75, 0.25], [0.75, 0.75], [0.25, 0.75], [0.25, 0.25]]
    square = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
    shape = {"type": "Feature", "geometry": {"type": "MultiPolygon", "coordinates": [[square, hole]]}}
    path = tmp_path / "land.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [shape]}), encoding="utf-8")
    domain = Domain.unit(4)
    weights = public_measure(path, domain).weight(2, domain.codes(2))
    x, y = decode(domain.codes(2))
    inside = (x > 0) & (x < 3) & (y > 0) & (y < 3)
    np.testing.assert_allclose(weights[inside], FLOOR * 16)
    assert weights.sum() == pytest.approx(256)


def test_a_geotiff_lies_where_it_says(tmp_path: Path) -> None:
    """Its western half has all the people; a part of the domain is outside of it."""
    rasterio = pytest.importorskip("rasterio")
    path, domain = tmp_path / "people.tif", Domain.bbox(6, 50, 7, 51, depth=14)
    place = rasterio.transform.from_bounds(6, 50, 7, 51, 20, 20)
    with rasterio.open(
        path, "w", driver="GTiff", width=20, height=20, count=1, dtype="float32", crs="EPSG:4326", transform=place
    ) as file:
        file.write(np.repeat([[1.0] * 10 + [0.0] * 10], 20, axis=0).astype("float32"), 1)
    measure = public_measure(path, domain)
    x, _ = decode(domain.codes(14))
    middle = np.array([6.5])
    west = x + 0.5 < domain.to_root(middle, np.array([50.5]))[0] * 2**14
    weights = measure.weight(14, domain.codes(14))
    assert weights[west].sum() / weights.sum() == pytest.approx(1 - FLOOR / 2, abs=0.02)


def test_a_release_is_resampled_by_position() -> None:
    """A release of the unit square, seen by a finer one: the same quarters are heavy."""
    truth = np.zeros((16, 16))
    truth[:8, :8] = 40.0
    measure = public_measure(released(truth), Domain.unit(7))
    share = measure.weight(1, np.arange(4)) / measure.weight(0, np.zeros(1, np.int64))
    assert share[0] > 0.9
    assert measure.releases[0].epsilon == 1


def test_what_is_not_public_is_refused() -> None:
    secret = dataclasses.replace(released(raster()), seeded=True)
    for given in (secret, secret.heatmap(), dataclasses.replace(released(raster()).heatmap(), release=None)):
        with pytest.raises(PrivacyRefusal, match="must be public"):
            public_measure(given, Domain.unit(4))


@pytest.mark.parametrize(
    "given",
    [7, "map.png", "missing.geojson", np.zeros(4), np.zeros((4, 4)), np.full((4, 4), np.nan), {"type": "Point"}],
)
def test_what_is_no_prior_is_refused(given: object) -> None:
    with pytest.raises(ParameterError):
        public_measure(given, Domain.unit(4))


def test_another_kind_of_place_is_refused() -> None:
    with pytest.raises(ParameterError, match="about the release's place"):
        public_measure(released(raster()), Domain.image(16, 16))


def test_a_good_prior_is_believed_and_a_wrong_one_is_not() -> None:
    """A prior that equals the truth has a high concentration and less error; the opposite one changes nothing."""
    rng = np.random.default_rng(4)
    truth = 300 * (shape := np.exp(1.5 * rng.standard_normal((16, 16)))) / shape.sum()
    release = released(truth)
    plain = posterior(release)
    good, wrong = (posterior(release, public_measure(prior, release.domain)) for prior in (truth, 1.0 / truth))
    assert good.concentration > 5.0
    assert isinstance(good.cells.measure, MixedMeasure)
    share = truth / truth.sum()
    errors = [np.abs(found.distribution().raster(16, 16) - share).sum() for found in (plain, good)]
    assert errors[1] < 0.8 * errors[0]
    np.testing.assert_array_equal(wrong.distribution().mass, plain.distribution().mass)


def test_a_measure_is_read_once() -> None:
    measure = public_measure(raster(), Domain.unit(4))
    assert isinstance(measure, PublicMeasure)
    assert public_measure(measure, Domain.unit(4)) is measure
