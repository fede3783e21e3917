"""What tests of rivals share."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpheatmap.curator import Curator


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> list[Fraction]:
    """What each question cost, in order."""
    parts: list[Fraction] = []
    spend = Curator._spend

    def record(curator: Curator, epsilon: Fraction) -> None:
        parts.append(epsilon)
        spend(curator, epsilon)

    monkeypatch.setattr(Curator, "_spend", record)
    return parts
