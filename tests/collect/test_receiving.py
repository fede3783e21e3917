"""What receivers do with what arrives: count it without looking at all of it, store it together, know it again."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from dpheatmap.collect.disk_need import disk_in_words, disk_size
from dpheatmap.collect.keys import PrivateKey
from dpheatmap.collect.process_state import State
from dpheatmap.collect.receiver import STATUS, Refused, ask_progress
from dpheatmap.errors import DataError
from helpers.collecting import CORNER, also_local, cast, refusal_of
from helpers.served import until


@also_local
def test_what_was_admitted_is_told_so_again_also_after_the_end(model: str, tmp_path: Path) -> None:
    """A device that got no answer asks again later; it must not think that it failed."""
    stage = cast(tmp_path, model)
    stage.crowd(2)
    role, client = stage.role(0), stage.client(2)
    bodies, (other, *_) = client.contribution(*CORNER), client.contribution(*CORNER)
    late = stage.client(3).contribution(*CORNER)[0]
    client.send(bodies, stage.network)
    ends: list[Callable[[], None]] = [lambda: None, stage.close, stage.steps, lambda: stage.start(0)]
    for end in ends:
        end()
        stage.role(0).accept(bodies[0])
        assert refusal_of(stage.role(0), other)[0] in (409, 410)
    assert refusal_of(stage.role(0), late)[0] == 410
    assert stage.role(0).phase() == "published"
    assert stage.role(0).state.count_contributions() == 0
    assert role is not stage.role(0)


@contextmanager
def statements(state: State) -> Iterator[list[str]]:
    """What SQL is executed meanwhile."""
    seen: list[str] = []
    state._con.set_trace_callback(seen.append)
    try:
        yield seen
    finally:
        state._con.set_trace_callback(None)


def test_no_contribution_is_counted_by_looking_at_all(tmp_path: Path) -> None:
    stage = cast(tmp_path, "local")
    bodies = [stage.client(number).contribution(*CORNER)[0] for number in range(6)]
    role = stage.role(0)
    role.accept(bodies[0])
    with statements(role.state) as seen:
        for body in bodies[1:]:
            role.accept(body)
    assert any("INSERT" in sql for sql in seen)
    assert not any("count(" in sql for sql in seen)
    assert role.state.count_contributions() == 6
    stage.start(0)
    assert stage.role(0).state.count_contributions() == 6


def test_the_number_is_right_whatever_fails_or_is_deleted(tmp_path: Path) -> None:
    state = cast(tmp_path, "local").role(0).state

    def add_and_fail() -> None:
        with state.transaction():
            state.add_contribution(7, b"7", b"7", b"7")
            assert state.count_contributions() == 2
            raise sqlite3.Error

    state.add_contribution(1, b"1", b"1", b"1")
    with pytest.raises(sqlite3.Error):
        add_and_fail()
    assert state.count_contributions() == 1
    with pytest.raises(sqlite3.IntegrityError):
        state.add_contribution(1, b"1", b"1", b"1")
    assert state.count_contributions() == 1
    state.write("DELETE FROM contributions WHERE serial = 1")
    assert state.count_contributions() == 0
    state.add_contribution(2, b"2", b"2", b"2")
    state.forget_contributions()
    assert state.count_contributions() == 0


def test_those_that_wait_are_stored_together_and_a_refusal_is_ones_own(tmp_path: Path) -> None:
    stage = cast(tmp_path, "local", n_max=30)
    role, state = stage.role(0), stage.role(0).state
    bodies = [stage.client(number).contribution(*CORNER)[0] for number in range(16)]
    again = stage.client(0).contribution(*CORNER)[0]
    answers: dict[int, object] = {}

    def send(number: int, body: bytes) -> None:
        try:
            answers[number] = role.accept(body)
        except Refused as refusal:
            answers[number] = refusal.status

    with statements(state) as seen, ThreadPoolExecutor(17) as threads, state.transaction():
        for number, body in enumerate([*bodies, again]):
            threads.submit(send, number, body)
        until(lambda: len(state._waiting), lambda count: count == 17)  # all arrive while the disk is busy
    assert sorted(answers) == list(range(17))
    assert sum(answer == 409 for answer in answers.values()) == 1
    assert state.count_contributions() == 16
    assert sum(sql == "COMMIT" for sql in seen) == 2, "the one that they waited for, and one for all"


def test_if_storing_fails_nobody_is_told_that_it_is_stored(tmp_path: Path) -> None:
    stage = cast(tmp_path, "local")
    role = stage.role(0)
    bodies = [stage.client(number).contribution(*CORNER)[0] for number in range(4)]
    role.state.rows("PRAGMA query_only = ON")
    with ThreadPoolExecutor(4) as threads:
        failed = [threads.submit(role.accept, body).exception() for body in bodies]
    assert all(isinstance(error, sqlite3.Error) for error in failed)
    role.state.rows("PRAGMA query_only = OFF")
    assert role.state.count_contributions() == 0
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(role.accept, bodies))
    assert role.state.count_contributions() == 4


def test_progress_is_for_the_operator_and_the_parties(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = cast(tmp_path, "shuffle")
    stage.crowd(2)
    shuffler, purpose = stage.role(0), stage.collection.purpose(STATUS)
    assert shuffler.status() == {"role": "shuffler", "phase": "open"}
    now = int(time.time())
    for key in (stage.operator, *stage.keys):
        told = shuffler.progress(key.sign(now.to_bytes(8, "little"), purpose))
        assert told == {"role": "shuffler", "phase": "open", "n_min": 3, "n_max": 6, "contributions": 2}
    fresh = now.to_bytes(8, "little")
    for body in (
        b"",
        PrivateKey.make().sign(fresh, purpose),
        stage.operator.sign(fresh, stage.collection.purpose("close")),
        stage.operator.sign((now - 1000).to_bytes(8, "little"), purpose),
        stage.operator.sign((now + 1000).to_bytes(8, "little"), purpose),
        stage.operator.sign(b"", purpose),
        stage.operator.sign(fresh * 2, purpose),
        stage.operator.sign(fresh * 100, purpose),
    ):
        with pytest.raises(Refused, match="Only the operator and the parties"):
            shuffler.progress(body)
    stage.send(2, *CORNER)
    stage.end()
    assert shuffler.progress(stage.operator.sign(fresh, purpose))["contributions"] == 3
    assert "contributions" not in stage.role(1).progress(stage.operator.sign(fresh, purpose))
    asked: list[bytes] = []
    monkeypatch.setattr(stage.network, "ask", lambda party, path, body: asked.append(body), raising=False)
    assert ask_progress(stage.collection, stage.collection.parties[0], stage.operator, stage.network) is None
    assert shuffler.progress(asked[0])["phase"] == "published"


@pytest.mark.parametrize(("model", "depth"), [("local", 2), ("shuffle", 2), ("servers", 5)])
def test_the_disk_that_closing_takes_is_told_before(
    model: str, depth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a state and its journal take at their largest, for n_max people, is within what was told."""
    options = {"epsilon": 2} if model == "local" else {}
    stage = cast(tmp_path, model, depth=depth, n_max=60, n_min=50, **options)
    stage.crowd(60)
    peaks = dict.fromkeys(range(len(stage.keys)), 0)
    written = State.write

    def watched(state: State, sql: str, *values: object) -> None:
        written(state, sql, *values)
        for number in peaks:
            files = (tmp_path / f"{number}.state", tmp_path / f"{number}.state-journal")
            peaks[number] = max(peaks[number], sum(file.stat().st_size for file in files if file.exists()))

    monkeypatch.setattr(State, "write", watched)
    stage.role(0).state.rows("PRAGMA cache_spill = 1")
    stage.end()
    for number, peak in peaks.items():
        told = disk_size(stage.collection, number)
        assert peak < told + 100_000, number
        assert peak > told / 8 or told < 400_000, number


def test_too_little_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = cast(tmp_path, "local").collection
    assert disk_in_words(collection, 0, tmp_path / "state").endswith("are free.")
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 10}))
    assert "TOO LITTLE" in disk_in_words(collection, 0, tmp_path / "state")


def test_a_strangers_question_is_refused(tmp_path: Path) -> None:
    stage = cast(tmp_path, "local")
    stage.network.ask = lambda party, path, body: stage.role(0).progress(body)  # type: ignore[method-assign]
    with pytest.raises((Refused, DataError)):
        ask_progress(stage.collection, stage.collection.parties[0], PrivateKey.make(), stage.network)
