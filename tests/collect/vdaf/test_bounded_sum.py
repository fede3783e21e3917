"""What a collection does with bounded sums: many devices, cells of all levels, noise of each server."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpheatmap.collect.vdaf.bounded_sum import BoundedSum
from dpheatmap.collect.vdaf.l1_bound import best_chunk
from dpheatmap.collect.vdaf.linear_proof import proof_length
from dpheatmap.collect.vdaf.prime_field import FIELD128
from dpheatmap.collect.vdaf.residues import Residues
from dpheatmap.errors import DataError, ParameterError
from helpers.audit import chi_square
from helpers.collecting import ALPHA


def contribute(sums: BoundedSum, vector: list[int]) -> list[Residues]:
    """One device's contribution, verified: each server's share."""
    nonce, key = os.urandom(16), os.urandom(32)
    public, shares = sums.shard(np.array(vector), nonce, os.urandom(sums.rand_size))
    begun = [sums.verify_init(key, server, nonce, public, share) for server, share in enumerate(shares)]
    message = sums.verifier_shares_to_message([told for _, told in begun])
    return [sums.verify_next(state, message) for state, _ in begun]


@settings(max_examples=20)
@given(st.data(), st.integers(2, 4), st.integers(1, 16))
def test_servers_publish_noisy_sums_of_cells_of_any_size(data: st.DataObject, servers: int, bound: int) -> None:
    sums = BoundedSum(16, bound, servers, b"context")
    cells = data.draw(st.lists(st.lists(st.integers(0, 15), max_size=bound), min_size=1, max_size=4))
    people = [np.bincount(np.array(units, dtype=np.int64), minlength=16) for units in cells]
    verified = [contribute(sums, person.tolist()) for person in people]
    starts, stops = np.array([0, 0, 4, 15]), np.array([16, 4, 8, 16])
    noises = st.lists(st.integers(-(2**60), 2**60), min_size=4, max_size=4)
    noise = np.array([data.draw(noises) for _ in range(servers)]) // servers
    published = [
        sums.noisy_sums(sums.sum_shares(shares[server] for shares in verified), starts, stops, FIELD128.of_array(drawn))
        for server, drawn in enumerate(noise)
    ]
    total = np.sum(people, axis=0)
    expected = [total[start:stop].sum() for start, stop in zip(starts, stops, strict=True)] + noise.sum(axis=0)
    assert sums.decode(published).tolist() == expected.tolist()
    with pytest.raises(DataError, match="a share is missing"):
        sums.decode([*published[1:], published[1]])


@pytest.mark.parametrize("published", [[bytes(16)], [bytes(16), bytes(32)], [bytes(16), b"\xff" * 16], [bytes(7)] * 2])
def test_what_servers_would_not_publish_is_refused(published: list[bytes]) -> None:
    with pytest.raises(DataError):
        BoundedSum(4, 4, 2, b"").decode(published)


def test_noise_may_have_more_bits_than_a_word() -> None:
    """A whole discrete Laplace is unbounded: two servers' far noises, of which only the sum is small, are exact."""
    sums = BoundedSum(1, 4, 2, b"")
    zero, where = FIELD128.zeros(1), (np.array([0]), np.array([1]))
    far = [FIELD128.of([3**60]), FIELD128.of([5 - 3**60])]
    assert sums.decode([sums.noisy_sums(zero, *where, noise) for noise in far]).tolist() == [5]


@pytest.mark.parametrize(("length", "bound", "servers"), [(1, 1, 2), (5, 4, 2), (100, 16, 3)])
def test_sizes_are_known_beforehand(length: int, bound: int, servers: int) -> None:
    sums, nonce = BoundedSum(length, bound, servers, b""), bytes(16)
    public, shares = sums.shard(np.zeros(length, dtype=np.int64), nonce, os.urandom(sums.rand_size))
    assert len(public) == sums.public_size
    assert [len(share) for share in shares] == [sums.share_size(server) for server in range(servers)]
    assert [sums.share_size(server) for server in range(1, servers)] == [64] * (servers - 1)
    assert sums.upload_size == sum(map(len, shares)) + servers * len(public)
    told = sums.verify_init(bytes(32), 1, nonce, public, shares[1])[1]
    assert len(told) == sums.verifier_size
    for wrong in ({"nonce": bytes(15)}, {"rand": bytes(31)}):
        arguments = {"nonce": nonce, "rand": bytes(sums.rand_size)} | wrong
        with pytest.raises(ValueError, match="bytes"):
            sums.shard(np.zeros(length, dtype=np.int64), **arguments)


def test_a_contribution_at_64_by_64_stays_below_a_megabyte() -> None:
    assert BoundedSum(64 * 64, 4, 2, b"").upload_size < 210_000
    assert BoundedSum(64 * 64, 16, 2, b"").upload_size < 340_000


@given(st.integers(1, 300), st.integers(1, 20))
def test_no_chunk_makes_a_shorter_proof(length: int, bound: int) -> None:
    elements = (length + 1) * bound.bit_length()
    lengths = {chunk: proof_length(2 * chunk, -(-elements // chunk)) for chunk in range(1, elements + 1)}
    assert lengths[best_chunk(length, bound)] == min(lengths.values())


@pytest.mark.parametrize(("length", "bound"), [(0, 4), (4, 0), (-1, 4), (2**100, 2**30)])
def test_parameters_that_bound_nothing_are_refused(length: int, bound: int) -> None:
    with pytest.raises(ParameterError, match="below the field's modulus"):
        BoundedSum(length, bound, 2, b"")


def test_one_vector_has_new_shares_each_time() -> None:
    """What the leader gets is uniform: of 32,768 shares of zeros and ones, by their highest byte and their lowest."""
    sums = BoundedSum(8191, 15, 2, b"")
    vector = np.zeros(8191, dtype=np.int64)
    vector[0] = 15
    _, shares = sums.shard(vector, os.urandom(16), os.urandom(sums.rand_size))
    for byte in (0, 14):
        found = np.frombuffer(shares[0], dtype=np.uint8)[byte : 32768 * 16 : 16]
        assert chi_square(np.bincount(found, minlength=256), [1 / 256] * 256) > ALPHA
    _, again = sums.shard(vector, os.urandom(16), os.urandom(sums.rand_size))
    assert shares[0][:16] != again[0][:16]
    assert FIELD128.modulus >> 120 == 255, "so that the highest byte is uniform, too"
