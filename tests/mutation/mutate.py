"""Mutation testing: which small changes to the private side does no test notice?

Mutants are cosmic-ray's. Each is written into a copy of the project, and the tests of its module run on it in a process
forked from one that has imported what takes long and nothing of ours. Compiled kernels are compiled anew for each
mutant of theirs. A mutant is killed if a test fails or time runs out. Those in annotations, which are never evaluated,
are left out.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import postgres  # noqa: E402

LIMIT = 900  # seconds; many times what the slowest tests of a module take
LATE, SURVIVED = 99, "survived"
MODULES = {
    "budget.py": ["test_budget.py", "test_design.py"],
    "curator/api.py": ["test_parameters.py", "curator/test_last_level.py", "curator/test_ledger.py",
                       "curator/test_engine.py"],
    "curator/counts.py": ["curator/test_counts.py", "curator/test_measure.py"],
    "curator/dialects.py": ["curator/test_postgres.py", "curator/test_warehouse.py"],
    "curator/engines/postgres.py": ["curator/test_postgres.py"],
    "curator/engines/warehouse.py": ["curator/test_warehouse.py"],
    "curator/portable.py": ["curator/test_postgres.py", "curator/test_warehouse.py"],
    "curator/engines/duckdb.py": ["curator/test_engine.py", "curator/test_query.py"],
    "curator/events.py": ["curator/test_events.py", "curator/test_parts.py", "curator/test_engine.py"],
    "curator/ledger.py": ["curator/test_ledger.py", "cli/test_ledger.py"],
    "curator/ledger_chain.py": ["curator/test_ledger.py"],
    "curator/ledger_stores.py": ["curator/test_ledger.py"],
    "curator/measure.py": ["curator/test_measure.py", "curator/test_paths.py"],
    "curator/noise.py": ["curator/test_noise.py", "curator/test_noise_law.py"],
    "curator/noise_kernels.py": ["curator/test_noise.py", "curator/test_noise_law.py"],
    "curator/partition.py": ["curator/test_partition.py"],
    "curator/predicate.py": ["curator/test_predicate.py"],
    "curator/query.py": ["curator/test_query.py"],
    "curator/questions.py": ["curator/test_questions.py", "curator/test_questions_audit.py"],
}  # fmt: skip
"""The tests that must notice a change. The data holder's `inspect` makes no release and is left out."""


class Mutant(NamedTuple):
    """A change to a module: the how-manieth place of an operator, and its line."""

    module: str
    operator: str
    occurrence: int
    line: int

    @property
    def source(self) -> str | None:
        """The changed module; None where cosmic-ray can't make the change."""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        try:
            changed: str | None = mutate_code(original(self.module), get_operator(self.operator)(), self.occurrence)
        except AttributeError:
            return None
        return changed


def original(module: str) -> str:
    """A module as it is."""
    return (ROOT / "src/dpheatmap" / module).read_text()


def mutants(module: str) -> Iterator[Mutant]:
    """Every mutant of a module that changes what runs."""
    from cosmic_ray.ast import get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    source = original(module)
    nodes, silent = list(_nodes(get_ast(source))), _annotations(source)
    for name in operator_names():
        if name.endswith(("VariableReplacer", "VariableInserter")):
            continue
        operator = get_operator(name)()
        places = [place for node in nodes for place in operator.mutation_positions(node)]
        for occurrence, ((line, column), _) in enumerate(places):
            if not any(start <= (line, column) < end for start, end in silent):
                yield Mutant(module, name, occurrence, line)


def _nodes(node: object) -> Iterator[object]:
    yield node
    for child in getattr(node, "children", ()):
        yield from _nodes(child)


Place = tuple[int, int]


def _annotations(source: str) -> list[tuple[Place, Place]]:
    """Where annotations are: they are never evaluated."""
    found = []
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            at = getattr(node, name, None)
            if isinstance(at, ast.expr):
                found.append(((at.lineno, at.col_offset), (at.end_lineno or 0, at.end_col_offset or 0)))
    return found


def fate(mutant: Mutant, folder: Path) -> str:
    """What the tests of its module make of a copy of the project with this mutant in it."""
    source = mutant.source
    assert source is not None
    place = folder / "src/dpheatmap" / mutant.module
    place.write_text(source)
    try:
        code = run_tests(MODULES[mutant.module], folder, fresh_kernels="kernels" in mutant.module)
        return {0: SURVIVED, LATE: "timed out"}.get(code, "killed")
    finally:
        place.write_text(original(mutant.module))


def run_tests(files: list[str], folder: Path, *, fresh_kernels: bool = False) -> int:
    """The exit code of pytest in a forked process; LATE if it takes too long."""
    child = os.fork()
    if child == 0:
        _child(files, folder, fresh_kernels)
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return LATE


def _child(files: list[str], folder: Path, fresh_kernels: bool) -> None:
    code = 98
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
        kernels = folder / "kernels"
        if fresh_kernels:
            shutil.rmtree(kernels, ignore_errors=True)
        os.environ.update(
            HYPOTHESIS_PROFILE="quick", NUMBA_CACHE_DIR=str(kernels), PYTHONDONTWRITEBYTECODE="1",
            PYTHONPATH=str(folder / "src"), TMPDIR=str(folder),
        )  # fmt: skip
        sys.dont_write_bytecode = True
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        sys.path.insert(0, str(folder / "src"))
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header", "-W", "ignore"]
        code = int(pytest.main([*options, *(f"tests/{file}" for file in files)]))
    finally:
        os._exit(code)


def copy_of_the_project(folder: Path) -> Path:
    """What the tests need, in a folder of its own."""
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def difference(mutant: Mutant) -> str:
    """The change, as two lines."""
    changed = (mutant.source or "").splitlines()
    lines = list(unified_diff(original(mutant.module).splitlines(), changed, n=0, lineterm=""))[3:]
    return " → ".join(line[1:].strip() for line in lines)


def main() -> None:
    """Draw mutants, try them, and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, help="how many mutants to try; all by default")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--only", nargs="+", choices=MODULES, metavar="MODULE", help="such as curator/noise.py")
    options = parser.parse_args()
    import duckdb
    import hypothesis
    import pandas
    import pyarrow
    import scipy.stats  # what takes long to import, once for all mutants

    assert all((duckdb, hypothesis, pandas, pyarrow, scipy))
    found = {module: list(mutants(module)) for module in options.only or MODULES}
    every = [mutant for of_module in found.values() for mutant in of_module]
    random.Random(options.seed).shuffle(every)
    makeable = (mutant for mutant in every if mutant.source is not None)
    tried = list(islice(makeable, options.sample))
    results: dict[Mutant, str] = {}
    with tempfile.TemporaryDirectory(prefix="dpheatmap-mutants-") as temporary, postgres.server() as database:
        os.environ["DPHEATMAP_TEST_DATABASE"] = database
        folders = [copy_of_the_project(Path(temporary, str(worker))) for worker in range(2)]
        for module in found:
            if run_tests(MODULES[module], folders[0]) != 0:
                sys.exit(f"The tests of {module} fail as they are. Mend them first.")

        def work(worker: int) -> None:
            for mutant in tried[worker :: len(folders)]:
                word = results[mutant] = fate(mutant, folders[worker])
                what = f"{mutant.module}:{mutant.line} {word} {difference(mutant)}"
                print(f"{len(results)}/{len(tried)} {what}", file=sys.stderr, flush=True)

        with ThreadPoolExecutor(len(folders)) as pool:
            list(pool.map(work, range(len(folders))))
    report(found, results)


def report(found: dict[str, list[Mutant]], results: dict[Mutant, str]) -> None:
    """A table by module, and the survivors."""
    print("| module | mutants | tried | killed |\n|---|---|---|---|")
    for module, of_module in found.items():
        mine = [word for mutant, word in results.items() if mutant.module == module]
        print(f"| `{module}` | {len(of_module)} | {len(mine)} | {len(mine) - mine.count(SURVIVED)} |")
    alive = [mutant for mutant, word in results.items() if word == SURVIVED]
    killed, total = len(results) - len(alive), sum(map(len, found.values()))
    print(f"| all | {total} | {len(results)} | {killed} ({killed / max(len(results), 1):.0%}) |\n")
    for mutant in sorted(alive):
        print(f"- `{mutant.module}:{mutant.line}` {mutant.operator}: `{difference(mutant)}`")


if __name__ == "__main__":
    main()
