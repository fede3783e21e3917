"""The sparse tree against dense sums."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.core.counts import Counts
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import MissingDependency
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import encode

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@st.composite
def weights(draw: st.DrawFn) -> tuple[Domain, dict[tuple[int, int], int]]:
    domain = draw(st.sampled_from([Domain.unit(0), Domain.unit(4), Domain.image(11, 6), Domain.image(3, 20, depth=3)]))
    r = domain.cells(domain.depth)
    cells = st.tuples(st.integers(r.x0, r.x1 - 1), st.integers(r.y0, r.y1 - 1))
    return domain, draw(st.dictionaries(cells, st.integers(0, 2**55), max_size=60))


def counts_of(domain: Domain, cells: dict[tuple[int, int], int]) -> Counts:
    x, y = np.array(list(cells), dtype=np.int64).reshape(-1, 2).T
    return Counts.from_cells(domain, x, y, np.array(list(cells.values()), dtype=np.int64))


@given(weights())
def test_every_cell_of_every_level_has_the_sum_below_it(case: tuple[Domain, dict[tuple[int, int], int]]) -> None:
    domain, cells = case
    counts = counts_of(domain, cells)
    for level in range(domain.depth + 1):
        shift = domain.depth - level
        sums: dict[tuple[int, int], int] = {}
        for (x, y), weight in cells.items():
            sums[x >> shift, y >> shift] = sums.get((x >> shift, y >> shift), 0) + weight
        xs, ys = (a.ravel() for a in np.meshgrid(np.arange(2**level), np.arange(2**level)))
        got = counts.at(level, encode(xs, ys))
        assert got.dtype == np.int64
        assert got.tolist() == [sums.get(cell, 0) for cell in zip(xs.tolist(), ys.tolist(), strict=True)]


def test_it_takes_memory_by_the_occupied_cells() -> None:
    domain = Domain.unit(28)
    far = 2**28 - 1
    counts = counts_of(domain, {(0, 0): 5, (far, far): 7, (far, 0): 9})
    assert len(counts.codes) == 3
    assert counts.at(0, np.array([0])).tolist() == [21]
    assert counts.at(28, np.array([0, 4**28 - 1, 1])).tolist() == [5, 7, 0]
    assert counts.at(1, np.arange(4)).tolist() == [5, 9, 0, 7]


@given(weights())
def test_arrow_has_the_occupied_cells(case: tuple[Domain, dict[tuple[int, int], int]]) -> None:
    domain, cells = case
    table = counts_of(domain, cells).to_arrow()
    assert table.column_names == ["x", "y", "weight"]
    assert {(row["x"], row["y"]): row["weight"] for row in table.to_pylist()} == cells
    assert {str(kind) for kind in table.schema.types} == {"int64"}


def test_without_arrow_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match=r"to_arrow needs the package pyarrow.*pip install pyarrow"):
        counts_of(Domain.unit(2), {}).to_arrow()


@given(weights(), weights())
def test_what_is_shown_depends_on_the_domain_alone(
    one: tuple[Domain, dict[tuple[int, int], int]], other: tuple[Domain, dict[tuple[int, int], int]]
) -> None:
    shown = [repr(counts_of(*case)) for case in (one, other)]
    if one[0].kind == other[0].kind:
        assert shown[0] == shown[1]
    assert str(counts_of(*one)) == f"{counts_of(*one)}" == shown[0]
    assert re.findall(r"\d+", shown[0]) == [str(UNITS)]
    assert "private" in shown[0]


def test_an_aggregation_shows_nothing_of_its_report() -> None:
    table = {"u": np.arange(4321), "x": np.full(4321, 0.5), "y": np.full(4321, 0.5)}
    counts = dph.aggregate(table, Domain.unit(2), user="u", x="x", y="y")
    assert counts.report is not None
    assert counts.report.people == 4321
    assert "4321" not in f"{counts}{counts!r}"


@given(st.lists(st.sampled_from([0, 1, 2**30, 2**61 - 1, 2**61, 2**62, 2**63 - 1]), min_size=1, max_size=64))
def test_no_number_of_people_is_too_many(weights: list[int]) -> None:
    """Sums of up to 2^69 units, 500 billion people: exact, and held at 2^61 cell by cell only where that is asked."""
    cells = np.arange(len(weights))
    counts = Counts.from_cells(Domain.unit(6), cells, cells, np.array(weights))
    assert counts.total == sum(weights)
    for level in range(7):
        codes = encode(np.arange(2**level), np.arange(2**level))
        held = [sum(weights[k << (6 - level) : (k + 1) << (6 - level)]) for k in range(2**level)]
        assert counts.at(level, codes).tolist() == [min(weight, 2**61) for weight in held]
        exact = counts.exact(level, codes)
        assert exact.tolist() == held
        assert exact.dtype == (np.int64 if max(held) < 2**63 else object)


def test_sums_that_wrap_around_more_than_once_are_exact() -> None:
    """2^70 units in 256 cells; every cell of every level, and ranges that begin right at a turn."""
    counts = Counts.in_order(Domain.unit(4), np.arange(256), np.full(256, 2**62))
    assert counts.total == 2**70
    assert len(counts.turns) == 64
    for level in range(5):
        assert counts.exact(level, np.arange(4**level)).tolist() == [2 ** (70 - 2 * level)] * 4**level
    assert counts.exact(2, np.zeros(0, np.int64)).tolist() == []


def test_one_person_more_moves_no_sum_by_more_however_many_there_are() -> None:
    """The bug it guards against: prefix sums held at a bound, whose differences two cells away move back by one."""
    cells = np.arange(8)
    crowd = np.full(8, 2**61 - 3)
    for k in range(8):
        more = crowd + UNITS * (cells == k)
        for level in range(4):
            codes = np.arange(4**level)
            one, other = (Counts.from_cells(Domain.unit(3), cells, cells, w).at(level, codes) for w in (crowd, more))
            assert np.abs(other - one).sum() <= UNITS
            assert (other >= one).all()
