"""The number of shares: the recursion against the exact formula, and the bound against the truth by brute force."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import pytest

from dpheatmap.collect.shuffle_bound import (
    MOST_PEOPLE,
    ROUNDING,
    certified_delta,
    distance,
    least_shares,
    paper_shares,
)


def exact_moment(n: int, k: int, q: int) -> Fraction:
    """E[Q^(C-1)] from the coefficients of G(x)^Q, by the recurrence for powers of a series."""
    g = [Fraction(math.factorial(j * k), math.factorial(j)) for j in range(n + 1)]
    power = [Fraction(1)]
    for i in range(1, n + 1):
        power.append(sum(((j * q - (i - j)) * g[j] * power[i - j] for j in range(1, i + 1)), Fraction(0)) / i)
    return power[n] * math.factorial(n) / math.factorial(n * k) / q


@pytest.mark.parametrize(("n", "k", "bits"), [(2, 1, 1), (3, 2, 4), (5, 1, 3), (7, 3, 10), (20, 6, 17), (50, 15, 17)])
def test_the_recursion_gives_the_exact_moment(n: int, k: int, bits: int) -> None:
    exact = 0.5 * math.sqrt(exact_moment(n, k, 2**bits) - 1)
    assert exact <= distance(n, k, bits) <= exact * ROUNDING * 1.0001


def components(n: int, k: int) -> Counter[int]:
    """How many of all matchings of out-slots with in-slots have how many components."""
    found: Counter[int] = Counter()
    for matching in permutations(range(n * k)):
        group = list(range(n))
        for out, into in enumerate(matching):
            a, b = group[out // k], group[into // k]
            group = [a if g == b else g for g in group]
        found[len(set(group))] += 1
    return found


@pytest.mark.parametrize(("n", "k"), [(2, 2), (3, 2), (2, 3)])
def test_the_formula_counts_components(n: int, k: int) -> None:
    found = components(n, k)
    for q in (2, 3, 10):
        mean = sum(Fraction(number * q ** (c - 1)) for c, number in found.items()) / math.factorial(n * k)
        assert mean == exact_moment(n, k, q)


def test_the_bound_holds_for_the_true_total_variation() -> None:
    """Three people, two shuffled shares each beside the one that is labelled, modulo 3: all rows and all dealings."""
    n, k, q = 3, 2, 3
    dealings = {tuple(frozenset(order[k * i : k * i + k]) for i in range(n)) for order in permutations(range(n * k))}
    seen: dict[tuple[int, ...], Counter[tuple[int, ...]]] = {y: Counter() for y in product(range(q), repeat=n)}
    for row in product(range(q), repeat=n * k):
        for dealing in dealings:
            seen[tuple(sum(row[j] for j in group) % q for group in dealing)][row] += 1
    truth = 0.0
    for y, rows in seen.items():
        law = {row: number / len(dealings) / q ** (n * k - n) for row, number in rows.items()}
        even = 1 / q ** (n * k - 1)
        same_sum = [row for row in product(range(q), repeat=n * k) if sum(row) % q == sum(y) % q]
        truth += 0.5 * sum(abs(law.get(row, 0.0) - even) for row in same_sum) / q**n
    bound = 0.5 * math.sqrt(exact_moment(n, k, q) - 1)
    assert (round(truth, 3), round(bound, 3)) == (0.219, 0.325)


def test_the_papers_setting() -> None:
    assert least_shares(50, 17, 102_409, 5.0, 1e-5) == 16
    assert certified_delta(50, 15, 17, 102_409, 5.0) > 1e-5
    assert paper_shares(50, 256 * 50, 102_409, 5.0, 1e-5) == 18


def test_more_people_need_fewer_shares_and_too_few_get_none() -> None:
    needed = [least_shares(n, 20, 10_000, 1.0, 1e-6) for n in (10, 100, 1000, 10**6)]
    assert needed == sorted(needed, reverse=True, key=lambda r: r or 0)
    assert distance(10**6, 5, 20) == distance(MOST_PEOPLE, 5, 20)
    assert least_shares(2, 60, 10**6, 10.0, 1e-30) is None
    assert math.isinf(distance(400, 1, 40))
