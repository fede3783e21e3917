"""Methods with parts left out, and rivals' measurements with our posterior."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.curator import Curator
from dpheatmap.evaluate.method_variants import ABLATIONS, RIVALS_WITH_POSTERIOR, Recorder
from dpheatmap.evaluate.methods import METHODS, Method
from dpheatmap.evaluate.peers.private_tree import privtree
from dpheatmap.experiments.mixtures import mixture
from dpheatmap.testing import SeededSource, generated_people


@pytest.fixture(scope="module")
def counts() -> dph.Counts:
    return dph.aggregate(generated_people(300), dph.Domain.unit(7), user="person", x="x", y="y")


@pytest.fixture(scope="module")
def even() -> dph.Counts:
    """A map of which the first level is even."""
    return mixture(80, 0.75, people=200, rng=np.random.default_rng(0)).sample(200, np.random.default_rng(0))


@pytest.mark.parametrize("method", [*ABLATIONS, *RIVALS_WITH_POSTERIOR], ids=lambda method: method.name)
def test_each_makes_a_distribution_of_its_own_and_repeats_it(
    method: Method, counts: dph.Counts, even: dph.Counts
) -> None:
    people = even if method.name == "no-even" else counts
    made, again, other = (method.estimate(people, 2, seed).raster(32, 32) for seed in (1, 1, 2))
    assert made.sum() == pytest.approx(1.0)
    assert np.array_equal(made, again)
    assert not np.array_equal(made, other)
    assert not np.allclose(made, METHODS["ladder"].estimate(people, 2, 1).raster(32, 32), atol=1e-6)


def test_they_are_not_offered_to_compare() -> None:
    assert not {method.name for method in (*ABLATIONS, *RIVALS_WITH_POSTERIOR)} & set(METHODS)


def test_a_recorder_answers_like_a_curator_and_spends_the_same(counts: dph.Counts) -> None:
    plain, recorder = Curator(counts, 1, SeededSource(5)), Recorder(counts, 1, SeededSource(5))
    ours, theirs = privtree(recorder), privtree(plain)
    assert np.array_equal(ours.mass, theirs.mass)
    assert recorder.rest == plain.rest == Fraction(0)
