"""Randomised response: a device reports one of so many values with noise.

**Contract.** For any two values x and x' (None among them: nothing to tell), and any answer,
``P(answer | x) <= exp(epsilon) P(answer | x')``. All probabilities are whole multiples of 2^-`BITS`, drawn by comparing
random words with whole numbers, or 1 / K for K symbols, drawn by rejection. They are rounded towards privacy: the bound
holds exactly, not up to rounding. With t = exp(-epsilon), the bounds below are monotonic in t, and an interval around t
is known (`exp_interval`).

**Unary encoding**, optimised: a bit for each value, independent, 1 with probability 1/2 at the value told and q
elsewhere. Answers of x and x' differ in law at two bits, so the ratio is at most ``(1/2 / q) ((1 - q) / (1/2)) =
(1 - q) / q``, which is at most exp(epsilon) if ``q >= t / (1 + t)``: rounded up. None has q at all bits; there the
ratio is at most ``max(1 / 2q, 2 (1 - q))``, which is less, as q <= 1/2. The variance of a count, ``n q (1 - q) /
(1/2 - q)^2`` for a rare value, is the least that independent bits can have; an answer has a bit for each value.

**Direct response**, generalised randomised response: an answer is one of the values or None, K symbols. With
probability h the truth is told, else any of all K, uniformly. Two laws are at most in the ratio
``(h + (1 - h) / K) / ((1 - h) / K) = 1 + K h / (1 - h)``, which is at most exp(epsilon) if
``h <= (1 - t) / (K t + 1 - t)``: rounded down. None is a symbol like any other, because else the number of those who
tell nothing could not be known, and the others would be biased. The variance of a count of a rare value is
``n q (1 - q) / h^2`` with ``q = (1 - h) / K``. It grows with K; it is less than unary encoding's if
``K < 3 exp(epsilon) + 2``, and then an answer is shorter too. A frequent value gains more: unary encoding tells the
truth half of the time, however large epsilon is.

**Hadamard response**: an answer is one of K = B b symbols, B blocks of b, both powers of two. A value x has a block and
a row r, not 0, of the b x b matrix ``H[r, j] = (-1)^(number of common bits of r and j)``; its own symbols are those of
its block where its row is +1: s = b / 2. With probability h one of its own symbols is told, else any of all K,
uniformly in both cases. Two laws are at most in the ratio
``(h / s + (1 - h) / K) / ((1 - h) / K) = 1 + 2 B h / (1 - h)``, which is at most exp(epsilon) if
``h <= (1 - t) / (2 B t + 1 - t)``: rounded down. None is told as any of all K, uniformly: a law between these two. Rows
are orthogonal to each other and to row 0, so the sum of H[r, j] over the answers in x's block is on average h times the
number of those who told x. Its variance is the number of answers in the block, 1 / B of all if they are spread evenly,
so B h^2 should be large: B is the power of two nearest to (exp(epsilon) - 1) / 2. An answer has log2 K
bits.

**Choice.** The response of a level follows from its number of cells and epsilon alone (`response`): exact fractions are
compared, so every machine chooses the same.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.certified import exp_interval
from dpheatmap.collect.polya import uniform_below
from dpheatmap.curator import Source, random_words
from dpheatmap.errors import DataError
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints

BITS = 62
NOTHING = -1
"""The value of somebody who has nothing to tell."""
LONGEST = 2**12
"""The most bits of a unary answer; above that, Hadamard response has a few bytes and a little more noise."""

Answers = NDArray[Any]
"""Answers, one per entry: rows of bits, or numbers of symbols."""


class Unary:
    """Optimised unary encoding of ``size`` values; an answer is a row of bits, which a tally counts as ``symbols``."""

    name: ClassVar[str] = "unary"

    def __init__(self, size: int, epsilon: Fraction, bits: int = BITS) -> None:
        self.size, self.bits, self.symbols = size, bits, size
        above = exp_interval(epsilon, 256)[1]
        self.flips = -(-(above << bits) // ((1 << 256) + above))
        self.answer_bytes = -(-size // 8)

    @property
    def variance(self) -> Fraction:
        """The variance of a rare value's count for each person."""
        q = Fraction(self.flips, 1 << self.bits)
        return q * (1 - q) / (Fraction(1, 2) - q) ** 2

    def answers(self, values: Ints, source: Source) -> Answers:
        """Draw an answer for each value, one per row."""
        words = random_words(len(values) * self.size, self.bits, source).reshape(-1, self.size)
        limits = np.full(words.shape, self.flips, dtype=np.uint64)
        told = np.flatnonzero(values != NOTHING)
        limits[told, values[told]] = 1 << (self.bits - 1)
        return (words < limits).astype(np.uint8)

    def tally(self, answers: Answers) -> Ints:
        """How often each bit is set."""
        found: Ints = answers.sum(axis=0, dtype=np.int64)
        return found

    def simulate_tally(self, values: Ints, rng: np.random.Generator) -> Ints:
        """Draw a tally of the law of everybody's answers without the answers: sums of bits are binomial."""
        told = np.bincount(values[values != NOTHING], minlength=self.size)
        drawn: Ints = rng.binomial(told, 0.5) + rng.binomial(len(values) - told, self.flips / 2**self.bits)
        return drawn

    def estimate(self, tally: Ints, number: int) -> tuple[Floats, Floats]:
        """Estimate for each value the part of so many people who told it, unbiased, and its standard deviation."""
        q = self.flips / 2**self.bits
        chance = tally / number
        spread = np.clip(chance, q, 0.5)
        return (chance - q) / (0.5 - q), np.sqrt(spread * (1.0 - spread) / number) / (0.5 - q)

    def pack(self, answer: Answers) -> bytes:
        """An answer as bytes."""
        return np.packbits(answer).tobytes()

    def unpack(self, answer: bytes) -> Answers:
        """An answer from bytes; raises an error if they can't be one."""
        found = np.unpackbits(np.frombuffer(answer, dtype=np.uint8))
        if len(answer) != self.answer_bytes or found[self.size :].any():
            raise malformed_report()
        return found[: self.size]


class OneSymbol(ABC):
    """A response whose answer is a number below ``symbols``: an own one with probability ``honest`` / 2^``bits``."""

    def __init__(self, size: int, bits: int, symbols: int, honest: int) -> None:
        self.size, self.bits, self.symbols, self.honest = size, bits, symbols, honest
        self.answer_bytes = -(-(symbols - 1).bit_length() // 8)

    @abstractmethod
    def answers(self, values: Ints, source: Source) -> Answers:
        """Draw an answer for each value."""

    def tally(self, answers: Answers) -> Ints:
        """How often each symbol was told."""
        return np.bincount(answers, minlength=self.symbols)

    def simulate_tally(self, values: Ints, rng: np.random.Generator) -> Ints:
        """Draw a tally of everybody's answers."""
        return self.tally(self.answers(values, rng.bytes))

    def pack(self, answer: int) -> bytes:
        """An answer as bytes."""
        return int(answer).to_bytes(self.answer_bytes)

    def unpack(self, answer: bytes) -> int:
        """An answer from bytes; raises an error if they can't be one."""
        found = int.from_bytes(answer)
        if len(answer) != self.answer_bytes or found >= self.symbols:
            raise malformed_report()
        return found


class Direct(OneSymbol):
    """Direct response for ``size`` values; a symbol is the position of a value, or ``size`` for nothing."""

    name: ClassVar[str] = "direct"

    def __init__(self, size: int, epsilon: Fraction, bits: int = BITS) -> None:
        above = exp_interval(epsilon, 256)[1]
        below_one = (1 << 256) - above
        super().__init__(size, bits, size + 1, (below_one << bits) // ((size + 1) * above + below_one))

    @property
    def variance(self) -> Fraction:
        """The variance of a rare value's count for each person."""
        h = Fraction(self.honest, 1 << self.bits)
        q = (1 - h) / self.symbols
        return q * (1 - q) / h**2

    def answers(self, values: Ints, source: Source) -> Answers:
        """Draw an answer for each value."""
        anything = uniform_below(np.full(len(values), self.symbols), source)
        honest = random_words(len(values), self.bits, source) < np.uint64(self.honest)
        return np.where(honest, np.where(values == NOTHING, self.size, values), anything)

    def estimate(self, tally: Ints, number: int) -> tuple[Floats, Floats]:
        """Estimate for each value the part of so many people who told it, unbiased, and its standard deviation.

        For the deviation, one more answer is counted for the value and one against it: with a large epsilon many
        values are told by nobody, which does not mean that nobody could.
        """
        told, h = tally[: self.size], self.honest / 2**self.bits
        chance = (told + 1) / (number + 2)
        mean = (told / number - (1.0 - h) / self.symbols) / h
        return mean, np.sqrt(chance * (1.0 - chance) / number) / h


class Hadamard(OneSymbol):
    """Hadamard response for ``size`` values; a symbol is a column of one of the blocks."""

    name: ClassVar[str] = "hadamard"

    def __init__(self, size: int, epsilon: Fraction, bits: int = BITS) -> None:
        above = exp_interval(epsilon, 256)[1]
        below_one = (1 << 256) - above
        best = max(1.0, below_one / (2 * above)) if above else float(size)
        self.blocks = 1 << min(round(math.log2(best)), (size - 1).bit_length())
        self.block = 1 << (-(-size // self.blocks)).bit_length()
        super().__init__(
            size, bits, self.blocks * self.block, (below_one << bits) // (2 * self.blocks * above + below_one)
        )

    @property
    def variance(self) -> Fraction:
        """The variance of a rare value's count for each person, if answers are spread evenly over the blocks."""
        return 1 / (self.blocks * Fraction(self.honest, 1 << self.bits) ** 2)

    def _place(self, values: Ints) -> tuple[Ints, Ints]:
        """Block and row: neighbouring values are in different blocks, so that busy places share none."""
        return values % self.blocks, values // self.blocks + 1

    def answers(self, values: Ints, source: Source) -> Answers:
        """Draw an answer for each value.

        A uniform symbol of the block with the wrong sign becomes one with the right sign by flipping the row's lowest
        bit in it. The map is one to one, so the result is uniform on the symbols of the right sign.
        """
        symbols = random_words(len(values), self.symbols.bit_length() - 1, source).astype(np.int64)
        words = random_words(len(values), self.bits, source)
        honest = (words < np.uint64(self.honest)) & (values != NOTHING)
        block, row = self._place(values[honest])
        inside = symbols[honest] & (self.block - 1)
        wrong = np.bitwise_count(inside & row) & 1
        symbols[honest] = block * self.block + (inside ^ (wrong * (row & -row)))
        return symbols

    def estimate(self, tally: Ints, number: int) -> tuple[Floats, Floats]:
        """Estimate for each value the part of so many people who told it, unbiased, and its standard deviation."""
        by_block = tally.reshape(self.blocks, self.block)
        block, row = self._place(np.arange(self.size))
        h = self.honest / 2**self.bits
        mean = _walsh(by_block.astype(np.float64))[block, row] / number
        variance = np.maximum(by_block.sum(axis=1)[block] / number - mean**2, (1.0 - h) / self.blocks / 2)
        return mean / h, np.sqrt(variance / number) / h


Response = Direct | Unary | Hadamard


def response(size: int, epsilon: Fraction) -> Response:
    """The response for so many values: direct, or what has less noise where they are too many for that.

    That is unary encoding while an answer is short, else Hadamard response.
    """
    otherwise = Unary(size, epsilon) if size <= LONGEST else Hadamard(size, epsilon)
    direct = Direct(size, epsilon)
    return direct if direct.variance < otherwise.variance else otherwise


def malformed_report() -> DataError:
    """The error for bytes that are not a report."""
    return DataError("A report is not one of this collection. Leave it out, and check the device's version.")


def _walsh(values: Floats) -> Floats:
    """Multiply each row by the matrix H, by the fast Walsh-Hadamard transform."""
    rows, size = values.shape
    half = 1
    while half < size:
        pairs = values.reshape(rows, -1, 2, half)
        values = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2).reshape(rows, -1)
        half *= 2
    return values
