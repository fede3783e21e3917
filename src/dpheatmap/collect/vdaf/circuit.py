"""What is proved: an arithmetic circuit over a field, all of whose outputs are 0 if, and only if, an input is valid.

All that is not affine in the input is done by calls of one *gadget*, a polynomial of degree 2 in its wires. Which wires
a call has is affine in the input, and so are the outputs in the input and the answers of the calls. Affine functions
can be applied to additive shares, share by share, if each share takes its part ``1 / shares`` of every constant.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from dpheatmap.collect.vdaf import residues
from dpheatmap.collect.vdaf.prime_field import PrimeField
from dpheatmap.collect.vdaf.residues import Residues


class Gadget(Protocol):
    """A polynomial of degree 2 in so many wires."""

    @property
    def arity(self) -> int:
        """The number of wires."""
        ...

    def answers(self, field: PrimeField, wires: Residues) -> Residues:
        """The values of the polynomial, one for each row of wires."""
        ...


class SumOfProducts:
    """The gadget ``w1 w2 + w3 w4 + ...`` of so many products: the draft's ParallelSum of Mul."""

    def __init__(self, products: int) -> None:
        self.arity = 2 * products

    def answers(self, field: PrimeField, wires: Residues) -> Residues:
        """The values, one for each row of wires."""
        return residues.sum_products(np.ascontiguousarray(wires), field.constants)


class Circuit(Protocol):
    """A validity circuit: how inputs are encoded, which wires its calls have, and what it puts out."""

    field: PrimeField
    calls: int
    encoded_length: int
    joint_length: int
    """The number of random elements that prover and verifiers agree on after the input is fixed."""
    checks: int
    """The number of outputs that are 0 for a valid input."""
    output_length: int

    @property
    def gadget(self) -> Gadget:
        """The gadget."""
        ...

    def encode(self, measurement: Any) -> Residues:
        """Encode an input."""
        ...

    def truncate(self, encoded: Residues) -> Residues:
        """What of an encoded input, or of a share of one, is summed up."""
        ...

    def wires(self, encoded: Residues, joint: Residues, shares: int) -> Residues:
        """The wires of all calls, one row for each, of an encoded input or of one of so many shares."""
        ...

    def outputs(self, encoded: Residues, answers: Residues, shares: int) -> Residues:
        """The outputs, given the answers of the gadget or shares of them."""
        ...


def wires_of_bits(field: PrimeField, encoded: Residues, joint: Residues, chunk: int, shares: int) -> Residues:
    """Wires whose sums of products, added up, are 0 if every element is 0 or 1, and else hardly ever.

    Call i has the elements of the i-th chunk, the last one filled up with zeros, and the random element r_i. Its answer
    is ``sum_j r_i^j x_j (x_j - 1)`` for j from 1. If some ``x_j (x_j - 1)`` is not 0, the sum of all answers is a
    nonzero polynomial in the r_i of a degree of at most ``chunk``. It is 0 for at most ``chunk`` in p of all r.
    """
    filled = field.zeros(len(joint) * chunk)
    filled[: len(encoded)] = encoded
    rows = filled.reshape(len(joint), chunk, 2)
    wires = np.empty((len(joint), chunk, 2, 2), dtype=np.uint64)
    wires[:, :, 0] = field.multiply(field.powers(joint, chunk + 1)[:, 1:], rows)
    wires[:, :, 1] = field.subtract(rows, field.of([pow(shares, -1, field.modulus)]))
    return wires.reshape(len(joint), 2 * chunk, 2)
