"""A server process that is killed between storing an answer and sending it: it never draws a second one."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from dpheatmap.collect.demo import Stage
from dpheatmap.collect.network import UnreachableError
from dpheatmap.errors import DataError, PrivacyRefusal
from helpers.collecting import server_terms

DYING = """
import os
import signal

if "DIE_AT" in os.environ:
    from dpheatmap.collect.server import Server

    right = Server._answer

    def deadly(self, step, *others):
        known = self._body_of(self.number, step.number)
        {before}
        right(self, step, *others)
        if known is None and step.number == int(os.environ["DIE_AT"]):
            os.kill(os.getpid(), signal.SIGKILL)

    Server._answer = deadly
"""
"""Runs when Python starts: the process kills itself right after the answer to a question is on disk."""

FORGETFUL = 'self.state.write("DELETE FROM answers WHERE number = ? AND server = ?", step.number, self.number)'
"""The planted bug: every answer is drawn anew."""


def stored_answers(stage: Stage, number: int) -> dict[int, bytes]:
    """The own answers in the state of a server that is dead."""
    with closing(sqlite3.connect(stage.folder_of(number) / "state")) as con:
        rows = con.execute("SELECT number, body FROM answers WHERE server = ?", (number,)).fetchall()
    return {at: bytes(body) for at, body in rows}


def wait_for_death(stage: Stage, number: int) -> None:
    process, end = stage._processes[number], time.monotonic() + 120
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    assert process.poll() == -signal.SIGKILL
    del stage._processes[number]


def plant(folder: Path, monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    """Let processes from now on run the above when Python starts."""
    hook = folder / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(DYING.format(before=before))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(hook), os.environ.get("PYTHONPATH", "")]))


def send_from_four(stage: Stage) -> None:
    for number in range(4):
        device = stage.device(number)
        device.send(device.contribution([0.03], [0.03]), stage.network)


def run_until_death(stage: Stage, question: int, monkeypatch: pytest.MonkeyPatch) -> dict[int, bytes]:
    """Run the first server until it is killed after its answer to a question; its answers on disk."""
    monkeypatch.setenv("DIE_AT", str(question))
    with suppress(UnreachableError):  # dead before it was heard of
        stage.start(0)
    if question == 1:
        stage.close()
    wait_for_death(stage, 0)
    return stored_answers(stage, 0)


TERMS = server_terms(4, epsilon=64, n_min=3, n_max=9)


def test_an_answer_that_is_stored_and_not_sent_is_the_one_that_is_sent_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, monkeypatch, "pass")
    with Stage(tmp_path, TERMS, tickets=4) as stage:
        send_from_four(stage)
        stage.kill(0)
        stored = [run_until_death(stage, question, monkeypatch) for question in (1, 2, 3)]
        monkeypatch.delenv("DIE_AT")
        stage.start(0)
        assert stage.result().trust.participants == 4
        stage.kill(0)
        stored.append(stored_answers(stage, 0))
    assert [max(answers) for answers in stored[:3]] == [1, 2, 3]
    for answers in stored[:3]:
        assert answers.items() <= stored[-1].items()


@pytest.mark.long
def test_a_server_that_draws_again_after_a_kill_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: what was stored is drawn anew. The answer on disk becomes another, and the chains part."""
    plant(tmp_path, monkeypatch, FORGETFUL)
    with Stage(tmp_path, TERMS, tickets=4) as stage:
        stage.network.patience = 30
        send_from_four(stage)
        stage.kill(0)
        before = run_until_death(stage, 1, monkeypatch)
        monkeypatch.setenv("DIE_AT", "0")  # never
        stage.start(0)
        with suppress(UnreachableError, PrivacyRefusal, DataError):
            stage.result()
        stage.kill(0)
        assert not before.items() <= stored_answers(stage, 0).items()
