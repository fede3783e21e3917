"""Shares of the finest cells, one for each server: a vector for the first, and 32 bytes for each of the others.

A share is a vector of words mod 2^64, and all shares of a person add up to their numbers. Every server but the first
expands its share from a seed; the first gets the difference between the numbers and all of those. So a device uploads
one vector, however many servers there are.

**The stream.** A seed is the key of AES-256 in counter mode from counter 0, and the words are its key stream, in
little-endian order. Such a stream can't be told from uniform bytes by whoever lacks the key, up to the usual bound for
a block cipher (2^-89 for the longest vector here, 2^21 blocks), and browsers have it built in. A seed is drawn for one
share from the operating system's randomness, is used for nothing else, and travels sealed.

**What all servers but one learn.** Without an honest server's seed, its expanded share is as good as uniform, and so is
the first server's difference, which contains it. Without the first server's vector, the seeds say nothing: they are
drawn before anything about the person is used. So any servers but one hold numbers that look uniform, independently of
the person's. Against somebody who can break AES-256 that is not so; the seals would not hold against them either.
"""

from __future__ import annotations

import os

import numpy as np

from dpheatmap.collect.additive_shares import WORD, Words
from dpheatmap.curator import Source
from dpheatmap.errors import MissingDependency
from dpheatmap.place.quadtree import Ints

try:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES256
    from cryptography.hazmat.primitives.ciphers.modes import CTR
except ImportError as error:
    raise MissingDependency("cryptography", "Collecting", "collect") from error

SEED = 32
"""Bytes of a seed."""


def split_by_seeds(values: Ints, servers: int, source: Source = os.urandom) -> list[bytes]:
    """Split values into a share for each server, as they are sent: the vector of the first, and seeds.

    >>> sent = split_by_seeds(np.array([7, -1]), 3)
    >>> [len(share) for share in sent]
    [16, 32, 32]
    >>> shares = [expanded_share(number, share, 2) for number, share in enumerate(sent)]
    >>> np.sum(shares, axis=0, dtype=np.uint64).astype(np.int64).tolist()
    [7, -1]
    """
    drawn = source(SEED * (servers - 1))
    seeds = [drawn[at : at + SEED] for at in range(0, SEED * (servers - 1), SEED)]
    rest = values.astype(np.uint64)
    for seed in seeds:
        rest -= _stream(seed, len(values))
    return [rest.astype("<u8").tobytes(), *seeds]


def share_bytes(number: int, cells: int) -> int:
    """The bytes of the share of the server of that number, from 0."""
    return WORD // 8 * cells if number == 0 else SEED


def expanded_share(number: int, share: bytes, cells: int) -> Words:
    """The words of a server's share, one for each finest cell: the one place where a share becomes numbers."""
    if len(share) != share_bytes(number, cells):
        raise ValueError("not a share of this collection")
    return np.frombuffer(share, dtype="<u8").astype(np.uint64) if number == 0 else _stream(share, cells)


def _stream(seed: bytes, words: int) -> Words:
    """The first words of a seed's stream."""
    stream = Cipher(AES256(seed), CTR(bytes(16))).encryptor().update(bytes(WORD // 8 * words))
    return np.frombuffer(stream, dtype="<u8").astype(np.uint64, copy=False)
