"""A shape of the audit with several images: the person's weight is shared over them, and each has its own noise."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap.curator import release_images
from dpheatmap.evaluate.audit.shapes import Sample, Shape, hash_of, likelihood_and_sum
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.measurements import Measurements

TOGETHER = 250
"""Groups of images that are released at once."""
LOOKS = (1, 2, 5)
"""The number of the person's looks at each image of a group; others look once, at the first."""


@dataclass(frozen=True)
class ImagesShape(Shape):
    """One person's looks at the images of a group, read from a CSV file; each group is an independent run.

    Reading a table takes as long as hundreds of measurements, so many groups are released at once, each with its own
    people. The law of a group's releases follows from its own images alone (`curator/groups.py`): noises are
    independent, and a person's weight is shared over their own events. So groups are independent runs, and a group
    with its person and one without are neighbours. The looks differ by image, so that differences of images, too,
    change with the person.
    """

    def rows(self, group: int, added: bool) -> list[tuple[str, str, tuple[int, int]]]:
        """Who looked where at which image."""
        others = [cell for cell, number in self.others.items() for _ in range(int(number))]
        looks = [(f"other {k} of {group}", _name(group, 0), cell) for k, cell in enumerate(others)]
        if added:
            (cell,) = self.person
            looks += [(f"they of {group}", _name(group, k), cell) for k, n in enumerate(LOOKS) for _ in range(n)]
        return looks

    def truths(self, added: bool) -> list[Ints]:
        """For each image of a group, the true weight of every cell of every level, in the order of `Shape.truth`."""
        others = Shape("", "", self.domain, self.others, {}).truth(False)
        theirs = Shape("", "", self.domain, {}, self.person).truth(True) * added
        each = [others if k == 0 else 0 * others for k in range(len(LOOKS))]
        return [one + theirs // sum(LOOKS) * looks for one, looks in zip(each, LOOKS, strict=True)]

    def sample(self, added: bool, epsilon: Fraction, runs: int) -> Sample:
        """Release groups and return their statistics."""
        without, with_them = self.truths(False), self.truths(True)
        columns: dict[str, list[Any]] = {}
        for start in range(0, runs, TOGETHER):
            for group in self.release_groups(min(TOGETHER, runs - start), added, epsilon):
                for name, value in _statistics(group, without, with_them).items():
                    columns.setdefault(name, []).append(value)
        return {name: np.array(values) for name, values in columns.items()}

    def release_groups(self, groups: int, added: bool, epsilon: Fraction) -> list[list[Measurements]]:
        """Release groups at once and return the measurements of each of their images."""
        side = 2**self.domain.depth
        lines = [
            f"{who},{image},{(x + 0.5) / side},{(y + 0.5) / side}\n"
            for group in range(groups)
            for who, image, (x, y) in self.rows(group, added)
        ]
        names = [[_name(group, k) for k in range(len(LOOKS))] for group in range(groups)]
        with tempfile.TemporaryDirectory(prefix="dpheatmap-") as folder:
            path = Path(folder, "looks.csv")
            path.write_text("who,image,x,y\n" + "".join(lines))
            made = release_images(
                str(path), self.domain, epsilon=epsilon, image="image", images=[name for of in names for name in of],
                user="who", x="x", y="y", **self.options,
            )  # fmt: skip
        return [[made[name].measurements for name in of] for of in names]


def _name(group: int, image: int) -> str:
    return f"{group}-{image}.jpg"


def _statistics(images: Sequence[Measurements], without: Sequence[Ints], with_them: Sequence[Ints]) -> dict[str, Any]:
    """The statistics of the releases of a group, jointly, because the promise is about all of them.

    * *likelihood* and *weighted sum*, as of a single release, added up over the images;
    * *difference of* two *images*, of the cells that both measure first: do they share noise?
    * *everything*: does an output repeat?
    """
    found = [likelihood_and_sum(*of_image) for of_image in zip(images, without, with_them, strict=True)]
    first = [m.counts[m.levels == m.levels[0]] for m in images]
    pairs = combinations(range(len(images)), 2)
    return {
        "likelihood": sum(likelihood for likelihood, _ in found),
        "weighted sum": sum(weighted for _, weighted in found),
        **{f"difference of images {a + 1} and {b + 1}": hash_of(first[b] - first[a]) for a, b in pairs},
        "everything": hash_of(*(m.counts for m in images)),
    }


def image_shapes(design: str) -> list[Shape]:
    """The shape of three images."""
    why = "the person looks at three images, more at one than at another: one weight, and noise for each"
    options: dict[str, Any] = {"design": design}
    return [ImagesShape("several images", why, Domain.unit(1), {(0, 0): 1}, {(1, 0): 1}, options, runs=6_000)]
