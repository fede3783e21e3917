"""Proofs that a device weighs at most 1, at 64 x 64 cells: bytes and CPU of devices and servers, and soundness.

Also what other choices would cost: a smaller field with several proofs, and more cells.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np

from common import bar, cpu_seconds
from dpheatmap.collect.vdaf.bounded_sum import IDENTIFIER, BoundedSum
from dpheatmap.collect.vdaf.l1_bound import L1BoundSum
from dpheatmap.collect.vdaf.prime_field import FIELD64, FIELD128, Ints, PrimeField
from dpheatmap.collect.vdaf.prio3 import Prio3
from dpheatmap.collect.vdaf.soundness import bits_of_soundness

REPEATS = 7


class Costs:
    """What one contribution costs: CPU seconds of the device, the leader and a helper, and bytes."""

    def __init__(self, made: Prio3, vector: Ints) -> None:
        nonce, key, rand = os.urandom(16), os.urandom(32), os.urandom(made.rand_size)
        public, shares = made.shard(vector, nonce, rand)
        told = [made.verify_init(key, i, nonce, public, share)[1] for i, share in enumerate(shares)]
        self.device = cpu_seconds(lambda: made.shard(vector, nonce, rand), REPEATS)
        self.leader = cpu_seconds(lambda: made.verify_init(key, 0, nonce, public, shares[0]), REPEATS)
        self.helper = cpu_seconds(lambda: made.verify_init(key, 1, nonce, public, shares[1]), REPEATS)
        self.decision = cpu_seconds(lambda: made.verifier_shares_to_message(told), REPEATS)
        self.upload = sum(map(len, shares)) + made.servers * len(public)
        self.told = made.verifier_size

    def __str__(self) -> str:
        times = (self.device, self.leader, self.helper, self.decision)
        device, leader, helper, decision = (f"{1e3 * seconds:.2f}" for seconds in times)
        return (
            f"device {self.upload:,} bytes and {device} CPU ms, leader {leader} ms, helper {helper} ms, decision "
            f"{decision} ms, {self.told:,} bytes between servers"
        )


def costs(side: int, bound: int, field: PrimeField = FIELD128, proofs: int = 1, servers: int = 2) -> Costs:
    circuit = L1BoundSum(field, side * side, bound)
    vector = np.bincount(np.random.default_rng().integers(0, side * side, bound), minlength=side * side)
    found = Costs(Prio3(circuit, servers, IDENTIFIER, b"benchmark", proofs), vector)
    print(
        f"{side} x {side}, B = {bound}, {servers} servers, {proofs} proof(s) in {8 * field.encoded_size} bits "
        f"(2^-{bits_of_soundness(circuit, proofs):.0f}): {found}"
    )
    return found


def send_once() -> int:
    """In a process of its own: a device's first contribution."""
    made = BoundedSum(64 * 64, 16, 2, b"benchmark")
    made.shard(np.zeros(64 * 64, dtype=np.int64), bytes(16), os.urandom(made.rand_size))
    return 0


def process_seconds() -> float:
    """The CPU time of such a process from start to end, where what Python and numba compiled is kept."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
        for _ in range(2):
            start = os.times()
            subprocess.run([sys.executable, __file__, "once"], env=environment, check=True)
            end = os.times()
    return end.children_user + end.children_system - start.children_user - start.children_system


def main() -> int:
    usual, fine = costs(64, 4), costs(64, 16)
    costs(64, 16, servers=3)
    for proofs in (1, 2, 3):
        costs(64, 16, FIELD64, proofs)
    costs(128, 16)
    costs(256, 4)
    costs(256, 4, FIELD64, 3)
    print(f"a process that makes one contribution, from start to end: {process_seconds():.2f} CPU s")
    results = [
        bar("a contribution at 64 x 64, B = 4", usual.upload / 1e6, 1, unit=" MB"),
        bar("a contribution at 64 x 64, B = 16", fine.upload / 1e6, 1, unit=" MB"),
        bar("making it", fine.device, 1, unit=" CPU s"),
        bar("verifying it, all servers", fine.leader + fine.helper + fine.decision, 1, unit=" CPU s"),
        bar("bits of soundness", bits_of_soundness(L1BoundSum(FIELD128, 64 * 64, 16)), 112, at_least=True),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(send_once() if sys.argv[1:] else main())
