"""Property tests draw new examples each time, but the same ones in CI, so that green stays green."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(autouse=True, scope="session")
def default_ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Commands that name no ledger charge one of the tests' own, not the user's."""
    place = str(tmp_path_factory.mktemp("ledger") / "default.ledger")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPHEATMAP_LEDGER", place)
        yield place


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB, where mounting one is allowed."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)
