"""What an engine answers, in the order of the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpheatmap.curator.aggregation import _verify
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.curator.engines.answer import Answer
from dpheatmap.design.shares import UNITS
from dpheatmap.place.domain import Domain

DOMAIN = Domain.unit(28)
PLACES = st.tuples(st.integers(0, 2), st.integers(0, 2**28 - 1), st.integers(0, 2**28 - 1))
COUNTERS = [7, 0, 1, 2, 4, 3]


@settings(deadline=None, max_examples=12)
@given(st.dictionaries(PLACES, st.integers(1, 2**62), max_size=30), st.booleans())
def test_counts_are_of_the_rows_in_any_order(cells: dict[tuple[int, int, int], int], grouped: bool) -> None:
    if not grouped:
        cells = {(0, x, y): weight for (_, x, y), weight in cells.items()}
    rows = [(p, x, y, w) for (p, x, y), w in cells.items()] + [(-1, -1, k, c) for k, c in enumerate(COUNTERS)]
    rows.sort(key=lambda row: hash(row))
    names = ["group_number", "cx", "cy", "weight"]
    columns = {name: np.array([row[k] for row in rows]) for k, name in enumerate(names)}
    if not grouped:
        columns.pop("group_number")
    answer = Answer.of(columns)
    assert answer.counters == COUNTERS
    for number, of_picture in enumerate(answer.counts(DOMAIN, 3 if grouped else 1)):
        expected = {(x, y): w for (p, x, y), w in cells.items() if p == number}
        table = of_picture.to_arrow().to_pydict()
        got = dict(zip(zip(table["x"], table["y"], strict=True), table["weight"], strict=True))
        assert got == expected
        assert np.all(np.diff(of_picture.codes) > 0)


REPORT: dict[str, Any] = {
    "rows": 15,
    "without_person": 1,
    "invalid": 2,
    "outside": 4,
    "inside": 8,
    "people": 2,
    "seconds": 0.0,
}


def of_two_images(weight: int) -> list[Counts]:
    """A unit of one image, and the rest of the weight in two cells of another."""
    one, two = np.array([1]), np.array([0, 1])
    rest = np.array([UNITS, weight - UNITS - 1])
    return [Counts.from_cells(DOMAIN, one, one, one), Counts.from_cells(DOMAIN, two, two, rest)]


@pytest.mark.parametrize("weight", [2 * UNITS, 2 * UNITS - 1, UNITS + 2])
def test_an_answer_that_keeps_the_contract(weight: int) -> None:
    _verify(of_two_images(weight), RowReport(**REPORT))


@pytest.mark.parametrize(
    ("weight", "wrong"),
    [(2 * UNITS + 1, {}), (UNITS + 2, {"people": 1}), *((UNITS + 2, {name: REPORT[name] + 1}) for name in
     ("rows", "without_person", "invalid", "outside", "inside"))],
)  # fmt: skip
def test_an_answer_that_breaks_the_contract_stops(weight: int, wrong: dict[str, Any]) -> None:
    """More weight than a unit a person, over all images, or rows that are lost or counted twice."""
    with pytest.raises(AssertionError, match="broke its contract"):
        _verify(of_two_images(weight), RowReport(**{**REPORT, **wrong}))
