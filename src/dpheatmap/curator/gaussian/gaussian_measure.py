"""The measurement of counts with Gaussian noise: path budgets of rho.

**Contract of `measure_with_gaussian`.** Given counts in which one person weighs at most W units, and a design that asks
questions, the returned measurements are rho-zCDP for adding or removing one person's whole data.

**Why.** Let rho_v be the sum of the parts of rho of all measurements of a cell v. As in `core/measure.py`, the rho_v
along each path to a finest cell add up to at most rho, whatever is answered: `core/budget.py` checks every step. And
which cells are measured next, and with which part, is a function of the public domain, of rho and of noisy values
measured before. Let the neighbours differ by a person with p(v) units in cell v, at most W.

1. *One measurement.* A count gets its own discrete Gaussian noise of the parameter ``W^2 / (2 rho_v)``. Moving the true
   count by p(v) gives a Renyi divergence of order alpha of at most ``alpha rho_v (p(v) / W)^2``
   (`discrete_gaussian.py`), which is at most ``alpha rho_v p(v) / W``, because p(v) / W is at most 1.
2. *Step by step.* Let the answers to questions be y_1, y_2, ..., P and Q their laws for the two neighbours, and let
   ``L_i`` be the logarithm of ``P(y_i | y_1 .. y_(i-1)) / Q(the same)``. Given y_1 .. y_(i-1), the next question is the
   same for both, its answers have independent noise, and by 1 the mean under Q of ``exp(alpha L_i)`` is at most
   ``exp((alpha - 1) alpha c_i)``, where c_i is the sum of ``rho_v p(v) / W`` over the cells of the question. So
   ``exp(alpha (L_1 + .. + L_i) - (alpha - 1) alpha (c_1 + .. + c_i))`` does not grow in the mean, and its mean is at
   most 1 at the end, too. The c_i depend on the answers.
3. *Along the paths.* But their sum is bounded whatever is answered: exchanging sums as in the core, it is the sum over
   finest cells c of ``p(c) / W`` times the rho_v on the path to c, which is at most rho. So the mean under Q of
   ``exp(alpha (L_1 + ..))`` is at most ``exp((alpha - 1) alpha rho)``: the Renyi divergence of order alpha of the whole
   output is at most alpha rho, for every alpha > 1. The neighbours can change places.

**No ladder.** Its looks are free because every output's ratio is bounded. Here ratios are bounded in the mean only, and
a branch that is taken where the ratio is large could cost more than what it publishes. So a ladder is refused.
"""

from __future__ import annotations

import os

from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.measure import ask, in_rows
from dpheatmap.curator.core.noise import Source
from dpheatmap.curator.gaussian.discrete_gaussian import DiscreteGaussian, discrete_gaussian
from dpheatmap.design.design import Design
from dpheatmap.design.privacy_loss import ConcentratedLoss
from dpheatmap.design.shares import UNITS
from dpheatmap.place.domain import Domain
from dpheatmap.releases.measurements import Measurements


def measure_with_gaussian(
    counts: Counts, loss: ConcentratedLoss, design: Design, source: Source = os.urandom
) -> Measurements:
    """Measure counts by a design, each with independent Gaussian noise of the part of rho that its share stands for."""
    noise = _noise_of(loss, design, counts.domain)
    return in_rows(ask(counts, loss, design, lambda share, size: noise[share].exact(size, source)))


def check_gaussian_noise(loss: ConcentratedLoss, design: Design, domain: Domain) -> None:
    """Refuse a rho that is too small for exact noise, before any data is read; and load the sampler, before payment."""
    from dpheatmap.curator.gaussian.gaussian_kernels import load

    _noise_of(loss, design, domain)
    load()


def _noise_of(loss: ConcentratedLoss, design: Design, domain: Domain) -> dict[int, DiscreteGaussian]:
    """The noise of each share: W^2 / (2 rho_v), as exact fractions."""
    shares = design.possible_shares(domain) - {0}
    return {share: discrete_gaussian(UNITS**2 / (2 * loss.part(share))) for share in sorted(shares)}
