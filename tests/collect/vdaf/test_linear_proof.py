"""Proofs in fields so small that all random choices can be tried: how often lies pass, and what verifiers see."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpheatmap.collect.vdaf.l1_bound import L1BoundSum
from dpheatmap.collect.vdaf.linear_proof import Proofs, RootDrawn
from dpheatmap.collect.vdaf.prime_field import FIELD128, PrimeField
from dpheatmap.collect.vdaf.residues import Residues
from dpheatmap.collect.vdaf.soundness import error_of_attempt
from helpers.small_fields import FIELD5, FIELD13, FIELD17


def every(field: PrimeField, size: int) -> Iterator[Residues]:
    """All lists of so many elements."""
    return (field.of(values) for values in product(range(field.modulus), repeat=size))


def decoded(circuit: L1BoundSum, encoded: Residues) -> list[int] | None:
    """The vector that bits stand for, in integers; None if they are no bits, or their sum is not the claimed one."""
    bits = circuit.field.integers(encoded)
    if not set(bits) <= {0, 1}:
        return None
    width = len(circuit.weights)
    rows = [bits[at : at + width] for at in range(0, len(bits), width)]
    *entries, claimed = (sum(w * b for w, b in zip(circuit.weights.tolist(), row, strict=True)) for row in rows)
    return entries if sum(entries) == claimed else None


def outputs(circuit: L1BoundSum, encoded: Residues, joint: Residues) -> Residues:
    answers = circuit.gadget.answers(circuit.field, circuit.wires(encoded, joint, 1))
    return circuit.outputs(encoded, answers, 1)


@pytest.mark.parametrize(
    "circuit",
    [
        L1BoundSum(FIELD5, 2, 1, 2),
        L1BoundSum(FIELD5, 1, 3, 2),
        L1BoundSum(FIELD5, 1, 2, 4),
        pytest.param(L1BoundSum(FIELD5, 2, 2, 6), marks=pytest.mark.long),
        pytest.param(L1BoundSum(FIELD13, 2, 1, 3), marks=pytest.mark.long),
    ],
    ids=lambda circuit: f"{circuit.length} {circuit.bound} {circuit.chunk}",
)
def test_every_vector_that_breaks_the_bound_is_seen(circuit: L1BoundSum) -> None:
    """All lists of elements whatever. Those that are valid pass with all random elements, and have a norm of at most
    the bound; all others pass with at most the stated part of them."""
    norms = set()
    joints = list(every(circuit.field, circuit.joint_length))
    for encoded in every(circuit.field, circuit.encoded_length):
        passes = sum(not outputs(circuit, encoded, joint).any() for joint in joints)
        vector = decoded(circuit, encoded)
        if vector is None:
            assert Fraction(passes, len(joints)) <= Fraction(circuit.chunk, circuit.field.modulus)
        else:
            assert passes == len(joints)
            norms.add(sum(vector))
    assert norms == set(range(circuit.bound + 1))


def passes(proofs: Proofs, encoded: Residues, proof: Residues, joint: Residues) -> Fraction:
    """The part of all factors and points with which a proof passes; at a root of unity nothing does.

    The factors make a combination of two outputs: all p^2 pairs make 0 of two zeros, and p of them of anything else.
    """
    field, p = proofs.field, proofs.field.modulus
    found = 0
    for t in range(p):
        if pow(t, proofs.points, p) == 1:
            continue
        first, second = (
            proofs.query(encoded, proof, field.of([*factors, t]), joint, 1) for factors in ((1, 0), (0, 1))
        )
        zeros = p * p if not first[0].any() and not second[0].any() else p
        first[0] = 0
        found += zeros * proofs.decide(first)
    return Fraction(found, p**3)


def best_lie(proofs: Proofs, encoded: Residues, joint: Residues, roots: tuple[int, int]) -> Residues:
    """The proof of a false input whose answer is patched to 0, and whose g is right at as many points as can be.

    With one call the polynomials are of degree 2. g is shifted by ``c (x - t1) (x - t2)``, with c such that the answer,
    at the second root of unity -1, becomes 0.
    """
    field, p = proofs.field, proofs.field.modulus
    honest = proofs.prove(encoded, field.of(range(1, proofs.arity + 1)), joint)
    (answer,) = field.integers(honest[proofs.arity + 2 : proofs.arity + 3])
    shape = [(pow(field.root(4), k, p) - roots[0]) * (pow(field.root(4), k, p) - roots[1]) % p for k in range(3)]
    c = -answer * pow(shape[2], -1, p)
    honest[proofs.arity :] = field.add(honest[proofs.arity :], field.of(c * value for value in shape))
    return honest


@pytest.mark.parametrize("false", [[2, 0, 1], [1, 1, 1], [0, 0, 12], [12, 1, 0], [7, 7, 1], [0, 1, 0]])
def test_lies_pass_as_often_as_stated_and_no_more(false: list[int]) -> None:
    """Bits of 2, a norm of 2 for a bound of 1, a negative entry, halves that add up to 1, and a wrong claim."""
    circuit = L1BoundSum(FIELD13, 2, 1, 3)
    proofs, encoded = Proofs(circuit), FIELD13.of(false)
    assert decoded(circuit, encoded) is None
    seeds, rng = FIELD13.of(range(6)), np.random.default_rng()
    stated, most = error_of_attempt(circuit), Fraction(0)
    for r in range(1, 13):
        joint = FIELD13.of([r])
        if not outputs(circuit, encoded, joint).any():
            continue
        lies = [best_lie(proofs, encoded, joint, (2, 3)), proofs.prove(encoded, seeds, joint)]
        lies.append(proofs.prove(FIELD13.of([0, 1, 1]), seeds, joint))
        lies += [FIELD13.of_array(rng.integers(0, 13, proofs.length)) for _ in range(2)]
        most = max(most, *(passes(proofs, encoded, lie, joint) for lie in lies))
    assert most <= stated
    if outputs(circuit, encoded, FIELD13.of([1]))[1].any():
        assert most > 0
    else:  # only bits are wrong: the patched answer passes at its two points, whatever the factors
        assert most >= Fraction(2, 13)


def test_factors_hide_an_output_as_often_as_counted() -> None:
    """What `passes` counts, tried one by one."""
    circuit = L1BoundSum(FIELD5, 2, 1, 3)
    proofs, joint, encoded = Proofs(circuit), FIELD5.of([2]), FIELD5.of([1, 1, 1])
    proof = proofs.prove(encoded, FIELD5.of(range(6)), joint)
    tried = sum(
        proofs.decide(proofs.query(encoded, proof, FIELD5.of([*factors, t]), joint, 1))
        for factors in product(range(5), repeat=2)
        for t in (0, 2, 3)
    )
    assert Fraction(tried, 125) == passes(proofs, encoded, proof, joint) == Fraction(15, 125)


def test_the_stated_error_is_the_sum_of_its_parts() -> None:
    circuit = L1BoundSum(FIELD17, 3, 1, 2)
    assert error_of_attempt(circuit) == Fraction(2 + 6 + 1, 17)
    assert error_of_attempt(circuit, 3) == Fraction(9, 17) ** 3


def seen_of(vector: list[int], ask: Callable[[Proofs, Residues, Residues], list[Residues]]) -> Counter[tuple[int, ...]]:
    """What verifiers are told about a vector, over all seeds of its proof; it was made for the random element 3."""
    circuit = L1BoundSum(FIELD5, 1, 1, 2)
    proofs, encoded = Proofs(circuit), circuit.encode(np.array(vector))
    proved = (proofs.prove(encoded, seeds, FIELD5.of([3])) for seeds in every(FIELD5, proofs.arity))
    return Counter(tuple(FIELD5.integers(np.concatenate(ask(proofs, encoded, proof)))) for proof in proved)


def test_verifiers_see_the_same_of_every_valid_input() -> None:
    """Over all seeds, exactly: what is told at a point has one distribution. At a root of unity it would not."""

    def ask_once(proofs: Proofs, encoded: Residues, proof: Residues) -> list[Residues]:
        return [proofs.query(encoded, proof, FIELD5.of([2, 1, 3]), FIELD5.of([3]), 1)]

    seen = seen_of([0], ask_once)
    assert seen == seen_of([1], ask_once)
    assert set(seen.values()) == {1}, "the answers depend on the seeds alone"
    proofs = Proofs(L1BoundSum(FIELD5, 1, 1, 2))
    for root in (1, 4):
        with pytest.raises(RootDrawn):
            proofs.query(FIELD5.zeros(2), FIELD5.zeros(proofs.length), FIELD5.of([2, 1, root]), FIELD5.of([3]), 1)


def draw(size: int) -> Residues:
    return FIELD128.accept(os.urandom(16 * size))


def test_two_answers_about_one_contribution_would_give_it_away() -> None:
    """Servers answer once: the seeds hide what is at one point, not at two."""

    def ask_twice(proofs: Proofs, encoded: Residues, proof: Residues) -> list[Residues]:
        points = (FIELD5.of([2, 1, t]) for t in (2, 3))
        return [proofs.query(encoded, proof, query, FIELD5.of([3]), 1) for query in points]

    assert not seen_of([0], ask_twice).keys() & seen_of([1], ask_twice).keys()


def test_an_answer_with_other_random_elements_would_give_it_away() -> None:
    """Servers take the public share from the device: with another one they answer about what was not proved."""

    def ask_for_another(proofs: Proofs, encoded: Residues, proof: Residues) -> list[Residues]:
        return [proofs.query(encoded, proof, FIELD5.of([2, 1, 3]), FIELD5.of([4]), 1)]

    assert seen_of([0], ask_for_another) != seen_of([1], ask_for_another)


@pytest.mark.parametrize("shares", [1, 2, 3, 5])
def test_what_holders_tell_adds_up(shares: int) -> None:
    circuit = L1BoundSum(FIELD128, 3, 5, 4)
    proofs = Proofs(circuit)
    joint, query = draw(circuit.joint_length), draw(3)
    encoded = circuit.encode(np.array([0, 4, 1]))
    proof = proofs.prove(encoded, draw(proofs.arity), joint)
    whole = proofs.query(encoded, proof, query, joint, 1)
    assert proofs.decide(whole)
    total = FIELD128.zeros(len(whole))
    left_encoded, left_proof = encoded, proof
    for number in range(shares):
        last = number == shares - 1
        one, two = (left_encoded, left_proof) if last else (draw(len(encoded)), draw(len(proof)))
        left_encoded, left_proof = FIELD128.subtract(left_encoded, one), FIELD128.subtract(left_proof, two)
        total = FIELD128.add(total, proofs.query(one, two, query, joint, shares))
    assert FIELD128.integers(total) == FIELD128.integers(whole)
