"""Kernels that were shipped are used without compiling, and only where they are those of the code that is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import caching, event

from dpheatmap._util import jit, kernel_store
from dpheatmap._util.kernel_store import KernelStore, digest_of_sources, folder_name

TYPES = (numba.types.int64,)


def triple(n: int) -> int:
    return 3 * n


def compilations() -> int:
    """How often the function is compiled when it is called for the first time."""
    with event.install_recorder("numba:compile") as recorder:
        assert jit.njit(cache=True)(triple)(14) == 42
    return sum(kind.is_start for _, kind in recorder.buffer)


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that holds the function; numba's own cache is empty and can't be written to."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "own"))
    compiled: Any = jit.njit(cache=True)(triple)
    compiled(14)
    KernelStore(tmp_path).save(triple, TYPES, compiled.overloads[TYPES])
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    monkeypatch.setattr(jit, "SHIPPED", tmp_path)
    return tmp_path / folder_name()


def test_nothing_is_compiled_that_was_shipped(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compilations() == 0
    monkeypatch.setattr(jit, "SHIPPED", shipped / "none")
    assert compilations() == 1


def test_a_changed_source_is_compiled_anew(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_store, "digest_of_sources", lambda: "another")
    assert compilations() == 1


def test_another_numba_compiles_anew(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba, "__version__", "0.0.0")
    assert not (shipped.parent / folder_name()).exists()
    assert compilations() == 1


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_broken_store_is_compiled_anew(shipped: Path, ending: str) -> None:
    (file,) = shipped.glob(f"*.{ending}")
    file.write_bytes(file.read_bytes()[:-20])
    assert compilations() == 1


def test_the_digest_is_of_every_name_and_content(tmp_path: Path) -> None:
    """A kernel may use a constant of any module, so no file may change unseen."""
    (tmp_path / "part").mkdir()
    (tmp_path / "a.py").write_text("A = 1\n")
    (tmp_path / "part" / "b.py").write_text("B = 1\n")

    def digest() -> str:
        return digest_of_sources.__wrapped__(tmp_path)

    before = digest()
    (tmp_path / "part" / "notes.txt").write_text("no source\n")
    assert digest() == before
    (tmp_path / "part" / "b.py").write_text("B = 2\n")
    changed = digest()
    (tmp_path / "part" / "b.py").rename(tmp_path / "part" / "c.py")
    assert len({before, changed, digest()}) == 3


def test_constants_share_what_is_compiled() -> None:
    """numba would compile a kernel anew for each constant that another one calls it with."""

    @jit.njit()
    def double(n: int) -> int:
        return 2 * n

    @jit.njit()
    def six() -> int:
        return double(1) + double(2)

    assert six() == 6
    assert len(double.signatures) == 1  # type: ignore[attr-defined]
