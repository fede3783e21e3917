"""Which tests reach which lines, and how long they take: a mutant needs only those that reach it, quickest first."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mutation.mutants import PACKAGE, ROOT, modules, original

KERNELS = {"curator/core/noise_kernels.py": "curator/core/noise.py"}
"""Compiled code is not seen line by line: it is reached by whatever reaches what calls it."""

ALONE = {"tests/curator/engines/test_spark.py": "curator/engines/spark.py"}
"""Tests that start a Java machine, which takes longer than all others together: only for the module they are about."""

IMPORT = ""
"""What runs before any test does, under coverage's name for it."""

TOO_LONG = {"test_privacy.py"}
"""Audits of whole releases by repeating them: most take longer than all tests that a mutant meets."""

THROUGH_IT = (
    "design/test_shares.py", "design/test_dense.py", "design/test_design.py", "releases/test_hostile_files.py",
    "_util/test_parameters.py", "releases/test_release_file.py", "cli/test_commands.py", "cli/test_every_day.py",
    "cli/test_ledger.py",
)  # fmt: skip
"""The tests outside `tests/curator/` that go through the private side."""


class Recorder:
    """A plugin of pytest that notes each test's processor time and the lines of the package that it reaches."""

    def __init__(self, folder: Path, reach: Reach) -> None:
        from coverage import Coverage

        self.reach = reach
        self.root = folder / "src/dpheatmap"
        self.coverage = Coverage(data_file=None, include=[f"{self.root}/curator/*", f"{self.root}/design/shares.py"])
        self.tests: dict[str, dict[str, Any]] = {IMPORT: {"seconds": 0.0, "lines": {}}}
        self.failed: set[str] = set()
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, bool | None, bool | None]:
        """Note what runs under the test's name, and keep it when all tests of a file have run."""
        self.coverage.switch_context(item.nodeid)
        start = sum(os.times()[:4])  # of this process and of those that it has waited for
        done = yield
        self.tests[item.nodeid] = {"seconds": round(sum(os.times()[:4]) - start, 3), "lines": {}}
        if nextitem is None or file_of(nextitem.nodeid) != file_of(item.nodeid):
            self.keep([file_of(item.nodeid)])
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tests that fail on the code as it is say nothing about mutants."""
        if report.outcome != "passed":
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Files without a test are noted, too; after an interruption those left wait for the next time."""
        if exitstatus != pytest.ExitCode.INTERRUPTED:
            self.keep(self.reach.missing())

    def keep(self, files: list[str]) -> None:
        """Add the lines to what was noted of files, and keep it."""
        self.coverage.stop()
        data = self.coverage.get_data()
        mine = {test: noted for test, noted in self.tests.items() if test == IMPORT or file_of(test) in files}
        mine[IMPORT]["lines"] = {}
        for path in data.measured_files():
            module = str(Path(path).relative_to(self.root))
            for line, tests in data.contexts_by_lineno(path).items():
                for test in mine.keys() & tests:
                    mine[test]["lines"].setdefault(module, []).append(line)
        self.reach.note(files, mine, self.failed)
        self.coverage.start()


class Reach:
    """What recorders noted, kept in a file: by test file, together with what the file and the private side were."""

    def __init__(self, record: Path) -> None:
        self.record = record
        self.noted: dict[str, Any] = json.loads(record.read_text()) if record.exists() else {}
        self.noted = {file: known for file, known in self.noted.items() if known["state"] == state(file)}

    def missing(self) -> list[str]:
        """The test files that are not noted as they are now."""
        return [file for file in files_of_tests() if file not in self.noted]

    def note(self, files: list[str], tests: dict[str, Any], failed_tests: set[str]) -> None:
        """Keep what a recorder has noted of files."""
        for file in files:
            mine = {test: noted for test, noted in tests.items() if test == IMPORT or file_of(test) == file}
            failed = sorted(test for test in failed_tests if file_of(test) == file)
            self.noted[file] = {"state": state(file), "tests": mine, "failed": failed}
        self.record.write_text(json.dumps(self.noted))

    @property
    def failed(self) -> list[str]:
        """The tests that fail or are skipped on the code as it is."""
        return [test for known in self.noted.values() for test in known["failed"]]

    def at_import(self, module: str, line: int) -> bool:
        """Whether a line runs when a module is imported, or a test."""
        first = first_line(module, line)
        return module in KERNELS or any(
            first in k["tests"][IMPORT]["lines"].get(module, ()) for k in self.noted.values()
        )

    def tests(self, module: str, line: int, at_most: float) -> dict[str, float]:
        """The tests that reach a line with their seconds, the module's own first, and else quickest first.

        For what runs when the module is imported, or where no test is seen, these are all that reach the module. A
        test that would make it more seconds than ``at_most`` is left out.
        """
        of_module = {
            test: noted
            for file, known in self.noted.items()
            if ALONE.get(file, module) == module
            for test, noted in known["tests"].items()
            if KERNELS.get(module, module) in noted["lines"] and test != IMPORT and test not in known["failed"]
        }
        first = first_line(module, line)
        of_line = {test: noted for test, noted in of_module.items() if first in noted["lines"].get(module, ())}
        found = of_module if self.at_import(module, line) else of_line or of_module
        reaching = {test: noted["seconds"] for test, noted in found.items()}
        chosen: dict[str, float] = {}
        for test in sorted(reaching, key=lambda test: (f"test_{Path(module).stem}" not in test, reaching[test])):
            if sum(chosen.values()) + reaching[test] <= at_most:
                chosen[test] = reaching[test]
        return chosen


@cache
def _parser(module: str) -> Any:
    from coverage.parser import PythonParser

    parser = PythonParser(text=original(module))
    parser.parse_source()
    return parser


def first_line(module: str, line: int) -> int:
    """The first line of the statement that this line belongs to."""
    return int(_parser(module).first_line(line))


def file_of(test: str) -> str:
    """The file of a test."""
    return test.partition("::")[0]


def files_of_tests() -> list[str]:
    """What may notice a change: the tests of the private side and its examples, and the tests that go through it."""
    tests = ROOT / "tests"
    of_curator = sorted(path for path in tests.glob("curator/**/test_*.py") if path.name not in TOO_LONG)
    found = [*of_curator, *(tests / name for name in THROUGH_IT)]
    return [str(path.relative_to(ROOT)) for path in [*found, *(PACKAGE / module for module in modules())]]


def state(file: str) -> str:
    """A digest of a test file and of the private side."""
    texts = [(ROOT / file).read_text() if (ROOT / file).exists() else "", *map(original, modules())]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
