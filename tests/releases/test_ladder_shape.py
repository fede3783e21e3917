"""What a reader checks of a ladder's release: every alteration is refused in words, and every honest release is read.

The decisions of a ladder can't be made again, so these tests go through the ways to alter what can be checked.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import FARTHEST, SHARES, UNITS
from dpheatmap.errors import ParameterError, ReleaseFileError
from dpheatmap.place.quadtree import encode
from dpheatmap.releases.release import Measurements, Release
from dpheatmap.releases.release_file import _problem
from dpheatmap.testing import generated_people, seeded_release
from helpers.stored import metadata_of, write_again

OTHER_CELLS = r"the cells measured at level \d+ are not those"
OTHER_SHARES = r"the shares of epsilon at level \d+ are not those"
NOT_SPLIT = r"a cell of level \d+ was split though it holds too little"
EXTRA = "it has measurements that its design does not make"
ANY_CELLS = f"{OTHER_CELLS}|{NOT_SPLIT}"


class Row(NamedTuple):
    """One measurement."""

    level: int
    code: int
    noisy: int
    share: int


Rows = list[Row]


@pytest.fixture(scope="module")
def release() -> Release:
    """A release in which cells are opened, deepened with children split and kept, finished and closed."""
    counts = dph.aggregate(generated_people(700), dph.Domain.unit(7), user="person", x="x", y="y")
    return seeded_release(counts, epsilon=5, design="ladder", seed=0)


def ladder_of(release: Release) -> LadderDesign:
    assert isinstance(release.design, LadderDesign)
    return release.design


def rows_of(release: Release) -> Rows:
    m = release.measurements
    return [Row(*row) for row in zip(*(a.tolist() for a in (m.levels, m.codes, m.counts, m.shares)), strict=True)]


def with_rows(release: Release, rows: Rows) -> Release:
    """The release with other measurements, in the order of a file's."""
    levels, codes, counts, shares = np.array(rows, np.int64).reshape(-1, 4).T
    order = np.lexsort((codes, levels))
    return replace(release, measurements=Measurements(levels[order], codes[order], counts[order], shares[order]))


def problem(release: Release, rows: Rows) -> str | None:
    return _problem(with_rows(release, rows))


class Shape(NamedTuple):
    """The measurements of a release by what became of their cells; free cells are those looked at by themselves."""

    start: int
    opened: Rows
    closed: Rows
    one_below: Rows
    two_below: Rows


def shape_of(release: Release) -> Shape:
    """Told apart by the shares and by what lies above, in plain words and loops."""
    design = ladder_of(release)
    total, *rows = rows_of(release)
    opened = {(row.level, row.code) for row in rows if row.share in {rung.taken for rung in design.rungs}}
    start = design.start_of(release.domain, release.epsilon * total.noisy / UNITS)
    found = Shape(start, [], [], [], [])
    for row in rows:
        free = start
        while free < row.level and (free, row.code >> 2 * (row.level - free)) in opened:
            free += 1
        if (row.level, row.code) in opened:
            found.opened.append(row)
        else:
            [found.closed, found.one_below, found.two_below][row.level - free].append(row)
    return found


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
        assert _problem(made) is None
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
        return _problem(Release(domain, PureLoss(Fraction(1)), Measurements(levels, codes, counts, shares), design))

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


# Whatever is released can be read

DOMAINS = st.one_of(
    st.integers(0, 6).map(dph.Domain.unit),
    st.builds(dph.Domain.image, st.integers(1, 90), st.integers(1, 90)),
    st.builds(
        lambda width, height, depth: dph.Domain.image(width, height, depth=depth),
        st.integers(1, 90), st.integers(1, 90), st.integers(0, 8),
    ),
    st.builds(
        lambda west, south, depth: dph.Domain.bbox(west, south, west + 0.3, south + 0.1, depth=depth),
        st.floats(-170, 170), st.floats(-70, 70), st.integers(3, 24),
    ),
)  # fmt: skip
EPSILONS = st.sampled_from(["1/1000", "0.1", "1", "7", "100", "12345.678", "1000000"])


@settings(deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))
@given(domain=DOMAINS, epsilon=EPSILONS, seed=st.integers(0, 2**32), data=st.data())
def test_every_honest_release_is_read(domain: dph.Domain, epsilon: str, seed: int, data: st.DataObject) -> None:
    last = data.draw(st.integers(0, domain.depth), "depth")
    options: dict[str, Any] = data.draw(
        st.sampled_from([{}, {"depth": last}, {"first_level": last}, {"first_level": 0, "depth": last}]), "options"
    )
    options = {**options, "first_level": 0} if domain.count(options.get("first_level", 0)) > 5000 else options
    made = seeded_release(crowd(domain, seed), epsilon=epsilon, design="ladder", seed=seed, **options)
    assert _problem(made) is None


def crowd(domain: dph.Domain, seed: int) -> dph.Counts:
    """Nobody, a few people, or many more in some places than in others."""
    rng = np.random.default_rng(seed)
    r = domain.cells(domain.depth)
    people = int(rng.choice([0, 3, 200, 3000]))
    spread = rng.choice([0.02, 0.3, 1])
    x, y = (np.minimum((rng.random(people) ** (1 / spread) * n).astype(np.int64), n - 1) for n in (r.columns, r.rows))
    codes, number = np.unique(encode(r.x0 + x, r.y0 + y), return_counts=True)
    return dph.Counts.in_order(domain, codes, number * UNITS)


def test_every_start_and_every_depth_is_read() -> None:
    """One domain with an edge, and each pair of a first and a last level."""
    domain = dph.Domain.image(21, 50)
    for last in range(domain.depth + 1):
        for first in range(last + 1):
            made = seeded_release(
                crowd(domain, first), epsilon=9, design="ladder", seed=last, first_level=first, depth=last
            )
            assert made.design == LadderDesign(first, last, total=Fraction(0))
            assert _problem(made) is None
        assert _problem(seeded_release(crowd(domain, 1), epsilon=9, design="ladder", seed=1, depth=last)) is None


# Files


@pytest.fixture
def saved(release: Release, tmp_path: Path) -> Path:
    path = tmp_path / "a.dph.parquet"
    release.save(path)
    return path


def test_it_is_saved_and_read_back(release: Release, saved: Path) -> None:
    after = dph.load(saved)
    assert after.design == release.design == LadderDesign(2, 7)
    assert rows_of(after) == rows_of(release)
    assert metadata_of(saved)["design"] == "ladder"
    assert metadata_of(saved)["rule"] == {
        "first": "2", "last": "7", "total": "1/100", "start": "24", "spent": "3/10", "closing": "7", "deepening": "14",
        "opening": "28", "splitting": "8", "evenness": "3/5", "even_once": "10", "even_twice": "40", "roughness": "1/4",
        "even_cells": "400",
    }  # fmt: skip
    write_again(saved, pa.Table.from_pylist(pq.read_table(saved).to_pylist()[::-1]), metadata_of(saved))
    assert sorted(rows_of(dph.load(saved))) == sorted(rows_of(release))


Change = Callable[[list[dict[str, Any]], dict[str, Any]], Any]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows, m: rows.pop(0), "cells measured at level 0"),
        (lambda rows, m: rows.pop(), ANY_CELLS),
        (lambda rows, m: rows.clear(), "not all cells of its first level"),
        (lambda rows, m: rows.append(dict(rows[-1])), EXTRA),
        (lambda rows, m: rows[-1].update(budget_share=1), OTHER_SHARES),
        (lambda rows, m: rows[0].update(noisy_count=2**60), ANY_CELLS),
        (lambda rows, m: rows[5].update(noisy_count=2**61 + 1), "counts are out of range"),
        (lambda rows, m: m.update(epsilon="1/1000"), f"{ANY_CELLS}|{OTHER_SHARES}"),
        (lambda rows, m: m.update(epsilon="1e-300"), f"{ANY_CELLS}|{OTHER_SHARES}"),
        (lambda rows, m: m.update(epsilon="1000000"), f"{ANY_CELLS}|{OTHER_SHARES}"),
        (lambda rows, m: m.update(design="adaptive"), "can't be understood"),
        (lambda rows, m: m["rule"].update(spent="1/4"), OTHER_SHARES),
        (lambda rows, m: m["rule"].update(splitting="1000000"), NOT_SPLIT),
        (lambda rows, m: m["rule"].update(last="6"), f"{ANY_CELLS}|{OTHER_SHARES}|{EXTRA}"),
        (lambda rows, m: m["rule"].update(even_signal="5"), "can't be understood"),
        (lambda rows, m: m["domain"].update(depth=6), "levels don't fit its domain"),
    ],
)
def test_altered_files_are_refused(saved: Path, change: Change, words: str) -> None:
    rows, metadata = pq.read_table(saved).to_pylist(), metadata_of(saved)
    names = list(rows[0])
    change(rows, metadata)
    table = pa.Table.from_pylist(rows) if rows else pa.table({name: pa.array([], pa.int64()) for name in names})
    write_again(saved, table, metadata)
    with pytest.raises(ReleaseFileError, match=words):
        dph.load(saved)


def test_a_start_with_far_more_cells_than_rows_is_refused_at_once(saved: Path) -> None:
    """A first level of 2^56 cells, or a total that starts on one of 2^14: neither is listed."""
    rows, metadata = pq.read_table(saved).to_pylist(), metadata_of(saved)
    metadata["domain"]["depth"] = 28
    for rule, total in (({"first": "28", "last": "28"}, 0), ({"first": "2", "last": "28"}, 2**61)):
        metadata["rule"] |= rule
        rows[0]["noisy_count"] = total
        write_again(saved, pa.Table.from_pylist(rows), metadata)
        before = time.perf_counter()
        with pytest.raises(ReleaseFileError, match=r"not all cells of its first level, 28|cells measured at level 7"):
            dph.load(saved)
        assert time.perf_counter() - before < 5


NONSENSE: list[Any] = [None, True, [], {}, "", "x", "1/0", "nan", "inf", "-inf", "1e999999", "9" * 5000, "0x10"]


@pytest.mark.parametrize("name", [field.name for field in fields(LadderDesign)])
def test_no_field_of_the_rule_may_be_nonsense_or_missing(saved: Path, name: str) -> None:
    rows, metadata = pq.read_table(saved), metadata_of(saved)
    honest = metadata["rule"].pop(name)
    for value in ("missing", *NONSENSE):
        write_again(saved, rows, metadata)
        with pytest.raises(ReleaseFileError, match="can't be understood"):
            dph.load(saved)
        metadata["rule"][name] = value
    for value in (10**300, "1e400", "1e-400", "-1", 0):  # sense for some fields: read or refused, and nothing else
        metadata["rule"][name] = value
        write_again(saved, rows, metadata)
        with suppress(ReleaseFileError):
            dph.load(saved)
    metadata["rule"][name] = honest
    write_again(saved, rows, metadata)
    assert str(vars(dph.load(saved).design)[name]) == honest


ANYTHING = st.one_of(
    st.fractions(-2, 40).map(str), st.integers(-3, 40).map(str), st.sampled_from(["1e-9", "1e9", "1e-300", "1e300"])
)


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    rule=st.dictionaries(st.sampled_from([field.name for field in fields(LadderDesign)]), ANYTHING),
    domain=st.one_of(st.just(dph.Domain.unit(7)), DOMAINS),
    epsilon=EPSILONS,
    seed=st.integers(0, 2**32),
)
def test_whatever_a_rule_says_the_release_is_read_or_refused(
    release: Release, rule: dict[str, str], domain: dph.Domain, epsilon: str, seed: int
) -> None:
    """Never another error, and never slowly."""
    metadata = {"rule": {**release.design.to_dict(Fraction)["rule"], **rule}}
    try:
        design = LadderDesign.from_dict(metadata)
    except (ValueError, ParameterError):
        return
    rows = rows_of(release)
    rng = np.random.default_rng(seed)
    for place in rng.integers(0, len(rows), int(rng.integers(0, 4))):
        code, noisy = int(rng.integers(0, 4**28)), int(rng.integers(-FARTHEST, FARTHEST))
        rows[place] = rows[place]._replace(code=code, noisy=noisy)
    found = problem(replace(release, design=design, domain=domain, loss=PureLoss.read(epsilon)), rows)
    assert found is None or found
