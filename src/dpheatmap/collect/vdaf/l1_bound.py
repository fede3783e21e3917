"""The circuit L1BoundSum (draft-ietf-ppm-l1-bound-sum): a vector of integers from 0 on whose sum is at most a bound.

Each entry is encoded by so many elements as the bound has bits. They are 0 or 1, and count ``1, 2, 4, ...``; the last
one counts what is left to the bound. So what bits encode is never less than 0 nor more than the bound, and every number
between has an encoding. The sum of the entries follows as one more entry.

**Why it bounds the L1 norm.** If all elements are 0 or 1, every entry decodes to an integer from 0 to the bound, and so
does the claimed sum. The entries' true sum is at most ``length * bound``, which must be below p. So it equals the
claimed sum if both are equal mod p, and is at most the bound.
"""

from __future__ import annotations

import numpy as np

from dpheatmap.collect.vdaf.circuit import SumOfProducts, wires_of_bits
from dpheatmap.collect.vdaf.linear_proof import proof_length
from dpheatmap.collect.vdaf.prime_field import Ints, PrimeField
from dpheatmap.collect.vdaf.residues import Residues
from dpheatmap.errors import ParameterError


class L1BoundSum:
    """Vectors of so many entries with a sum of at most ``bound``.

    ``chunk`` elements are checked by one call: by default so many as make the shortest proof.
    """

    checks = 2

    def __init__(self, field: PrimeField, length: int, bound: int, chunk: int | None = None) -> None:
        if min(length, bound) < 1 or length * bound >= field.modulus:
            raise ParameterError(
                "length and bound must be 1 or more, and their product below the field's modulus; they were "
                f"{length} and {bound}. Use others."
            )
        self.field, self.length, self.bound = field, length, bound
        self.chunk = best_chunk(length, bound) if chunk is None else chunk
        self.weights = weights_of_bits(bound)
        self.encoded_length = (length + 1) * len(self.weights)
        self.calls = self.joint_length = -(-self.encoded_length // self.chunk)
        self.output_length = length
        self.gadget = SumOfProducts(self.chunk)

    def encode(self, measurement: Ints) -> Residues:
        """Encode a vector and its sum."""
        entries = np.append(measurement, np.sum(measurement))
        if len(measurement) != self.length or np.any(entries < 0) or np.any(entries > self.bound):
            raise ParameterError(
                f"A contribution must have {self.length} entries of 0 or more, with a sum of at most {self.bound}. "
                "Give one that has."
            )
        return self.field.of_array(bits_of(entries, self.weights).ravel())

    def truncate(self, encoded: Residues) -> Residues:
        """The entries without their sum."""
        return self._entries(encoded)[:-1]

    def wires(self, encoded: Residues, joint: Residues, shares: int) -> Residues:
        """The wires of the checks that all elements are 0 or 1."""
        return wires_of_bits(self.field, encoded, joint, self.chunk, shares)

    def outputs(self, encoded: Residues, answers: Residues, shares: int) -> Residues:
        """What is left of the checks of bits, and the entries' sum less the claimed one."""
        entries = self._entries(encoded)
        excess = self.field.subtract(self.field.sum(entries[:-1]), entries[-1:])
        return np.concatenate([self.field.sum(answers), excess])

    def _entries(self, encoded: Residues) -> Residues:
        bits = encoded.reshape(-1, len(self.weights), 2).transpose(1, 0, 2)
        return self.field.combine(self.field.of(self.weights.tolist()), bits)


def weights_of_bits(bound: int) -> Ints:
    """What each bit counts.

    >>> weights_of_bits(4).tolist(), weights_of_bits(15).tolist(), weights_of_bits(1).tolist()
    ([1, 2, 1], [1, 2, 4, 8], [1])
    """
    powers = [1 << bit for bit in range(bound.bit_length() - 1)]
    return np.array([*powers, bound - sum(powers)], dtype=np.int64)


def bits_of(entries: Ints, weights: Ints) -> Ints:
    """The bits of entries, one row for each; the last bit is set only where the others don't reach.

    >>> bits_of(np.array([3, 4]), weights_of_bits(4)).tolist()
    [[1, 1, 0], [1, 1, 1]]
    """
    last = (entries >= 1 << (len(weights) - 1)).astype(np.int64)
    rest = entries - last * weights[-1]
    return np.column_stack([rest[:, None] >> np.arange(len(weights) - 1) & 1, last])


def best_chunk(length: int, bound: int) -> int:
    """The number of elements in a call that makes the shortest proof; of several, the largest.

    With n points a proof has room for n - 1 calls, and more calls need less in each.
    """
    elements = (length + 1) * bound.bit_length()
    chunks = [-(-elements // ((1 << power) - 1)) for power in range(1, elements.bit_length() + 1)]
    return min(chunks, key=lambda chunk: proof_length(2 * chunk, -(-elements // chunk)))
