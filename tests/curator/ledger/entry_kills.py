"""Kill -9 at random moments of a process that writes entries of every kind to a ledger, as a program. Prints JSON.

    python entry_kills.py LEDGER KILLS

The process charges rho, reserves series and uses them, and says so through a pipe after each. Printed is, kill by kill,
how many entries it knew to be written, and how many there are. After each kill the ledger must verify.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
import time
import traceback

import psycopg  # noqa: F401  before forking

import dpheatmap as dph

LONGEST = 0.15  # seconds


def main(where: str, kills: int) -> None:
    ledger = dph.Ledger(where)
    ledger.limit("riders", 10**6, delta="1e-6")
    results, before = [], 1
    for _ in range(kills):
        told, tell = os.pipe()
        child = os.fork() or run(ledger, tell)
        os.close(tell)
        time.sleep(random.uniform(0, LONGEST))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with open(told, "rb") as words:
            known = len(words.read())
        entries = settled(ledger)
        results.append([known, entries - before])
        before = entries
    print(json.dumps(results))


def settled(ledger: dph.Ledger) -> int:
    """The number of entries, after a server ended what it was in the middle of: a writer waits for it."""
    ledger.limit("riders", 10**6, delta="1e-6")  # the limit that there is, so that nothing is written
    return ledger.verify()


def run(ledger: dph.Ledger, tell: int) -> int:
    """Write entries until the end."""
    try:
        for step in itertools.count():
            if step % 2:
                ledger.charge("riders", rho="1/1000")
            else:
                series = ledger.reserve("riders", "1/1000", releases=2).number
                os.write(tell, b"r")
                ledger.charge("riders", "1/1000", series=series)
            os.write(tell, b"c")
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
