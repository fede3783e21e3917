from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from dpheatmap.curator.core import noise
from helpers import postgres


@pytest.fixture(params=["words", "tables"])
def noise_path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of drawing noise, whatever the number of samples: by words alone, or by tables first."""
    monkeypatch.setattr(noise, "SMALL", {"words": 2**40, "tables": 0}[request.param])
    return str(request.param)


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    """The URL of a PostgreSQL server that this run of the tests started."""
    with postgres.server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty ledger of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "city.ledger")
    url = str(request.getfixturevalue("database"))
    with psycopg.connect(url) as con:
        con.execute("DROP TABLE IF EXISTS public.dpheatmap_ledger")
    return url
