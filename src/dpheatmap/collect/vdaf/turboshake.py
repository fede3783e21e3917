"""TurboSHAKE128 (RFC 9861): a sponge over the last 12 rounds of Keccak-f[1600], with a rate of 168 bytes.

The state is 5 x 5 words. The constants are computed as Keccak defines them: the offsets of rotations along the walk
``(x, y) -> (y, 2 x + 3 y)``, and the round constants from a shift register with the polynomial
``x^8 + x^6 + x^5 + x^4 + 1``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.jit import load_eight, njit

Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

RATE = 168
ROUNDS = 12
DOMAIN = 1
"""The byte that follows the message."""


def round_constants() -> Words:
    """The constants of all 24 rounds of Keccak-f[1600]."""
    constants, register = [], 1
    for _ in range(24):
        constant = 0
        for j in range(7):
            if register & 1:
                constant |= 1 << ((1 << j) - 1)
            register = register << 1 ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return np.array(constants, dtype=np.uint64)


def walk() -> tuple[NDArray[np.int64], Words]:
    """For each word x + 5 y: where rho and pi put it, and by how many bits they rotate it."""
    places, offsets = np.zeros(25, dtype=np.int64), np.zeros(25, dtype=np.uint64)
    x, y = 1, 0
    for t in range(24):
        offsets[x + 5 * y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    for at in range(25):
        x, y = at % 5, at // 5
        places[at] = y + 5 * ((2 * x + 3 * y) % 5)
    return places, offsets


_CONSTANTS = round_constants()[-ROUNDS:]
_PLACES, _OFFSETS = walk()


@njit(cache=True)
def _rotate(word: np.uint64, bits: np.uint64) -> np.uint64:
    return word << bits | word >> (np.uint64(64) - bits & np.uint64(63))


@njit(cache=True)
def permute(state: Words, moved: Words) -> None:
    """Permute the state; ``moved`` is room for another one."""
    for constant in _CONSTANTS:
        for x in range(5):
            moved[x] = state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20]
        for x in range(5):
            parity = moved[(x + 4) % 5] ^ _rotate(moved[(x + 1) % 5], np.uint64(1))
            for y in range(0, 25, 5):
                state[x + y] ^= parity
        for at in range(25):
            moved[_PLACES[at]] = _rotate(state[at], _OFFSETS[at])
        for y in range(0, 25, 5):
            for x in range(5):
                state[x + y] = moved[x + y] ^ (~moved[(x + 1) % 5 + y] & moved[(x + 2) % 5 + y])
        state[0] ^= constant


@njit(cache=True)
def absorb(state: Words, blocks: Bytes) -> None:
    """Take in whole blocks."""
    moved = np.empty(25, dtype=np.uint64)
    for start in range(0, len(blocks), RATE):
        for at in range(RATE // 8):
            state[at] ^= load_eight(blocks, start + 8 * at)
        permute(state, moved)


@njit(cache=True)
def squeeze(state: Words, blocks: Words) -> None:
    """Give out whole blocks; after each one the state is permuted."""
    moved = np.empty(25, dtype=np.uint64)
    for block in blocks:
        block[:] = state[: RATE // 8]
        permute(state, moved)


class TurboShake128:
    """The endless output for one message, from its beginning.

    >>> TurboShake128(b"").read(8).hex()
    '868cbd53b078205a'
    """

    def __init__(self, message: bytes) -> None:
        padded = np.zeros((len(message) // RATE + 1) * RATE, dtype=np.uint8)
        padded[: len(message)] = np.frombuffer(message, dtype=np.uint8)
        padded[len(message)] ^= DOMAIN
        padded[-1] ^= 0x80
        self._state = np.zeros(25, dtype=np.uint64)
        self._rest = b""
        absorb(self._state, padded)

    def read(self, size: int) -> bytes:
        """The next bytes."""
        missing = max(0, size - len(self._rest))
        blocks = np.empty((-(-missing // RATE), RATE // 8), dtype=np.uint64)
        squeeze(self._state, blocks)
        found = self._rest + blocks.astype("<u8").tobytes()
        self._rest = found[size:]
        return found[:size]
