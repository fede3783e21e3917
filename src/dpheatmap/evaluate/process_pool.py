"""Parallel runs of independent tasks on the machine's cores, with progress and interruption."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def cores() -> int:
    """The number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(
    work: Callable[[Task], Result], tasks: Sequence[Task], workers: int | None = None
) -> Iterator[tuple[Task, Result]]:
    """Run tasks and yield each with its result when done; ``work`` must be a function of a module.

    Workers are spawned, not forked: a fork's copies of locks and threads may be stuck. An interrupt, or a failed task,
    drops tasks not yet begun; results already yielded stay with the caller. Workers leave Ctrl-C to their parent.
    """
    workers = min(cores() if workers is None else workers, len(tasks))
    if workers <= 1:
        yield from ((task, work(task)) for task in tasks)
        return
    pool = ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)
    )
    try:
        with _one_thread_each():
            futures = {pool.submit(work, task): task for task in tasks}
            for future in as_completed(futures):
                yield futures[future], future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Limit linear algebra in processes started meanwhile to one core; a user's own setting stays."""
    missing = [
        name for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS") if name not in os.environ
    ]
    os.environ.update(dict.fromkeys(missing, "1"))
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]
