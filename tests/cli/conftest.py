"""What tests of commands share."""

from __future__ import annotations

import pytest

from dpheatmap.testing import generated_people


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file of 300 people, x and y from 0 to 1."""
    path = str(tmp_path_factory.mktemp("data") / "people.parquet")
    generated_people(300).write_parquet(path)
    return path
