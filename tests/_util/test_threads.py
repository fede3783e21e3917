from __future__ import annotations

import itertools
import os
import threading
import time

import pytest

from dpheatmap._util.threads import in_threads


def test_results_come_in_order_though_work_does_not_end_in_order() -> None:
    def slow(number: int) -> int:
        time.sleep(0.02 if number % 3 == 0 else 0.0)
        return number

    assert list(in_threads(slow, range(20))) == list(range(20))


def test_work_runs_beside_other_work() -> None:
    """Two items wait for each other; alone, either would wait for ever."""
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one core")
    met = threading.Barrier(2, timeout=20)
    assert list(in_threads(lambda _: met.wait() >= 0, range(2))) == [True, True]


def test_only_a_few_results_are_made_before_they_are_read() -> None:
    begun: list[int] = []
    results = in_threads(begun.append, itertools.count())
    next(results)
    time.sleep(0.05)
    assert len(begun) <= 2 * (os.cpu_count() or 1) + 1
    results.close()  # type: ignore[attr-defined]
    after = len(begun)
    time.sleep(0.05)
    assert len(begun) == after


def test_a_failure_is_raised_where_its_result_is_read() -> None:
    results = in_threads(lambda number: 1 // number, [1, 0, 1])
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
