"""Every way in pays alike: for the part that is asked about, before any noise, and as of the time of asking."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import dpheatmap as dph
from dpheatmap.curator import RowReport
from dpheatmap.curator.core.noise import DiscreteLaplace
from dpheatmap.curator.ledger import payment

PEOPLE = pd.DataFrame(
    {
        "user": ["ann", "ann", "bob", "eve", "eve", "zoe"],
        "x": [0.1, 0.9, 0.1, 0.1, 0.9, 0.5],
        "y": [0.1, 0.1, 0.1, 0.1, 0.9, 0.5],
        "home": ["north", "north", "south", "north", "south", "north"],
        "image": ["a.jpg"] * 6,
    }
)
"""Two people of the north, one of the south, and eve, who is of neither."""
SQUARE = dph.Domain.unit(3)
WAYS: dict[str, Callable[..., Any]] = {
    "release": lambda **options: dph.release(PEOPLE, SQUARE, **options),
    "images": lambda **options: dph.release_images(PEOPLE, SQUARE, image="image", images=["a.jpg"], **options),
    "discover": lambda **options: dph.discover(PEOPLE, **options),
}
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())


def charged(folder: Path, limit: int) -> tuple[dph.Ledger, dict[str, Any]]:
    ledger = dph.Ledger(folder / "city.ledger")
    ledger.limit("riders", limit)
    return ledger, {"user": "user", "x": "x", "y": "y", "epsilon": 1, "ledger": ledger, "population": "riders"}


@each_way
def test_a_part_is_what_is_read_and_what_is_charged(way: Callable[..., Any], tmp_path: Path) -> None:
    """Read but not charged as such it costs too much; charged but not read as such, far too little."""
    ledger, options = charged(tmp_path, 1)
    seen: list[RowReport] = []
    for part in ("north", "south"):
        way(**options, partition={"home": ["north", "south"]}, part=part, seen=seen.append)
    assert ledger.accounts()["riders"].parts == {"home": {"north": 1, "south": 1}}
    assert [report.people for report in seen] == [2, 1]


@each_way
def test_no_noise_is_drawn_before_it_is_paid_for(
    way: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever kills the program in between must not have got anything for nothing."""
    ledger, options = charged(tmp_path, 1)
    exact = DiscreteLaplace.exact
    spent: list[Fraction] = []

    def watching(self: DiscreteLaplace, *of: Any) -> Any:
        spent.append(ledger.accounts()["riders"].spent)
        return exact(self, *of)

    monkeypatch.setattr(DiscreteLaplace, "exact", watching)
    way(**options)
    assert set(spent) == {Fraction(1)}


@each_way
def test_the_time_is_that_of_asking(way: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How long the reading takes depends on people's rows, so the time after it would tell of them."""
    asked = datetime(2030, 1, 31, 12, tzinfo=UTC)
    clock = [asked]
    ledger, options = charged(tmp_path, 1)
    monkeypatch.setattr(payment, "datetime", SimpleNamespace(now=lambda zone: clock[-1]))
    made = way(**options, seen=lambda report: clock.append(asked + timedelta(hours=1)))
    assert len(clock) == 2
    assert ledger.entries()[-1].made == asked.isoformat()
    for release in made.values() if isinstance(made, dict) else [made]:
        assert getattr(release, "made", asked) == asked
