from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dpheatmap._util.files import check_writable, replace_whole
from dpheatmap.errors import DpheatmapError


def test_the_file_appears_at_the_end_and_alone(tmp_path: Path) -> None:
    target = tmp_path / "trips.png"
    with replace_whole(target) as temporary:
        temporary.write_bytes(b"whole")
        assert not target.exists()
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(".trips-")
        assert temporary.suffix == ".png"
    assert target.read_bytes() == b"whole"
    assert os.listdir(tmp_path) == ["trips.png"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    target = tmp_path / "trips.png"
    target.write_bytes(b"old")

    def write_half() -> None:
        with replace_whole(str(target)) as temporary:
            temporary.write_bytes(b"half")
            raise error

    with pytest.raises(error):
        write_half()
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["trips.png"]


def test_two_writers_dont_meet(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    with replace_whole(target) as first, replace_whole(target) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert target.read_text() == "first"


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with replace_whole(tmp_path / "a"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "a").touch(0o600)
    (tmp_path / "a").chmod(0o600)
    with replace_whole(tmp_path / "a"):
        pass
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_a_private_file_is_its_owners_from_the_first_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opened it before its permissions are narrowed could read on, so it is made with them."""
    create, made = os.open, []

    def watching(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            made.append(mode)
        return create(path, flags, mode)

    (tmp_path / "there before").touch()
    (tmp_path / "there before").chmod(0o644)
    monkeypatch.setattr(os, "open", watching)
    for name in ("new", "there before"):
        with replace_whole(tmp_path / name, private=True) as temporary:
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert made == [0o600] * 2


def test_what_is_made_anew_replaces_nothing(tmp_path: Path) -> None:
    def write(text: str) -> None:
        with replace_whole(tmp_path / "a", anew=True) as temporary:
            temporary.write_text(text)

    write("first")
    with pytest.raises(FileExistsError):
        write("second")
    assert (tmp_path / "a").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_link_keeps_pointing_where_it_did(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    with replace_whole(tmp_path / "link.csv") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new"


@pytest.mark.parametrize("name", ["x" * 240 + ".csv", "ü" * 120 + ".csv", "no suffix", ".hidden"])
def test_any_name_that_a_file_may_have(tmp_path: Path, name: str) -> None:
    with replace_whole(tmp_path / name) as temporary:
        temporary.write_text("x")
    assert os.listdir(tmp_path) == [name]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(DpheatmapError, match=r"none/map\.png could not be written: No such .* Make the folder first\."),
        replace_whole(tmp_path / "none" / "map.png"),
    ):
        pass


def test_a_file_for_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DpheatmapError, match="Not a directory"), replace_whole(tmp_path / "file" / "map.png"):
        pass


@pytest.mark.parametrize("place", ["folder.png", "/dev/null"])
def test_only_ordinary_files_are_replaced(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(DpheatmapError, match="it is not an ordinary file"), replace_whole(tmp_path / place):
        pass
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(DpheatmapError, match=r"Permission denied\. Choose a place"), replace_whole(tmp_path / "a"):
        pass


FULL = """
import resource, signal, sys
from dpheatmap.errors import DpheatmapError
from dpheatmap._util.files import replace_whole
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with replace_whole(sys.argv[1]) as temporary:
        temporary.write_bytes(bytes(5000))
except DpheatmapError as error:
    print(error)
"""


def test_a_file_that_the_system_cuts_short_is_not_left(tmp_path: Path) -> None:
    (tmp_path / "map.npz").write_bytes(b"old")
    run = subprocess.run([sys.executable, "-c", FULL, tmp_path / "map.npz"], capture_output=True, text=True, check=True)
    assert "map.npz could not be written: File too large. " in run.stdout
    assert (tmp_path / "map.npz").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["map.npz"]


def test_a_full_disk(small_disk: Path) -> None:
    with (
        pytest.raises(DpheatmapError, match=r"could not be written: No space left on device\. Free some space"),
        replace_whole(small_disk / "map.png") as temporary,
    ):
        temporary.write_bytes(bytes(100_000))
    assert os.listdir(small_disk) == []


def test_writing_is_tried_out_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("before")
    for name in ("there", "new"):
        check_writable(tmp_path / name)
    assert os.listdir(tmp_path) == ["there"]
    assert (tmp_path / "there").read_text() == "before"
    with pytest.raises(DpheatmapError, match=r"could not be written: .*\. Make the folder first"):
        check_writable(tmp_path / "no" / "new")


def test_a_full_disk_is_found_out_by_trying(small_disk: Path) -> None:
    with pytest.raises(DpheatmapError, match="could not be written"):
        check_writable(small_disk / "new")
    assert os.listdir(small_disk) == []


def test_an_error_without_a_system_code(tmp_path: Path) -> None:
    with pytest.raises(DpheatmapError, match="a could not be written: encoder error -2"), replace_whole(tmp_path / "a"):
        raise OSError("encoder error -2")


KILLED = """
import os, signal, sys
from dpheatmap._util.files import replace_whole
with replace_whole(sys.argv[1]) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
WAITING = """
import sys
from dpheatmap._util.files import replace_whole
with replace_whole(sys.argv[1]) as temporary:
    temporary.unlink()
    temporary.write_text("theirs")  # another file of the same name, as some writers of formats make
    print(temporary.name, flush=True)
    sys.stdin.read()
"""


def write(path: Path, text: str) -> str:
    """Write a file, and tell the name that it had on the way."""
    with replace_whole(path) as temporary:
        temporary.write_text(text)
    return temporary.name


def leftover(target: Path) -> Path:
    """What a process that is killed while it writes leaves behind."""
    before = set(os.listdir(target.parent))
    killed = subprocess.run([sys.executable, "-c", KILLED, str(target)])
    assert killed.returncode == -signal.SIGKILL
    (name,) = set(os.listdir(target.parent)) - before
    return target.with_name(name)


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    target = tmp_path / "trips.dph.parquet"
    left = leftover(target)
    of_duckdb = target.with_name(f"tmp_{left.name}")
    of_duckdb.touch()
    others = [".trips-0a1b2c3d.parquet", ".trips.dph-dpheatmap-notours.parquet", f"{left.name}.bak", left.name[1:]]
    for name in others:
        (tmp_path / name).touch()
    write(tmp_path / "other.dph.parquet", "of another name")
    write(tmp_path / "trips.dph.png", "of another kind")
    assert left.read_text() == "half"
    write(target, "whole")
    assert not left.exists()
    assert not of_duckdb.exists()
    kept = {*others, "other.dph.parquet", "trips.dph.png", "trips.dph.parquet"}
    assert set(os.listdir(tmp_path)) == kept


def test_what_a_living_writer_writes_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "trips.csv"
    left = leftover(target)
    command = [sys.executable, "-c", WAITING, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        name = writer.stdout.readline().strip()
        assert not left.exists(), "the writer itself was alone when it began"
        write(target, "ours")
        with replace_whole(target) as temporary:  # a writer who began while others wrote is left alone, too
            write(target, "also ours")
            assert temporary.exists()
        assert (tmp_path / name).read_text() == "theirs"
        writer.communicate("")
    assert writer.returncode == 0
    assert target.read_text() == "theirs"
    assert os.listdir(tmp_path) == ["trips.csv"]


def test_a_folder_that_somebody_else_has_locked_is_written_to(tmp_path: Path) -> None:
    """As under ``flock FOLDER dpheatmap release ...``, which would wait for itself."""
    target = tmp_path / "trips.csv"
    left = leftover(target)
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    with replace_whole(target) as temporary:
        temporary.write_text("whole")
        assert left.exists()
        os.close(folder)
        write(target, "by somebody who thinks to be alone")
        assert not left.exists()
        assert temporary.exists()
    assert target.read_text() == "whole"
