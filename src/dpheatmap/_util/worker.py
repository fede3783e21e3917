"""A separate process for drawing, so that a server answers while it computes.

The kernels of maps hold Python's lock. The process gets paths of releases, never people's data.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar

from dpheatmap.errors import DataError, DpheatmapError

Answer = TypeVar("Answer")


class Worker:
    """One process, started when first needed, and again if it died; ``ended`` is then the message of the error."""

    def __init__(self, ended: str) -> None:
        self._ended = ended
        self._lock = threading.Lock()
        self._pool: ProcessPoolExecutor | None = None

    def run(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run a function of a module in the process, and wait for its answer."""
        with self._lock:
            if self._pool is None:
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(1, context, _begin)
            pool = self._pool
        try:
            answer, refusal = pool.submit(_attempt, work, *arguments).result()
        except BrokenExecutor:
            with self._lock:
                if self._pool is pool:
                    self._pool = None
            raise DpheatmapError(self._ended) from None
        if refusal is not None:
            raise DataError(refusal)
        return answer  # type: ignore[no-any-return]

    def warm(self, *modules: str) -> None:
        """Load modules into the process in advance; an interruption does no harm."""
        with suppress(DpheatmapError):
            self.run(_load, modules)

    def interrupt(self) -> None:
        """End the process, even if it is working; the next work starts another one."""
        for child in multiprocessing.active_children():
            child.terminate()

    def close(self) -> None:
        """End the process for good."""
        self.interrupt()
        with self._lock:
            if self._pool is not None:
                self._pool.shutdown(wait=True, cancel_futures=True)


def _attempt(work: Callable[..., Any], *arguments: Any) -> tuple[Any, str | None]:
    """Run a function; returns its answer, or the message of its error, since not all our errors can be pickled."""
    try:
        return work(*arguments), None
    except DpheatmapError as error:
        return None, str(error)


def _begin() -> None:
    """Set up the process: it ignores Ctrl-C, on which the server ends it, and it ends if the server is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _load(modules: tuple[str, ...]) -> None:
    for module in modules:
        import_module(module)
