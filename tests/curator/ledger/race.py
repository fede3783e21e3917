"""A race, as a program: many processes at once release from a budget that fits some of them. Prints JSON.

    python race.py LEDGER PROCESSES ROUNDS FITS WAY

In each round the processes wait for a starting gun and then spend 1 on a population whose limit is FITS. They do it in
one of these ways: ``release`` the same counts; charge a ``rho``; ``reserve`` two releases of 1/2; or ``use`` a series
of FITS releases that was reserved. Printed are, round by round, how many ended with which exit code.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import dpheatmap as dph
from dpheatmap.errors import PrivacyRefusal

NONE = np.zeros(0, np.int64)
COUNTS = dph.Counts.from_cells(dph.Domain.unit(2), NONE, NONE, NONE)


def main(where: str, processes: int, rounds: int, fits: int, way: str) -> None:
    dph.release(COUNTS, epsilon=1)  # load the kernels before forking
    results = []
    for k in range(rounds):
        population = f"round {k}"
        dph.Ledger(where).limit(population, **{"rho" if way == "rho" else "epsilon": fits})
        series = dph.Ledger(where).reserve(population, 1, releases=fits).number if way == "use" else None
        spend = partial(WAYS[way], where, population, series)
        gun, trigger = os.pipe()
        children = [os.fork() or run(spend, gun, trigger) for _ in range(processes)]
        os.close(gun)
        os.close(trigger)  # reading ends for all of them at once
        codes = Counter(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
        results.append({str(code): number for code, number in codes.items()})
    print(json.dumps(results))


WAYS: dict[str, Callable[[str, str, int | None], Any]] = {
    "release": lambda where, population, _: dph.release(COUNTS, epsilon=1, ledger=where, population=population),
    "rho": lambda where, population, _: dph.Ledger(where).charge(population, rho=1),
    "reserve": lambda where, population, _: dph.Ledger(where).reserve(population, "1/2", releases=2),
    "use": lambda where, population, series: dph.Ledger(where).charge(population, 1, series=series),
}


def run(spend: Callable[[], Any], gun: int, trigger: int) -> int:
    """One process, from the starting gun to its exit code."""
    code = 1
    try:
        os.close(trigger)
        os.read(gun, 1)
        spend()
        code = 0
    except PrivacyRefusal:
        code = PrivacyRefusal.exit_code
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    processes, rounds, fits = map(int, sys.argv[2:5])
    main(sys.argv[1], processes, rounds, fits, sys.argv[5])
