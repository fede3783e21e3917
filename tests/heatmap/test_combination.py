"""Several releases in one map: closer to the truth than each, whatever their order, and named wherever maps tell.

Noise is seeded where accuracy is asserted, so what is asserted holds in every run or in none.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap import Combination, Counts, Domain, Heatmap, Release, combine
from dpheatmap.design.paper import all_at_once
from dpheatmap.design.privacy_loss import ApproximateLoss
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.experiments import generated_data
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Floats
from dpheatmap.releases.noise_law import GaussianNoise, LaplaceNoise, NoiseLaw
from dpheatmap.releases.release import LedgerEntry
from dpheatmap.releases.trust import Trust
from dpheatmap.render.content.picture import picture_of
from dpheatmap.render.formats.metadata import facts
from dpheatmap.testing import generated_people, seeded_release

SIGMA, SIZE = 0.03, 48
PLACES = generated_data.cities().places[:10]
CITY = Domain.bbox(7.3, 46.9, 7.5, 47.02, resolution=300)


def error(true: Floats, made: Release | Combination) -> float:
    return float(dph.metrics.emd(true, smooth(made.distribution(), SIGMA, SIZE)))


def released(epsilon: str = "1", people: int = 200, seed: int = 1, domain: Domain | None = None) -> Release:
    place = Domain.unit(6) if domain is None else domain
    b = place.bounds
    table = generated_people(people, seed=seed, extent=(b.x0, b.y0, b.x1, b.y1))
    return dph.release(table, place, epsilon=epsilon, user="person", x="x", y="y")


def of_devices(noise: NoiseLaw, who: str, value: int = 0) -> Release:
    """What devices sent: the same number in every cell."""
    place = Domain.unit(3)
    design = all_at_once(place)
    counts = np.full(len(design.coordinates(place)[0]), value)
    deviations = np.full(len(counts), 300) if isinstance(noise, GaussianNoise) else None
    loss = ApproximateLoss(Fraction(5), Fraction(1, 10**5))
    return Release.collected(
        place, design, counts, loss=loss, trust=Trust(who, 60), noise=noise, units=256, deviations=deviations
    )


def test_two_releases_of_one_table_are_closer_to_it_than_either() -> None:
    """Means over 10 cities; of 8 other seeds, the ratio was 0.65 to 0.84."""
    alone, both = [], []
    for k, place in enumerate(PLACES):
        counts = place.sample(200, np.random.default_rng(k))
        true = smooth(true_distribution(counts), SIGMA, SIZE)
        pair = [seeded_release(counts, seed=2 * k + i, epsilon=Fraction(1, 2)) for i in range(2)]
        alone.append([error(true, each) for each in pair])
        both.append(error(true, combine(pair, same=True)))
    assert np.mean(both) < 0.95 * np.mean(alone, axis=0).min()


def test_two_days_tell_more_about_both_than_either() -> None:
    """Means over 10 cities with 200 people on one day and 200 others on another; of 8 other seeds, 0.71 to 0.81."""
    alone, both = [], []
    for k, place in enumerate(PLACES):
        days = [place.sample(200, np.random.default_rng([k, day])) for day in range(2)]
        pair = [seeded_release(counts, seed=2 * k + i, epsilon=1) for i, counts in enumerate(days)]
        true = np.mean([smooth(true_distribution(counts), SIGMA, SIZE) for counts in days], axis=0)
        alone.append([error(true, each) for each in pair])
        both.append(error(true, combine(pair, same=False)))
    assert np.mean(both) < 0.9 * np.mean(alone, axis=0).min()


def test_faint_signals_of_many_days_add_up_before_anything_is_estimated() -> None:
    """Twelve days at a twelfth of epsilon, in 5 cities, against the sum of maps that know nothing of each other.

    The ratio is 0.44; with a prior that is the sum of such maps it is 0.72.
    """
    added, together = [], []
    for k, place in enumerate(PLACES[:5]):
        days = [place.sample(200, np.random.default_rng([k, day])) for day in range(12)]
        made = [seeded_release(c, seed=100 * k + i, epsilon=Fraction(1, 12)) for i, c in enumerate(days)]
        true = np.mean([smooth(true_distribution(counts), SIGMA, SIZE) for counts in days], axis=0)
        alone = [day.distribution() for day in made]
        plain = np.average([smooth(a, SIGMA, SIZE) for a in alone], axis=0, weights=[a.total for a in alone])
        added.append(float(dph.metrics.emd(true, plain)))
        together.append(error(true, combine(made, same=False)))
    assert np.mean(together) < 0.6 * np.mean(added)


def test_people_are_those_of_the_table_or_of_all_tables() -> None:
    """At epsilon 50 the noise of a total is far below 1 person in 20: this fails less than once in 10^9 runs."""
    a, b = released("50"), released("50", people=300, seed=2)
    assert combine([a, b], same=False).distribution().total == pytest.approx(500, rel=0.05)
    again = released("50")
    assert combine([a, again], same=True).distribution().total == pytest.approx(200, rel=0.05)


@pytest.mark.parametrize("same", [True, False])
def test_the_order_does_not_matter_and_copies_count_once(same: bool, tmp_path: Path) -> None:
    a, b, c = (released(seed=seed) for seed in (1, 2, 3))
    a.save(tmp_path / "a.dph.parquet")
    one = combine([a, b, c], same=same)
    other = combine(iter([c, b, dph.load(tmp_path / "a.dph.parquet"), a, c]), same=same)
    assert len(one.releases) == len(other.releases) == 3
    assert one.epsilon == other.epsilon == 3
    x, y = one.heatmap(size=24), other.heatmap(size=24)
    assert np.array_equal(x.values, y.values)
    for first, second in zip(x.interval(), y.interval(), strict=True):
        assert np.array_equal(first, second)


@pytest.mark.parametrize("same", [True, False])
def test_uncertainty_is_smaller_than_that_of_one(same: bool) -> None:
    a, b = released("1", 400, 1), released("1", 400, 2 - same)
    heat, single = combine([a, b], same=same).heatmap(size=24), a.heatmap(size=24)
    assert heat.std is not None
    assert single.std is not None
    assert heat.std.mean() < single.std.mean()
    low, high = heat.interval()
    assert np.all((low >= 0) & (low <= heat.values) & (heat.values <= high))
    assert heat.significant().shape == heat.values.shape


@pytest.mark.parametrize("same", [True, False])
def test_nobody_at_all_is_a_map_too(same: bool) -> None:
    nobody = np.zeros(0, np.int64)
    pair = [dph.release(Counts.from_cells(CITY, nobody, nobody, nobody), epsilon=1) for _ in range(2)]
    heat = combine(pair, same=same).heatmap(size=16)
    assert heat.values.sum() == pytest.approx(1)
    assert np.isfinite(heat.values).all()


@pytest.mark.parametrize("same", [True, False])
def test_collected_releases_can_be_combined(same: bool) -> None:
    noise = LaplaceNoise(Fraction(2))
    both = combine([of_devices(noise, "servers", 9), of_devices(noise, "servers", 10)], same=same)
    assert both.trust.who == "servers"
    assert both.delta == Fraction(2, 10**5)
    heat = both.heatmap(size=8)
    assert heat.std is not None
    assert "trusted: one of 2 servers" in " ".join(picture_of(heat).words.facts).lower()


def test_a_combination_tells_what_it_is() -> None:
    a, b = released("0.5"), released("0.25", seed=2)
    later = replace(b, made=datetime(2031, 5, 1, tzinfo=UTC), ledger=LedgerEntry(7, "abc"))
    both = combine([later, a], same=True)
    assert both.releases == (a, later)
    assert both.same
    assert both.domain == a.domain
    assert both.loss.epsilon == Fraction(3, 4)
    assert both.delta == 0
    assert not both.seeded
    assert repr(both) == "<Combination of 2 releases about one table, unit domain, epsilon=3/4>"
    heat = both.heatmap(size=16)
    assert heat.made == later.made
    assert heat.release is None
    assert heat.combined == both.releases
    told = facts(heat)["combined"], " ".join(picture_of(heat).words.facts), picture_of(heat).label["how_strongly"]
    assert all("epsilon = 0.5" in words and "epsilon = 0.25" in words for words in told)
    label = picture_of(heat).label
    assert "Made from 2 releases" in label["how_strongly"]
    assert "e^0.75" in label["how_strongly"]
    assert "entry 7" in label["budget"]
    assert "No ledger" in label["budget"]
    assert facts(heat)["epsilon"] == "3/4"
    assert "combined" not in facts(a.heatmap(size=16))


def test_one_seed_makes_all_of_it_not_private() -> None:
    counts = PLACES[0].sample(50, np.random.default_rng(0))
    both = combine([dph.release(counts, epsilon=1), seeded_release(counts, seed=1, epsilon=1)], same=True)
    assert both.seeded
    assert "NOT PRIVATE" in repr(both)
    assert both.heatmap(size=8).seeded
    with pytest.raises(PrivacyRefusal):
        dph.release(counts, epsilon=1).heatmap(prior=both.heatmap(size=8))


def test_its_map_is_a_prior_that_names_all_releases() -> None:
    a, b, c = (released(seed=seed) for seed in (1, 2, 3))
    heat = c.heatmap(prior=combine([a, b], same=False).heatmap(size=32), size=32)
    assert set(heat.priors) == {a, b}


@pytest.fixture(scope="module")
def city_map() -> Heatmap:
    return combine([released("2", seed=seed, domain=CITY) for seed in (1, 2)], same=False).heatmap(size=40)


@pytest.mark.parametrize(
    "suffix", ["html", "png", "svg", "pdf", "tif", "geojson", "parquet", "pmtiles", "csv", "npz", "nc"]
)
def test_its_map_is_saved_in_every_format(city_map: Heatmap, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"map.{suffix}"
    city_map.save(path)
    assert path.stat().st_size > 100


@pytest.mark.parametrize("same", [True, False])
def test_cells_in_files_are_disjoint_and_those_of_the_combined_estimate(same: bool, tmp_path: Path) -> None:
    both = combine([released("2", seed=seed, domain=CITY) for seed in (1, 2)], same=same)
    heat = both.heatmap(size=40)
    heat.save(tmp_path / "map.geojson")
    written = json.loads((tmp_path / "map.geojson").read_text())
    rows = [feature["properties"] for feature in written["features"]]
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert all(row["std"] >= 0 for row in rows)
    finest = CITY.cells(CITY.depth)
    seen = np.zeros((finest.rows, finest.columns), int)
    for row in rows:
        side = 1 << CITY.depth - row["level"]
        left, top = row["x"] * side - finest.x0, row["y"] * side - finest.y0
        seen[max(top, 0) : top + side, max(left, 0) : left + side] += 1
    assert (seen == 1).all()
    assert "combines a release with epsilon = 2" in written["dpheatmap"]["combined"]


REFUSALS: dict[str, tuple[Any, str]] = {
    "one release": (lambda: released(), "combine needs two or more releases; it was given a Release. Give a list"),
    "a path": (lambda: "june.dph.parquet", "it was given a str. Give a list"),
    "a number": (lambda: 3, "it was given a int. Give a list"),
    "paths": (lambda: ["june.dph.parquet"], "A Release is needed, and a str was given. Use dpheatmap.load"),
    "none": (lambda: [], "two or more different releases; there were 0"),
    "one twice": (lambda: [(one := released()), one], "there were 1, since copies count once. Give another one"),
    "other places": (
        lambda: [released(), released(domain=CITY)],
        "combine needs releases of one domain; they were of .* Release on the same domain",
    ),
    "other laws": (
        lambda: [of_devices(LaplaceNoise(Fraction(2)), "servers"), of_devices(GaussianNoise(), "nobody")],
        "noise of one law; it was discrete Laplace, 2 summed and Gaussian. Combine those of each law",
    ),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_what_cannot_be_combined_is_refused(what: str) -> None:
    make, words = REFUSALS[what]
    with pytest.raises(ParameterError, match=words):
        combine(make(), same=True)


def test_which_of_both_must_be_said() -> None:
    pair = [released(), released()]
    with pytest.raises(TypeError, match="same"):
        combine(pair)  # type: ignore[call-arg]
    with pytest.raises(ParameterError, match="same must be True or False"):
        combine(pair, same=1)  # type: ignore[arg-type]
