"""What can't be sliced is refused before anything is read or charged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dpheatmap as dph
from dpheatmap.curator.sliced_publish import slices_of
from dpheatmap.errors import ParameterError, PrivacyRefusal

TABLE = pa.table({"u": ["a", "b"], "x": [0.1, 0.9], "y": [0.1, 0.9], "t": ["2024-06-03 08:00", "2024-06-04 09:00"]})
COLUMNS: dict[str, Any] = {"user": "u", "x": "x", "y": "y"}
DAYS: dict[str, Any] = {
    "time": "t", "every": "day", "time_zone": "UTC", "start": "2024-06-03", "end": "2024-06-04",
}  # fmt: skip

MANY = [str(k) for k in range(3000)]


@pytest.mark.parametrize(
    ("events", "options", "error", "words"),
    [
        (TABLE.to_reader(), {**DAYS, "split": "epsilon"}, ParameterError, "it was a stream. Give a table."),
        (TABLE, {**DAYS, "end": "2033-06-04"}, ParameterError, "at most 1000 slices"),
        (
            TABLE,
            {**DAYS, "group": "u", "groups": [str(k) for k in range(3000)]},
            ParameterError,
            "at most 5,000 slices",
        ),
        (TABLE, {**DAYS, "end": "2024-06-01"}, ParameterError, "start must be before end"),
        (TABLE, {**DAYS, "start": "June"}, ParameterError, r"start \(--from\) must be a date or a time"),
        (TABLE, {**DAYS, "design": "paper"}, ParameterError, "Slices have the design 'ladder'"),
        (TABLE, {**DAYS, "start": None}, PrivacyRefusal, "need a public range"),
        (TABLE, {"group": "u"}, PrivacyRefusal, "needs the public list of groups"),
    ],
)
def test_refusals_cost_nothing(events: Any, options: Any, error: Any, words: str, tmp_path: Path) -> None:
    ledger = dph.Ledger(tmp_path / "books")
    ledger.limit("riders", 1)
    charged: dict[str, Any] = {"ledger": ledger, "population": "riders"}
    with pytest.raises(error, match=words):
        dph.release(events, dph.Domain.unit(4), epsilon=1, **COLUMNS, **charged, **options)
    assert ledger.accounts()["riders"].charges == 0


def test_all_slices_are_one_charge(tmp_path: Path) -> None:
    ledger = dph.Ledger(tmp_path / "books")
    ledger.limit("riders", 1)
    for split in ("weight", "epsilon"):
        made = dph.release(
            TABLE, dph.Domain.unit(4), epsilon="1/2", ledger=ledger, population="riders", split=split, **COLUMNS, **DAYS
        )
        assert str(made.epsilon) == "1/2"
        assert len(made.slices) == 2
    account = ledger.accounts()["riders"]
    assert (account.charges, str(account.spent)) == (2, "1")


def test_very_long_names_of_groups_are_refused_in_words() -> None:
    names = [f"{number:>6}{'x' * 250}" for number in range(4000)]
    with pytest.raises(ParameterError, match="The names of groups are too long"):
        slices_of(None, None, None, None, None, "mode", names)
