"""Shapes of the audit that start from files: the person has many rows, in one file or in several."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

from dpheatmap.curator import aggregate, release
from dpheatmap.evaluate.audit.shapes import RepeatedRelease, Shape
from dpheatmap.place.domain import Domain
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.release import Release

PER_READING = 200
"""Runs that share one reading of the files."""
ROWS = 100
"""Rows of the person in each of their cells, distributed to the files in turn."""


@dataclass(frozen=True)
class FilesShape(Shape):
    """People read from CSV files: each of the others has a row, the person a hundred in each of their cells.

    The first run, and every `PER_READING`-th after it, reads the files; those in between release counts of the same
    files. Reading draws no random numbers (`core/query.py`), so every run has the law of a whole release, and runs are
    independent, as the bounds require.
    """

    files: int = 1

    def _repeated_release(self, added: bool, epsilon: Fraction) -> RepeatedRelease:
        return _FromFiles(self, added, epsilon)


class _FromFiles(RepeatedRelease):
    def __init__(self, shape: FilesShape, added: bool, epsilon: Fraction) -> None:
        super().__init__(shape, added, epsilon)
        self.columns: dict[str, Any] = {"user": "who", "x": "x", "y": "y", "domain": shape.domain}
        self.texts = texts_of(shape, added)
        self.folder = tempfile.TemporaryDirectory(prefix="dpheatmap-")

    def __enter__(self) -> Callable[[], Measurements]:
        for number, text in enumerate(self.texts):
            Path(self.folder.name, f"people-{number}.csv").write_text(text)
        pattern = str(Path(self.folder.name, "people-*.csv"))
        counts = aggregate(pattern, **self.columns)
        runs = count()

        def once() -> Measurements:
            again = next(runs) % PER_READING
            made: Release = (
                release(counts, **self.options) if again else release(pattern, **self.columns, **self.options)
            )
            return made.measurements

        return once

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()


def texts_of(shape: FilesShape, added: bool) -> list[str]:
    """The files: rows are distributed in turn, so that everybody with as many rows as there are files is in each."""
    side = 2**shape.domain.depth
    others = [cell for cell, number in shape.others.items() for _ in range(int(number))]
    rows = [(f"other {k}", cell) for k, cell in enumerate(others)]
    rows += [("they", cell) for cell in shape.person for _ in range(ROWS * added)]
    lines = [f"{who},{(x + 0.5) / side},{(y + 0.5) / side}\n" for who, (x, y) in rows]
    return ["who,x,y\n" + "".join(lines[number :: shape.files]) for number in range(shape.files)]


def file_shapes(design: str) -> list[Shape]:
    """The shapes of one file and of several."""
    options: dict[str, Any] = {"design": design}
    return [
        FilesShape("many rows", "from a file: the person has a hundred rows, the others one", Domain.unit(1),
                   {(0, 0): 1}, {(1, 1): 1}, options, runs=4_000),
        FilesShape("several files", "from four files, in each of which the person has rows, the others in one",
                   Domain.unit(1), {(0, 0): 2, (1, 0): 2}, {(1, 1): 1}, options, runs=4_000, files=4),
    ]  # fmt: skip
