"""The law of the noise in a release's measurements.

A curator adds a discrete Laplace. With n devices of which n_min would be enough, each adds the difference of two
negative binomial variables of shape 1 / n_min. Their sum has the shape n / n_min: it is a sum of that many discrete
Laplaces, a whole number or not. Each of several servers adds a discrete Laplace, and a measurement has the sum of them.
Sums over many reports of the local model are Gaussian, with a deviation for each measurement. A curator's discrete
Gaussian has deviations that follow from the shares of rho.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpheatmap.design.privacy_loss import PrivacyLoss, SummedLoss
from dpheatmap.releases.trust import Trust

_LAPLACE = "P(k) proportional to exp(-|k| epsilon budget_share / (shares_of_epsilon units_per_person))"
_DISCRETE_GAUSSIAN = "P(k) proportional to exp(-k^2 rho budget_share / (shares_of_epsilon units_per_person^2))"
_GAUSSIAN = "nearly normal, with the standard deviation noise_deviation / units_per_person"


@dataclass(frozen=True)
class LaplaceNoise:
    """A sum of discrete Laplaces, whose rates follow from the shares of epsilon.

    Attributes
    ----------
    summed : Fraction
        How many of them are summed; not always a whole number, as the module explains.
    family : str
        The name of the law.
    law : str
        The law as a formula, for the metadata of files.
    """

    summed: Fraction = Fraction(1)
    family = "discrete Laplace"
    law = _LAPLACE

    def __post_init__(self) -> None:
        if self.summed < 1:
            raise ValueError("there is less noise than a curator adds")


@dataclass(frozen=True)
class GaussianNoise:
    """Nearly normal noise, whose standard deviations are stored beside the measurements.

    Attributes
    ----------
    summed : Fraction
        Always 1: the standard deviations describe all of the noise.
    family : str
        The name of the law.
    law : str
        The law as a formula, for the metadata of files.
    """

    summed: Fraction = Fraction(1)
    family = "Gaussian"
    law = _GAUSSIAN

    def __post_init__(self) -> None:
        if self.summed != 1:
            raise ValueError("deviations tell all of the noise")


@dataclass(frozen=True)
class DiscreteGaussianNoise:
    """A curator's discrete Gaussian, whose variances follow from the shares of rho.

    Attributes
    ----------
    summed : Fraction
        Always 1: one curator adds it.
    family : str
        The name of the law.
    law : str
        The law as a formula, for the metadata of files.
    """

    summed: Fraction = Fraction(1)
    family = "discrete Gaussian"
    law = _DISCRETE_GAUSSIAN

    def __post_init__(self) -> None:
        if self.summed != 1:
            raise ValueError("one curator adds the noise")


NoiseLaw = LaplaceNoise | GaussianNoise | DiscreteGaussianNoise
LAPLACE = LaplaceNoise()
DISCRETE_GAUSSIAN = DiscreteGaussianNoise()


def shuffled_noise(participants: int, enough: int) -> LaplaceNoise:
    """The noise of all ``participants`` if that of ``enough`` of them would suffice.

    >>> shuffled_noise(60, 50).summed
    Fraction(6, 5)
    """
    return LaplaceNoise(Fraction(participants, enough))


def least_devices(trust: Trust, noise: NoiseLaw) -> int:
    """The number of honest devices that are enough: n_min of the shuffle model."""
    return int((trust.participants or 0) / noise.summed)


def decision_loss(loss: PrivacyLoss, noise: NoiseLaw) -> PrivacyLoss:
    """What a design that asks questions knows of the noise of their answers."""
    return SummedLoss(loss.epsilon, servers=int(noise.summed)) if noise.summed > 1 else loss


def fits(trust: Trust, noise: NoiseLaw) -> bool:
    """Whether a trust model has noise of this law."""
    if trust.who == "nobody":
        return isinstance(noise, GaussianNoise)
    if isinstance(noise, DiscreteGaussianNoise):
        return trust.who == "curator"
    if not isinstance(noise, LaplaceNoise):
        return False
    if trust.who == "servers":
        return noise.summed >= 2 and noise.summed.denominator == 1
    return trust.who == "shuffler" or noise.summed == 1
