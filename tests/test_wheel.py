"""A wheel carries compiled kernels if it is told where they are, and is then for one platform."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def wheel(folder: Path, **environment: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="the name of the platform is Linux's")
def test_kernels_go_into_a_wheel_of_one_platform(tmp_path: Path) -> None:
    kernels = tmp_path / "kernels/linux-x86_64"
    kernels.mkdir(parents=True)
    (kernels / "one.nbi").write_bytes(b"index")
    made = wheel(tmp_path / "dist", DPHEATMAP_KERNELS=str(kernels.parent))
    assert "-py3-none-manylinux_2_17_" in made.name
    assert "dpheatmap/_kernels/linux-x86_64/one.nbi" in zipfile.ZipFile(made).namelist()


def test_without_them_it_is_for_every_platform(tmp_path: Path) -> None:
    made = wheel(tmp_path)
    assert made.name.endswith("-py3-none-any.whl")
    assert not [name for name in zipfile.ZipFile(made).namelist() if "_kernels/" in name]
