"""What tests of collections share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.collecting import Cast


@pytest.fixture(autouse=True)
def curtain() -> Iterator[None]:
    """After each test, all states are closed."""
    yield
    for cast in Cast.playing:
        for number in range(len(cast.keys)):
            cast.stop(number)
    Cast.playing.clear()
