"""Fuzzing of every reader: no traceback, no hang, no memory blow-up, no value of a row in an error.

Seeded mutations of good inputs here, over 100,000 cases; hypothesis on top for the readers of text; `scripts/fuzz` runs
the same targets under atheris, guided by coverage, as long as one likes.
"""

from __future__ import annotations

import os
import random
import resource
import signal
from collections.abc import Iterator
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz import targets
from fuzz.targets import TARGETS, Target

LONGEST = 20
MOST_MEMORY = 2**20  # kilobytes


@pytest.fixture(autouse=True)
def no_hang_and_no_blow_up() -> Iterator[None]:
    """A case that takes long raises; memory is looked at in the end."""

    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError("a case takes too long")

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    previous = signal.signal(signal.SIGALRM, late)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MEMORY


def test_over_100_000_cases_are_tried() -> None:
    assert sum(TARGETS.values()) > 100_000


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.__name__)
def test_mutations(target: Target) -> None:
    rng = random.Random(0 if os.environ.get("CI") else None)
    corpus = targets.seeds(target)
    targets.OUTCOMES.clear()
    for data in corpus:
        target(data)
    assert targets.OUTCOMES["taken"] > 0, "no input was good before it was changed"
    for _ in range(TARGETS[target]):
        data = targets.mutated(rng, rng.choice(corpus))
        signal.alarm(LONGEST)
        try:
            target(data)
        except BaseException as error:
            error.add_note(f"the input was {data!r}")
            raise
    assert targets.OUTCOMES["refused"] > 0


@pytest.mark.parametrize("target", [targets.bbox, targets.epsilon, targets.predicate, targets.budget])
def test_any_text(target: Target) -> None:
    @settings(max_examples=500)
    @given(st.text())
    def any_text(written: str) -> None:
        target(written.encode("utf-8", "surrogatepass"))

    targets.OUTCOMES.clear()
    any_text()
    assert targets.OUTCOMES["refused"] > 0
