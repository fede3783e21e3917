"""Work shared out to threads, with its results in order. It pays where the work lets go of Python's lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Map a function over items on all cores; only a few results are kept before they are read.

    If the reader stops, by Ctrl-C or otherwise, what has not begun is dropped.

    >>> list(in_threads(abs, [-3, 2, -1]))
    [3, 2, 1]
    """
    cores = os.cpu_count() or 1
    waiting, pool = iter(items), ThreadPoolExecutor(cores)
    try:
        begun: deque[Future[Result]] = deque(pool.submit(work, item) for item in islice(waiting, 2 * cores))
        while begun:
            yield begun.popleft().result()
            begun.extend(pool.submit(work, item) for item in islice(waiting, 1))
    finally:
        pool.shutdown(cancel_futures=True)
