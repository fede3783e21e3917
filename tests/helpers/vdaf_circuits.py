"""The VDAF draft's circuits that the product does not need: they bring published vectors to bear on what they share."""

from __future__ import annotations

import numpy as np

from dpheatmap.collect.vdaf.circuit import SumOfProducts, wires_of_bits
from dpheatmap.collect.vdaf.l1_bound import bits_of, weights_of_bits
from dpheatmap.collect.vdaf.prime_field import PrimeField
from dpheatmap.collect.vdaf.residues import Residues


class Count:
    """A bit x, by ``x x - x``."""

    calls = encoded_length = checks = output_length = 1
    joint_length = 0

    def __init__(self, field: PrimeField) -> None:
        self.field, self.gadget = field, SumOfProducts(1)

    def encode(self, measurement: int) -> Residues:
        return self.field.of([measurement])

    def truncate(self, encoded: Residues) -> Residues:
        return encoded

    def wires(self, encoded: Residues, joint: Residues, shares: int) -> Residues:
        return np.concatenate([encoded, encoded])[None]

    def outputs(self, encoded: Residues, answers: Residues, shares: int) -> Residues:
        return self.field.subtract(answers, encoded)


class SquareMinusItself:
    """The gadget ``x^2 - x``."""

    arity = 1

    def answers(self, field: PrimeField, wires: Residues) -> Residues:
        return field.subtract(field.multiply(wires[:, 0], wires[:, 0]), wires[:, 0])


class Sum:
    """An integer from 0 to a bound, each of whose bits is checked by a call."""

    joint_length = 0
    output_length = 1

    def __init__(self, field: PrimeField, bound: int) -> None:
        self.field, self.gadget, self.weights = field, SquareMinusItself(), weights_of_bits(bound)
        self.calls = self.encoded_length = self.checks = len(self.weights)

    def encode(self, measurement: int) -> Residues:
        return self.field.of_array(bits_of(np.array([measurement]), self.weights)[0])

    def truncate(self, encoded: Residues) -> Residues:
        return self.field.combine(self.field.of(self.weights.tolist()), encoded[:, None])

    def wires(self, encoded: Residues, joint: Residues, shares: int) -> Residues:
        return encoded[:, None]

    def outputs(self, encoded: Residues, answers: Residues, shares: int) -> Residues:
        return answers


class SumVec:
    """A vector of integers from 0 to a bound each."""

    checks = 1

    def __init__(self, field: PrimeField, length: int, bound: int, chunk: int) -> None:
        self.field, self.chunk, self.weights = field, chunk, weights_of_bits(bound)
        self.output_length, self.encoded_length = length, length * len(self.weights)
        self.calls = self.joint_length = -(-self.encoded_length // chunk)
        self.gadget = SumOfProducts(chunk)

    def encode(self, measurement: list[int]) -> Residues:
        return self.field.of_array(bits_of(np.array(measurement), self.weights).ravel())

    def truncate(self, encoded: Residues) -> Residues:
        bits = encoded.reshape(-1, len(self.weights), 2).transpose(1, 0, 2)
        return self.field.combine(self.field.of(self.weights.tolist()), bits)

    def wires(self, encoded: Residues, joint: Residues, shares: int) -> Residues:
        return wires_of_bits(self.field, encoded, joint, self.chunk, shares)

    def outputs(self, encoded: Residues, answers: Residues, shares: int) -> Residues:
        return self.field.sum(answers)


class Histogram(SumVec):
    """A vector of zeros and a single one."""

    checks = 2

    def __init__(self, field: PrimeField, length: int, chunk: int) -> None:
        super().__init__(field, length, 1, chunk)

    def encode(self, measurement: int) -> Residues:  # type: ignore[override]
        return self.field.of(int(place == measurement) for place in range(self.output_length))

    def outputs(self, encoded: Residues, answers: Residues, shares: int) -> Residues:
        one = self.field.of([pow(shares, -1, self.field.modulus)])
        return np.concatenate([self.field.sum(answers), self.field.subtract(self.field.sum(encoded), one)])
