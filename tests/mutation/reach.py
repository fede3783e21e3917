"""Which tests reach which lines, and how long they take: a mutant needs only those that reach it, quickest first."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mutation.mutants import PACKAGE, original

KERNELS = {"curator/noise_kernels.py": "curator/noise.py"}
"""Compiled code is not seen line by line: it is reached by whatever reaches what calls it."""

AT_MOST = 40.0
"""Seconds of tests, as they take on the code as it is, that one mutant gets. One that lives longer has survived."""


class Recorder:
    """A plugin of pytest that notes each test's time and the lines of the package that it reaches."""

    def __init__(self, folder: Path, record: Path) -> None:
        from coverage import Coverage

        self.root, self.record = folder / "src/dpheatmap", record
        self.coverage = Coverage(data_file=None, include=[f"{self.root}/curator/*", f"{self.root}/budget.py"])
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note what runs under the test's name."""
        self.coverage.switch_context(item.nodeid)
        start = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - start

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tests that fail on the code as it is say nothing about mutants."""
        if report.outcome != "passed":
            self.failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write down what was noted."""
        self.coverage.stop()
        data = self.coverage.get_data()
        lines: dict[str, dict[str, list[int]]] = {}
        for file in data.measured_files():
            module = str(Path(file).relative_to(self.root))
            for line, tests in data.contexts_by_lineno(file).items():
                for test in tests:
                    lines.setdefault(test, {}).setdefault(module, []).append(line)
        self.record.write_text(json.dumps({"seconds": self.seconds, "failed": self.failed, "lines": lines}))


class Reach:
    """What the recorder noted, read back."""

    def __init__(self, record: Path) -> None:
        noted: dict[str, Any] = json.loads(record.read_text())
        usable = set(noted["seconds"]) - set(noted["failed"])
        self.seconds: dict[str, float] = {test: noted["seconds"][test] for test in usable}
        self.failed: list[str] = sorted(set(noted["failed"]))
        self.lines = {
            test: {module: set(reached) for module, reached in of_test.items()}
            for test, of_test in noted["lines"].items()
            if test in usable
        }

    def rounds(self, module: str, line: int) -> list[list[str]]:
        """The tests that reach a line, the module's own first, and else quickest first.

        For what runs when the module is imported, these are all that reach the module.
        """
        from coverage.parser import PythonParser

        parser = PythonParser(text=original(module))
        parser.parse_source()
        seen = KERNELS.get(module, module)
        first = parser.first_line(line) if seen == module else None
        reached = [test for test, lines in self.lines.items() if first in lines.get(seen, ())]
        found = reached or [test for test, lines in self.lines.items() if seen in lines]
        chosen: list[str] = []
        total = 0.0
        for test in sorted(found, key=self.seconds.__getitem__):
            total += self.seconds[test]
            if chosen and total > AT_MOST:
                break
            chosen.append(test)
        own = [test for test in chosen if f"test_{Path(module).stem}" in test]
        return [tests for tests in (own, [test for test in chosen if test not in own]) if tests]


def tests_of_the_private_side() -> list[str]:
    """The test files that may notice a change: those of the private side, and those that go through it."""
    tests = PACKAGE.parent.parent / "tests"
    names = ["test_budget.py", "test_design.py", "test_parameters.py", "test_release_file.py", "cli/test_ledger.py"]
    found = [*sorted(tests.glob("curator/test_*.py")), *(tests / name for name in names)]
    return [str(path.relative_to(tests.parent)) for path in found]
