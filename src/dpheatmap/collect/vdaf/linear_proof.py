"""Fully linear proofs (draft-irtf-cfrg-vdaf, section 7.3): that a circuit puts out zeros, shown to holders of shares.

The calls of the gadget are numbered 1 to m, and n is a power of two above m. Wire j of the gadget is a polynomial f_j
of degree below n: at the k-th power of a root of unity of order n it is the wire's value in call k, and at the 0th
power a random *seed*. Then ``g = gadget(f_1, f_2, ...)`` has a degree of at most 2 n - 2, and its value at the k-th
power is the answer of call k. A proof is the seeds, and the values of g at the first 2 n - 1 powers of a root of order
2 n.

*Verifiers* take the answers from the proof, compute the outputs, and reduce them to one by random factors. They test g
at a random point t: is it what the gadget makes of the f_j(t)? All of it is linear, up to the last step. So each one
computes shares, and only their sums are seen.

**Soundness.** If g is not what the gadget makes of the wires, both sides of the test are different polynomials of
degree at most 2 n - 2, and equal at so many points at most. If it is, the outputs are those of the circuit on the
input. If one of them is not 0, a random combination is 0 for one in p of all factors (`soundness.py` adds all up).

**Zero knowledge.** The seeds make the f_j(t) uniform and independent of the input, if t is no power of the root: with
the other values fixed, f_j(t) is the seed times a nonzero number, and something. g(t) follows from them, and the
reduced output is 0. So verifiers see nothing that they could not have drawn themselves. **This holds for one t**: two
answers about one contribution at different points are two equations for each seed.
"""

from __future__ import annotations

import numpy as np

from dpheatmap.collect.vdaf.circuit import Circuit
from dpheatmap.collect.vdaf.residues import Residues


class BadProof(Exception):  # noqa: N818
    """A contribution that is not valid, or whose proof is not."""


class RootDrawn(BadProof):
    """The random point is one that the input is encoded at, where verifiers would see it: they leave it out unseen."""


def points_of(calls: int) -> int:
    """The number of points that a wire's polynomial is given at: a power of two above the number of calls."""
    return 1 << calls.bit_length()


def proof_length(arity: int, calls: int) -> int:
    """The number of elements of a proof: the wires' seeds, and the values of a polynomial of twice their degree."""
    return arity + 2 * points_of(calls) - 1


class Proofs:
    """Proofs that inputs are valid by a circuit, and their verification."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit, self.field = circuit, circuit.field
        self.points = points_of(circuit.calls)
        self.arity = circuit.gadget.arity
        self.length = proof_length(self.arity, circuit.calls)
        self.query_length = 1 + (circuit.checks if circuit.checks > 1 else 0)
        self.verifier_length = self.arity + 2

    def prove(self, encoded: Residues, seeds: Residues, joint: Residues) -> Residues:
        """Prove that an encoded input is valid."""
        wires = self._wires(encoded, seeds, joint, 1)
        values = np.empty((2 * self.points, 2), dtype=np.uint64)
        values[::2] = self.circuit.gadget.answers(self.field, wires)
        values[1::2] = self.circuit.gadget.answers(self.field, self._between(wires))
        return np.concatenate([seeds, values[:-1]])

    def query(self, encoded: Residues, proof: Residues, query: Residues, joint: Residues, shares: int) -> Residues:
        """What a holder of one of so many shares of an encoded input and its proof tells the others."""
        field, factors, point = self.field, query[:-1], query[-1:]
        if pow(field.integers(point)[0], self.points, field.modulus) == 1:
            raise RootDrawn
        wires = self._wires(encoded, proof[: self.arity], joint, shares)
        values = self._whole(proof[self.arity :])
        answers = values[2 : 2 * self.circuit.calls + 1 : 2]
        outputs = self.circuit.outputs(encoded, answers, shares)
        reduced = field.combine(factors, outputs[:, None]) if len(factors) else outputs
        wires_there = field.combine(field.basis(self.points, point), wires)
        answer_there = field.combine(field.basis(2 * self.points, point), values[:, None])
        return np.concatenate([reduced, wires_there, answer_there])

    def decide(self, verifier: Residues) -> bool:
        """Whether the sum of what all holders told shows a valid input."""
        test = self.circuit.gadget.answers(self.field, verifier[None, 1:-1])
        return not verifier[0].any() and np.array_equal(test[0], verifier[-1])

    def _wires(self, encoded: Residues, seeds: Residues, joint: Residues, shares: int) -> Residues:
        wires = self.field.zeros(self.points, self.arity)
        wires[0] = seeds
        wires[1 : self.circuit.calls + 1] = self.circuit.wires(encoded, joint, shares)
        return wires

    def _between(self, values: Residues) -> Residues:
        """The values at the odd powers of the root of order 2 n, of polynomials with these values at the even ones.

        The inverse transform is the transform by the inverse root, over n. A polynomial at ``s w^i`` is the one whose
        k-th coefficient is times ``s^k`` at w^i.
        """
        field, n = self.field, self.points
        root, shift = field.root(n), field.root(2 * n)
        coefficients = field.transform(values, pow(root, -1, field.modulus))
        factors = field.multiply(field.powers(field.of([shift]), n)[0], field.of([pow(n, -1, field.modulus)]))
        return field.transform(field.multiply(coefficients, factors[:, None]), root)

    def _whole(self, values: Residues) -> Residues:
        """The values at all powers of the root w of order N = 2 n, where the last one is missing.

        The degree is below N - 1, so the coefficient ``sum_i v_i w^i / N`` of x^(N-1) is 0.
        """
        field = self.field
        powers = field.powers(field.of([field.root(2 * self.points)]), 2 * self.points)[0]
        others = field.combine(powers[:-1], values[:, None])
        last = field.subtract(field.zeros(1), field.multiply(others, powers[1:2]))
        return np.concatenate([values, last])
