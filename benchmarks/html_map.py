"""From a release to the interactive map: how long it takes after start-up, and how large the file is."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from common import bar, cpu_seconds
from dpheatmap import Domain, release
from dpheatmap.testing import generated_people

BOX = (-74.1, 40.6, -73.8, 40.9)
PEOPLE, MANY = 5_000, 20_000


def map_of(people: int, path: Path) -> tuple[float, float]:
    """The least CPU seconds from a release to its page, and those of the page alone."""
    table = generated_people(people, extent=BOX)
    made = release(table, Domain.bbox(*BOX, resolution=30), epsilon=1, user="person", x="x", y="y")
    heat = made.heatmap(size=1024)
    heat.save(path)  # start-up: compiled kernels, the basemap, the page's program; and the uncertainty of this map
    return cpu_seconds(lambda: made.heatmap(size=1024).save(path), 3), cpu_seconds(lambda: heat.save(path), 3)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.html"
        whole, alone = map_of(PEOPLE, path)
        results = [
            bar(f"release of {PEOPLE:,} people to interactive map, side 1024", whole, 2.0, unit=" s"),
            bar("of that, the page", alone, 0.7, unit=" s"),
            bar("size of the page", path.stat().st_size / 1e6, 1.5, unit=" MB"),
        ]
        print(f"      release of {MANY:,} people: {map_of(MANY, path)[0]:.2f} s")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
