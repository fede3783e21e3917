"""Prio3L1BoundSum in plain Python integers, slow, and in other ways than the product: a second opinion.

Keccak works on bits of lanes by its five steps, polynomials are lists of coefficients, interpolation is Lagrange's
formula, and bits are found by search. Only the drafts' definitions are shared.
"""

from __future__ import annotations

from functools import cache
from itertools import product as combinations
from math import prod

P = 2**66 * 4611686018427387897 + 1
ROOT, ORDER = pow(7, (P - 1) >> 66, P), 66


def rotate(lane: int, bits: int) -> int:
    return (lane << bits % 64 | lane >> (64 - bits) % 64) & (1 << 64) - 1


@cache
def register_bit(t: int) -> int:
    """The t-th bit of Keccak's shift register: the constant coefficient of x^t modulo x^8 + x^6 + x^5 + x^4 + 1."""
    value = 1
    for _ in range(t % 255):
        value <<= 1
        if value & 256:
            value ^= 0b101110001
    return value & 1


def keccak(lanes: list[list[int]], rounds: int) -> list[list[int]]:
    """Keccak-p[1600]; ``lanes[x][y]``."""
    for number in range(24 - rounds, 24):
        columns = [lanes[x][0] ^ lanes[x][1] ^ lanes[x][2] ^ lanes[x][3] ^ lanes[x][4] for x in range(5)]
        lanes = [[lanes[x][y] ^ columns[x - 1] ^ rotate(columns[(x + 1) % 5], 1) for y in range(5)] for x in range(5)]
        (x, y), moved = (1, 0), lanes[1][0]
        for t in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            moved, lanes[x][y] = lanes[x][y], rotate(moved, (t + 1) * (t + 2) // 2)
        lanes = [
            [lanes[x][y] ^ (lanes[(x + 1) % 5][y] ^ (1 << 64) - 1) & lanes[(x + 2) % 5][y] for y in range(5)]
            for x in range(5)
        ]
        lanes[0][0] ^= sum(register_bit(j + 7 * number) << 2**j - 1 for j in range(7))
    return lanes


def shake(message: bytes, domain: int, size: int, rounds: int) -> bytes:
    """SHAKE128 with the domain 0x1f and 24 rounds, TurboSHAKE128 with 12."""
    text = message + bytes([domain])
    text += bytes(-len(text) % 168)
    text = text[:-1] + bytes([text[-1] ^ 0x80])
    lanes, out = [[0] * 5 for _ in range(5)], b""
    for start in range(0, len(text), 168):
        for i in range(21):
            lanes[i % 5][i // 5] ^= int.from_bytes(text[start + 8 * i : start + 8 * i + 8], "little")
        lanes = keccak(lanes, rounds)
    while len(out) < size:
        out += b"".join(lanes[i % 5][i // 5].to_bytes(8, "little") for i in range(21))
        lanes = keccak(lanes, rounds)
    return out[:size]


def turboshake(message: bytes, size: int) -> bytes:
    return shake(message, 1, size, 12)


def framed(seed: bytes, tag: bytes, binder: bytes) -> bytes:
    return len(tag).to_bytes(2, "little") + tag + bytes([len(seed)]) + seed + binder


def elements(seed: bytes, tag: bytes, binder: bytes, length: int) -> list[int]:
    """Uniform elements; so few numbers are from P on that none will be drawn, which is checked."""
    text = turboshake(framed(seed, tag, binder), 16 * length)
    found = [int.from_bytes(text[at : at + 16], "little") for at in range(0, len(text), 16)]
    assert max(found) < P
    return found


def encode(values: list[int]) -> bytes:
    return b"".join(value.to_bytes(16, "little") for value in values)


def interpolate_at(points: list[int], values: list[int], x: int) -> int:
    """Lagrange's formula."""
    total = 0
    for i, (a, value) in enumerate(zip(points, values, strict=True)):
        others = points[:i] + points[i + 1 :]
        total += value * prod(x - b for b in others) * pow(prod(a - b for b in others), -1, P)
    return total % P


class Reference:
    """Prio3L1BoundSum with one proof."""

    def __init__(self, length: int, bound: int, chunk: int, servers: int, context: bytes) -> None:
        self.length, self.bound, self.chunk, self.servers, self.context = length, bound, chunk, servers, context
        bits = bound.bit_length()
        self.weights = [2**i for i in range(bits - 1)] + [bound - 2 ** (bits - 1) + 1]
        self.size = (length + 1) * bits
        self.calls = (self.size + chunk - 1) // chunk
        self.n = 2
        while self.n < self.calls + 1:
            self.n *= 2
        self.roots = [pow(ROOT, k * 2**ORDER // self.n, P) for k in range(self.n)]
        self.double_roots = [pow(ROOT, k * 2**ORDER // (2 * self.n), P) for k in range(2 * self.n)]
        self.proof_size = 2 * chunk + 2 * self.n - 1

    def tag(self, usage: int) -> bytes:
        return bytes([18, 0, 0, 0, 0, 7, 0, usage]) + self.context

    def bits(self, entry: int) -> list[int]:
        """The first of all bits that count so much, the last bit being the most significant."""
        for high_first in combinations((0, 1), repeat=len(self.weights)):
            found = list(reversed(high_first))
            if sum(w * b for w, b in zip(self.weights, found, strict=True)) == entry:
                return found
        raise ValueError

    def encode(self, vector: list[int]) -> list[int]:
        return [bit for entry in [*vector, sum(vector)] for bit in self.bits(entry)]

    def decode(self, encoded: list[int]) -> list[int]:
        bits = len(self.weights)
        return [sum(w * encoded[at + i] for i, w in enumerate(self.weights)) % P for at in range(0, self.size, bits)]

    def wires(self, encoded: list[int], joint: list[int], shares: int) -> list[list[int]]:
        """The wires of each call."""
        part = pow(shares, -1, P)
        filled = encoded + [0] * (self.calls * self.chunk - self.size)
        return [
            [
                wire
                for j in range(self.chunk)
                for x in [filled[i * self.chunk + j]]
                for wire in (pow(joint[i], j + 1, P) * x % P, (x - part) % P)
            ]
            for i in range(self.calls)
        ]

    def polynomials(self, seeds: list[int], calls: list[list[int]]) -> list[list[int]]:
        """The values of each wire's polynomial at the roots."""
        rest = [0] * (self.n - 1 - self.calls)
        return [[seeds[j], *(call[j] for call in calls), *rest] for j in range(2 * self.chunk)]

    def prove(self, encoded: list[int], seeds: list[int], joint: list[int]) -> list[int]:
        wires = self.polynomials(seeds, self.wires(encoded, joint, 1))
        proof = list(seeds)
        for x in self.double_roots[:-1]:
            at = [interpolate_at(self.roots, wire, x) for wire in wires]
            proof.append(sum(a * b for a, b in zip(at[::2], at[1::2], strict=True)) % P)
        return proof

    def query(self, encoded: list[int], proof: list[int], query: list[int], joint: list[int], shares: int) -> list[int]:
        seeds, values = proof[: 2 * self.chunk], proof[2 * self.chunk :]
        wires = self.polynomials(seeds, self.wires(encoded, joint, shares))
        answers = [interpolate_at(self.double_roots[:-1], values, self.roots[k + 1]) for k in range(self.calls)]
        *entries, claimed = self.decode(encoded)
        reduced = query[0] * sum(answers) + query[1] * (sum(entries) - claimed)
        point = query[2]
        at = [interpolate_at(self.roots, wire, point) for wire in wires]
        return [reduced % P, *at, interpolate_at(self.double_roots[:-1], values, point)]

    def joint_seed(self, parts: list[bytes]) -> bytes:
        return turboshake(framed(bytes(32), self.tag(6), b"".join(parts)), 32)

    def joint(self, seed: bytes) -> list[int]:
        return elements(seed, self.tag(3), b"\x01", self.calls)

    def part(self, server: int, blind: bytes, share: list[int], nonce: bytes) -> bytes:
        return turboshake(framed(blind, self.tag(7), bytes([server]) + nonce + encode(share)), 32)

    def helper(self, server: int, seed: bytes) -> tuple[list[int], list[int]]:
        return (
            elements(seed, self.tag(1), bytes([server]), self.size),
            elements(seed, self.tag(2), bytes([1, server]), self.proof_size),
        )

    def shard(self, vector: list[int], nonce: bytes, rand: bytes) -> tuple[bytes, list[bytes]]:
        encoded, helpers = self.encode(vector), self.servers - 1
        seeds = [rand[32 * i : 32 * i + 32] for i in range(2 * self.servers)]
        secrets, blinds = seeds[0 : 2 * helpers : 2], [seeds[2 * helpers], *seeds[1 : 2 * helpers : 2]]
        theirs = [self.helper(i + 1, secrets[i]) for i in range(helpers)]
        inputs = [[(x - sum(share[0][i] for share in theirs)) % P for i, x in enumerate(encoded)]]
        inputs += [share[0] for share in theirs]
        parts = [self.part(i, blinds[i], inputs[i], nonce) for i in range(self.servers)]
        prove = elements(seeds[-1], self.tag(4), b"\x01", 2 * self.chunk)
        proof = self.prove(encoded, prove, self.joint(self.joint_seed(parts)))
        left = [(x - sum(share[1][i] for share in theirs)) % P for i, x in enumerate(proof)]
        contents = [encode(inputs[0] + left), *secrets]
        return b"".join(parts), [content + blind for content, blind in zip(contents, blinds, strict=True)]

    def verify_init(
        self, key: bytes, server: int, nonce: bytes, public: bytes, share: bytes
    ) -> tuple[list[int], bytes]:
        """The share of the vector, and what the server tells."""
        content, blind = share[:-32], share[-32:]
        if server == 0:
            read = [int.from_bytes(content[at : at + 16], "little") for at in range(0, len(content), 16)]
            encoded, proof = read[: self.size], read[self.size :]
        else:
            encoded, proof = self.helper(server, content)
        parts = [public[32 * i : 32 * i + 32] for i in range(self.servers)]
        parts[server] = self.part(server, blind, encoded, nonce)
        query = elements(key, self.tag(5), b"\x01" + nonce, 3)
        told = self.query(encoded, proof, query, self.joint(self.joint_seed(parts)), self.servers)
        return self.decode(encoded)[:-1], encode(told) + parts[server]

    def decide(self, told: list[bytes]) -> bool:
        rows = [[int.from_bytes(one[at : at + 16], "little") for at in range(0, len(one) - 32, 16)] for one in told]
        reduced, *wires, answer = (sum(column) % P for column in zip(*rows, strict=True))
        return bool(reduced == 0 and sum(a * b for a, b in zip(wires[::2], wires[1::2], strict=True)) % P == answer)
