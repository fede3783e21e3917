"""Shapes of the audit for `discover`: the person raises the number of people, and decides which tiles are seen.

The output is a box and a noisy number of people. The statistics use both, alone and together: the promise is about the
whole answer, whose walk and last question have independent noise.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap.curator import aggregate, box_around, discover, searched_world
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.evaluate.audit.shapes import Sample, Shape, hash_of
from dpheatmap.place.domain import Domain
from dpheatmap.releases.discovery import Discovery

PER_READING = 200
"""Runs that share one reading of the file."""
PLACE = (12.0, 34.0)
"""The position of all people: a point far from the edges of all tiles in questions."""
CLAIM: dict[str, Any] = {"share": 0.5, "confidence": 0.51}
"""A weak claim, so that a box that was seen is usually found as well."""


@dataclass(frozen=True)
class DiscoveryShape(Shape):
    """People at one place, with or without the person, read from a CSV file.

    The first run, and every `PER_READING`-th after it, reads the file; those in between start from counts of the same
    file. Reading draws no random numbers (`core/query.py`), so every run has the law of a whole discovery, and runs are
    independent, as the bounds require. ``others`` and ``person`` give only numbers; their cell represents the place.
    """

    def sample(self, added: bool, epsilon: Fraction, runs: int) -> Sample:
        """Run discoveries and return their statistics."""
        without = sum(map(int, self.others.values()))
        rows = "".join(f"person {k},{PLACE[0]},{PLACE[1]}\n" for k in range(without + added))
        columns: dict[str, list[Any]] = {}
        loss = PureLoss(epsilon)
        who: dict[str, Any] = {"user": "who", "x": "lon", "y": "lat"}
        with tempfile.TemporaryDirectory(prefix="dpheatmap-") as folder:
            path = Path(folder, "people.csv")
            path.write_text("who,lon,lat\n" + rows)
            counts = aggregate(str(path), searched_world(), **who)
            for run in range(runs):
                if run % PER_READING == 0:
                    found = discover(str(path), epsilon=epsilon, **who, **CLAIM)
                else:
                    found = box_around(counts, loss, **CLAIM)
                for name, value in _statistics(found, without).items():
                    columns.setdefault(name, []).append(value)
        return {name: np.array(values) for name, values in columns.items()}


def _statistics(found: Discovery, without: int) -> dict[str, Any]:
    """The statistics of one discovery.

    * *people*: the noisy number of them;
    * *depth*: how often the world's width was halved to get the box, 0 if none was found;
    * *depth, if many*: the depth if the number of people is as large as with the person, else -1, so that "at least t"
      is about both;
    * *depth, if few*: the depth if it is as small as without them, else a depth that no box has, for "at most t";
    * *box*: does one occur too often?
    """
    depth = math.log2(360 / (found.box.x1 - found.box.x0)) if found.found else 0.0
    return {
        "people": found.people,
        "depth": depth,
        "depth, if many": depth if found.people >= without + 1 else -1.0,
        "depth, if few": depth if found.people <= without else 99.0,
        "box": hash_of(np.array(found.box)),
    }


def discovery_shapes(epsilon: Fraction) -> list[Shape]:
    """Shapes with as many people as are just not seen: if a question of the walk had all of epsilon, and if a twelfth.

    A twelfth is its proper share. A tile seems occupied above ``ln 16 + 2`` scales of a question's noise
    (`curator/bounding_box.py`).
    """
    few, enough = (math.floor(Fraction(math.log(16) + 2) / part) for part in (epsilon, epsilon / 12))
    where = (0, 0)
    return [
        DiscoveryShape("few to discover", "the search of a box, for one person beside a few", Domain.unit(0),
                       {where: few}, {where: 1}, runs=4_000),
        DiscoveryShape("enough to discover", "the search of a box, where one person more makes a tile look occupied",
                       Domain.unit(0), {where: enough}, {where: 1}, runs=3_000),
    ]  # fmt: skip
