"""The wait at the first run: from nothing to the demo's map, by the wheel with its kernels and by a clone.

Dependencies are already downloaded. All of it is wall time, which is what people wait: leave the machine alone. A wheel
is built if there is none in dist/.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import bar

ROOT = Path(__file__).parent.parent


def seconds(*command: str | Path, folder: Path) -> float:
    """The wall time of a command in a folder."""
    start = time.perf_counter()
    subprocess.run(
        [str(part) for part in command], check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return time.perf_counter() - start


def by_wheel(folder: Path) -> tuple[float, float, float]:
    """Seconds of the installation, of the first demo and of the second."""
    if not list(ROOT.glob("dist/*.whl")):
        seconds(ROOT / "scripts/wheel", folder=ROOT)
    (wheel,) = ROOT.glob("dist/*.whl")
    python = folder / "venv/bin/python"
    made = seconds(sys.executable, "-m", "venv", "venv", folder=folder)
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    installed = made + seconds(*pip, folder=folder)
    first, second = (seconds(python, "-m", "dpheatmap", "demo", folder=folder) for _ in range(2))
    return installed, first, second


def by_clone(folder: Path) -> float:
    """Seconds of the README's command in a fresh clone."""
    seconds("git", "clone", "--quiet", ROOT, "clone", folder=folder)
    return seconds("scripts/demo", folder=folder / "clone")


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        installed, first, second = by_wheel(folder)
        print(f"wheel: installed in {installed:.1f} s, first demo {first:.1f} s, second {second:.1f} s")
        results = [
            bar("what the first command waits for", first - second, 3, unit=" s"),
            bar("from nothing to a map by the wheel", installed + first, 25, unit=" s"),
            bar("from nothing to a map by a clone", by_clone(folder), 25, unit=" s"),
        ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
