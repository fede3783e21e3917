"""What a privacy loss allows whoever guesses: how many participants they may find, and how often they may be right.

A test of "took part" against "did not" has a false positive rate f, the part of others whom it takes for participants,
and a true positive rate t, the part of participants whom it finds. Of an (epsilon, delta)-DP mechanism

    t <= exp(epsilon) f + delta   and   1 - f <= exp(epsilon) (1 - t) + delta

for every test (P. Kairouz, S. Oh, P. Viswanath, 2015). A loss of concentrated privacy is (epsilon, delta)-DP for many
pairs at once, and all of them bound the test. Whoever guesses is right most often where t = 1 - f, because the bounds
are concave and alike in both kinds of errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Self

from dpheatmap.design.composition import epsilon_of_rho
from dpheatmap.design.privacy_loss import ConcentratedLoss, PrivacyLoss

_DELTAS = (
    *(Fraction(digit, 10**power) for power in range(9, 1, -1) for digit in (1, 3)),
    *(Fraction(k, 50) for k in range(1, 46)),
)
"""The deltas at which a concentrated loss is told as an epsilon."""


@dataclass(frozen=True)
class AttackBound:
    """The bounds of all pairs of epsilon and delta that hold at once."""

    pairs: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, loss: PrivacyLoss) -> Self:
        """The bounds that a loss gives.

        >>> from dpheatmap.design.privacy_loss import PureLoss
        >>> round(AttackBound.of(PureLoss(Fraction(1))).accuracy, 4)
        0.7311
        """
        pairs = [(float(loss.epsilon), float(loss.delta))]
        if isinstance(loss, ConcentratedLoss):
            pairs += [(float(epsilon_of_rho(loss.rho, delta)), float(delta)) for delta in _DELTAS]
        return cls(tuple(pairs))

    def true_rate(self, false_rate: float) -> float:
        """The largest part of participants who may be found, at a part of others who are taken for participants."""
        return max(min(min(_true_rate(*pair, false_rate) for pair in self.pairs), 1.0), 0.0)

    @property
    def accuracy(self) -> float:
        """The most guesses that may be right, if half of the people took part."""
        return min(_accuracy(*pair) for pair in self.pairs)


def together(losses: Sequence[PrivacyLoss]) -> PrivacyLoss:
    """The loss of all releases of the same people: losses add up.

    >>> from dpheatmap.design.privacy_loss import PureLoss
    >>> print(together([PureLoss(Fraction(1, 2)), PureLoss(Fraction(1, 4))]))
    epsilon = 0.75
    """
    return reduce(add, losses)


_HIGHEST = 700.0  # an epsilon beyond which exp overflows, and nothing is promised


def _true_rate(epsilon: float, delta: float, false_rate: float) -> float:
    factor = math.exp(min(epsilon, _HIGHEST))
    return min(factor * false_rate + delta, 1.0 - (1.0 - false_rate - delta) / factor)


def _accuracy(epsilon: float, delta: float) -> float:
    factor = math.exp(min(epsilon, _HIGHEST))
    return (factor + delta) / (factor + 1.0)
