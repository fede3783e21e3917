"""A race, as a program: many processes at once release from a budget that fits some of them. Prints JSON.

    python race.py LEDGER PROCESSES ROUNDS FITS

In each round the processes wait for a starting gun and then release the same counts at epsilon 1, charged to a
population whose limit is FITS. Printed are, round by round, how many ended with which exit code.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections import Counter

import numpy as np

import dpheatmap as dph
from dpheatmap.errors import PrivacyRefusal


def main(where: str, processes: int, rounds: int, fits: int) -> None:
    none = np.zeros(0, np.int64)
    counts = dph.Counts.from_cells(dph.Domain.unit(2), none, none, none)
    dph.release(counts, epsilon=1)  # load the kernels before forking
    results = []
    for k in range(rounds):
        population = f"round {k}"
        dph.Ledger(where).limit(population, fits)
        gun, trigger = os.pipe()
        children = [os.fork() or run(counts, where, population, gun, trigger) for _ in range(processes)]
        os.close(gun)
        os.close(trigger)  # reading ends for all of them at once
        codes = Counter(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
        results.append({str(code): number for code, number in codes.items()})
    print(json.dumps(results))


def run(counts: dph.Counts, where: str, population: str, gun: int, trigger: int) -> int:
    """One process, from the starting gun to its exit code."""
    code = 1
    try:
        os.close(trigger)
        os.read(gun, 1)
        dph.release(counts, epsilon=1, ledger=where, population=population)
        code = 0
    except PrivacyRefusal:
        code = PrivacyRefusal.exit_code
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
