"""From a release to the interactive map: how long it takes after start-up, and how large the file is."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from common import bar, cpu_seconds
from dpheatmap import Domain, release
from dpheatmap.testing import generated_people

BOX = (-74.1, 40.6, -73.8, 40.9)


def main() -> int:
    domain = Domain.bbox(*BOX, resolution=30)
    people = generated_people(20_000, extent=BOX)
    made = release(people, domain, epsilon=1, user="person", x="x", y="y")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.html"

        def work() -> None:
            made.heatmap(size=1024).save(path)

        work()  # start-up: compiled kernels, the basemap, the page's program
        seconds = cpu_seconds(work, repeats=3)
        size = path.stat().st_size / 1e6
    results = [
        bar("release to interactive map, side 1024", seconds, 2.0, unit=" s"),
        bar("size of the page", size, 3.0, unit=" MB"),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
