"""Trying mutants: pytest collects the tests once, and each mutant meets those that reach it in a forked process."""

from __future__ import annotations

import gc
import os
import select
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

import pytest

from mutation.mutants import Mutant, original
from mutation.reach import KERNELS, Reach

OPTIONS = ["-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "-W", "ignore"]
STARTING = 30.0
"""Seconds of processor time for importing the package and collecting its tests: several times what they take."""
IDLE = 60.0
"""Seconds in which nothing that the tests have started takes any processor time: they wait for ever."""


SURVIVED = "survived"


class Fate(NamedTuple):
    """What became of a mutant, the test that ran last, and the processor time that it took."""

    word: str
    test: str
    seconds: float


class Trial(NamedTuple):
    """A mutant, and the tests that it meets with their seconds; a control goes the same way with nothing changed."""

    mutant: Mutant
    tests: dict[str, float]
    control: bool = False


def control(mutant: Mutant, tests: dict[str, float], kill: Fate) -> Trial:
    """What has killed a mutant, once more with nothing changed: the tests up to the one that failed.

    All of them if none began.
    """
    met = list(tests)
    met = met[: met.index(kill.test) + 1] if kill.test in tests else met
    return Trial(mutant, {test: tests[test] for test in met}, control=True)


class Trials:
    """A plugin of pytest that runs no tests itself, but forks a process for each mutant, which does."""

    def __init__(
        self, folder: Path, trials: Iterable[Trial], reach: Reach, done: Callable[[Mutant, Fate], None]
    ) -> None:
        self.folder, self.trials, self.reach, self.done = folder, trials, reach, done

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """True if all mutants were tried; in a mutant's own process None, and then pytest runs the tests left."""
        items = {item.nodeid: item for item in session.items}
        functions = [found for found in gc.get_objects() if type(found) is FunctionType]
        gc.freeze()  # what is here stays, so a process of a mutant need not look at it, and shares its memory
        for mutant, tests, control in self.trials:
            place, source = self.folder / "src/dpheatmap" / mutant.module, mutant.source
            if source is None:
                continue
            before, unchanged = place.stat(), original(mutant.module)
            place.write_text(unchanged if control else source)  # for what tests start, and what is not imported yet
            child = os.fork()
            if child == 0:
                os.setpgid(0, 0)
                limits = Limits(self.folder / "test", tests)
                if self.reach.at_import(mutant.module, mutant.line) or not swap(functions, place, source):
                    os._exit(afresh(self.folder, limits, anew=mutant.module in KERNELS))
                if control:
                    swap(functions, place, unchanged)
                session.config.pluginmanager.register(limits)
                session.config.option.maxfail = 1
                session.items[:] = [items[test] for test in tests if test in items]
                return None
            word, seconds = wait(child)
            place.write_text(unchanged)
            os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))  # by which kernels know what they were made of
            shutil.rmtree(self.folder / "tmp")
            (self.folder / "tmp").mkdir()
            self.done(mutant, Fate(word, (self.folder / "test").read_text(), seconds))
        return True


class Limits:
    """A plugin of pytest that gives each test a few times the processor time it needs, and notes which one runs."""

    def __init__(self, running: Path, seconds: dict[str, float]) -> None:
        self.running, self.seconds = running, seconds
        running.write_text("")
        signal.setitimer(signal.ITIMER_PROF, STARTING)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """The signal that ends the process comes when the time is over."""
        self.running.write_text(nodeid)
        signal.setitimer(signal.ITIMER_PROF, 3 + 4 * self.seconds[nodeid])


def swap(functions: Sequence[FunctionType], place: Path, source: str) -> bool:
    """Give those functions that are of a module the code of another source; False if they don't take it."""
    new = {(code.co_qualname, code.co_firstlineno): code for code in codes(compile(source, str(place), "exec"))}
    for function in functions:
        known = function.__code__
        if known.co_filename == str(place):
            try:
                function.__code__ = new[known.co_qualname, known.co_firstlineno]
            except (KeyError, ValueError):  # another number of variables from outside
                return False
    return True


def codes(code: CodeType) -> list[CodeType]:
    """All functions of compiled code, those within others too."""
    within = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return within + [deeper for one in within for deeper in codes(one)]


def afresh(folder: Path, limits: Limits, *, anew: bool) -> int:
    """Forget all that was imported of the project, and run the tests on what the files say now.

    With anew, kernels are compiled anew, those apart that do not belong to the private side.
    """
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]
    if anew:
        import numba

        mine = [f"{Path(module).stem}.*" for module in KERNELS]
        os.environ["NUMBA_CACHE_DIR"] = str(folder / "tmp/kernels")
        shutil.copytree(folder / "kernels", folder / "tmp/kernels", ignore=shutil.ignore_patterns(*mine))
        numba.config.reload_config()
    return int(pytest.main([*OPTIONS, "-x", *limits.seconds], plugins=[limits]))


def wait(child: int) -> tuple[str, float]:
    """How a process ended, and its processor time; it is ended if it waits for ever, and when we are."""
    handle, taken, ended = os.pidfd_open(child), -1.0, False
    try:
        while not (ended := bool(select.select([handle], [], [], IDLE)[0])):
            before, taken = taken, processor_time(child)
            if taken <= before:
                break
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what its tests have started and left, too
        os.close(handle)
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    words = {0: SURVIVED, 1: "killed", 2: "killed", -signal.SIGPROF: "took too long"}  # 2: could not be collected
    word = words.get(code, f"ended by {code}") if ended else "waited"
    return word, round(used.ru_utime + used.ru_stime, 2)


def processor_time(group: int) -> float:
    """The processor time of all processes of a group."""
    total = 0.0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = file.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                total += int(fields[11]) + int(fields[12])
    return total


def prepare(folder: Path) -> None:
    """Make this process one that runs the tests of a copy of the project."""
    shutil.rmtree(folder / "tmp", ignore_errors=True)  # of a run that was stopped
    for name in ("tmp", "kernels"):
        (folder / name).mkdir(exist_ok=True)
    os.chdir(folder)
    (folder / "connections").touch()
    os.environ.update(
        NUMBA_CACHE_DIR=str(folder / "kernels"), PYTHONDONTWRITEBYTECODE="1", TMPDIR=str(folder / "tmp"),
        PYTHONPATH=f"{folder}/tests/guard:{folder}/src", DPHEATMAP_TEST_CONNECTIONS=str(folder / "connections"),
    )  # fmt: skip
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder / "src"))
    import numba

    numba.config.reload_config()
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)


def in_a_process(folder: Path, tests: Sequence[str], plugin: Callable[[], object]) -> int:
    """Run tests of a copy of the project, with a plugin that is made there, in a process of its own; its id."""
    child = os.fork()
    if child != 0:
        return child
    code = 98
    try:
        prepare(folder)
        code = int(pytest.main([*OPTIONS, *tests], plugins=[plugin()]))
    finally:
        os._exit(code)
