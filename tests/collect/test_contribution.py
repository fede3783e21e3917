"""What is decoded in the end: true sums, and noise of the stated law. Each p-value is compared with 1e-9."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.collect import contribution
from dpheatmap.collect import shuffle_terms as terms_module
from dpheatmap.collect.additive_shares import split
from dpheatmap.collect.contribution import messages, noisy_vector, vector_of
from dpheatmap.collect.message_sums import MessageSums
from dpheatmap.collect.shuffle_bound import certified_delta
from dpheatmap.collect.shuffle_terms import ShuffleTerms
from dpheatmap.collect.simulate import simulate
from dpheatmap.errors import DataError, ParameterError, PrivacyRefusal
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import SeededSource, generated_people
from helpers import ROOT
from helpers.collecting import ALPHA, OUTSIDE, laplace_p_value, shuffle_terms, terms_of

PEOPLE = 4


def through_shares(terms: ShuffleTerms, vectors: list[Ints]) -> Ints:
    """What the analyser decodes of noisy vectors."""
    sums = MessageSums(terms)
    for vector in vectors:
        sums.add(messages(terms, vector))
    assert sums.participants() == len(vectors)
    return sums.decode()


def shuffle_noise(terms: ShuffleTerms) -> Ints:
    """Nobody is inside: only noise is left, through all of the protocol."""
    nobody = vector_of(terms, *terms.tree.leaves(*OUTSIDE))
    return through_shares(terms, [noisy_vector(terms, nobody) for _ in range(PEOPLE)])


@pytest.fixture(scope="module")
def wide() -> ShuffleTerms:
    """Many cells at the last level, for many samples. There is room for more people than the noise is made for."""
    return shuffle_terms(7, n_min=PEOPLE, n_max=2 * PEOPLE)


def last_level(terms: ShuffleTerms, noise: Ints) -> Ints:
    return noise[terms.tree.part(terms.design.last)]


def test_the_noise_of_the_shuffle_model_is_discrete_laplace(wide: ShuffleTerms) -> None:
    noise = shuffle_noise(wide)
    assert laplace_p_value(last_level(wide, noise), wide.rates[7]) > ALPHA
    assert laplace_p_value(noise[wide.tree.part(6)], wide.rates[6]) > ALPHA


@pytest.mark.parametrize("planted", ["fewer people", "epsilon once more", "units forgotten"])
def test_noise_that_is_too_small_would_be_seen(wide: ShuffleTerms, planted: str) -> None:
    """The planted bugs: noise for more people than there are, levels that don't split epsilon, a ratio without B."""
    wrong = {
        "fewer people": replace(wide, n_min=PEOPLE + 1, n_max=PEOPLE + 1),
        "epsilon once more": replace(wide, epsilon=2 * wide.epsilon),
        "units forgotten": replace(wide, units=1),
    }[planted]
    assert laplace_p_value(last_level(wide, shuffle_noise(wrong)), wide.rates[7]) < ALPHA


def test_sums_are_exact_without_noise() -> None:
    terms = shuffle_terms(4, units=256)
    rng = np.random.default_rng(5)
    vectors = [vector_of(terms, *terms.tree.leaves(*rng.uniform(0, 1, (2, 9)))) for _ in range(6)]
    assert np.array_equal(through_shares(terms, vectors), sum(vectors))
    negative = [v - 40 for v in vectors]
    assert np.array_equal(through_shares(terms, negative), sum(negative))


def test_shares_that_do_not_add_up_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: the last share is drawn like the others."""

    def broken(values: Ints, shares: int, bits: int, source: Any) -> Any:
        return split(np.random.default_rng(1).integers(0, 2**bits, len(values)), shares, bits, source)

    monkeypatch.setattr(contribution, "split", broken)
    with pytest.raises(AssertionError):
        test_sums_are_exact_without_noise()


def test_a_missing_message_is_noticed() -> None:
    terms = shuffle_terms()
    found = messages(terms, np.zeros(terms.tree.size, dtype=np.int64))
    for broken in (found[1:], np.append(found, found[:1]), found[: len(found) // 2]):
        sums = MessageSums(terms)
        sums.add(found)
        sums.add(broken)
        with pytest.raises(DataError, match="missing or too many"):
            sums.participants()


@pytest.mark.parametrize("model", ["servers", "shuffle"])
def test_simulated_collections_are_those_of_the_protocol(model: str) -> None:
    """A crowd in one corner is found, and the release says who was trusted with what noise."""
    terms = terms_of(model, 4, epsilon=8, n_min=20, n_max=60)
    release = simulate(terms, [([0.03], [0.03])] * 40)
    assert release.trust.participants == 40
    assert release.noise.summed == 2
    assert release.heatmap(size=16).values.argmax() == 0
    corner = release.measurements.at(2)[1][0] / terms.units
    assert abs(corner - 40) < 20
    assert simulate(terms, [([0.03], [0.03])] * 20, SeededSource(1)).seeded
    with pytest.raises(PrivacyRefusal, match="19 contributions are fewer than n_min, 20"):
        simulate(terms, [([0.03], [0.03])] * 19)


def test_a_seed_makes_the_same_release_again() -> None:
    terms = shuffle_terms(4)
    one, two = (simulate(terms, [([0.1, 0.4, 0.6], [0.5] * 3)] * 4, SeededSource(7)) for _ in range(2))
    assert np.array_equal(one.measurements.counts, two.measurements.counts)


def test_the_guide_simulates() -> None:
    page = ROOT / "docs/guides/collect.md"
    code = next(block for block in re.findall(r"```py\n(.*?)```", page.read_text(), re.DOTALL) if "simulate" in block)
    people = generated_people(50, extent=(0, 0, 320, 240)).fetchnumpy()
    names: dict[str, Any] = {"dph": dph, **people}
    exec(code, names)
    assert names["release"].trust.participants == 50


@pytest.mark.parametrize(
    ("options", "words"),
    [({"n_min": 7}, "n_min must be at most n_max"), ({"epsilon": 101}, "epsilon must be at most 100"),
     ({"delta": 0}, "needs a delta above 0"),
     ({"units": 1, "epsilon": 9}, "units must be at least a level's part"), ({"delta": 1e-300}, "even 64 shares"),
     ({"depth": 12}, "must have at most 4194304 cells"), ({"units": 2**30, "depth": 8}, "at most 56 bits")],
)  # fmt: skip
def test_terms_that_cannot_be_kept_are_refused(options: dict[str, Any], words: str) -> None:
    settings = {"epsilon": 1, "n_min": 3, "n_max": 6, "delta": 0.01, "units": 16, **options}
    with pytest.raises(ParameterError, match=words):
        ShuffleTerms.of(Domain.unit(settings.pop("depth", 2)), **settings)


def test_shares_are_as_many_as_n_min_people_need() -> None:
    """Not n_max, of whom nobody knows that they come: with their number fewer shares would seem enough."""
    terms = ShuffleTerms.of(Domain.unit(4), epsilon=1, delta=1e-5, n_min=50, n_max=5000)

    def delta(shares: int) -> float:
        return certified_delta(50, shares, terms.modulus_bits, terms.tree.size, 1.0)

    assert delta(terms.shares) <= 1e-5 < delta(terms.shares - 1)


def test_delta_pays_for_what_the_noise_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """With noise that takes up all of delta, nothing is left for the shares."""
    terms = shuffle_terms()
    monkeypatch.setattr(terms_module, "TOTAL_VARIATION", terms.delta / (terms.n_min * terms.tree.size))
    with pytest.raises(ParameterError, match="even 64 shares"):
        shuffle_terms()


@pytest.mark.parametrize(("n_max", "units"), [(50, 256), (500, 256), (50, 4096)])
def test_the_modulus_has_room_for_the_sums_and_their_noise(n_max: int, units: int) -> None:
    """P(|noise| > T) on any of m coordinates is at most 1e-6, by the density of a sum of n_max / n_min Laplaces."""
    from scipy.special import gamma, gammaincc

    from dpheatmap.estimate.posterior.likelihood import laplace_sum

    terms = ShuffleTerms.of(Domain.unit(6), epsilon=2, delta=1e-5, n_min=50, n_max=n_max, units=units)
    law = laplace_sum(n_max // 50)
    weights = law * gamma(np.arange(len(law)) + 1)
    far = terms.farthest_noise * float(min(terms.rates.values()))
    tail = (weights * gammaincc(np.arange(len(law)) + 1, far)).sum() / weights.sum()
    assert tail * terms.tree.size <= 1e-6
    assert units * n_max + 2 * terms.farthest_noise < 2**terms.modulus_bits
