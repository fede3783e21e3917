"""Without extras: what needs a package that is not there says so in one sentence, and the rest does not need it."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from helpers import ROOT

EXTRAS = (
    "cryptography",
    "httpx",
    "matplotlib",
    "pandas",
    "psycopg",
    "pyarrow",
    "pyspark",
    "scipy",
    "starlette",
    "uvicorn",
)
WITHOUT = f"""
import sys
for name in {EXTRAS}:
    sys.modules[name] = None
from dpheatmap.cli import main
main()
"""
TABLE = ["people.csv", "--user", "u", "--x", "x", "--y", "y"]
RELEASE = ["--epsilon", "1", "--unit", "--depth", "4", "--no-ledger", "-o", "out.csv"]


def without_extras(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "people.csv").write_text("u,x,y\na,0.2,0.3\nb,0.7,0.8\n")
    return subprocess.run([sys.executable, "-c", WITHOUT, *arguments], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("extra", "arguments"),
    {
        "app": ["app", "--no-open"],
        "app, to serve": ["serve", "people.csv"],
        "collect": ["collect", "demo", "--devices", "20", "-o", "map.csv"],
        "collect, a key": ["collect", "key", "my.key"],
        "spark": ["release", *TABLE, *RELEASE, "--engine", "spark"],
        "postgres": ["release", "postgresql://localhost/db", "--table", "trips", *TABLE[1:], *RELEASE],
    }.items(),
)
def test_a_missing_extra_is_named(extra: str, arguments: list[str], tmp_path: Path) -> None:
    done = without_extras(tmp_path, *arguments)
    assert done.returncode == 1
    assert f"Run: pip install 'dpheatmap[{extra.partition(',')[0]}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_main_job_needs_none(tmp_path: Path) -> None:
    done = without_extras(
        tmp_path, "release", *TABLE, *RELEASE, "-o", "out.dph.parquet", "-o", "out.html", "-o", "out.png"
    )
    assert done.returncode == 0, done.stderr
    done = without_extras(tmp_path, "cluster", "out.dph.parquet", "-k", "2", "-o", "places.csv", "-o", "places.png")
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "places.csv").read_text().splitlines()) == 3


def kernels() -> list[Path]:
    return [path for path in (ROOT / "src").rglob("*.py") if "import njit" in path.read_text()]


def linear_algebra(source: str) -> list[int]:
    """The lines with products of matrices, which numba compiles with SciPy's BLAS, and only when nothing is cached."""
    nodes = ast.walk(ast.parse(source))
    return sorted(
        getattr(node, "lineno", 0)
        for node in nodes
        if (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult))
        or (isinstance(node, ast.Attribute) and node.attr in ("dot", "vdot", "linalg"))
    )


@pytest.mark.parametrize("path", kernels(), ids=lambda path: path.stem)
def test_kernels_need_no_scipy(path: Path) -> None:
    core = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert not any(name.startswith("scipy") for name in core)
    assert linear_algebra(path.read_text()) == []


def test_linear_algebra_is_seen() -> None:
    assert linear_algebra("np.dot(a, b)\na @ b\nnp.linalg.norm(a)") == [1, 2, 3]
