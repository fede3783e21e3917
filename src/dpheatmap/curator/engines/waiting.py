"""Waiting for an engine, with progress, and with cancellation when the waiting ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TypeVar

Result = TypeVar("Result")

PATIENCE = 5
"""Seconds in which cancelled work must end before Ctrl-C abandons it."""


def wait_for(
    work: Callable[[], Result],
    tick: Callable[[float, float], None] | None,
    part: Callable[[], float],
    cancel: Callable[[], object],
) -> tuple[Result, float]:
    """Do work in another thread, and return its result and the seconds it took.

    Meanwhile ``tick`` is called with ``part()``, the part done, and the seconds gone by. Whatever ends the waiting,
    Ctrl-C or an error of ``tick``, cancels the work, and is raised when the work has ended.
    """
    start = time.perf_counter()
    # Not a Future: Ctrl-C inside its lock would leave it locked, and the end of the work would never be seen.
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
        unwanted.set()  # Ctrl-C within start(): a thread that is not alive yet finds this set, and does nothing
        _end(worker, cancel)
        raise
    if problem is not None:
        raise problem
    return result, time.perf_counter() - start  # type: ignore[return-value]


def _end(worker: Thread, cancel: Callable[[], object]) -> None:
    """Cancel until the work has ended, even at a second Ctrl-C, because what it works on is closed next."""
    start = time.monotonic()
    while True:
        try:
            if not worker.is_alive():
                return
            cancel()  # once may be too early: only work that has begun can be cancelled
            time.sleep(0.02)
        except KeyboardInterrupt:
            if time.monotonic() > start + PATIENCE:
                raise
