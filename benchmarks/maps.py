"""From a release file to maps: the CPU time of a picture and of tiles, once everything is loaded and compiled."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import dpheatmap as dph
from common import bar, cpu_seconds
from dpheatmap.testing import generated_people

CITY = (7.30, 46.90, 7.58, 47.09)
PEOPLE = 5_000
SIDE = 1024


def warm_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The least CPU time of several runs after a first one, which loads and compiles."""
    work()
    return cpu_seconds(work, repeats)


def main() -> int:
    domain = dph.Domain.bbox(*CITY, depth=20)
    release = dph.release(generated_people(PEOPLE, extent=CITY), domain, epsilon=1, user="person", x="x", y="y")
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "city.dph.parquet")
        release.save(saved)

        def to(suffix: str, **options: object) -> Callable[[], None]:
            def save() -> None:
                dph.load(saved).heatmap(size=SIDE).save(Path(folder, f"map{suffix}"), **options)  # type: ignore[arg-type]

            return save

        own = domain.depth - 8
        results = [
            bar(f"release to PNG, side {SIDE}", warm_seconds(to(".png")), 1.0, unit=" s"),
            bar(
                f"release to PMTiles over 8 zooms, side {SIDE}",
                warm_seconds(to(".pmtiles", zooms=(own - 5, own + 2))),
                5.0,
                unit=" s",
            ),
        ]
        for suffix in (".svg", ".tif", ".geojson", ".parquet", ".nc"):
            print(f"      release to {suffix}, side {SIDE}: {warm_seconds(to(suffix), 1):.2f} s")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
