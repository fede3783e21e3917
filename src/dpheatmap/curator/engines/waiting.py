"""Waiting for an engine: with signs of progress, and so that it ends when we do."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from typing import TypeVar

Result = TypeVar("Result")


def waited(
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
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            while True:
                try:
                    return future.result(timeout=0.1), time.perf_counter() - start
                except StillRunning:
                    if future.done():
                        raise
                    if tick is not None:
                        tick(part(), time.perf_counter() - start)
        except BaseException:
            while not future.done():  # once may be too early: the work must have begun to be cancelled
                cancel()
                time.sleep(0.02)
            raise
