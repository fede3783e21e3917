"""Stand-in data: real data of the same kind as the paper's, for users without the paper's files.

The folder that the environment variable DPHEATMAP_DATA names holds ``geo_cells.parquet`` (30 city cells),
``salicon_38.parquet`` (38 images) and ``wyscout_events.parquet`` (football); none is part of the package.
Figures made from them say that they are a stand-in.

Events have a fixed order, independent of reading threads: a seed that draws one of a person's events draws the same one
again.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpheatmap.errors import DataError
from dpheatmap.experiments.populations import Dataset, Place
from dpheatmap.experiments.public_files import columns_of
from dpheatmap.experiments.salicon import MAP, on_map
from dpheatmap.experiments.snap import SOURCES, name_of_cell
from dpheatmap.place.domain import Domain

VARIABLE = "DPHEATMAP_DATA"
_DEFAULT = Path("../shared/data")
_ADVICE = "Fetch the stand-in data again, or give the official files."
_NAMES = {"gowalla": "Gowalla", "foursquare": "Foursquare"}


def folder() -> Path | None:
    """The folder of the stand-in data, or None."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    return _DEFAULT if _DEFAULT.is_dir() else None


def cities(*, depth: int = 8) -> Dataset:
    """The 30 city cells, the fullest first."""
    found = columns_of(
        _file("geo_cells.parquet"),
        "SELECT dataset, cell, user, x, y, lon0, lat0 FROM read_parquet(?) ORDER BY cell, user, x, y",
        _ADVICE,
    )
    places = []
    for part in _runs(found["cell"]):
        dataset = str(found["dataset"][part][0])
        name = name_of_cell(_NAMES.get(dataset, dataset), float(found["lon0"][part][0]), float(found["lat0"][part][0]))
        places.append(
            Place.of_events(name, Domain.unit(depth), found["user"][part], found["x"][part], found["y"][part])
        )
    of_gowalla = sum(place.name.startswith("Gowalla") for place in places)
    paper = "; ".join(f"{s.name}: {s.checkins:,} check-ins by {s.people:,} people" for s in SOURCES)
    notes = (
        f"Stand-in data: {len(found['cell']):,} check-ins in {len(places)} city cells, {of_gowalla} of Gowalla and "
        f"{len(places) - of_gowalla} of Foursquare. The paper's filters were not applied to it ({paper})",
        "It comes through recommender-system splits: people and places with few visits are missing, and of the places "
        "that most people of Gowalla visited only about 30 % are present",
    )
    return Dataset(tuple(places), "stand-in: Gowalla and Foursquare (not the paper's files)", True, notes)


def gaze() -> Dataset:
    """The 38 images of SALICON, scaled as the paper scales its own."""
    found = columns_of(
        _file("salicon_38.parquet"),
        "SELECT user, x, y, image FROM read_parquet(?) ORDER BY image, user, x, y",
        _ADVICE,
    )
    places = []
    for part in _runs(found["image"]):
        x, y = on_map(found["x"][part], found["y"][part])
        places.append(Place.of_events(f"COCO {found['image'][part][0]}", MAP, found["user"][part], x, y))
    least, most = min(place.people for place in places), max(place.people for place in places)
    notes = (
        f"Stand-in data: {len(found['image']):,} positions on {len(places)} images of SALICON with {least} to {most} "
        "people each; which 38 images the paper drew is not known",
    )
    return Dataset(tuple(places), f"stand-in: {len(places)} images of SALICON (not the paper's 38)", True, notes)


def football() -> Dataset:
    """Events of professional football by kind, of half of the players; the other half was used to tune our method."""
    found = columns_of(
        _file("wyscout_events.parquet"),
        "SELECT user, x / 100 AS x, y / 100 AS y, event FROM read_parquet(?) WHERE user % 2 = 1 AND event IN "
        "('Pass', 'Duel', 'Free Kick', 'Foul', 'Shot', 'Others on the ball') ORDER BY event, user, x, y",
        _ADVICE,
    )
    places = [
        Place.of_events(
            str(found["event"][part][0]), Domain.unit(8), found["user"][part], found["x"][part], found["y"][part]
        )
        for part in _runs(found["event"])
    ]
    return Dataset(tuple(places), "football events (Pappalardo et al. 2019)", False)


def _file(name: str) -> Path:
    there = folder()
    if there is None:
        raise DataError(f"There is no stand-in data. Set {VARIABLE} to its folder, or give the official files.")
    if not (there / name).is_file():
        raise DataError(
            f"{name} is not in {there}, the folder of the stand-in data. Set {VARIABLE} to the folder that holds it, "
            "or give the official files."
        )
    return there / name


def _runs(column: NDArray[Any]) -> list[slice]:
    """The runs of equal values in a sorted column."""
    edges = [0, *(np.flatnonzero(column[1:] != column[:-1]) + 1).tolist(), len(column)]
    return [slice(start, end) for start, end in pairwise(edges)]
