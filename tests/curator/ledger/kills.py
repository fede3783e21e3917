"""Kill -9 at random moments of releases, as a program. Prints JSON.

    python kills.py LEDGER FOLDER KILLS

Each time a process releases with a charge and saves the release, and is killed after a random part of the time that
takes. After each kill the ledger must verify. Printed is, kill by kill, whether the charge is there and whether the
file is.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback

import numpy as np

import dpheatmap as dph


def main(where: str, folder: str, kills: int) -> None:
    import duckdb  # noqa: F401  before forking, and without opening anything

    cells = np.arange(4)
    counts = dph.Counts.from_cells(dph.Domain.unit(2), cells, cells, cells * 2**30)
    dph.release(counts, epsilon=1)  # load the kernels
    ledger = dph.Ledger(where)
    ledger.limit("people", 10**6)
    times = []
    for k in range(5):
        start = time.monotonic()
        os.waitpid(os.fork() or run(counts, where, f"{folder}/whole-{k}.dph.parquet"), 0)
        times.append(time.monotonic() - start)
    results, charges = [], ledger.accounts()["people"].charges
    for k in range(kills):
        path = f"{folder}/{k}.dph.parquet"
        child = os.fork() or run(counts, where, path)
        time.sleep(random.uniform(0, 1.2 * sorted(times)[2]))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        before, charges = charges, ledger.accounts()["people"].charges
        results.append([charges - before, int(os.path.exists(path))])
    print(json.dumps(results))


def run(counts: dph.Counts, where: str, path: str) -> int:
    """One release, from the charge to the file."""
    code = 1
    try:
        dph.release(counts, epsilon=1, ledger=where, population="people").save(path)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
