"""Privacy losses: the kind of guarantee that a release gives to one person, and how strong it is.

Who is trusted with the data (`releases/trust.py`) and the law of the noise (`releases/noise_law.py`) are kept apart
from it. A part of a loss is a whole number of shares, of which there are :data:`~dpheatmap.design.shares.SHARES`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from dpheatmap._util.parameters import as_epsilon, check
from dpheatmap.design.composition import epsilon_of_rho, rho_of_pure, rho_within
from dpheatmap.design.shares import SHARES, exact_text
from dpheatmap.errors import ParameterError

LEAST_RHO, MOST_RHO, LEAST_DELTA = Fraction(1, 10**15), 10**5, Fraction(1, 10**100)
"""Below the first, noise does not fit into 64 bits; above the second it is next to none."""
DEFAULT_DELTA = Fraction(1, 10**6)
"""The delta at which a rho is told as an epsilon."""


class PrivacyLoss(Hashable, Protocol):
    """A bound on how much one person's data changes the output."""

    @property
    def epsilon(self) -> Fraction:
        """The log-ratio of probabilities that is allowed."""

    @property
    def delta(self) -> Fraction:
        """The probability that more than that leaks."""

    def part(self, share: int) -> Fraction:
        """The part of the budget, epsilon or rho, that a share stands for, on a path."""

    def strength(self, share: int) -> Fraction:
        """The epsilon of which Laplace noise has the standard deviation that the noise of a share has."""

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        """The loss of both together."""


@dataclass(frozen=True)
class PureLoss:
    """Pure differential privacy: the probability of any outcome changes by a factor of at most exp(epsilon).

    Parts add up along a path, exactly.

    >>> PureLoss.read("0.5").part(SHARES // 2)
    Fraction(1, 4)
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.delta != 0:
            raise ValueError("pure differential privacy has no delta")

    @classmethod
    def read(cls, value: object) -> PureLoss:
        """Read the loss of an epsilon exactly as written; refuse what is not a number above 0."""
        check(epsilon=value)
        return cls(as_epsilon(value))

    def part(self, share: int) -> Fraction:
        """The part of epsilon that a share stands for."""
        return self.epsilon * share / SHARES

    def strength(self, share: int) -> Fraction:
        """The part itself: the noise is Laplace."""
        return self.part(share)

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        """The loss of both together, by sequential composition."""
        if isinstance(other, ConcentratedLoss):
            return other + self
        return loss_of(self.epsilon + other.epsilon, self.delta + other.delta)

    def __str__(self) -> str:
        return f"epsilon = {exact_text(self.epsilon)}"


@dataclass(frozen=True)
class ApproximateLoss(PureLoss):
    """Approximate differential privacy: the same up to a probability of delta, as in the shuffle model."""

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise ValueError("delta is a probability above 0")

    def __str__(self) -> str:
        return f"{super().__str__()} and delta = {exact_text(self.delta)}"


@dataclass(frozen=True)
class SummedLoss(PureLoss):
    """The loss by which a design decides where several servers answer, each with the whole noise of a share.

    Their noises add up to that of a Laplace with 1 / sqrt(servers) of epsilon, as far as deviations go; the root is
    rounded down to 32 bits, the same on every machine. What is promised is epsilon all the same.

    >>> SummedLoss(Fraction(1), servers=4).strength(SHARES)
    Fraction(1, 2)
    """

    servers: int = 1

    def strength(self, share: int) -> Fraction:
        """The part over the root of the number of servers."""
        return self.part(share) * Fraction(math.isqrt(2**64 // self.servers), 2**32)


@dataclass(frozen=True)
class ConcentratedLoss:
    """Zero-concentrated differential privacy, which Gaussian noise gives; told as epsilon at a delta, too.

    Parts of rho add up along a path (`curator/core/measure.py`). The Renyi divergence of any order alpha is at most
    rho alpha.

    >>> loss = ConcentratedLoss(Fraction(1, 50), Fraction(1, 10**6))
    >>> print(loss)
    rho = 0.02, so epsilon = 0.899936 and delta = 0.000001
    """

    rho: Fraction
    delta: Fraction = DEFAULT_DELTA

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1 or self.rho <= 0:
            raise ValueError("rho is above 0, and delta is a probability above 0")

    @classmethod
    def read(cls, rho: object, delta: object = DEFAULT_DELTA) -> ConcentratedLoss:
        """Read rho and delta exactly as written; refuse what is not a number in their ranges."""
        check(rho=rho, delta=delta)
        if as_epsilon(delta) == 0:
            raise ParameterError("delta must be above 0 with Gaussian noise; it was 0. 1e-6 is a common choice.")
        loss = cls(as_epsilon(rho), as_epsilon(delta))
        if not LEAST_RHO <= loss.rho <= MOST_RHO or loss.delta < LEAST_DELTA:
            raise ParameterError(
                f"rho must be from {float(LEAST_RHO):g} to {MOST_RHO}, and delta at least {float(LEAST_DELTA):g}; they "
                f"were {float(loss.rho):g} and {float(loss.delta):g}. 0.02 and 1e-6 are common choices."
            )
        return loss

    @property
    def epsilon(self) -> Fraction:
        """The epsilon that holds with delta, rounded up."""
        return epsilon_of_rho(self.rho, self.delta)

    def part(self, share: int) -> Fraction:
        """The part of rho that a share stands for."""
        return self.rho * share / SHARES

    def strength(self, share: int) -> Fraction:
        """The epsilon e with sqrt(2) / e = 1 / sqrt(2 rho), which is 2 sqrt(rho), rounded down to 64 bits."""
        part = self.part(share)
        return Fraction(math.isqrt((part.numerator << 130) // part.denominator), 2**64)

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        """The loss of both together: rho adds up, and a pure epsilon has a rho of its own."""
        if isinstance(other, ApproximateLoss):
            return loss_of(self.epsilon + other.epsilon, self.delta + other.delta)
        rho = other.rho if isinstance(other, ConcentratedLoss) else rho_of_pure(other.epsilon)
        return ConcentratedLoss(self.rho + rho, max(self.delta, other.delta))

    def __str__(self) -> str:
        return f"rho = {exact_text(self.rho)}, so {loss_of(self.epsilon, self.delta)}"


def loss_of(epsilon: Fraction, delta: Fraction) -> PureLoss:
    """The pure loss, or with a delta the approximate one.

    >>> loss_of(Fraction(1), Fraction(0))
    PureLoss(epsilon=Fraction(1, 1), delta=Fraction(0, 1))
    """
    return ApproximateLoss(epsilon, delta) if delta else PureLoss(epsilon)


def read_loss(epsilon: object, noise: str, rho: object, delta: object) -> PureLoss | ConcentratedLoss:
    """Read the loss that options of a release name: epsilon with Laplace noise, rho with Gaussian noise.

    >>> print(read_loss("0.5", "laplace", None, None))
    epsilon = 0.5
    """
    check(noise=noise, **{name: one for name, one in (("rho", rho), ("delta", delta)) if one is not None})
    if noise == "laplace":
        if rho is not None or delta is not None:
            raise ParameterError("rho and delta are for noise='gaussian', and the noise is Laplace. Leave them out.")
        return PureLoss.read(epsilon)
    if epsilon is not None:
        check(epsilon=epsilon)
        fitting = rho_within(as_epsilon(epsilon), DEFAULT_DELTA)
        raise ParameterError(
            "Gaussian noise has a rho instead of an epsilon, and epsilon was given. For that epsilon at a delta of "
            f"{exact_text(DEFAULT_DELTA)}, give rho {exact_text(fitting)}."
        )
    return ConcentratedLoss.read(rho, DEFAULT_DELTA if delta is None else delta)


def to_dict(loss: PrivacyLoss) -> dict[str, str]:
    """A description that :func:`from_dict` reads back, for the metadata of files."""
    rho = {"rho": str(loss.rho)} if isinstance(loss, ConcentratedLoss) else {}
    return {"epsilon": str(loss.epsilon), "delta": str(loss.delta), **rho}


def from_dict(description: Mapping[str, Any]) -> PureLoss | ConcentratedLoss:
    """The loss that :func:`to_dict` described."""
    check(epsilon=description["epsilon"])
    if "rho" in description:
        return _of_rho(description)
    return loss_of(as_epsilon(description["epsilon"]), as_epsilon(description["delta"]))


def _of_rho(description: Mapping[str, Any]) -> ConcentratedLoss:
    """A loss with a rho; the epsilon beside it, for readers, may be no smaller than what rho gives."""
    check(rho=description["rho"], delta=description["delta"])
    loss = ConcentratedLoss.read(description["rho"], description["delta"])
    if as_epsilon(description["epsilon"]) < loss.epsilon * (1 - Fraction(1, 10**5)):  # another machine may round so
        raise ValueError("an epsilon that rho does not give")
    return loss
