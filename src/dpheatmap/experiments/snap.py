"""The paper's cities: Gowalla and Brightkite as SNAP publishes them, with the paper's filters.

The files hold tab-separated lines ``user, time, latitude, longitude, place``; Brightkite's have some without a time or
a position, which are skipped. The paper keeps a month or two of check-ins roughly in the continental US, lays a grid
of 300 x 300 over that area "for each of these datasets", and takes "the top 30 cells (in both datasets combined)". Here
this means that each pair of a dataset and a cell is ranked by its own check-ins. So one cell may be chosen twice, once
a dataset, and no map mixes people of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from dpheatmap.errors import DataError
from dpheatmap.experiments.populations import Dataset, Place
from dpheatmap.experiments.public_files import columns_of
from dpheatmap.place.domain import Bounds, Domain, Floats
from dpheatmap.place.quadtree import Ints

AREA = Bounds(-135.0, 0.0, -60.0, 50.0)
"""The bounds of longitudes and latitudes, exclusive."""

GRID = 300
CELLS = 30


@dataclass(frozen=True)
class Source:
    """A dataset of SNAP: its file, the period that the paper keeps, and the paper's numbers after this filter."""

    name: str
    file: str
    start: str
    end: str
    checkins: int
    people: int

    @property
    def page(self) -> str:
        """The page of its download."""
        return f"https://snap.stanford.edu/data/loc-{self.name}.html"

    def find(self, folder: Path) -> Path:
        """Find the file as downloaded or unpacked, which may have the name inside the archive."""
        names = (self.file, self.file.removesuffix(".gz"), f"{self.name}_totalCheckins.txt")
        for name in names:
            if (folder / name).is_file():
                return folder / name
        raise DataError(f"{self.file} is not in {folder}. Download it from {self.page} and put it there.")


SOURCES = (
    Source("Gowalla", "loc-gowalla_totalCheckins.txt.gz", "2010-01-01", "2010-02-01", 196_071, 10_196),
    Source("Brightkite", "loc-brightkite_totalCheckins.txt.gz", "2008-11-01", "2009-01-01", 304_608, 10_177),
)


@dataclass(frozen=True, eq=False)
class Checkins:
    """The check-ins of one dataset that the filters left."""

    source: Source
    user: Ints
    cell: Ints
    x: Floats
    y: Floats

    @property
    def note(self) -> str:
        """Their number, compared with the paper's."""
        s, people = self.source, len(np.unique(self.user))
        return (
            f"{s.name}: {len(self.user):,} check-ins by {people:,} people after the paper's filters "
            f"(paper: {s.checkins:,} by {s.people:,})"
        )


def cities(folder: str | PathLike[str], *, depth: int = 8) -> Dataset:
    """The 30 city cells with the most check-ins, from a folder that holds both downloads."""
    paths = [source.find(Path(folder)) for source in SOURCES]
    both = [read(source, path) for source, path in zip(SOURCES, paths, strict=True)]
    places = tuple(_fullest(both, depth))
    if not places:
        raise DataError(f"The paper's filters left nothing of the files in {folder}. Check that they are SNAP's.")
    parts = ", ".join(f"{sum(p.name.startswith(s.name) for p in places)} of {s.name}" for s in SOURCES)
    smallest = min(place.people for place in places)
    note = f"The {len(places)} cells with the most check-ins: {parts}; the least peopled has {smallest:,} people"
    return Dataset(places, "Gowalla and Brightkite (SNAP)", stand_in=False, notes=(*(c.note for c in both), note))


def read(source: Source, path: Path) -> Checkins:
    """Read the check-ins of a file in the paper's area and period, placed in the cells of its grid."""
    statement = f"""
        SELECT person, lon, lat FROM (
            SELECT TRY_CAST(person AS BIGINT) AS person, TRY_CAST(time AS TIMESTAMP) AS time,
                TRY_CAST(lat AS DOUBLE) AS lat, TRY_CAST(lon AS DOUBLE) AS lon
            FROM read_csv(?, auto_detect = false, header = false, delim = '\t', quote = '', escape = '',
                null_padding = true, strict_mode = false, ignore_errors = true, hive_partitioning = false,
                parallel = false,
                columns = {{person: 'VARCHAR', time: 'VARCHAR', lat: 'VARCHAR', lon: 'VARCHAR', place: 'VARCHAR'}}))
        WHERE person IS NOT NULL AND time >= TIMESTAMP '{source.start}' AND time < TIMESTAMP '{source.end}'
            AND lon > {AREA.x0} AND lon < {AREA.x1} AND lat > {AREA.y0} AND lat < {AREA.y1}"""
    found = columns_of(path, statement, f"Download it again from {source.page}")
    column, x = _cell_and_rest(found["lon"], AREA.x0, AREA.x1)
    row, y = _cell_and_rest(found["lat"], AREA.y0, AREA.y1)
    return Checkins(source, found["person"], row * GRID + column, x, y)


def name_of_cell(dataset: str, west: float, south: float) -> str:
    """The name of a grid cell in figures: its dataset and its middle.

    >>> name_of_cell("Gowalla", -97.75, 30 + 1 / 6)
    'Gowalla 30.25 N 97.62 W'
    """
    lon, lat = west + (AREA.x1 - AREA.x0) / GRID / 2, south + (AREA.y1 - AREA.y0) / GRID / 2
    return f"{dataset} {lat:.2f} N {-lon:.2f} W"


def _cell_and_rest(degrees: Floats, start: float, end: float) -> tuple[Ints, Floats]:
    """The column or row of the grid, and the position inside it, in [0, 1)."""
    steps = (degrees - start) * (GRID / (end - start))
    steps = np.minimum(steps, np.nextafter(GRID, 0))  # just inside the far edge may round to it
    cell = np.floor(steps)
    return cell.astype(np.int64), steps - cell


def _fullest(datasets: list[Checkins], depth: int) -> Iterator[Place]:
    """The cells with the most check-ins; among equals, the first dataset and the most southern and western cell."""
    ranked = []
    for order, data in enumerate(datasets):
        cells, sizes = np.unique(data.cell, return_counts=True)
        ranked += [(-size, order, cell) for cell, size in zip(cells.tolist(), sizes.tolist(), strict=True)]
    for _, order, cell in sorted(ranked)[:CELLS]:
        data, here = datasets[order], datasets[order].cell == cell
        row, column = divmod(cell, GRID)
        west = AREA.x0 + column * (AREA.x1 - AREA.x0) / GRID
        south = AREA.y0 + row * (AREA.y1 - AREA.y0) / GRID
        name = name_of_cell(data.source.name, west, south)
        yield Place.of_events(name, Domain.unit(depth), data.user[here], data.x[here], data.y[here])
