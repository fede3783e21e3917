"""Likelihood of a cell's mass given a noisy measurement: log p(y | x), up to a constant, and where it peaks.

There are three laws, all with a known scale s; d = |y - x| / s:

* *Laplace*: a curator, and as many devices as the shuffle model needs. log p = -d, with a kink at x = y.
* *A sum of k Laplaces*: k servers that each add noise. The density is that of a symmetric Bessel law,
  proportional to exp(-d) times the polynomial ``sum over j < k of (k - 1 + j)! / (j! (k - 1 - j)!) 2^-j d^(k-1-j)``;
  for k = 2 it is (1 + d) exp(-d). It has no kink.
* *Gaussian*: a curator's, and sums over many people in the local model. log p = -d^2 / 2, and linear beyond d = 50,
  where p < 1e-540, so that data with such contradictions get a finite answer.

A law is written as the coefficients of its polynomial, the constant first; a Gaussian has none.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpheatmap._util.jit import njit
from dpheatmap.place.domain import Floats
from dpheatmap.releases.noise_law import DiscreteGaussianNoise, GaussianNoise, NoiseLaw

REACH = 20.0
"""The distance, in scales, within which a measurement is evaluated. Further out its Laplace term is linear."""

_FAR = 50.0


def laplace_sum(terms: int) -> Floats:
    """The law of the sum of ``terms`` Laplaces of one scale.

    >>> laplace_sum(1).tolist(), laplace_sum(2).tolist(), laplace_sum(3).tolist()
    ([1.0], [1.0, 1.0], [3.0, 3.0, 1.0])
    """
    falling = [
        math.factorial(terms - 1 + j) / (math.factorial(j) * math.factorial(terms - 1 - j) * 2.0**j)
        for j in range(terms)
    ]
    return np.array(falling[::-1])


LAPLACE: Floats = laplace_sum(1)
"""The law of the discrete Laplace noise of a curator, whose steps of 1/W of a person are far below its scale."""

GAUSSIAN: Floats = np.zeros(0)
"""The normal law; the scale is the standard deviation."""

_MOST_TERMS = 8  # REACH is 5 standard deviations of their sum, and the sum of more has nearly the same shape


def law_of(noise: NoiseLaw) -> tuple[Floats, float]:
    """The law of noise as a table, and the factor by which its scale is larger than that of one Laplace.

    More devices than the shuffle model needs give a fractional number of Laplaces. It is replaced by the nearest whole
    number of Laplaces, with the same variance.

    >>> from dpheatmap.releases.noise_law import LaplaceNoise
    >>> round(law_of(LaplaceNoise(Fraction(6, 5)))[1] ** 2, 9)
    1.2
    """
    if isinstance(noise, (GaussianNoise, DiscreteGaussianNoise)):
        return GAUSSIAN, 1.0
    terms = min(math.floor(noise.summed + Fraction(1, 2)), _MOST_TERMS)
    return laplace_sum(terms), math.sqrt(noise.summed / terms)


@njit(cache=True, error_model="numpy")
def log_density(law: Floats, distance: float) -> float:
    """log p, up to a constant, at a non-negative distance in scales."""
    if len(law) == 1:
        return -distance
    if len(law) == 0:
        near = min(distance, _FAR)
        return -0.5 * near * near - _FAR * (distance - near)
    value = 0.0
    for k in range(len(law) - 1, -1, -1):
        value = value * distance + law[k]
    return math.log(value) - distance


@njit(cache=True, error_model="numpy")
def summary(law: Floats, values: Floats, scales: Floats, start: int, stop: int) -> tuple[float, float, float, float]:
    """Summarise the measurements of a mass: centre and width of the peak, and the ends of the range to integrate over.

    The centre is weighted by precision. The range holds what is within REACH of all the measurements. If they
    contradict each other so much that nothing is, it is all that lies between them: there Laplace terms cancel, and the
    likelihood can be flat. A mass is not negative; a cell measured far below 0 has a Gaussian likelihood whose peak at
    0 is narrower than its scale.
    """
    precision, weighted = 0.0, 0.0
    low, high = 0.0, np.inf
    least, most = np.inf, 0.0
    steepest = 0.0
    for i in range(start, stop):
        value, scale = max(values[i], 0.0), scales[i]
        precision += 1.0 / scale**2
        weighted += value / scale**2
        low, high = max(low, value - REACH * scale), min(high, value + REACH * scale)
        least, most = min(least, max(value - REACH * scale, 0.0)), max(most, value + REACH * scale)
        if len(law) == 0:
            steepest = max(steepest, min(-values[i] / scale, _FAR) / scale)
    if low > high:
        low, high = least, most
    width = 1.0 / (math.sqrt(precision) + steepest)
    return weighted / precision, width * (math.sqrt(2.0 * len(law)) if len(law) else 1.0), low, high
