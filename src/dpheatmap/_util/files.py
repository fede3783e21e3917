"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import glob
import os
import re
import secrets
import stat
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from dpheatmap.errors import DpheatmapError, ParameterError

_ADVICE = {
    errno.ENOENT: "Make the folder first.",
    errno.ENOTDIR: "Make the folder first.",
    errno.ENOSPC: "Free some space, or write to another disk.",
    errno.EDQUOT: "Free some space, or write to another disk.",
}


def suffix_of(path: str | PathLike[str], whose: str, known: Collection[str]) -> str:
    """The suffix of a file, which names its format; refused if there is no such format.

    >>> suffix_of("Map.PNG", "a heatmap's file", [".png", ".svg"])
    '.png'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise ParameterError(
            f"The suffix of {whose} must be one of {', '.join(known)}; the file was {os.fspath(path)!r}. "
            "Pick one of these: it tells the format."
        )
    return suffix


@contextmanager
def replace_whole(path: str | PathLike[str], *, private: bool = False, anew: bool = False) -> Iterator[Path]:
    """A temporary path beside ``path`` to write to; what was written takes the place of ``path`` at the end.

    If anything goes wrong on the way, an interrupt included, the temporary is removed and ``path`` stays as it was. A
    temporary that a killed process left behind is removed by the next process that writes to ``path``. A file that is
    replaced keeps its permissions, and a symbolic link keeps pointing where it did. Only its owner can read a
    ``private`` file, from the first moment on. With ``anew`` no file is replaced: if there is one in the end, whoever
    wrote it, FileExistsError is raised.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replace_whole(f"{folder}/map.csv") as temporary:
    ...         _ = temporary.write_text("x,y,share")
    ...     os.listdir(folder)
    ['map.csv']
    """
    target = Path(os.path.realpath(path))
    with _place_for(target) as temporary:
        try:
            _create_like(target, temporary, private)
            yield temporary
            _to_disk(temporary)
            (os.link if anew else os.replace)(temporary, target)
            with suppress(OSError):  # some systems can't sync a folder; the file itself is safe by now
                _to_disk(target.parent)
        except OSError as error:
            if anew and isinstance(error, FileExistsError):
                raise
            reason = error.strerror or str(error)
            advice = _ADVICE.get(error.errno or 0, "Choose a place that can be written to.")
            raise DpheatmapError(f"{os.fspath(path)} could not be written: {reason}. {advice}") from error
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


@contextmanager
def _place_for(target: Path) -> Iterator[Path]:
    """Give a temporary path to write ``target`` to, after removing what killed writers of it left behind.

    Every writer holds a shared lock on the folder, which ends with its process, however that ends. A process that gets
    the lock exclusively knows that nobody is writing, so every temporary is a leftover. Where the folder can't be
    locked, for example because somebody else uses such a lock, nothing is removed, and the temporary gets a name by
    which nobody removes it.
    """
    # A part of the name is enough to recognise the file, and leaves room for the rest in 255 bytes.
    name, ending = f".{target.stem[:40]}", f"-dpheatmap-{secrets.token_hex(4)}{target.suffix}"
    leftover = re.compile(rf"(tmp_)?{re.escape(name)}-dpheatmap-[0-9a-f]{{8}}{re.escape(target.suffix)}")
    with _open_folder(target.parent) as folder:
        if folder is not None and _lock(folder, alone=True):
            for file in filter(leftover.fullmatch, os.listdir(folder)):
                with suppress(OSError):
                    target.with_name(file).unlink()
        yield target.with_name(f"{name}{'' if _lock(folder, alone=False) else '~'}{ending}")


@contextmanager
def _open_folder(folder: Path) -> Iterator[int | None]:
    """The folder to lock; None where that can't be done, as on Windows."""
    descriptor = None
    with suppress(OSError):
        if sys.platform != "win32":
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock(folder: int | None, alone: bool) -> bool:
    """Try to lock the folder at once, for this process alone or shared with others; tell whether it worked."""
    if folder is None:
        return False
    import fcntl

    try:
        fcntl.flock(folder, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def check_writable(path: str | PathLike[str]) -> None:
    """Check that a file can be written there, by writing a megabyte beside it and removing it again."""
    with suppress(_TriedOut), replace_whole(path) as temporary:
        temporary.write_bytes(bytes(2**20))
        _to_disk(temporary)
        raise _TriedOut


class _TriedOut(Exception):  # noqa: N818
    """Ends the trial of `check_writable`, so that the file is not replaced."""


def data_folder() -> Path:
    """The default folder of this user's ledger and stored releases."""
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return folder / "dpheatmap"


def matching(path: str) -> list[str]:
    """The file, those that match the pattern, or all below the folder whose names don't begin with . or _."""
    if Path(path).is_file():
        return [path]
    if path and Path(path).is_dir():
        below = (file for file in Path(path).rglob("*") if file.is_file())
        return sorted(str(f) for f in below if not any(p.startswith((".", "_")) for p in f.relative_to(path).parts))
    return sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))


def not_a_pattern(path: str | PathLike[str]) -> str:
    """A path that DuckDB reads as this one file, whatever characters of a pattern are in it.

    >>> not_a_pattern("what*.csv")
    'what[*].csv'
    """
    return "".join(f"[{c}]" if c in "*?[" else c for c in os.fspath(path))


def _create_like(target: Path, temporary: Path, private: bool) -> None:
    """Create an empty file with the permissions of the one it will replace, of any new file, or of a private one."""
    mode = None
    if target.exists():
        mode = target.stat().st_mode
        if not stat.S_ISREG(mode):  # replacing a folder fails late, and replacing a device would do harm
            raise OSError(errno.EINVAL, "it is not an ordinary file")
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666))
    if mode is not None and not private:
        temporary.chmod(stat.S_IMODE(mode))


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
