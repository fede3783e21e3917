"""The number of people comes from every level, and its interval holds the truth."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.estimate.number_of_people import NumberOfPeople
from dpheatmap.testing import generated_people, seeded_release


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    """Of 40 intervals of 90 %, fewer than 24 hold it with probability 2e-7 if nine in ten do."""
    counts = dph.aggregate(generated_people(1000), dph.Domain.unit(6), user="person", x="x", y="y")
    truth, first, errors, held = counts.total / 2**30, [], [], 0
    for seed in range(40):
        release = seeded_release(counts, seed=seed, epsilon=Fraction(1, 2))
        low, high = release.people.interval(0.9)
        held += low <= truth <= high
        errors.append(release.people.mean - truth)
        first.append(release.measurements.counts[0] / 2**30 - truth)
    assert held >= 24
    assert np.mean(np.square(errors)) < np.mean(np.square(first)), "other levels tell more than the first count alone"


def test_intervals_grow_with_confidence_and_never_go_below_nobody() -> None:
    number = NumberOfPeople(3.0, 10.0)
    assert number.interval(0.9)[0] == 0.0
    assert number.interval(0.99)[1] > number.interval(0.9)[1] > 3.0
    with pytest.raises(dph.errors.ParameterError):
        number.interval(1.0)
