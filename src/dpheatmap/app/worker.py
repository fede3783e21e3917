"""A process of its own for drawing, so that the server answers while it computes.

The kernels that maps are made by hold Python's lock. What runs here is given paths of releases, never people's data.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from dpheatmap.app.texts import say
from dpheatmap.errors import DataError, DpheatmapError

Answer = TypeVar("Answer")


class Worker:
    """One process, started when it is first needed, and again if it died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: ProcessPoolExecutor | None = None

    def run(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        """The answer of a function of a module, computed over there; waits for it."""
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
            raise DpheatmapError(say("drawing_ended")) from None
        if refusal is not None:
            raise DataError(refusal)
        return answer  # type: ignore[no-any-return]

    def warm(self) -> None:
        """Have what drawing needs loaded over there, before it is needed; if that is cut short, nothing is lost."""
        with suppress(DpheatmapError):
            self.run(_load)

    def close(self) -> None:
        """End the process, whatever it is at."""
        for child in multiprocessing.active_children():
            child.terminate()
        with self._lock:
            if self._pool is not None:
                self._pool.shutdown(wait=True, cancel_futures=True)


def _attempt(work: Callable[..., Any], *arguments: Any) -> tuple[Any, str | None]:
    """An answer, or the sentence of a refusal: errors of ours can't all be carried from process to process."""
    try:
        return work(*arguments), None
    except DpheatmapError as error:
        return None, str(error)


def _begin() -> None:
    """Ctrl-C is for the server, which ends this process; and if it is killed, this process ends, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _load() -> None:
    import dpheatmap.app.pictures
    import dpheatmap.estimate.posterior.posterior  # noqa: F401
