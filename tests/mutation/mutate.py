"""Mutation testing: which small changes to the private side does no test notice?

First the tests run once, and the lines that each reaches are noted. Then each mutant meets the tests that reach its
line, quickest first, until one fails or takes several times its processor time. What was found is kept in a folder, so
that a run that is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import postgres  # noqa: E402
from mutation.mutants import Mutant, in_order, modules, mutants, original  # noqa: E402
from mutation.reach import Reach, Recorder, test_files  # noqa: E402
from mutation.trials import Fate, Trials, in_a_process  # noqa: E402

SURVIVED = "survived"
FIRST_TESTS, MORE_TESTS = 8.0, 60.0
"""Seconds of tests, by what they take on the code as it is, that a mutant meets: at first, and when tried again."""


def main() -> None:
    """Try mutants, and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, help="how many mutants to try, with those tried before; all by default")
    parser.add_argument(
        "--again", action="store_true", help="try survivors once more, with more tests, as CI runs them"
    )
    parser.add_argument("--only", nargs="+", choices=modules(), metavar="MODULE", help="such as curator/noise.py")
    parser.add_argument("--folder", type=Path, default=ROOT / ".mutation", help="where the record is kept")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.environ["HYPOTHESIS_PROFILE"] = "ci" if options.again else "quick"
    found = {module: mutants(module) for module in options.only or modules()}
    place = options.folder.resolve()
    record = Record(place / "fates.jsonl")
    to_try = [mutant for mutant in in_order(found)[: options.sample] if mutant not in record.fates]
    if options.again:
        to_try = [mutant for mutant in in_order(found) if record.fates.get(mutant, [""])[-1] == SURVIVED]
    folders = [copy_of_the_project(place / str(worker)) for worker in range(options.workers)]
    import_what_takes_long()
    with postgres.server() as database:
        os.environ["DPHEATMAP_TEST_DATABASE"] = database
        reach = noted(place / "reach.json", folders[0])
        if not tried(to_try, folders, reach, MORE_TESTS if options.again else FIRST_TESTS, record):
            sys.exit(f"Mutants could not be tried. See the log in {folders[0]}.")
    report(found, Record(record.file).fates)


def tried(to_try: list[Mutant], folders: list[Path], reach: Reach, at_most: float, record: Record) -> bool:
    """Try mutants in several copies of the project at once."""
    terminal = os.fdopen(os.dup(2), "w")

    def done(mutant: Mutant, fate: Fate) -> None:
        record.add(mutant, fate)
        print(f"{fate.word} {mutant.module}:{mutant.line} {mutant.difference}", *fate[1:], file=terminal, flush=True)

    shares = [to_try[worker :: len(folders)] for worker in range(len(folders))]
    children = [
        in_a_process(folder, test_files(), partial(Trials, folder, share, reach, at_most, done))
        for folder, share in zip(folders, shares, strict=True)
    ]
    try:
        codes = [os.waitpid(child, 0)[1] for child in children]
    except KeyboardInterrupt:
        for child in children:
            os.kill(child, signal.SIGTERM)
        raise
    return not any(codes)


class Record:
    """The fates of mutants, oldest first, in a file of which each line is a trial."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(exist_ok=True)
        self.file = file
        self.fates: dict[Mutant, list[str]] = {}
        for line in file.read_text().splitlines() if file.exists() else ():
            noted = json.loads(line)
            mutant = Mutant(*noted["mutant"])
            if noted["of"] == digest(mutant.module):
                self.fates.setdefault(mutant, []).append(noted["word"])

    def add(self, mutant: Mutant, fate: Fate) -> None:
        """Note a trial; of several processes that do so, none disturbs another."""
        noted = {"mutant": mutant, "of": digest(mutant.module), "change": mutant.difference, **fate._asdict()}
        with self.file.open("a") as file:
            file.write(json.dumps(noted) + "\n")


def digest(module: str) -> str:
    """By which a module is known to be as it was."""
    return hashlib.sha256(original(module).encode()).hexdigest()[:16]


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


def report(found: dict[str, list[Mutant]], fates: dict[Mutant, list[str]]) -> None:
    """A table by module, and the survivors. The score weighs each module by the number of its mutants."""
    print("| module | mutants | tried | killed at first | killed now |\n|---|---|---|---|---|")
    found = {module: mine for module, mine in found.items() if any(mutant in fates for mutant in mine)}
    every, number = sum(map(len, found.values())), 0
    scores, variance = [0.0, 0.0], 0.0
    for module, mine in found.items():
        words = [fates[mutant] for mutant in mine if mutant in fates]
        killed = [sum(of_mutant[at] != SURVIVED for of_mutant in words) for at in (0, -1)]
        print(f"| `{module}` | {len(mine)} | {len(words)} | {killed[0]} | {killed[1]} |")
        number += len(words)
        weight = len(mine) / every
        scores = [score + weight * count / len(words) for score, count in zip(scores, killed, strict=True)]
        likely = (killed[1] + 1) / (len(words) + 2)  # so that few tries without a survivor don't count as certainty
        variance += weight**2 * likely * (1 - likely) / len(words) * (1 - len(words) / len(mine))
    print(f"| all, weighted | {every} | {number} | {scores[0]:.1%} | {scores[1]:.1%} ± {variance**0.5:.1%} |\n")
    for mutant in sorted(
        mutant for mine in found.values() for mutant in mine if fates.get(mutant, [""])[-1] == SURVIVED
    ):
        print(f"- `{mutant.module}:{mutant.line}` {mutant.operator}: `{mutant.difference}`")


if __name__ == "__main__":
    main()
