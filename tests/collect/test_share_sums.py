"""What one server answers: its shares and a whole Laplace, so that one honest server is enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpheatmap.collect import share_sums
from dpheatmap.collect.additive_shares import Words
from dpheatmap.collect.seed_shares import SEED, expanded_share, split_by_seeds
from dpheatmap.collect.server_terms import ServerTerms
from dpheatmap.collect.share_sums import ShareSums, wrapped_noise
from dpheatmap.collect.simulate import simulate
from dpheatmap.collect.transcript import ContributionSet, Step, follow
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.measure import ask, in_rows
from dpheatmap.curator.core.noise import DiscreteLaplace, discrete_laplace
from dpheatmap.design.design import Question
from dpheatmap.design.shares import SHARES, UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.evaluate.audit.confidence import epsilon_lower_bound
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.testing import SeededSource
from helpers.audit import chi_square
from helpers.collecting import ALPHA, laplace_p_value, server_terms

SET = ContributionSet(6, bytes(32))


# Shares


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=20), st.integers(2, 5))
def test_seeds_and_the_vector_add_up(values: list[int], servers: int) -> None:
    sent = split_by_seeds(np.array(values), servers)
    assert [len(share) for share in sent[1:]] == [SEED] * (servers - 1)
    shares = [expanded_share(number, share, len(values)) for number, share in enumerate(sent)]
    assert np.sum(shares, axis=0, dtype=np.uint64).astype(np.int64).tolist() == values


def byte_p_value(words: Words) -> float:
    drawn = np.frombuffer(words.tobytes(), dtype=np.uint8)
    return chi_square(np.bincount(drawn, minlength=256), [1 / 256] * 256)


def test_each_share_looks_uniform_whatever_the_person_sends() -> None:
    """Of two servers: the vector, and what the seed becomes. With the planted bug: one seed for everybody."""
    values = np.zeros(2**15, np.int64)
    for number, share in enumerate(split_by_seeds(values, 2)):
        assert byte_p_value(expanded_share(number, share, len(values))) > ALPHA
    one, two = (expanded_share(0, split_by_seeds(values, 2)[0], len(values)) for _ in range(2))
    assert byte_p_value(one - two) > ALPHA
    one, two = (expanded_share(0, split_by_seeds(values, 2, bytes)[0], len(values)) for _ in range(2))
    assert byte_p_value(one - two) < ALPHA


def test_the_stream_is_aes_256_in_counter_mode() -> None:
    """The first block is what a published key stream of AES-256 begins with for a key and a counter of zeros."""
    assert expanded_share(1, bytes(SEED), 2).tobytes().hex() == "dc95c078a2408989ad48a21492842087"
    longer = expanded_share(1, bytes(SEED), 5)
    assert np.array_equal(longer[:2], expanded_share(1, bytes(SEED), 2))
    assert len(set(longer.tolist())) == 5


def test_a_share_of_another_size_is_none() -> None:
    for number, share in ((0, bytes(15)), (0, bytes(32)), (1, bytes(31)), (1, bytes(16))):
        with pytest.raises(ValueError, match="not a share"):
            expanded_share(number, share, 2)


# Answers


def test_sums_of_cells_are_those_of_the_finest_inside() -> None:
    terms = ServerTerms.of(Domain.image(50, 20), epsilon=1, n_min=2, n_max=9)
    finest = np.random.default_rng(1).integers(0, 2**63, terms.tree.size).astype(np.uint64) * np.uint64(2)
    sums, codes, last = ShareSums(terms, finest), terms.domain.codes(terms.design.last), terms.design.last
    for level in range(last + 1):
        cells = terms.domain.codes(level)
        expected = [finest[codes >> 2 * (last - level) == cell].sum(dtype=np.uint64) for cell in cells]
        assert sums.exact(Question(level, cells, 1, 0)).tolist() == [int(one) for one in expected]


def noise_of(share: int, answer: Callable[[ShareSums, Question], Words]) -> tuple[Ints, Fraction]:
    """The noise of all cells of a level, asked with a share, of a server that knows nothing of anybody."""
    terms = server_terms(7)
    sums = ShareSums(terms, np.zeros(terms.tree.size, np.uint64))
    return answer(sums, Question(7, terms.domain.codes(7), share, 0)).astype(np.int64), terms.rate(share)


@pytest.mark.parametrize("share", [SHARES // 100, SHARES // 4, SHARES])
def test_one_servers_noise_is_a_whole_laplace_of_the_questions_share(share: int) -> None:
    """So one honest server is enough."""
    assert laplace_p_value(*noise_of(share, ShareSums.answer)) > ALPHA


@pytest.mark.parametrize("planted", ["that of the others", "epsilon", "units", "none"])
def test_a_server_with_too_little_noise_would_be_seen(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bugs: the noise of both servers counted as one's own, the whole of epsilon, a rate without B."""
    broken: dict[str, Callable[[Fraction], DiscreteLaplace]] = {
        "that of the others": lambda rate: discrete_laplace(rate * Fraction(7, 5)),  # about the root of 2
        "epsilon": lambda rate: discrete_laplace(4 * rate),
        "units": lambda rate: discrete_laplace(15 * rate),
        "none": lambda rate: discrete_laplace(1000 * rate),
    }
    monkeypatch.setattr(share_sums, "discrete_laplace", broken[planted])
    assert laplace_p_value(*noise_of(SHARES // 4, ShareSums.answer)) < ALPHA


def test_two_servers_noises_add_up() -> None:
    """On 4^7 empty cells the mean square is that of two Laplaces, within 6 standard errors; one's is half of it."""
    terms = server_terms(7)
    made = np.array([noise_of(SHARES, ShareSums.answer)[0] for _ in range(2)])
    q = math.exp(-float(terms.rate(SHARES)))
    expected = 2 * 2 * q / (1 - q) ** 2
    found = np.mean(made.sum(axis=0).astype(float) ** 2)
    assert abs(found / expected - 1) < 6 * math.sqrt(4 / made.shape[1])


def test_noise_beyond_64_bits_wraps() -> None:
    class Far:
        def exact(self, size: int, source: Any) -> Any:
            return np.array([2**64 + 3, -(2**64) - 1, -2], dtype=object)

    assert wrapped_noise(Far(), 3, bytes).astype(np.int64).tolist() == [3, -1, -2]  # type: ignore[arg-type]


# The questions


def with_noise_of(source: SeededSource, terms: ServerTerms) -> Callable[[int, int], Ints]:
    """The noise that all servers together have drawn, in a curator's units, as a curator draws his."""

    def draw(share: int, size: int) -> Ints:
        law = discrete_laplace(terms.rate(share))
        drawn = [law.exact(size, source) for _ in range(terms.servers)]
        found: Ints = np.add.reduce(drawn, axis=0) * (UNITS // terms.units)
        return found

    return draw


@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("units", [16, UNITS])
def test_servers_measure_what_a_curator_measures_with_the_same_noise(servers: int, units: int) -> None:
    """Cells, shares and noisy counts are equal, on a place of many levels with crowds and single people."""
    domain = Domain.unit(6)
    rng = np.random.default_rng(1)
    crowd = np.concatenate([rng.normal(0.2, 0.02, (80, 2)), rng.uniform(0, 1, (20, 2))]).clip(0, 1)
    terms = ServerTerms.of(domain, epsilon=4, n_min=2, n_max=100, units=units, servers=servers)
    source = SeededSource(3)
    finest = np.zeros(terms.tree.size, np.int64)
    for x, y in crowd:
        finest += terms.tree.sum_levels(*terms.tree.leaves([x], [y])) * units
    zeros = np.zeros(terms.tree.size, np.uint64)
    holders = [ShareSums(terms, finest.astype(np.uint64)), *[ShareSums(terms, zeros)] * (servers - 1)]

    def hear(step: Step) -> list[Words]:
        return [holder.answer(step.asked, source) for holder in holders]

    mine = follow(terms, ContributionSet(len(crowd), bytes(32)), hear).measured
    counts = Counts.in_order(domain, domain.codes(6)[finest > 0], finest[finest > 0] * (UNITS // units))
    found = in_rows(ask(counts, terms.decision_loss, terms.design, with_noise_of(SeededSource(3), terms)))
    assert len(mine) > 80
    for column in ("levels", "codes", "shares"):
        assert np.array_equal(getattr(mine, column), getattr(found, column)), column
    assert np.array_equal(mine.counts * (UNITS // units), found.counts)


def test_too_few_servers_and_other_units_are_refused() -> None:
    with pytest.raises(ParameterError, match="There must be 2 servers or more"):
        server_terms(servers=1)
    with pytest.raises(ParameterError, match="units must be at least epsilon"):
        server_terms(units=4, epsilon=5)
    with pytest.raises(ParameterError, match="at most 4194304 cells"):
        server_terms(12)
    assert server_terms(epsilon=40).units == 40
    assert server_terms(epsilon=1).units == 15


# An attack: everybody but one server works together to find out about one person


def attack(terms: ServerTerms, person: bool, rng: np.random.Generator) -> float:
    """What all others see of the person's cell, weighed as for the best test between a person and nobody there.

    The other server tells nothing but zeros, except that it lets the corner look busy, so that all questions lead
    there: the honest server's answers plus known numbers are those of the person with one Laplace.
    """
    finest = np.zeros(terms.tree.size, np.uint64)
    finest[0] = terms.units if person else 0
    honest, seen = ShareSums(terms, finest), 0.0

    def hear(step: Step) -> list[Words]:
        nonlocal seen
        asked = step.asked
        mine = honest.answer(asked, rng.bytes)
        corner = asked.cells == 0
        seen += float(terms.rate(asked.share)) * float(np.clip(mine.astype(np.int64)[corner], 0, terms.units).sum())
        theirs = np.where(corner, np.uint64(5 * terms.units), np.uint64(0)) - mine
        return [mine, theirs]

    follow(terms, SET, hear)
    return seen


def found_epsilon(terms: ServerTerms, runs: int = 2600) -> float:
    """A lower bound on epsilon, wrong with a probability of 1e-6 at most, by an event chosen on other runs."""
    rng = np.random.default_rng(5)
    scores = [np.array([attack(terms, person, rng) for _ in range(runs)]) for person in (True, False)]
    half = runs // 2
    cuts = np.unique(scores[0][:half])
    cut = max(cuts, key=lambda c: epsilon_lower_bound(
        int((scores[0][:half] >= c).sum()), half, int((scores[1][:half] >= c).sum()), half, 1e-6))  # fmt: skip
    hits = [int((score[half:] >= cut).sum()) for score in scores]
    return epsilon_lower_bound(hits[0], half, hits[1], half, 1e-6)


def test_all_others_together_learn_no_more_than_epsilon() -> None:
    """And nearly as much, where one server's noise is all that protects: the attack is a good one."""
    assert 1 < found_epsilon(server_terms(3, epsilon=2)) <= 2


def test_an_attack_on_a_server_that_trusts_in_the_others_noise_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: half of the noise, since there are two of them."""
    monkeypatch.setattr(share_sums, "discrete_laplace", lambda rate: discrete_laplace(2 * rate))
    assert found_epsilon(server_terms(3, epsilon=2)) > 2


def test_simulated_collections_are_those_of_the_protocol() -> None:
    terms = server_terms(4, epsilon=8, n_min=20, n_max=60)
    release = simulate(terms, [([0.03], [0.03])] * 40)
    assert (release.trust.participants, int(release.noise.summed), release.units) == (40, 2, 15)
    assert release.heatmap(size=16).values.argmax() == 0
    assert simulate(terms, [([0.03], [0.03])] * 20, SeededSource(1)).seeded
