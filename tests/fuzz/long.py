"""Fuzzing guided by coverage, with atheris: python long.py TARGET SECONDS."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import atheris

os.environ["NUMBA_DISABLE_JIT"] = "1"  # what watches coverage can't be compiled
sys.path.insert(0, str(Path(__file__).parent.parent))
with atheris.instrument_imports(include=["dpheatmap"]):
    from fuzz import targets


def main(name: str, seconds: str) -> None:
    """Start from the seeds, and stop after so many seconds or at the first input that is not refused properly."""
    target = next(target for target in targets.TARGETS if target.__name__ == name)
    with tempfile.TemporaryDirectory() as corpus:
        for k, data in enumerate(targets.seeds(target)):
            Path(corpus, str(k)).write_bytes(data)
        limits = [f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=3000", "-print_final_stats=1"]
        atheris.Setup([sys.argv[0], *limits, corpus], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
