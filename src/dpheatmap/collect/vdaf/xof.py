"""XofTurboShake128 (draft-irtf-cfrg-vdaf, section 6.2): seeds and field elements from a seed, a tag and a binder.

The tag separates uses from each other, and the binder binds the output to what parties must agree on.
"""

from __future__ import annotations

import numpy as np

from dpheatmap.collect.vdaf.prime_field import PrimeField
from dpheatmap.collect.vdaf.residues import Residues
from dpheatmap.collect.vdaf.turboshake import TurboShake128

SEED = 32
"""The number of bytes of a seed."""


def derive_seed(seed: bytes, tag: bytes, binder: bytes) -> bytes:
    """Derive a seed."""
    return _stream(seed, tag, binder).read(SEED)


def expand(field: PrimeField, seed: bytes, tag: bytes, binder: bytes, length: int) -> Residues:
    """Expand a seed into so many uniform elements of a field; numbers from p on are passed over."""
    stream = _stream(seed, tag, binder)
    found = field.zeros(0)
    while len(found) < length:
        drawn = field.accept(stream.read((length - len(found)) * field.encoded_size))
        found = np.concatenate([found, drawn])
    return found


def _stream(seed: bytes, tag: bytes, binder: bytes) -> TurboShake128:
    return TurboShake128(len(tag).to_bytes(2, "little") + tag + len(seed).to_bytes(1, "little") + seed + binder)
