"""Uncertainty of heatmaps: shapes and limits, and how often it is right on maps whose truth is known.

Releases are seeded, so what is asserted of error rates is the same in every run; the bounds leave room for other
versions of what draws are made with.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.experiments import generated_data
from dpheatmap.experiments.populations import Place
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Floats
from dpheatmap.testing import seeded_release

SIGMA, SIZE = 0.03, 48
PLACES = generated_data.cities().places[:12]


@cache
def city(number: int, epsilon: int = 2, people: int = 400) -> tuple[Heatmap, Floats]:
    """An estimated map and the true one."""
    counts = PLACES[number].sample(people, np.random.default_rng(number))
    heat = seeded_release(counts, seed=number, epsilon=epsilon).heatmap(sigma=SIGMA, size=SIZE)
    return heat, smooth(true_distribution(counts), SIGMA, SIZE)


def city_with_hidden_spots(number: int, epsilon: str, seed: int = 0) -> tuple[Heatmap, Floats]:
    """A few venues far narrower than the cells measured, over people who are anywhere; estimated and true."""
    rng = np.random.default_rng([number, 18])
    user = np.repeat(np.arange(400), 4)
    hot = rng.random((8, 2))[rng.choice(8, len(user))] + 0.008 * rng.standard_normal((len(user), 2))
    at = np.where(rng.random((len(user), 1)) < 0.6, hot, rng.random((len(user), 2)))
    counts = Place(f"hidden {number}", dph.Domain.unit(8), user, *np.clip(at, 0, 1).T).sample(400, rng)
    release = seeded_release(counts, seed=100 * seed + number, epsilon=epsilon)
    return release.heatmap(sigma=SIGMA, size=SIZE), smooth(true_distribution(counts), SIGMA, SIZE)


def test_intervals_hold_the_value_and_grow_with_the_confidence() -> None:
    heat, _ = city(0)
    ends = [heat.interval(confidence) for confidence in (0.6, 0.9, 0.99)]
    for low, high in ends:
        assert low.shape == high.shape == heat.values.shape
        assert np.all((low >= 0) & (low <= heat.values) & (heat.values <= high))
    for (low, high), (lower, higher) in pairwise(ends):
        assert np.all((lower <= low) & (high <= higher))


def test_the_same_release_has_the_same_uncertainty() -> None:
    counts = PLACES[0].sample(100, np.random.default_rng(0))
    first, second = (seeded_release(counts, seed=4, epsilon=1).heatmap(size=20).std for _ in "ab")
    assert first is not None
    assert second is not None
    assert np.array_equal(first, second)


def test_less_noise_leaves_less_uncertain() -> None:
    totals = []
    for epsilon in (1, 5, 25):
        std = city(1, epsilon)[0].std
        assert std is not None
        totals.append(std.sum())
    assert totals[0] > 1.5 * totals[1] > 2 * totals[2]


@pytest.mark.parametrize(
    "domain", [dph.Domain.image(30, 11), dph.Domain.bbox(7.3, 46.9, 7.5, 47.02), dph.Domain.unit(0)]
)
def test_any_domain_and_size(domain: dph.Domain) -> None:
    nobody = np.zeros(0, np.int64)
    release = dph.release(dph.Counts.from_cells(domain, nobody, nobody, nobody), epsilon=1)
    for size in (1, 7, 300):
        heat = release.heatmap(size=size)
        assert heat.std is not None
        assert heat.std.shape == heat.values.shape
        assert np.isfinite(heat.std).all()
        assert np.isfinite(heat.interval()[1]).all()
        assert heat.significant().shape == heat.values.shape


def test_maps_without_a_posterior_have_none() -> None:
    counts = PLACES[0].sample(50, np.random.default_rng(0))
    heat = dph.release(counts, epsilon=1, design="paper").heatmap(method="paper", size=16)
    assert heat.std is None
    for ask in (heat.interval, heat.significant):
        with pytest.raises(dph.errors.ParameterError, match="posterior"):
            ask()


def test_about_nine_of_ten_true_values_lie_inside() -> None:
    """Over twelve cities: on average, in the busiest tenth, and where anybody is; and the masses of blocks."""
    covered = []
    for number in range(len(PLACES)):
        heat, true = city(number)
        low, high = heat.interval(0.9)
        inside = (low <= true) & (true <= high)
        busy, visited = true >= np.quantile(true, 0.9), true > 1e-3 * true.max()
        covered.append((inside.mean(), inside[busy].mean(), inside[visited].mean()))
    everywhere, in_busy, in_visited = np.mean(covered, axis=0)
    assert 0.85 <= everywhere <= 0.98
    assert in_busy >= 0.8
    assert in_visited >= 0.8


@pytest.mark.parametrize("epsilon", ["0.1", "0.5"])
def test_the_busiest_tenth_lies_inside_at_a_small_epsilon(epsilon: str) -> None:
    """Where hot spots hide in the cells measured: intervals not made for that held .63 at epsilon .1 and .82 at .5.

    Over four seeds of the noise, the means were .88 and .90, with standard deviations of .007 and .005. So with other
    noise, the bar of .85 is missed about once in ten thousand runs, if means are normal with the spread of four seeds.
    """
    covered, everywhere = [], []
    for number in range(10):
        heat, true = city_with_hidden_spots(number, epsilon)
        low, high = heat.interval(0.9)
        inside = (low <= true) & (true <= high)
        covered.append(inside[true >= np.quantile(true, 0.9)].mean())
        everywhere.append(inside.mean())
    assert np.mean(covered) >= 0.85
    assert np.mean(everywhere) >= 0.9


def test_the_draws_alone_would_be_too_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the widening, the busiest places lie above their intervals too often: what the widening is for."""
    monkeypatch.setattr("dpheatmap.heatmap.uncertainty.SPIKY", 0.0)
    monkeypatch.setattr("dpheatmap.heatmap.uncertainty.FAINT", 0.0)
    monkeypatch.setattr("dpheatmap.heatmap.uncertainty.LOWER", 1.0)
    missed = []
    for number in range(6):
        counts = PLACES[number].sample(400, np.random.default_rng(number))
        heat = seeded_release(counts, seed=number, epsilon=2).heatmap(sigma=SIGMA, size=SIZE)
        true = city(number)[1]
        busy = true >= np.quantile(true, 0.9)
        missed.append(np.mean(true[busy] > heat.interval(0.9)[1][busy]))
        assert np.all(heat.interval(0.9)[1] <= city(number)[0].interval(0.9)[1] + 1e-12)
    assert np.mean(missed) > 0.1


@pytest.mark.parametrize("times", [1.0, 3.0])
def test_of_the_pixels_shown_few_are_not_above_the_level(times: float) -> None:
    """The false discoveries, on average over twelve cities, and how many maps show even one with "family"."""
    wrong, any_wrong, found = [], [], []
    for number in range(len(PLACES)):
        heat, true = city(number)
        level = times / true.size
        shown, together = heat.significant(level), heat.significant(level, control="family")
        assert np.all(shown | ~together), "what is sure of all at once is sure one by one"
        wrong.append((shown & (true <= level)).sum() / max(shown.sum(), 1))
        any_wrong.append(bool((together & (true <= level)).any()))
        found.append(shown.sum() / (true > level).sum())
    assert np.mean(wrong) <= 0.05
    assert sum(any_wrong) <= 1
    assert np.mean(found) > 0.3, "a test that finds nothing is never wrong"


def test_few_pixels_shown_are_wrong_where_hot_spots_hide_in_the_cells_measured() -> None:
    """The hardest maps known, on which the 5 % do not hold.

    Over three seeds of the noise, .070 to .072 were wrong, and .128 to .136 when the inside of a cell was taken to be
    as even as the cells are. The bar of .1 lies far from both, so other noise hardly misses it.
    """
    wrong = []
    for number in range(10):
        heat, true = city_with_hidden_spots(number, "1")
        shown = heat.significant()
        wrong.append((shown & (true <= 1 / true.size)).sum() / max(shown.sum(), 1))
    assert np.mean(wrong) <= 0.1


def test_more_confidence_shows_less_and_levels_may_differ_by_pixel() -> None:
    heat, true = city(2)
    shown = [heat.significant(confidence=confidence).sum() for confidence in (0.6, 0.9, 0.99)]
    assert shown[0] >= shown[1] >= shown[2]
    assert not heat.significant(1.0).any()
    levels = np.where(np.arange(true.shape[1]) < 24, 1 / true.size, 1.0)
    assert not heat.significant(levels)[:, 24:].any()
    assert heat.significant(levels)[:, :24].any()


# For all places at once


@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_intervals_together_hold_all_clear_places_of_most_draws(confidence: float) -> None:
    """So they hold each place at least as often, and reach farther than the interval of a place that is not chosen."""
    known = city(3)[0].uncertainty
    assert known is not None
    low, high = (known._on_the_grid(end) for end in known.relative_interval_together(confidence))
    draws = known._draws
    std = np.sqrt(((draws - 1.0) ** 2).mean(axis=0))
    clear = (std > 0) & (std < 0.6)
    assert clear.any()
    inside = ((low - 0.02 <= draws) & (draws <= high + 0.02))[:, clear]  # the grid is met by interpolation
    assert inside.all(axis=1).mean() >= confidence - 0.03
    assert inside.mean(axis=0).min() >= confidence - 0.03
    reach = (1.645 if confidence == 0.9 else 0.674) * std
    assert (high - 1.0)[clear] == pytest.approx(np.maximum((high - 1.0)[clear], reach[clear]), rel=0.02)
    assert ((low >= 0) & (low <= 1)).all()


def test_intervals_together_grow_with_the_confidence() -> None:
    known = city(3)[0].uncertainty
    assert known is not None
    ends = [known.relative_interval_together(confidence) for confidence in (0.5, 0.9, 0.99)]
    for (low, high), (lower, higher) in pairwise(ends):
        assert np.all((lower <= low) & (high <= higher))
        assert (higher > high).any()


def test_the_range_of_the_busiest_place_holds_its_true_value() -> None:
    """The place is chosen because it is highest, so the interval is that for all places at once.

    If nine in ten such ranges hold the truth, 12 of 24 miss it with a probability of 8.5e-7 (binomial). None did. Of
    ranges of a tenth of the length, more than that missed it, so the test can tell.
    """
    missed, missed_by_short = 0, 0
    for number in range(len(PLACES)):
        for epsilon in (1, 2):
            heat, true = city(number, epsilon)
            assert heat.uncertainty is not None
            at = np.unravel_index(heat.values.argmax(), heat.values.shape)
            low, high = (end[at] for end in heat.uncertainty.roughly.relative_interval_together(0.9))
            off = float(true[at] / heat.values[at]) - 1.0
            missed += not low - 1.0 <= off <= high - 1.0
            missed_by_short += not 0.1 * (low - 1.0) <= off <= 0.1 * (high - 1.0)
            alone = heat.interval(0.9)[1][at] / heat.values[at]
            assert high - 1.0 < 4.0 * (alone - 1.0), "no wider than it needs to be"
    assert missed < 12
    assert missed_by_short >= 12


@pytest.mark.parametrize("level", [-1.0, np.nan, np.inf])
def test_a_level_is_a_share(level: float) -> None:
    with pytest.raises(dph.errors.ParameterError, match="level must be a share"):
        city(0)[0].significant(level)
