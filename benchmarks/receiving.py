"""What a receiver computes for each contribution of the local model, over HTTPS, with 10^5 and with 10^6 there.

The receiver is a process of its own; its CPU time is that of the whole process: TLS, HTTP, ticket, seal, storing. The
contributions that are there already are written into its state before it starts.
"""

from __future__ import annotations

import os
import socket
import ssl
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from common import bar
from dpheatmap.collect.demo import Stage
from dpheatmap.collect.local import LocalTerms
from dpheatmap.collect.process_state import State
from dpheatmap.collect.tickets import make_tickets
from dpheatmap.place.domain import Domain

SIZES = 100_000, 1_000_000
SENT, AT_ONCE = 2000, 24
LARGEST_SERIAL = 2**40  # of those that are there already: above all tickets


def fill(stage: Stage, count: int) -> None:
    """Write contributions that are there already."""
    state = State(stage.folder_of(0) / "state", stage.collection, stage.collection.roles[0])
    terms = stage.collection.terms
    assert isinstance(terms, LocalTerms)
    content = bytes(terms.payload_bytes)
    rows = ((LARGEST_SERIAL + n, os.urandom(32), os.urandom(24), content) for n in range(count))
    with state.transaction():
        state._con.executemany("INSERT INTO contributions VALUES (?, ?, ?, ?)", rows)
    state.close()


def cpu_of(process: int) -> float:
    """The CPU seconds of a process so far."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def send_all(stage: Stage, bodies: list[bytes]) -> None:
    """Send each on a connection of its own, as devices do, some at a time."""
    port = urlsplit(stage.collection.parties[0].address).port
    context = ssl.create_default_context(cafile=stage.network.authority)
    start = f"POST /contributions HTTP/1.1\r\nHost: a\r\nContent-Length: {len(bodies[0])}\r\nConnection: close\r\n\r\n"

    def send(body: bytes) -> bool:
        with (
            socket.create_connection(("127.0.0.1", port), 60) as raw,
            context.wrap_socket(raw, server_hostname="127.0.0.1") as one,
        ):
            one.sendall(start.encode() + body)
            return one.recv(100).startswith(b"HTTP/1.1 200")

    with ThreadPoolExecutor(AT_ONCE) as threads:
        assert all(threads.map(send, bodies))


def measured(size: int) -> Iterator[float]:
    """CPU milliseconds a contribution, and contributions a second."""
    terms = LocalTerms.of(Domain.unit(6), epsilon=1, n_min=1000, n_max=2**20)
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder), terms, tickets=0)
        stage.tickets = make_tickets(stage.collection, stage.operator, SENT + 100)
        bodies = [stage.device(number).contribution([0.3], [0.3])[0] for number in range(SENT + 100)]
        fill(stage, size)
        with stage:
            send_all(stage, bodies[:100])
            process = stage.process_of(0)
            before, begun = cpu_of(process), time.monotonic()
            send_all(stage, bodies[100:])
            yield 1000 * (cpu_of(process) - before) / SENT
            yield SENT / (time.monotonic() - begun)


def main() -> int:
    (small, of_small), (large, of_large) = (tuple(measured(size)) for size in SIZES)
    print(f"contributions a second, wall time of a busy machine: {of_small:.0f} and {of_large:.0f}")
    results = [
        bar(f"a contribution of the local model, {SIZES[0]:,} there", small, 2, unit=" CPU ms"),
        bar(f"a contribution of the local model, {SIZES[1]:,} there", large, 2, unit=" CPU ms"),
        bar("the second over the first", large / small, 1.25),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
