"""Devices that lie in the whole protocol, in the field that is used; and bugs that would let them through."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpheatmap.collect.vdaf.bounded_sum import BoundedSum
from dpheatmap.collect.vdaf.circuit import wires_of_bits
from dpheatmap.collect.vdaf.l1_bound import L1BoundSum, bits_of
from dpheatmap.collect.vdaf.linear_proof import BadProof, Proofs
from dpheatmap.collect.vdaf.prime_field import FIELD128
from dpheatmap.collect.vdaf.prio3 import Prio3
from dpheatmap.collect.vdaf.residues import Residues
from dpheatmap.errors import ParameterError

P = FIELD128.modulus
LENGTH, BOUND = 6, 5
HALF = (P + 1) // 2


def sums() -> BoundedSum:
    return BoundedSum(LENGTH, BOUND, 2, b"context")


def verify(made: Prio3, public: bytes, shares: list[bytes], nonce: bytes) -> Residues:
    """What all servers together would add to their sums."""
    key = os.urandom(32)
    begun = [made.verify_init(key, server, nonce, public, share) for server, share in enumerate(shares)]
    message = made.verifier_shares_to_message([told for _, told in begun])
    return made.sum_shares([made.verify_next(state, message) for state, _ in begun])


def send(made: Prio3, encoded: Residues) -> Residues:
    """Send any encoded input, with the proof that an honest device would make of it."""
    nonce = os.urandom(16)
    return verify(made, *made.shard_elements(encoded, nonce, os.urandom(made.rand_size)), nonce)


def encode(entries: list[int], claimed: int) -> Residues:
    """Bits of entries and of a claim, which may contradict each other; the bound's weights are 1, 2 and 2."""
    weights = L1BoundSum(FIELD128, LENGTH, BOUND, 1).weights
    assert weights.tolist() == [1, 2, 2]
    return FIELD128.of_array(bits_of(np.array([*entries, claimed]), weights).ravel())


def with_bits(places: dict[int, int]) -> Residues:
    """All bits 0 but these."""
    return FIELD128.of(places.get(place, 0) for place in range(3 * (LENGTH + 1)))


CLAIM = 3 * LENGTH
LIES: dict[str, Residues] = {
    "one unit too many, claimed to be none": encode([5, 1, 0, 0, 0, 0], 0),
    "one unit too many, claimed to be all there may be": encode([5, 1, 0, 0, 0, 0], 5),
    "five times the bound": encode([5, 5, 5, 5, 5, 0], 5),
    "less than claimed": encode([1, 1, 0, 0, 0, 0], 5),
    "more than claimed": encode([2, 2, 0, 0, 0, 0], 3),
    "a bit of 2": with_bits({0: 2, CLAIM + 1: 1}),
    "a bit of a million": with_bits({0: 10**6, CLAIM: 10**6}),
    "a negative bit": with_bits({0: P - 1, 1: 1, CLAIM: 1}),
    "a negative entry that pays for another": with_bits({0: P - 100, 3: 101, CLAIM: 1}),
    "halves": with_bits({0: HALF, 3: HALF, CLAIM: 1}),
    "entries that add up to p": with_bits({0: P - 5, 3: 5}),
    "a claim that wraps around": with_bits({0: 1, 3: 1, CLAIM: P - 2, CLAIM + 1: 2}),
    "a claim that is no bits": with_bits({0: 1, CLAIM: P - 1, CLAIM + 1: 1}),
    "a heavy vector with a heavy claim": with_bits({0: 1, 1: 1, 2: 1, 4: 1, CLAIM: 3, CLAIM + 1: 1, CLAIM + 2: 1}),
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_about_the_input_are_refused(lie: str) -> None:
    with pytest.raises(BadProof):
        send(sums(), LIES[lie])


@given(st.lists(st.integers(0, BOUND), min_size=LENGTH, max_size=LENGTH), st.integers(0, BOUND))
def test_a_claim_passes_if_it_is_the_true_sum(entries: list[int], claimed: int) -> None:
    if sum(entries) == claimed:
        assert FIELD128.signed_integers(send(sums(), encode(entries, claimed))).tolist() == entries
    else:
        with pytest.raises(BadProof):
            send(sums(), encode(entries, claimed))


@given(st.dictionaries(st.integers(0, 3 * LENGTH + 2), st.integers(2, P - 1), min_size=1, max_size=4))
def test_no_elements_but_bits_pass(places: dict[int, int]) -> None:
    with pytest.raises(BadProof):
        send(sums(), with_bits(places))


def test_an_honest_device_sends_no_lie() -> None:
    made = sums()
    for vector in ([3, 3, 0, 0, 0, 0], [6, 0, 0, 0, 0, 0], [-1, 1, 0, 0, 0, 0], [1, 1], [2**62, 2**62, 0, 0, 0, 0]):
        with pytest.raises(ParameterError, match="a sum of at most 5"):
            made.shard(np.array(vector), bytes(16), os.urandom(made.rand_size))


def forge(encoded: Residues, make: Callable[[Proofs, Residues, Residues], Residues]) -> Residues:
    """Send a false input with a proof of one's own making, given the circuit's random elements."""
    made = sums()

    class Forger(Proofs):
        def prove(self, encoded: Residues, seeds: Residues, joint: Residues) -> Residues:
            return make(self, seeds, joint)

    honest, made.proofs = made.proofs, Forger(made.circuit)
    nonce = os.urandom(16)
    public, shares = made.shard_elements(encoded, nonce, os.urandom(made.rand_size))
    made.proofs = honest
    return verify(made, public, shares, nonce)


def random_proof(proofs: Proofs, seeds: Residues, joint: Residues) -> Residues:
    return FIELD128.accept(os.urandom(16 * proofs.length))


def no_proof(proofs: Proofs, seeds: Residues, joint: Residues) -> Residues:
    return FIELD128.zeros(proofs.length)


def anothers_proof(proofs: Proofs, seeds: Residues, joint: Residues) -> Residues:
    return Proofs(proofs.circuit).prove(encode([1, 0, 0, 0, 0, 0], 1), seeds, joint)


def patched_answers(proofs: Proofs, seeds: Residues, joint: Residues) -> Residues:
    """The honest polynomial of a false input, but for one answer: with it the outputs are 0."""
    proof = Proofs(proofs.circuit).prove(LIES["a bit of 2"], seeds, joint)
    answers = slice(proofs.arity + 2, proofs.arity + 2 * proofs.circuit.calls + 1, 2)
    first = slice(proofs.arity + 2, proofs.arity + 3)
    proof[first] = FIELD128.subtract(proof[first], FIELD128.sum(proof[answers]))
    return proof


def shifted_polynomial(proofs: Proofs, seeds: Residues, joint: Residues) -> Residues:
    """The same with the whole polynomial shifted by a constant, so that its degree is what it should be."""
    proof = Proofs(proofs.circuit).prove(LIES["a bit of 2"], seeds, joint)
    answers = slice(proofs.arity + 2, proofs.arity + 2 * proofs.circuit.calls + 1, 2)
    part = FIELD128.multiply(FIELD128.sum(proof[answers]), FIELD128.of([pow(proofs.circuit.calls, -1, P)]))
    proof[proofs.arity :] = FIELD128.subtract(proof[proofs.arity :], part)
    return proof


@pytest.mark.parametrize("make", [random_proof, no_proof, anothers_proof, patched_answers, shifted_polynomial])
@pytest.mark.parametrize("lie", ["a bit of 2", "five times the bound", "a negative entry that pays for another"])
def test_false_proofs_are_refused(lie: str, make: Callable[[Proofs, Residues, Residues], Residues]) -> None:
    with pytest.raises(BadProof):
        forge(LIES[lie], make)


def test_the_forgers_proofs_would_deceive_whoever_trusts_the_answers() -> None:
    """Both patched proofs make the outputs 0: only the test at a random point sees them."""
    circuit = sums().circuit
    proofs, rng = Proofs(circuit), np.random.default_rng()
    joint, seeds = FIELD128.accept(rng.bytes(16 * circuit.joint_length)), FIELD128.zeros(proofs.arity)
    for make in (patched_answers, shifted_polynomial):
        proof = make(proofs, seeds, joint)
        told = proofs.query(LIES["a bit of 2"], proof, FIELD128.of([5, 7, 11]), joint, 1)
        assert not told[0].any()
        assert not proofs.decide(told)


@settings(max_examples=40)
@given(st.data())
def test_no_byte_of_a_contribution_can_be_changed(data: st.DataObject) -> None:
    made, nonce = sums(), os.urandom(16)
    public, shares = made.shard(np.array([0, 2, 0, 0, 3, 0]), nonce, os.urandom(made.rand_size))
    parts = [bytearray(part) for part in (public, *shares, nonce)]
    part = data.draw(st.sampled_from(parts))
    part[data.draw(st.integers(0, len(part) - 1))] ^= data.draw(st.integers(1, 255))
    changed = [bytes(one) for one in parts]
    with pytest.raises(BadProof):
        verify(made, changed[0], changed[1:3], nonce if part is not parts[3] else changed[3])


def test_another_context_or_key_is_refused() -> None:
    made, nonce, key = sums(), os.urandom(16), os.urandom(32)
    public, shares = made.shard(np.array([0, 2, 0, 0, 3, 0]), nonce, os.urandom(made.rand_size))
    with pytest.raises(BadProof):
        verify(BoundedSum(LENGTH, BOUND, 2, b"another"), public, shares, nonce)
    begun = [made.verify_init(one, i, nonce, public, shares[i]) for i, one in enumerate((key, os.urandom(32)))]
    with pytest.raises(BadProof):
        made.verifier_shares_to_message([told for _, told in begun])


def test_only_the_context_binds_the_bound() -> None:
    """A bound of 4 has as many bits as 5: what is sent for one may pass for the other, unless their contexts differ."""
    made, nonce = sums(), os.urandom(16)
    public, shares = made.shard(np.array([0, 1, 0, 0, 0, 0]), nonce, os.urandom(made.rand_size))
    verify(BoundedSum(LENGTH, 4, 2, b"context"), public, shares, nonce)
    with pytest.raises(BadProof):
        verify(BoundedSum(LENGTH, 4, 2, b"context of 4"), public, shares, nonce)


@pytest.mark.parametrize("cut", [-1, 0, 1])
def test_messages_of_another_size_are_refused(cut: int) -> None:
    made, nonce, key = sums(), os.urandom(16), os.urandom(32)
    public, shares = made.shard(np.array([0, 2, 0, 0, 3, 0]), nonce, os.urandom(made.rand_size))
    for server in range(2):
        wrong = (shares[server] + b"\0")[: len(shares[server]) + cut]
        if cut:
            with pytest.raises(BadProof):
                made.verify_init(key, server, nonce, public, wrong)
        with pytest.raises(BadProof):
            made.verify_init(key, server, nonce, public[:-1], shares[server])
    told = [made.verify_init(key, i, nonce, public, share)[1] for i, share in enumerate(shares)]
    nothing = bytes(made.verifier_size)  # adds 0, and of no answers at all every check holds
    for wrong_told in ([], [told[0]], [told[0], told[1][:-1]], [*told, told[0]], [*told, nothing]):
        with pytest.raises(BadProof):
            made.verifier_shares_to_message(wrong_told)


@given(st.data())
def test_garbage_is_refused_and_nothing_else_happens(data: st.DataObject) -> None:
    made = sums()
    sizes = [16, made.public_size, made.share_size(0), made.share_size(1)]
    nonce, public, *shares = (data.draw(st.binary(min_size=size, max_size=size)) for size in sizes)
    with pytest.raises(BadProof):
        verify(made, public, shares, nonce)


def test_an_element_has_one_encoding_only() -> None:
    """p encodes nothing, and not 0: shares are refused at once, and so is what a server tells."""
    made, nonce, key = sums(), os.urandom(16), os.urandom(32)
    public, shares = made.shard(np.zeros(LENGTH, dtype=np.int64), nonce, os.urandom(made.rand_size))
    modulus = P.to_bytes(16, "little")
    with pytest.raises(BadProof):
        made.verify_init(key, 0, nonce, public, modulus + shares[0][16:])
    told = made.verify_init(key, 1, nonce, public, shares[1])[1]
    valid = made.verify_init(key, 0, nonce, public, shares[0])[1]
    with pytest.raises(BadProof):
        made.verifier_shares_to_message([valid, modulus + told[16:]])


def test_keys_and_nonces_have_their_sizes() -> None:
    made = sums()
    public, shares = made.shard(np.zeros(LENGTH, dtype=np.int64), bytes(16), os.urandom(made.rand_size))
    with pytest.raises(BadProof):
        made.verify_init(bytes(32), 0, bytes(17), public, shares[0])
    with pytest.raises(ValueError, match="32 bytes"):
        made.verify_init(bytes(16), 0, bytes(16), public, shares[0])


class NoClaim(L1BoundSum):
    """PLANTED: the entries' sum is not compared with the claim."""

    def outputs(self, encoded: Residues, answers: Residues, shares: int) -> Residues:
        return np.concatenate([self.field.sum(answers), self.field.zeros(1)])


class ClaimUnchecked(L1BoundSum):
    """PLANTED: the claim need not be bits."""

    def wires(self, encoded: Residues, joint: Residues, shares: int) -> Residues:
        entries = encoded.copy()
        entries[-3:] = 0
        return super().wires(entries, joint, shares)


class OneFactor(L1BoundSum):
    """PLANTED: all bits of a call have one random factor, so that faults cancel each other."""

    def wires(self, encoded: Residues, joint: Residues, shares: int) -> Residues:
        return wires_of_bits(self.field, encoded, self.field.of([1] * len(joint)), self.chunk, shares)


class PowersOfTwo(L1BoundSum):
    """PLANTED: the last bit counts a power of two, so that entries and the claim exceed the bound."""

    def __init__(self, *parameters: Any) -> None:
        super().__init__(*parameters)
        self.weights = np.array([1, 2, 4])


def planted(circuit: L1BoundSum) -> Prio3:
    return Prio3(circuit, 2, 7, b"context")


@pytest.mark.parametrize(
    ("circuit", "lie"),
    [
        (NoClaim(FIELD128, LENGTH, BOUND, 7), encode([5, 5, 5, 5, 5, 0], 5)),
        (ClaimUnchecked(FIELD128, LENGTH, BOUND, 7), with_bits({0: 1, 1: 1, 2: 1, 3: 1, CLAIM: 6})),
        (PowersOfTwo(FIELD128, LENGTH, BOUND, 7), with_bits({0: 1, 1: 1, 2: 1, CLAIM: 1, CLAIM + 1: 1, CLAIM + 2: 1})),
    ],
    ids=["no claim", "claim unchecked", "powers of two"],
)
def test_each_planted_bug_lets_a_heavy_vector_through(circuit: L1BoundSum, lie: Residues) -> None:
    assert FIELD128.signed_integers(send(planted(circuit), lie)).sum() > BOUND
    right = L1BoundSum(FIELD128, LENGTH, BOUND, circuit.chunk)
    with suppress(BadProof):  # or the same bits count less
        assert FIELD128.signed_integers(send(planted(right), lie)).sum() <= BOUND


def faults_that_cancel(ratio: int) -> Residues:
    """Elements x and y with ``x (x - 1) + ratio y (y - 1) = 0`` and ``x + 2 y = 2``, which is claimed.

    With y = k x the first is ``x = (1 + ratio k) / (1 + ratio k^2)``, and then the second ``k = 1 / (2 + ratio)``.
    """
    k = pow(2 + ratio, -1, P)
    x = (1 + ratio * k) * pow(1 + ratio * k * k, -1, P) % P
    return with_bits({0: x, 4: k * x % P, CLAIM + 1: 1})


def test_without_random_factors_faults_would_cancel_each_other() -> None:
    lie = faults_that_cancel(1)
    send(planted(OneFactor(FIELD128, LENGTH, BOUND, 7)), lie)
    with pytest.raises(BadProof):
        send(planted(L1BoundSum(FIELD128, LENGTH, BOUND, 7)), lie)


class PartsUnchecked(Prio3):
    """PLANTED: servers take the device's parts of the joint randomness as they are."""

    def _joint_part(self, server: int, blind: bytes, share: Residues, nonce: bytes) -> bytes:
        return bytes([server]) * 32


def test_a_device_that_chose_the_random_factors_would_cancel_its_faults() -> None:
    """Parts that don't depend on the input tell the factors before it is chosen."""
    circuit, nonce = L1BoundSum(FIELD128, LENGTH, BOUND, 7), os.urandom(16)
    device = PartsUnchecked(circuit, 2, 7, b"context")
    factors = FIELD128.integers(device._joint_elements(device._joint_seed([bytes(32), bytes([1]) * 32])))
    lie = faults_that_cancel(pow(factors[0], 4, P))
    public, shares = device.shard_elements(lie, nonce, os.urandom(device.rand_size))
    verify(device, public, shares, nonce)
    with pytest.raises(BadProof):
        verify(planted(circuit), public, shares, nonce)


def test_what_servers_came_to_is_compared() -> None:
    """Parts that are not those of the shares make the servers' random elements differ: the last step sees it."""
    made, nonce, key = sums(), os.urandom(16), os.urandom(32)
    public, shares = made.shard(np.array([0, 2, 0, 0, 3, 0]), nonce, os.urandom(made.rand_size))
    begun = [made.verify_init(key, i, nonce, public, share) for i, share in enumerate(shares)]
    message = made.verifier_shares_to_message([told for _, told in begun])
    for state, _ in begun:
        with pytest.raises(BadProof):
            made.verify_next(state._replace(joint_seed=bytes(32)), message)
        with pytest.raises(BadProof):
            made.verify_next(state, message[:-1])
