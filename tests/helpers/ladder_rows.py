"""The rows of a ladder's release, to alter them, and the words in which alterations are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

import dpheatmap as dph
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.shares import UNITS
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.release import Release
from dpheatmap.releases.release_file import problem_of
from dpheatmap.testing import generated_people, seeded_release

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
    return problem_of(with_rows(release, rows))


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


def made_of_all() -> Release:
    """A release in which cells are opened, deepened with children split and kept, finished and closed."""
    counts = dph.aggregate(generated_people(700), dph.Domain.unit(7), user="person", x="x", y="y")
    return seeded_release(counts, epsilon=5, design="ladder", seed=0)
