"""Compiled kernels that come with a wheel, so that the first command on a machine need not compile them.

A kernel is taken from the store only if it was compiled from what is installed. The folder's name tells numba's
version, Python's and the platform, and each index carries a digest of every source file of this package: a kernel may
use constants and functions of any module. Whatever differs, the kernel is compiled on the spot, as it is where there is
no store.

What is shipped runs on every processor of its platform: it is compiled for the oldest (`scripts/kernels`).
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile
from numba.core.compiler import CompileResult

PACKAGE = Path(__file__).parent.parent
SHIPPED = PACKAGE / "_kernels"


def folder_name() -> str:
    """The name of the folder of kernels that this Python could load, as in linux-x86_64-cpython-311-numba-0.68.1."""
    parts = (sys.platform, platform.machine(), sys.implementation.cache_tag, "numba", numba.__version__)
    return "-".join(str(part) for part in parts).lower()


@cache
def digest_of_sources(package: Path = PACKAGE) -> str:
    """The digest of the name and content of every source file of a package."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        for part in (path.relative_to(package).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


class KernelStore:
    """A folder of compiled kernels of this package: an index for each function, and a file for each of its types."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / folder_name()

    def load(self, function: Callable[..., Any], types: Any, context: Any) -> Any:
        """Load a kernel for the types of its arguments, or None if it is not there."""
        reduced = self._index(function).load(types) if self.folder.is_dir() else None
        return None if reduced is None else CompileResult._rebuild(context, *reduced)

    def save(self, function: Callable[..., Any], types: Any, compiled: Any) -> None:
        """Add a compiled kernel to the store."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._index(function).save(types, compiled._reduce())

    def _index(self, function: Callable[..., Any]) -> Any:
        name = f"{function.__module__}.{function.__qualname__}".removeprefix("dpheatmap.")
        return IndexDataCacheFile(str(self.folder), name, digest_of_sources())
