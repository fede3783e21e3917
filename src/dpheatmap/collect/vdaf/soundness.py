"""How probably a contribution that breaks its bound is accepted.

For one proof, with a field of p numbers, chunks of c elements and polynomials given at n points (`linear_proof.py`):

* The random elements of the circuit hide a wrong bit for at most c in p of their values (`circuit.py`). A device learns
  them before it sends, and may begin again with other shares: **each attempt costs it some hashes, and no server sees
  it**.
* Else an output of the circuit is not 0. A wrong g passes its test at 2 n - 2 of the p points at most, and a right one
  leaves an output that the random factors hide with a probability of 1 / p. Both are drawn by servers with a key that
  devices don't know: there is one attempt for each contribution that is sent.

Several proofs of one input have random elements of their own, and all must pass: their errors multiply.

>>> from dpheatmap.collect.vdaf.l1_bound import L1BoundSum
>>> from dpheatmap.collect.vdaf.prime_field import FIELD64, FIELD128
>>> for field, proofs in (FIELD128, 1), (FIELD64, 1), (FIELD64, 2), (FIELD64, 3):
...     bits = bits_of_soundness(L1BoundSum(field, 4096, 16), proofs)
...     print(f"{8 * field.encoded_size} bits, {proofs}: {bits:.0f}")
128 bits, 1: 119
64 bits, 1: 55
64 bits, 2: 111
64 bits, 3: 166

A single proof in the field of 64 bits falls to 2^55 attempts, which is no protection. The draft asks for a field of 128
bits, or three proofs.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpheatmap.collect.vdaf.l1_bound import L1BoundSum
from dpheatmap.collect.vdaf.linear_proof import points_of


def error_of_attempt(circuit: L1BoundSum, proofs: int = 1) -> Fraction:
    """The largest probability that one attempt of one false contribution is accepted."""
    hidden_bits, hidden_output = circuit.chunk, 1
    wrong_answers = 2 * points_of(circuit.calls) - 2
    return Fraction(hidden_bits + wrong_answers + hidden_output, circuit.field.modulus) ** proofs


def bits_of_soundness(circuit: L1BoundSum, proofs: int = 1) -> float:
    """The binary logarithm of the number of attempts that a device needs to be accepted once, on average or more."""
    error = error_of_attempt(circuit, proofs)
    return math.log2(error.denominator) - math.log2(error.numerator)
