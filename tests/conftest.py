"""What all tests share: where they may connect to, which ledger they charge, and what property tests draw.

Property tests draw new examples each time, but the same ones in CI, so that green stays green.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from playwright.sync_api import Browser, Playwright, sync_playwright

from helpers import network
from helpers.browser import launch

# Programs that need what the tests don't.
collect_ignore = ["fuzz/long.py", "mutation/mutate.py", "mutation/reach.py", "mutation/trials.py"]

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.register_profile(
    "quick", derandomize=True, deadline=None, max_examples=15, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


@pytest.fixture(autouse=True, scope="session")
def default_ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Commands that name no ledger charge one of the tests' own, not the user's."""
    place = str(tmp_path_factory.mktemp("ledger") / "default.ledger")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPHEATMAP_LEDGER", place)
        yield place


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB, where mounting one is allowed."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """One for all tests in a process: there can't be two."""
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Chromium."""
    running = launch(playwright)
    yield running
    running.close()


def pytest_configure(config: pytest.Config) -> None:
    """Watch the connections of this process and of all that it starts."""
    if network.RECORD not in os.environ:  # else another process, which is told in the end, has done so
        descriptor, os.environ[network.RECORD] = tempfile.mkstemp(prefix="dpheatmap-connections-")
        os.close(descriptor)
        paths = [str(Path(__file__).parent / "guard"), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        config.stash[WATCHING] = os.environ[network.RECORD]
    network.watch()


WATCHING = pytest.StashKey[str]()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the whole run if anything tried to connect beyond this machine."""
    record = session.config.stash.get(WATCHING, None)
    if record is None:
        return
    attempts = Path(record).read_text()
    Path(record).unlink()
    if attempts:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\nTELEMETRY: something tried to connect beyond this machine:\n{attempts}")
