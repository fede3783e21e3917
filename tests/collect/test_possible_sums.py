"""Sums that can't be are refused, and honest ones hardly ever: the bounds are compared with exact tails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpheatmap.collect.additive_shares import Words
from dpheatmap.collect.client import NONCE, contribution_info
from dpheatmap.collect.possible_sums import ALARM, PossibleSums, SpoiltError, farthest
from dpheatmap.collect.seed_shares import split_by_seeds
from dpheatmap.collect.share_sums import ShareSums
from dpheatmap.collect.tickets import ticket_bytes
from dpheatmap.collect.transcript import ContributionSet, Step, Transcript, follow
from dpheatmap.design.design import Question
from dpheatmap.design.shares import SHARES
from dpheatmap.errors import PrivacyRefusal
from helpers.collecting import Cast, cast, server_terms


def exact_tail(rates: list[float], bound: float) -> float:
    """The probability that a sum of discrete Laplaces exceeds a bound, by convolution."""
    reach = int(60 / min(rates))
    law = np.ones(1)
    for rate in rates:
        one = np.exp(-rate * np.abs(np.arange(-reach, reach + 1)))
        law = np.convolve(law, one / one.sum())
    values = np.arange(len(law)) - len(law) // 2
    return float(law[values > bound].sum())


@pytest.mark.parametrize("rates", [[0.1], [0.1, 0.1], [0.1] * 5, [0.1, 0.1, 0.4, 0.4, 0.4, 0.4], [1.0] * 8])
@pytest.mark.parametrize("probability", [1e-2, 1e-6, 1e-9])
def test_bounds_are_exceeded_as_seldom_as_they_say_and_not_far_too_large(
    rates: list[float], probability: float
) -> None:
    bound = farthest([(1 / rate, 1) for rate in rates], probability)
    tail = exact_tail(rates, bound)
    assert tail <= probability
    assert tail >= probability**2 * 1e-3
    merged = [(1 / rate, rates.count(rate)) for rate in set(rates)]
    assert farthest(merged, probability) == pytest.approx(bound)


def test_the_parts_of_a_question_add_up_to_the_whole() -> None:
    assert sum(ALARM / (i * (i + 1)) for i in range(1, 10**5)) <= ALARM


def collect(finest: dict[int, int], lie: Any = None, people: int = 50, **options: Any) -> Transcript:
    """Follow a collection of these units by finest cell; ``lie`` changes the first server's answers."""
    terms = server_terms(5, **{"epsilon": 2, "n_max": 100, **options})
    total = np.zeros(terms.tree.size, np.int64)
    for cell, units in finest.items():
        total[cell] = units
    servers = [ShareSums(terms, total.astype(np.uint64)), ShareSums(terms, np.zeros(len(total), np.uint64))]

    def hear(step: Step) -> list[Words]:
        answers = [server.answer(step.asked) for server in servers]
        if lie is not None:
            answers[0] = lie(step, answers[0])
        return answers

    return follow(terms, ContributionSet(people, bytes(32)), hear)


CROWD = {0: 25 * 15, 1023: 25 * 15}


def test_honest_collections_are_not_refused() -> None:
    """Far from the edge, at it (everybody in one cell) and beyond it by nobody's fault (nobody inside)."""
    for finest in (CROWD, {7: 50 * 15}, {}):
        for _ in range(60):
            assert len(collect(finest).measured.counts)


@pytest.mark.parametrize(
    ("finest", "why"),
    [({0: 10**6}, "a place holds more people than took part"), ({**CROWD, 5: -(10**5)}, "a place holds more"),
     ({0: 10**6, 1023: -(10**6)}, "a place holds"), ({0: 2**63, 1023: 2**63 + 700}, "a place holds")],
)  # fmt: skip
def test_devices_that_add_or_take_away_crowds_are_refused(finest: dict[int, int], why: str) -> None:
    wrapped = {cell: (units + 2**63) % 2**64 - 2**63 for cell, units in finest.items()}
    with pytest.raises(SpoiltError, match=f"The published sums can't be: {why}"):
        collect(wrapped)


@pytest.mark.parametrize("people", [45, -45])
def test_a_crowd_spread_out_is_refused_by_the_sum(people: int) -> None:
    """Each cell holds fewer people than took part, but all of them together hold far more."""
    terms = server_terms(5, epsilon=20, n_max=100)
    asked = Question(2, terms.domain.codes(2), SHARES // 4, SHARES // 4)
    counts = np.full(16, people * terms.units) // (1 if people > 0 else 10)
    with pytest.raises(SpoiltError, match="there are more people in all places than took part"):
        PossibleSums(terms, 50).check(asked, counts)
    PossibleSums(terms, 50).check(asked, counts // 16)


def test_a_server_that_moves_people_at_one_level_is_refused() -> None:
    """It adds to the count of everybody, which the level below does not bear out."""

    def lie(step: Step, words: Words) -> Words:
        return words + np.uint64(0 if step.asked.level else 90 * 60)

    with pytest.raises(SpoiltError, match="a place does not hold what its parts hold"):
        collect({0: 15}, lie, people=100, epsilon=60, units=60)


def overweight(stage: Cast, number: int, people: int) -> list[bytes]:
    """The contribution of a device that sends so many people."""
    terms = stage.collection.served
    values = np.zeros(terms.tree.size, np.int64)
    values[0] = people * terms.units
    ticket, nonce = ticket_bytes(stage.tickets[number]), bytes(NONCE)
    info = contribution_info(stage.collection, ticket, nonce)
    shares = split_by_seeds(values, terms.servers)
    return [
        ticket + nonce + party.key.seal(share, info)
        for party, share in zip(stage.collection.parties, shares, strict=True)
    ]


def test_a_device_that_sends_a_crowd_ends_the_collection(tmp_path: Path) -> None:
    stage = cast(tmp_path, "servers", depth=4, epsilon=64)
    stage.crowd(4)
    stage.client(4).send(overweight(stage, 4, 10_000), stage.network)
    stage.end()
    with pytest.raises(PrivacyRefusal, match="The published sums can't be"):
        stage.result()
    for number in (0, 1):
        assert stage.role(number).state.fact("sums") is None
        answered = stage.role(number).state.rows("SELECT max(number) FROM answers WHERE server = ?", number)
        assert answered == [(1,)], "nothing is asked any more"
