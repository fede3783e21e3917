"""Messages of a fixed number of bits, one after the other in as few bytes as hold them: the payload that is measured.

Bits are laid down from the lowest of the first byte on. What is sent has a seal around each message instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.jit import njit
from dpheatmap.collect.additive_shares import Words

Bytes = NDArray[np.uint8]


def packed_size(count: int, bits: int) -> int:
    """The bytes that so many messages of so many bits take."""
    return -(-count * bits // 8)


@njit(cache=True)
def pack(messages: Words, bits: int, into: Bytes) -> None:
    """Lay down messages of fewer than 57 bits, in as many bytes as `packed_size` says."""
    pending, held, at = np.uint64(0), 0, 0
    for message in messages:
        pending |= message << np.uint64(held)
        held += bits
        while held >= 8:
            into[at] = pending & np.uint64(255)
            pending >>= np.uint64(8)
            held -= 8
            at += 1
    if held > 0:
        into[at] = pending & np.uint64(255)


@njit(cache=True)
def unpack(packed: Bytes, bits: int, messages: Words) -> None:
    """Read as many messages as there is room for."""
    pending, held, at = np.uint64(0), 0, 0
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    for i in range(len(messages)):
        while held < bits:
            pending |= np.uint64(packed[at]) << np.uint64(held)
            held += 8
            at += 1
        messages[i] = pending & mask
        pending >>= np.uint64(bits)
        held -= bits
