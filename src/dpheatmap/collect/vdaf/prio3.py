"""Prio3 (draft-irtf-cfrg-vdaf, section 7): shares of an input that servers verify, then sum up.

The *leader*, server 0, gets its share of the input and of the proof in full; the *helpers* get seeds that theirs are
expanded from. The circuit's random elements must not be known before the input is fixed, and need no talk: they are
derived from parts, of which each is a hash of one server's share of the input, under a blind that keeps it secret. The
parts are public, and each server replaces its own by what it computes. That all came to the same is checked in the end.

Every message is made of bytes as the draft has them. Those that can't be read are `BadProof`, as are wrong proofs.
The version in the tags is 18: drafts 18 to 20 have the same bytes.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from dpheatmap.collect.vdaf.circuit import Circuit
from dpheatmap.collect.vdaf.linear_proof import BadProof, Proofs
from dpheatmap.collect.vdaf.prime_field import BadEncoding
from dpheatmap.collect.vdaf.residues import Residues
from dpheatmap.collect.vdaf.xof import SEED, derive_seed, expand

VERSION = 18
NONCE = 16
KEY = SEED
_VDAF = 0
_INPUT_SHARE, _PROOF_SHARE, _JOINT, _PROVE, _QUERY, _JOINT_SEED, _JOINT_PART = range(1, 8)


class VerifyState(NamedTuple):
    """What a server keeps while the others verify: its share of what is summed, and its seed of joint randomness."""

    output: Residues
    joint_seed: bytes


class Prio3:
    """Prio3 for a circuit, a number of servers and an application's context, with one proof or more."""

    def __init__(self, circuit: Circuit, servers: int, identifier: int, context: bytes, proofs: int = 1) -> None:
        self.circuit, self.field, self.proofs = circuit, circuit.field, Proofs(circuit)
        self.servers, self.identifier, self.context, self.count = servers, identifier, context, proofs
        self._joint = SEED if circuit.joint_length else 0

    @property
    def rand_size(self) -> int:
        """The number of random bytes of `shard`."""
        return self.servers * (SEED + self._joint)

    @property
    def public_size(self) -> int:
        """The number of bytes of the public share."""
        return self.servers * self._joint

    @property
    def verifier_size(self) -> int:
        """The number of bytes that a server tells the others about a contribution."""
        return self.count * self.proofs.verifier_length * self.field.encoded_size + self._joint

    def share_size(self, server: int) -> int:
        """The number of bytes of a server's share."""
        if server:
            return SEED + self._joint
        elements = self.circuit.encoded_length + self.count * self.proofs.length
        return elements * self.field.encoded_size + self._joint

    def shard(self, measurement: Any, nonce: bytes, rand: bytes) -> tuple[bytes, list[bytes]]:
        """Make the public share and each server's share of an input."""
        if len(nonce) != NONCE or len(rand) != self.rand_size:
            raise ValueError(
                f"nonce has {NONCE} bytes and rand {self.rand_size}; they had {len(nonce)} and {len(rand)}"
            )
        return self.shard_elements(self.circuit.encode(measurement), nonce, rand)

    def shard_elements(self, encoded: Residues, nonce: bytes, rand: bytes) -> tuple[bytes, list[bytes]]:
        """Make the shares of an encoded input."""
        field, helpers = self.field, range(1, self.servers)
        seeds = [rand[at : at + SEED] for at in range(0, len(rand), SEED)]
        step = 2 if self._joint else 1
        secrets, prove_seed = seeds[: step * (self.servers - 1) : step], seeds[-1]
        blinds = [seeds[-2], *seeds[1:-2:2]] if self._joint else []
        shares = [self._input_share(number, secrets[number - 1]) for number in helpers]
        shares.insert(0, _take_away(self, encoded, shares))
        parts = [self._joint_part(i, blind, shares[i], nonce) for i, blind in enumerate(blinds)]
        prove = self._expand(prove_seed, _PROVE, b"", self.proofs.arity)
        joint = self._joint_elements(self._joint_seed(parts))
        proof = np.concatenate([self.proofs.prove(encoded, *drawn) for drawn in zip(prove, joint, strict=True)])
        proof = _take_away(self, proof, [self._proof_share(number, secrets[number - 1]) for number in helpers])
        contents = [field.encode(np.concatenate([shares[0], proof])), *secrets]
        blinds = blinds or [b""] * self.servers
        return b"".join(parts), [content + blind for content, blind in zip(contents, blinds, strict=True)]

    def verify_init(
        self, key: bytes, server: int, nonce: bytes, public: bytes, share: bytes
    ) -> tuple[VerifyState, bytes]:
        """Begin to verify a contribution as one of the servers; returns what to keep, and what to tell the others."""
        if len(key) != KEY:
            raise ValueError(f"the key has {KEY} bytes, not {len(key)}")
        if (len(nonce), len(public), len(share)) != (NONCE, self.public_size, self.share_size(server)):
            raise BadProof
        encoded, proof, blind = self._open(server, share)
        parts = [public[at : at + SEED] for at in range(0, len(public), SEED)]
        if self._joint:
            parts[server] = self._joint_part(server, blind, encoded, nonce)
        joint_seed = self._joint_seed(parts)
        query = self._expand(key, _QUERY, nonce, self.proofs.query_length)
        drawn = zip(proof.reshape(self.count, -1, 2), query, self._joint_elements(joint_seed), strict=True)
        told = [self.proofs.query(encoded, *elements, self.servers) for elements in drawn]
        own_part = parts[server] if self._joint else b""
        state = VerifyState(self.circuit.truncate(encoded), joint_seed)
        return state, self.field.encode(np.concatenate(told)) + own_part

    def verifier_shares_to_message(self, told: list[bytes]) -> bytes:
        """Decide by what all servers told, in their order; returns the message that ends the verification."""
        if len(told) != self.servers or any(len(one) != self.verifier_size for one in told):
            raise BadProof
        elements = self.verifier_size - self._joint
        total = self.field.zeros(self.count * self.proofs.verifier_length)
        for one in told:
            total = self.field.add(total, self._decode(one[:elements]))
        if not all(self.proofs.decide(verifier) for verifier in total.reshape(self.count, -1, 2)):
            raise BadProof
        return self._joint_seed([one[elements:] for one in told])

    def verify_next(self, state: VerifyState, message: bytes) -> Residues:
        """End the verification; returns the share of what is summed."""
        if not hmac.compare_digest(state.joint_seed, message):
            raise BadProof
        return state.output

    def sum_shares(self, outputs: Iterable[Residues]) -> Residues:
        """A server's share of the sum of contributions: those that it verified."""
        total = self.field.zeros(self.circuit.output_length)
        for output in outputs:
            total = self.field.add(total, output)
        return total

    def _open(self, server: int, share: bytes) -> tuple[Residues, Residues, bytes]:
        """A server's shares of the encoded input and of the proofs, and its blind."""
        content, blind = share[: len(share) - self._joint], share[len(share) - self._joint :]
        if server:
            return self._input_share(server, content), self._proof_share(server, content), blind
        elements = self._decode(content)
        return elements[: self.circuit.encoded_length], elements[self.circuit.encoded_length :], blind

    def _decode(self, encoded: bytes) -> Residues:
        try:
            return self.field.decode(encoded)
        except BadEncoding:
            raise BadProof from None

    def _input_share(self, server: int, seed: bytes) -> Residues:
        return expand(self.field, seed, self._tag(_INPUT_SHARE), bytes([server]), self.circuit.encoded_length)

    def _proof_share(self, server: int, seed: bytes) -> Residues:
        return self._expand(seed, _PROOF_SHARE, bytes([server]), self.proofs.length).reshape(-1, 2)

    def _joint_part(self, server: int, blind: bytes, share: Residues, nonce: bytes) -> bytes:
        return derive_seed(blind, self._tag(_JOINT_PART), bytes([server]) + nonce + self.field.encode(share))

    def _joint_seed(self, parts: list[bytes]) -> bytes:
        return derive_seed(bytes(SEED), self._tag(_JOINT_SEED), b"".join(parts)) if self._joint else b""

    def _joint_elements(self, seed: bytes) -> Residues:
        if not self._joint:
            return self.field.zeros(self.count, 0)
        return self._expand(seed, _JOINT, b"", self.circuit.joint_length)

    def _expand(self, seed: bytes, usage: int, binder: bytes, length: int) -> Residues:
        """Random elements for all proofs, one row for each."""
        drawn = expand(self.field, seed, self._tag(usage), bytes([self.count]) + binder, self.count * length)
        return drawn.reshape(self.count, length, 2)

    def _tag(self, usage: int) -> bytes:
        head = bytes([VERSION, _VDAF]) + self.identifier.to_bytes(4, "big") + usage.to_bytes(2, "big")
        return head + self.context


def _take_away(prio3: Prio3, elements: Residues, shares: list[Residues]) -> Residues:
    """What is left for the leader."""
    for share in shares:
        elements = prio3.field.subtract(elements, share)
    return elements
