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
PEOPLE, MANY = 5_000, 20_000
SIDE = 1024


def warm_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The least CPU time of several runs after a first one, which loads and compiles."""
    work()
    return cpu_seconds(work, repeats)


def main() -> int:
    domain = dph.Domain.bbox(*CITY, depth=20)
    with tempfile.TemporaryDirectory() as folder:
        for people in (PEOPLE, MANY):
            table = generated_people(people, extent=CITY)
            made = dph.release(table, domain, epsilon=1, user="person", x="x", y="y")
            made.save(Path(folder, f"{people}.dph.parquet"))

        def to(suffix: str, people: int = PEOPLE, **options: object) -> Callable[[], None]:
            def save() -> None:
                saved = Path(folder, f"{people}.dph.parquet")
                dph.load(saved).heatmap(size=SIDE).save(Path(folder, f"map{suffix}"), **options)  # type: ignore[arg-type]

            return save

        own = domain.depth - 8
        results = [
            bar(f"release to PNG, side {SIDE}", warm_seconds(to(".png")), 1.0, unit=" s"),
            bar(
                f"release to PMTiles over 8 zooms, side {SIDE}",
                warm_seconds(to(".pmtiles", zooms=(own - 7, own))),
                5.0,
                unit=" s",
            ),
        ]
        print(f"      release of {MANY:,} people to PNG: {warm_seconds(to('.png', MANY), 3):.2f} s")
        for suffix in (".svg", ".tif", ".geojson", ".parquet", ".nc"):
            print(f"      release to {suffix}, side {SIDE}: {warm_seconds(to(suffix), 1):.2f} s")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
