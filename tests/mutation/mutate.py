"""Mutation testing: which small changes to the private side does no test notice?

First the tests run once, and the lines that each reaches are noted. Then each mutant meets the tests that reach its
line, quickest first, until one fails or takes several times its processor time. A control repeats what killed a mutant
with nothing changed: if that fails too, it was not the mutant. What was found is kept in a folder, so that a run that
is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from helpers import postgres  # noqa: E402
from mutation.mutants import Mutant, in_order, modules, mutants  # noqa: E402
from mutation.reach import Reach, Recorder, files_of_tests  # noqa: E402
from mutation.record import Record, report  # noqa: E402
from mutation.trials import Fate, Trial, Trials, control, in_a_process  # noqa: E402

FIRST_TESTS, MORE_TESTS = 8.0, 60.0
"""Seconds of tests, by what they take on the code as it is, that a mutant meets: at first, and when tried again."""


def main() -> None:
    """Try mutants, and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, help="how many mutants to try, with those tried before; all by default")
    parser.add_argument(
        "--again", action="store_true", help="try survivors once more, with more tests, as CI runs them"
    )
    parser.add_argument(
        "--control", action="store_true", help="repeat kills (--again: the later ones), nothing changed"
    )
    parser.add_argument("--only", nargs="+", choices=modules(), metavar="MODULE", help="such as curator/core/noise.py")
    parser.add_argument("--folder", type=Path, default=ROOT / ".mutation", help="where the record is kept")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.environ["HYPOTHESIS_PROFILE"] = "ci" if options.again else "quick"
    found = {module: mutants(module) for module in options.only or modules()}
    place = options.folder.resolve()
    record, controls = Record(place / "fates.jsonl"), Record(place / "controls.jsonl")
    kills = record.kills(again=options.again) if options.control else {}
    if options.control:
        to_try = [mutant for mutant in kills if mutant not in controls.fates]
    elif options.again:
        to_try = record.survivors
    else:
        to_try = [mutant for mutant in in_order(found)[: options.sample] if mutant not in record.fates]
    to_try = [mutant for mutant in to_try if mutant.module in found]
    folders = [copy_of_the_project(place / str(worker)) for worker in range(options.workers)]
    import_what_takes_long()
    with postgres.server() as database:
        os.environ["DPHEATMAP_TEST_DATABASE"] = database
        reach = noted(place / "reach.json", folders[0])

        def trial(mutant: Mutant) -> Trial:
            tests = reach.tests(mutant.module, mutant.line, MORE_TESTS if options.again else FIRST_TESTS)
            return control(mutant, tests, kills[mutant]) if options.control else Trial(mutant, tests)

        if not tried(to_try, folders, reach, trial, controls if options.control else record):
            sys.exit(f"Mutants could not be tried. See the log in {folders[0]}.")
    report(found, Record(record.file), Record(controls.file))


def tried(
    to_try: list[Mutant], folders: list[Path], reach: Reach, trial: Callable[[Mutant], Trial], record: Record
) -> bool:
    """Try mutants in several copies of the project at once."""
    terminal = os.fdopen(os.dup(2), "w")

    def done(mutant: Mutant, fate: Fate) -> None:
        record.add(mutant, fate)
        print(f"{fate.word} {mutant.module}:{mutant.line} {mutant.difference}", *fate[1:], file=terminal, flush=True)

    shares = [to_try[worker :: len(folders)] for worker in range(len(folders))]
    children = [
        in_a_process(folder, files_of_tests(), partial(Trials, folder, map(trial, share), reach, done))
        for folder, share in zip(folders, shares, strict=True)
    ]
    try:
        codes = [os.waitpid(child, 0)[1] for child in children]
    except KeyboardInterrupt:
        for child in children:
            os.kill(child, signal.SIGTERM)
        sys.exit(130)
    return not any(codes)


def import_what_takes_long() -> None:
    """Once for all mutants, and nothing of ours."""
    import duckdb
    import hypothesis
    import numba
    import pandas
    import psycopg
    import pyarrow
    import scipy.stats

    assert all((duckdb, hypothesis, numba, pandas, psycopg, pyarrow, scipy))


def noted(file: Path, folder: Path) -> Reach:
    """Which tests reach what; those that are new or changed run now."""
    reach = Reach(file)
    missing = reach.missing()
    if missing:
        print(f"Noting which lines the tests of {len(missing)} files reach ...", file=sys.stderr, flush=True)
        os.waitpid(in_a_process(folder, missing, lambda: Recorder(folder, reach)), 0)
        reach = Reach(file)
    print(f"Not usable: {' '.join(reach.failed) or 'none'}", file=sys.stderr, flush=True)
    return reach


def copy_of_the_project(folder: Path) -> Path:
    """What the tests need, in a folder of its own."""
    for name in ("src", "tests", "docs"):
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


if __name__ == "__main__":
    main()
