"""Compiled functions work where numba's own cache would stop them."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import caching

import dpheatmap
from dpheatmap._util.jit import njit


def doubled_by(decorator: Callable[..., Any]) -> int:
    def double(n: int) -> int:
        return 2 * n

    return int(decorator(cache=True)(double)(21))


def test_no_folder_can_be_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="no locator"):
        doubled_by(numba.njit)
    assert doubled_by(njit) == 42


def test_no_room_for_what_was_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    with pytest.raises(OSError, match="No space"):
        doubled_by(numba.njit)
    assert doubled_by(njit) == 42


def test_what_was_compiled_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert doubled_by(njit) == 42
    assert list(tmp_path.rglob("*.nbi"))


def test_what_an_earlier_version_compiled_is_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its types may be gone, so that the index of the cache can't be read."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert doubled_by(njit) == 42
    (index,) = tmp_path.rglob("*.nbi")
    with index.open("rb") as file:
        version = pickle.load(file)
    gone = b"cdpheatmap._util.jit\nGone\n."  # a pickle that names a class which is not there
    index.write_bytes(pickle.dumps(version, protocol=-1) + gone)
    with pytest.raises(AttributeError):
        doubled_by(numba.njit)
    assert doubled_by(njit) == 42
    assert gone not in index.read_bytes(), "the next process finds what this one compiled"


def test_nothing_else_is_compiled() -> None:
    sources = Path(dpheatmap.__file__).parent.rglob("*.py")
    assert [path.name for path in sources if re.search(r"(?m)^\s*(import|from) numba", path.read_text())] == [
        "jit.py",
        "kernel_store.py",
    ]
