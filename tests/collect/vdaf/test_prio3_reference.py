"""Every byte of Prio3L1BoundSum is what a second implementation, in plain integers, makes."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpheatmap.collect.vdaf.l1_bound import L1BoundSum
from dpheatmap.collect.vdaf.prime_field import FIELD128
from dpheatmap.collect.vdaf.prio3 import Prio3
from helpers.vdaf_reference import Reference

CONTEXT = b"a collection"


def both(length: int, bound: int, chunk: int, servers: int) -> tuple[Prio3, Reference]:
    circuit = L1BoundSum(FIELD128, length, bound, chunk)
    return Prio3(circuit, servers, 7, CONTEXT), Reference(length, bound, chunk, servers, CONTEXT)


@settings(max_examples=8)
@given(st.data())
def test_both_make_the_same_bytes(data: st.DataObject) -> None:
    length, bound = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 9))
    chunk, servers = data.draw(st.integers(1, (length + 1) * bound.bit_length())), data.draw(st.integers(2, 4))
    prio3, reference = both(length, bound, chunk, servers)
    vector = [0] * length
    for _ in range(data.draw(st.integers(0, bound))):
        vector[data.draw(st.integers(0, length - 1))] += 1
    nonce, key, rand = os.urandom(16), os.urandom(32), os.urandom(prio3.rand_size)
    public, shares = prio3.shard(np.array(vector), nonce, rand)
    assert (public, shares) == reference.shard(vector, nonce, rand)
    begun = [prio3.verify_init(key, server, nonce, public, share) for server, share in enumerate(shares)]
    theirs = [reference.verify_init(key, server, nonce, public, share) for server, share in enumerate(shares)]
    assert [told for _, told in begun] == [told for _, told in theirs]
    assert [FIELD128.integers(state.output) for state, _ in begun] == [output for output, _ in theirs]
    message = prio3.verifier_shares_to_message([told for _, told in begun])
    outputs = [prio3.verify_next(state, message) for state, _ in begun]
    assert FIELD128.signed_integers(prio3.sum_shares(outputs)).tolist() == vector


@pytest.mark.parametrize(
    ("length", "bound", "chunk", "servers", "digest"),
    [
        (3, 4, 3, 2, "ddd9ecd7812ce641"),
        (6, 1, 2, 3, "919e9329844c2437"),
        (2, 10, 12, 2, "0b2a41a217df78aa"),
    ],
)
def test_the_bytes_stay_what_they_are(length: int, bound: int, chunk: int, servers: int, digest: str) -> None:
    """Vectors of our own, by their digest: the version on devices and that on servers may differ."""
    nonce, rand = bytes(range(16)), bytes(range(64)) * servers
    vector = [1, *[0] * (length - 1)]
    for make in both(length, bound, chunk, servers):
        given_vector = np.array(vector) if isinstance(make, Prio3) else vector
        public, shares = make.shard(given_vector, nonce, rand)  # type: ignore[arg-type]
        told = [make.verify_init(bytes(32), i, nonce, public, share)[1] for i, share in enumerate(shares)]
        assert hashlib.sha256(b"".join([public, *shares, *told])).hexdigest()[:16] == digest
