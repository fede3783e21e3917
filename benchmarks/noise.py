"""The exact samplers' speed on one core, alone and against OpenDP's: Laplace noise of epsilon = 1/3 on one level, and
Gaussian noise of rho = 1/50."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import opendp.prelude as dp

from common import bar, cpu_seconds
from dpheatmap.curator.core.noise import DiscreteLaplace
from dpheatmap.curator.gaussian.discrete_gaussian import DiscreteGaussian
from dpheatmap.design.shares import UNITS

RATE = Fraction(1, 3) / UNITS
VARIANCE = UNITS**2 / (2 * Fraction(1, 50))
SIZE = 2**21
PEER_SIZE = 2**14


def compare(
    name: str,
    ours: Callable[[int], Any],
    peer: Callable[[Any], Any],
    insecure: Callable[[int], Any],
    least: float,
    over_peer: float,
) -> list[bool]:
    """Samples a second here, by OpenDP and by NumPy; the bars are for a second, and for OpenDP's in the same time."""
    first = cpu_seconds(lambda: ours(SIZE))  # compiles, or loads what was compiled, and makes the tables
    here = SIZE / cpu_seconds(lambda: ours(SIZE), 25) / 1e6
    zeros = [0] * PEER_SIZE
    theirs = PEER_SIZE / cpu_seconds(lambda: peer(zeros), 5) / 1e6
    numpys = SIZE / cpu_seconds(lambda: insecure(SIZE), 5) / 1e6
    print(
        f"{name}, millions of samples a CPU second: {here:.1f} here, {theirs:.3f} OpenDP, {numpys:.1f} NumPy, which is"
    )
    print(
        f"neither exact nor secure; the first {SIZE / 1e6:.1f} million, with compiling and tables, took {first:.2f} s"
    )
    return [
        bar(f"exact {name} samples a second", here, least, at_least=True, unit=" million"),
        bar(f"exact {name} samples over OpenDP's in the same time", here / theirs, over_peer, at_least=True, unit="x"),
    ]


def main() -> int:
    dp.enable_features("contrib")
    integers = dp.vector_domain(dp.atom_domain(T="i64"))
    generator = np.random.default_rng()
    laplace, gaussian = DiscreteLaplace(RATE), DiscreteGaussian(VARIANCE)
    opendp_laplace = (integers, dp.l1_distance(T="i64")) >> dp.m.then_laplace(scale=float(1 / RATE))
    opendp_gaussian = (integers, dp.l2_distance(T="f64")) >> dp.m.then_gaussian(scale=math.sqrt(VARIANCE))
    results = [
        *compare(
            "Laplace", laplace.sample, opendp_laplace,
            lambda size: generator.laplace(scale=float(1 / RATE), size=size), 20, 100,
        ),
        *compare(
            "Gaussian", gaussian.exact, opendp_gaussian,
            lambda size: generator.normal(scale=math.sqrt(VARIANCE), size=size), 2, 10,
        ),
    ]  # fmt: skip
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
