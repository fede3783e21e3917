"""What a reader checks of a ladder's release: every alteration is refused in words.

The decisions of a ladder can't be made again, so these tests go through the ways to alter what can be checked.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import FARTHEST, SHARES, UNITS
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.release import Release
from dpheatmap.releases.release_file import problem_of
from helpers.ladder_rows import (
    ANY_CELLS,
    EXTRA,
    NOT_SPLIT,
    OTHER_CELLS,
    OTHER_SHARES,
    Row,
    Rows,
    ladder_of,
    made_of_all,
    problem,
    rows_of,
    shape_of,
)


@pytest.fixture(scope="module")
def release() -> Release:
    """A release with cells of every kind."""
    return made_of_all()


def test_the_release_has_everything_there_is(release: Release) -> None:
    shape = shape_of(release)
    assert min(len(rows) for rows in shape[1:]) >= 4
    assert len(rows_of(release)) == 1 + sum(len(rows) for rows in shape[1:])
    assert {row.level for row in shape.opened} >= {shape.start, shape.start + 1}
    assert problem(release, rows_of(release)) is None
    assert problem(release, rows_of(release)[::-1]) is None


def each_kind(release: Release) -> list[Row]:
    """A measurement of each kind, and one of each level."""
    shape = shape_of(release)
    return [rows[0] for rows in shape[1:]] + [rows[-1] for rows in shape[1:]]


@pytest.mark.parametrize("change", [1, -1, 2**20, -(2**32), 2**40])
def test_another_share_is_refused(release: Release, change: int) -> None:
    for row in each_kind(release):
        rows = rows_of(release)
        rows[rows.index(row)] = row._replace(share=row.share + change)
        found = problem(release, rows)
        assert found is not None
        assert found == f"the shares of epsilon at level {row.level} are not those that its design spends"


def test_the_share_of_another_rung_is_refused(release: Release) -> None:
    """What is left to a path is a matter of how many cells were opened above."""
    shares = ladder_of(release).possible_shares(release.domain)
    for row in each_kind(release):
        for share in shares - {row.share}:
            rows = rows_of(release)
            rows[rows.index(row)] = row._replace(share=share)
            assert problem(release, rows) is not None, (row, share)


def test_a_missing_cell_is_refused(release: Release) -> None:
    for row in each_kind(release):
        rows = rows_of(release)
        rows.remove(row)
        refuse(release, rows, OTHER_SHARES if row in shape_of(release).opened else ANY_CELLS)


def refuse(release: Release, rows: Rows, words: str) -> None:
    found = problem(release, rows)
    assert found is not None
    assert re.search(words, found), found


def test_an_extra_cell_is_refused(release: Release) -> None:
    """One twice, one in a leaf, one above a leaf, one on a level that no cell has."""
    for row in each_kind(release):
        again = rows_of(release)
        again.insert(again.index(row), row)
        refuse(release, again, f"{EXTRA}|{OTHER_SHARES}")
        if row.level < 7 and row not in shape_of(release).opened:
            refuse(release, [*rows_of(release), row._replace(level=row.level + 1, code=4 * row.code)], EXTRA)
        refuse(release, [*rows_of(release), row._replace(level=row.level + 30)], EXTRA)
        refuse(release, [*rows_of(release), row._replace(level=-1)], f"{EXTRA}|{OTHER_CELLS}")
    for row in shape_of(release).two_below:
        refuse(release, [*rows_of(release), row._replace(level=row.level - 1, code=row.code >> 2)], EXTRA)


def test_a_cell_elsewhere_is_refused(release: Release) -> None:
    """The number of rows stays, and one of them moves to another cell of its level."""
    for row in each_kind(release):
        rows = rows_of(release)
        taken = {(other.level, other.code) for other in rows}
        free = next(code for code in range(4**row.level) if (row.level, code) not in taken)
        rows[rows.index(row)] = row._replace(code=free)
        refuse(release, rows, f"{ANY_CELLS}|{OTHER_SHARES}")


def test_a_leaf_three_levels_below_is_refused(release: Release) -> None:
    """A closed cell becomes its children, or theirs, and that is right; or those in them, and that is not."""
    row = next(row for row in shape_of(release).closed if row.level <= 3)
    left = ladder_of(release).rungs[row.level - shape_of(release).start].left
    assert row.share == left
    for deeper, words in ((0, None), (1, None), (2, None), (3, OTHER_CELLS)):
        below = [Row(row.level + deeper, (row.code << 2 * deeper) + k, 9 * UNITS, left) for k in range(4**deeper)]
        rows = [other for other in rows_of(release) if other != row] + below
        if words is None:
            assert problem(release, rows) is None
        else:
            refuse(release, rows, ANY_CELLS)


def test_an_opened_cell_above_the_last_level_is_refused(release: Release) -> None:
    """Its children have nothing below them that could be looked at."""
    design, last = ladder_of(release), release.domain.depth
    row = next(row for row in shape_of(release).closed if row.level == last - 1)
    opened = row.level - shape_of(release).start
    below = [Row(last, 4 * row.code + k, UNITS, design.rungs[opened + 1].left) for k in range(4)]
    rows = [other for other in rows_of(release) if other != row]
    rows += [row._replace(share=design.rungs[opened].taken), *below]
    refuse(release, rows, f"the shares of epsilon at level {last - 1} are")


def test_an_opened_cell_without_its_children_is_refused(release: Release) -> None:
    design = ladder_of(release)
    row = next(row for row in shape_of(release).closed if row.level == shape_of(release).start)
    rows = rows_of(release)
    rows[rows.index(row)] = row._replace(share=design.rungs[0].taken)
    refuse(release, rows, ANY_CELLS)


def families(release: Release) -> list[Rows]:
    """The children of each child that was split."""
    found: dict[tuple[int, int], Rows] = {}
    for row in shape_of(release).two_below:
        found.setdefault((row.level, row.code >> 2), []).append(row)
    return list(found.values())


@pytest.mark.parametrize("split", [-(10**6), -1, 0, 1, 10**6])
def test_a_split_child_holds_more_than_the_threshold(release: Release, split: int) -> None:
    """To the unit: the sum of its children's values is set beside the threshold."""
    design, start = ladder_of(release), shape_of(release).start
    for family in families(release):
        level = family[0].level
        (left,) = {row.share for row in family}
        assert left == design.rungs[level - 2 - start].left or level - 2 > start
        threshold = int(8 * UNITS * SHARES // (release.epsilon * left))
        rows = [row for row in rows_of(release) if row not in family]
        values = [threshold + split - 3, 1, 1, 1]
        rows += [row._replace(noisy=value) for row, value in zip(family, values, strict=True)]
        if split > 0:
            assert problem(release, rows) is None
        else:
            refuse(release, rows, f"a cell of level {level - 1} was split though it holds too little")


@pytest.mark.parametrize("sign", [1, -1])
def test_values_that_were_clipped_are_not_added_up(release: Release, sign: int) -> None:
    """Of a value held at 2^61 the sum is unknown; of others it must not turn over in 64 bits."""
    family = families(release)[0]
    rest = [row for row in rows_of(release) if row not in family]
    held = [row._replace(noisy=sign * FARTHEST) for row in family[:1]]
    others = [row._replace(noisy=-sign * (FARTHEST - 1)) for row in family[1:]]
    assert problem(release, rest + held + others) is None
    large = [row._replace(noisy=sign * (FARTHEST - 1)) for row in family]
    assert (problem(release, rest + large) is None) == (sign > 0)
    beyond = [row._replace(noisy=sign * (FARTHEST + 1)) for row in family]
    refuse(release, rest + beyond, "counts are out of range")


def test_more_people_than_fit_are_released_and_read_back() -> None:
    """Each quarter of a split child has more than 2^31 people: all values are held at 2^61."""
    domain = dph.Domain.unit(4)
    codes = np.arange(256)
    counts = dph.Counts.in_order(domain, codes, np.full(256, 2**62))
    choices: list[dict[str, Any]] = [{"first_level": 1}, {"first_level": 2}, {}]
    for options in choices:
        made = dph.release(counts, epsilon=1, design="ladder", **options)
        assert problem_of(made) is None
        assert made.measurements.counts.max() == FARTHEST


def test_another_total_means_another_start(release: Release) -> None:
    total, *rest = rows_of(release)
    design, start = ladder_of(release), shape_of(release).start
    for noisy in (0, -(10**12), total.noisy * 5, total.noisy * 100, FARTHEST, -FARTHEST):
        refuse(release, [total._replace(noisy=noisy), *rest], f"{ANY_CELLS}|{OTHER_SHARES}")
    least = 24 * release.domain.count(start) * UNITS / release.epsilon
    assert problem(release, [total._replace(noisy=-(-least // 1)), *rest]) is None
    refuse(release, [total._replace(noisy=-(-least // 1) - 1), *rest], f"{ANY_CELLS}|{OTHER_SHARES}")
    refuse(release, rest, OTHER_CELLS)
    refuse(release, [total._replace(share=total.share + 1), *rest], "cells measured at level 0")
    refuse(release, [total, total, *rest], EXTRA)
    assert design.total_question(release.domain) is not None


def test_a_total_of_a_cell_that_is_measured_again() -> None:
    """Where the first level is that of the total, both measurements of its cell must be there."""
    domain, left = dph.Domain.unit(2), SHARES - SHARES // 100
    design = LadderDesign(0, 2)

    def found(*rows: Row) -> str | None:
        levels, codes, counts, shares = np.array(rows, np.int64).T
        return problem_of(Release(domain, PureLoss(Fraction(1)), Measurements(levels, codes, counts, shares), design))

    total, closed = Row(0, 0, 5, SHARES // 100), Row(0, 0, 7, left)
    assert found(total, closed) is None
    assert found(closed, total) is None
    assert found(total) == "the cells measured at level 0 are not those that its design measures"
    assert found(closed) == "the cells measured at level 0 are not those that its design measures"
    assert found(total, closed, closed) == EXTRA
    assert found(total, total, closed) is not None


def test_even_maps_need_not_hold_as_much_as_split_cells() -> None:
    """All of the map two levels below the start: no child was split. One cell more above, and some were."""
    domain, left = dph.Domain.unit(4), LadderDesign(1, 4, total=Fraction(0)).rungs[0].left
    design = LadderDesign(1, 4, total=Fraction(0))
    finest = [Row(3, code, 0, left) for code in range(64)]
    release = Release(domain, PureLoss(Fraction(1)), Measurements(*np.zeros((4, 0), np.int64)), design)
    assert problem(release, finest) is None
    refuse(release, [Row(1, 0, 0, left), *finest[16:]], NOT_SPLIT)
    refuse(release, [Row(2, 0, 0, left), *finest[4:]], NOT_SPLIT)
    assert problem(release, [Row(2, code, 0, left) for code in range(16)]) is None
    refuse(release, [Row(4, code, 0, left) for code in range(256)], OTHER_CELLS)
