"""Many runs over several processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dpheatmap.evaluate.process_pool import cores, run_all


def square_and_process(number: int) -> tuple[int, int]:
    return number**2, os.getpid()


def fail_on_three(number: int) -> int:
    if number == 3:
        raise ValueError("three")
    return number


@pytest.mark.parametrize("workers", [1, 2])
def test_every_task_gets_its_own_result(workers: int) -> None:
    found = {task: result[0] for task, result in run_all(square_and_process, range(20), workers)}
    assert found == {k: k**2 for k in range(20)}


def test_several_processes_do_the_work() -> None:
    processes = {result[1] for _, result in run_all(square_and_process, range(200), 2)}
    assert os.getpid() not in processes
    assert 1 <= len(processes) <= 2


def test_nothing_to_do_is_done_at_once() -> None:
    assert list(run_all(square_and_process, [])) == []
    assert cores() >= 1


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failure_reaches_the_caller(workers: int) -> None:
    with pytest.raises(ValueError, match="three"):
        list(run_all(fail_on_three, range(6), workers))


SLEEPER = """
import sys, time
from dpheatmap.evaluate.process_pool import run_all
if __name__ == "__main__":
    try:
        for task, _ in run_all(time.sleep, [0.2] * 20_000, 2):
            print(task, flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
"""


def test_an_interrupt_ends_it_soon(tmp_path: Path) -> None:
    """What was not begun is dropped: all 20,000 tasks of 0.2 s would take over half an hour."""
    script = tmp_path / "sleeper.py"
    script.write_text(SLEEPER)
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 130
