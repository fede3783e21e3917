"""Mutation testing: which small changes to the private side does no test notice?

First all tests of the private side run once, and the lines that each reaches are noted. Then each mutant is written
into a copy of the project, and the tests that reach its line run on it, quickest first, in a process forked from one
that has imported what takes long and nothing of ours. Compiled kernels are compiled anew for each mutant of theirs. A
mutant is killed if a test fails or time runs out. Those in annotations, which are never evaluated, are left out.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import postgres  # noqa: E402
from mutation.mutants import Mutant, modules, mutants, original  # noqa: E402
from mutation.reach import KERNELS, Reach, Recorder, tests_of_the_private_side  # noqa: E402

LIMIT = 120  # seconds of processor time; several times what the tests of a mutant take
SURVIVED = "survived"


def fate(mutant: Mutant, folder: Path, rounds: Sequence[Sequence[str]]) -> str:
    """What the tests make of a copy of the project with this mutant in it."""
    source = mutant.source
    assert source is not None
    place = folder / "src/dpheatmap" / mutant.module
    place.write_text(source)
    try:
        cache = folder / ("anew" if mutant.module in KERNELS else "kernels")
        code = next((code for tests in rounds if (code := run_tests(tests, folder, cache)) != 0), 0)
        return SURVIVED if code == 0 else "timed out" if code < 0 else "killed"
    finally:
        place.write_text(original(mutant.module))
        shutil.rmtree(folder / "anew", ignore_errors=True)


def run_tests(tests: Sequence[str], folder: Path, cache: Path, record: Path | None = None) -> int:
    """The exit code of pytest in a forked process, below 0 if it took too long; a record gets what the tests reach."""
    child = os.fork()
    if child == 0:
        _child(tests, folder, cache, record)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what its tests have started and left
    return code


def _child(tests: Sequence[str], folder: Path, cache: Path, record: Path | None) -> None:
    code = 98
    try:
        os.setpgid(0, 0)
        if record is None:
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
            signal.alarm(5 * LIMIT)  # for those that wait without end
        os.chdir(folder)
        os.environ.update(
            HYPOTHESIS_PROFILE="quick", NUMBA_CACHE_DIR=str(cache), PYTHONDONTWRITEBYTECODE="1",
            PYTHONPATH=str(folder / "src"), TMPDIR=str(folder),
        )  # fmt: skip
        sys.dont_write_bytecode = True
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        sys.path.insert(0, str(folder / "src"))
        import numba
        import pytest

        numba.config.reload_config()
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "--no-header", "-W", "ignore"]
        plugins = [Recorder(folder, record)] if record else []
        code = int(pytest.main([*options, *([] if record else ["-x"]), *tests], plugins=plugins))
    finally:
        os._exit(code)


def copy_of_the_project(folder: Path) -> Path:
    """What the tests need, in a folder of its own."""
    for name in ("src", "tests", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def main() -> None:
    """Draw mutants, try them, and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, help="how many mutants of each module to try; all by default")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--only", nargs="+", choices=modules(), metavar="MODULE", help="such as curator/noise.py")
    parser.add_argument("--reach", type=Path, help="a file that keeps which tests reach what, for the next run")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    import duckdb
    import hypothesis
    import numba
    import pandas
    import psycopg
    import pyarrow
    import pytest
    import scipy.stats  # what takes long to import, once for all mutants

    assert all((duckdb, hypothesis, numba, pandas, psycopg, pyarrow, pytest, scipy))
    found = {module: list(mutants(module)) for module in options.only or modules()}
    drawn = [mutant for of_module in found.values() for mutant in draw(of_module, options.sample, options.seed)]
    random.Random(options.seed).shuffle(drawn)
    results: dict[Mutant, str] = {}
    with tempfile.TemporaryDirectory(prefix="dpheatmap-mutants-") as temporary, postgres.server() as database:
        os.environ["DPHEATMAP_TEST_DATABASE"] = database
        folders = [copy_of_the_project(Path(temporary, str(worker))) for worker in range(options.workers)]
        record = options.reach or Path(temporary, "reach.json")
        if not record.exists():
            print("Noting which tests reach which lines ...", file=sys.stderr, flush=True)
            run_tests(tests_of_the_private_side(), folders[0], folders[0] / "kernels", record)
        reach = Reach(record)
        print(f"{len(reach.seconds)} tests; not usable: {' '.join(reach.failed) or 'none'}", file=sys.stderr)

        def work(worker: int) -> None:
            for mutant in drawn[worker :: len(folders)]:
                word = results[mutant] = fate(mutant, folders[worker], reach.rounds(mutant.module, mutant.line))
                what = f"{mutant.module}:{mutant.line} {word} {mutant.difference}"
                print(f"{len(results)}/{len(drawn)} {what}", file=sys.stderr, flush=True)

        with ThreadPoolExecutor(len(folders)) as pool:
            list(pool.map(work, range(len(folders))))
    report(found, results)


def draw(of_module: list[Mutant], sample: int | None, seed: int) -> list[Mutant]:
    """So many mutants of a module at random, of those that can be made."""
    shuffled = random.Random(seed).sample(of_module, len(of_module))
    return list(islice((mutant for mutant in shuffled if mutant.source is not None), sample))


def report(found: dict[str, list[Mutant]], results: dict[Mutant, str]) -> None:
    """A table by module, and the survivors. The score weighs each module by the number of its mutants."""
    print("| module | mutants | tried | killed |\n|---|---|---|---|")
    score, every = 0.0, sum(map(len, found.values()))
    for module, of_module in found.items():
        mine = [word for mutant, word in results.items() if mutant.module == module]
        killed = len(mine) - mine.count(SURVIVED)
        score += len(of_module) / every * killed / max(len(mine), 1)
        print(f"| `{module}` | {len(of_module)} | {len(mine)} | {killed} |")
    print(f"| all | {every} | {len(results)} | {score:.0%} |\n")
    for mutant in sorted(mutant for mutant, word in results.items() if word == SURVIVED):
        print(f"- `{mutant.module}:{mutant.line}` {mutant.operator}: `{mutant.difference}`")


if __name__ == "__main__":
    main()
