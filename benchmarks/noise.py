"""The exact sampler's speed on one core, alone and against OpenDP's, at the noise of epsilon = 1/3 on one level."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from common import bar, cpu_seconds
from dpheatmap.curator.core.noise import DiscreteLaplace
from dpheatmap.design.shares import UNITS

RATE = Fraction(1, 3) / UNITS
SIZE = 2**21
PEER_SIZE = 2**14


def main() -> int:
    sampler = DiscreteLaplace(RATE)
    first = cpu_seconds(lambda: sampler.sample(SIZE))  # compiles, or loads what was compiled, and makes the tables
    ours = SIZE / cpu_seconds(lambda: sampler.sample(SIZE), 25) / 1e6

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    opendp = space >> dp.m.then_laplace(scale=float(1 / RATE))
    zeros = [0] * PEER_SIZE
    peer = PEER_SIZE / cpu_seconds(lambda: opendp(zeros), 5) / 1e6

    generator = np.random.default_rng()
    insecure = SIZE / cpu_seconds(lambda: generator.laplace(scale=float(1 / RATE), size=SIZE), 5) / 1e6

    print(
        f"millions of samples a CPU second: {ours:.1f} here, {peer:.3f} OpenDP, {insecure:.1f} NumPy, which is neither"
    )
    print(f"exact nor secure; the first {SIZE / 1e6:.1f} million, with compiling and tables, took {first:.2f} s")
    results = [
        bar("exact samples a second", ours, 20, at_least=True, unit=" million"),
        bar("exact samples over OpenDP's in the same time", ours / peer, 100, at_least=True, unit="x"),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
