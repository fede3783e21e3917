"""How long people wait before anything happens: the command line's help, and the import of the library."""

from __future__ import annotations

import subprocess
import sys
import time

from common import bar


def wall_seconds(*arguments: str) -> float:
    """The least wall time of several runs of a Python command."""
    best = float("inf")
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - start)
    return best


def main() -> int:
    bare = wall_seconds("-c", "pass")
    print(f"Python itself takes {bare:.3f} s, with NumPy {wall_seconds('-c', 'import numpy'):.3f} s")
    results = [
        bar("dpheatmap --help", wall_seconds("-m", "dpheatmap", "--help"), 0.3, unit=" s"),
        bar("import dpheatmap, over bare Python", wall_seconds("-c", "import dpheatmap") - bare, 0.2, unit=" s"),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
