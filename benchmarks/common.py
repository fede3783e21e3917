"""What the benchmarks share: CPU time, peak memory of a child process, and one line a bar."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """The least CPU time, over all threads, that the work took."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def peak_megabytes() -> float:
    """The most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bar(what: str, value: float, limit: float, *, at_least: bool = False, unit: str = "") -> bool:
    """Print a figure beside its bar and tell whether it was reached."""
    reached = value >= limit if at_least else value <= limit
    sign = ">=" if at_least else "<="
    print(f"{'PASS' if reached else 'MISS'}  {what}: {value:,.3g}{unit} (bar {sign} {limit:,.3g}{unit})", flush=True)
    return reached
