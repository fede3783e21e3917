"""What the parties of a collection must not forget, and what they must."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dpheatmap.collect.client import message_size
from dpheatmap.collect.keys import OVERHEAD
from dpheatmap.collect.process_state import State
from dpheatmap.errors import DataError
from helpers.collecting import MODELS, cast


def test_a_state_belongs_to_one_process_one_role_and_one_collection(tmp_path: Path) -> None:
    stage = cast(tmp_path, "shuffle")
    with pytest.raises(DataError, match="start it once"):
        State(tmp_path / "0.state", stage.collection, "shuffler")
    stage.stop(0)
    with pytest.raises(DataError, match="another collection or role"):
        State(tmp_path / "0.state", stage.collection, "analyser")
    (tmp_path / "rubbish").write_bytes(b"rubbish" * 1000)
    with pytest.raises(DataError, match="The state rubbish can't be used"):
        State(tmp_path / "rubbish", stage.collection, "analyser")
    assert (tmp_path / "1.state").stat().st_mode & 0o077 == 0
    (tmp_path / "made before").touch(0o666)
    State(tmp_path / "made before", stage.collection, "analyser").close()
    assert (tmp_path / "made before").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("model", MODELS)
def test_what_is_deleted_is_nowhere_on_disk_while_the_process_goes_on(model: str, tmp_path: Path) -> None:
    """Nor in the journal, in which SQLite keeps what was on a page before it was overwritten."""
    stage = cast(tmp_path, model)
    stage.crowd(3)
    kept = [content for (content,) in stage.role(0).state.rows("SELECT content FROM contributions")]
    stage.end()
    assert [stage.role(number).phase() for number in (0, 1)] == ["published"] * 2
    on_disk = b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()))
    size = message_size(stage.collection) + OVERHEAD if model == "shuffle" else 16
    pieces = {content[at : at + size] for content in kept for at in range(0, len(content), size)}
    assert len(pieces) >= 24
    assert not any(piece in on_disk for piece in pieces)


def test_what_fails_in_the_middle_is_not_written(tmp_path: Path) -> None:
    stage = cast(tmp_path, "servers")
    state = stage.role(0).state

    def write_half() -> None:
        with state.transaction():
            state.learn("half", b"")
            raise sqlite3.Error

    with pytest.raises(sqlite3.Error):
        write_half()
    assert state.fact("half") is None
    state.learn("once", b"1")
    state.learn("once", b"2")
    assert state.fact("once") == b"1"


def test_a_full_disk_loses_nothing_that_was_said(small_disk: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What did not fit is not there, not even to this process, and what is there can still be read and added to."""
    collection = cast(tmp_path_factory.mktemp("cast"), "servers").collection
    state = State(small_disk / "state", collection, "server")
    state.learn("small", b"1")
    with pytest.raises(sqlite3.Error):
        state.learn("large", bytes(200_000))
    assert state.fact("large") is None
    state.learn("smaller", b"2")
    state.close()
    state = State(small_disk / "state", collection, "server")
    assert [state.fact(name) for name in ("small", "large", "smaller")] == [b"1", None, b"2"]
    state.close()
