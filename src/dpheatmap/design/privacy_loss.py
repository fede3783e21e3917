"""Privacy losses: the kind of guarantee that a release gives to one person, and how strong it is.

Who is trusted with the data (`releases/trust.py`) and the law of the noise (`releases/noise_law.py`) are kept apart
from it. A part of a loss is a whole number of shares, of which there are :data:`~dpheatmap.design.shares.SHARES`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from dpheatmap._util.parameters import as_epsilon, check
from dpheatmap.design.shares import SHARES, exact_text


class PrivacyLoss(Hashable, Protocol):
    """A bound on how much one person's data changes the output."""

    @property
    def epsilon(self) -> Fraction:
        """The log-ratio of probabilities that is allowed."""

    @property
    def delta(self) -> Fraction:
        """The probability that more than that leaks."""

    def part(self, share: int) -> Fraction:
        """The part of epsilon that a share stands for, on a path."""

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

    def __add__(self, other: PrivacyLoss) -> PureLoss:
        """The loss of both together, by sequential composition."""
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


def loss_of(epsilon: Fraction, delta: Fraction) -> PureLoss:
    """The pure loss, or with a delta the approximate one.

    >>> loss_of(Fraction(1), Fraction(0))
    PureLoss(epsilon=Fraction(1, 1), delta=Fraction(0, 1))
    """
    return ApproximateLoss(epsilon, delta) if delta else PureLoss(epsilon)


def to_dict(loss: PrivacyLoss) -> dict[str, str]:
    """A description that :func:`from_dict` reads back, for the metadata of files."""
    return {"epsilon": str(loss.epsilon), "delta": str(loss.delta)}


def from_dict(description: Mapping[str, Any]) -> PureLoss:
    """The loss that :func:`to_dict` described."""
    check(epsilon=description["epsilon"])
    return loss_of(as_epsilon(description["epsilon"]), as_epsilon(description["delta"]))
