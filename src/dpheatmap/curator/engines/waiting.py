"""Waiting for an engine: with signs of progress, and so that it ends when we do."""

from __future__ import annotations

import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TypeVar

Result = TypeVar("Result")

PATIENCE = 5
"""Seconds that work has to end in when it is cancelled, before Ctrl-C leaves it to itself."""


def wait_for(
    work: Callable[[], Result],
    tick: Callable[[float, float], None] | None,
    part: Callable[[], float],
    cancel: Callable[[], object],
) -> tuple[Result, float]:
    """What the work returns, done in another thread, and the seconds it took.

    Meanwhile ``tick`` is called with ``part()``, the part done, and the seconds gone by. Whatever ends the waiting,
    Ctrl-C or an error of ``tick``, cancels the work, and goes on when that has ended.
    """
    start = time.perf_counter()
    # Not a Future: Ctrl-C inside its lock would leave it locked, and the work's end would never be told.
    ended: SimpleQueue[tuple[Result | None, BaseException | None]] = SimpleQueue()

    unwanted = Event()

    def work_and_tell() -> None:
        if unwanted.is_set():
            return
        try:
            ended.put((work(), None))
        except BaseException as problem:
            ended.put((None, problem))

    worker = Thread(target=work_and_tell, daemon=True)
    try:
        worker.start()
        while True:
            try:
                result, problem = ended.get(timeout=0.1)
                break
            except Empty:
                if tick is not None:
                    tick(part(), time.perf_counter() - start)
    except BaseException:
        unwanted.set()  # Ctrl-C within start(): a thread that does not count as alive yet finds this, and does nothing
        _end(worker, cancel)
        raise
    if problem is not None:
        raise problem
    return result, time.perf_counter() - start  # type: ignore[return-value]


def _end(worker: Thread, cancel: Callable[[], object]) -> None:
    """Cancel until the work has ended, also if Ctrl-C comes a second time: what it works on is closed next."""
    start = time.monotonic()
    while True:
        try:
            if not worker.is_alive():
                return
            cancel()  # once may be too early: the work must have begun to be cancelled
            time.sleep(0.02)
        except KeyboardInterrupt:
            if time.monotonic() > start + PATIENCE:
                raise
