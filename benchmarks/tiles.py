"""Tiles and a GeoTIFF of a country to its finest cells: the most memory that they take, and the CPU time."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import dpheatmap as dph
from common import bar, cpu_seconds, peak_megabytes
from dpheatmap.testing import generated_people

COUNTRY = (5.9, 47.3, 15.0, 55.1)
PEOPLE = 100_000
SIGMAS = (300, 17_000)  # metres: six pixels of the last zoom, and the default of 2 % of the longer side


def save(saved: str, path: str, sigma: float) -> int:
    """In a process of its own: make a map to the finest cells and print its memory and time."""
    release = dph.load(saved)
    heat, last = release.heatmap(sigma=sigma), release.domain.depth - 8
    seconds = cpu_seconds(lambda: heat.save(path, zooms=(last - 7, last)))
    print(peak_megabytes(), seconds)
    return 0


def main() -> int:
    domain, results = dph.Domain.bbox(*COUNTRY, resolution=100), []
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "country.dph.parquet")
        table = generated_people(PEOPLE, extent=COUNTRY)
        dph.release(table, domain, epsilon=1, user="person", x="x", y="y").save(saved)
        finest = domain.cells(domain.depth)
        print(f"      {finest.columns:,} x {finest.rows:,} cells")
        for sigma in SIGMAS:
            for suffix in (".pmtiles", ".tif"):
                path = Path(folder, f"country{suffix}")
                child = [sys.executable, __file__, str(saved), str(path), str(sigma)]
                told = subprocess.run(child, check=True, capture_output=True, text=True).stdout.split()
                results.append(bar(f"memory for {suffix}, sigma {sigma:,} m", float(told[0]), 1000.0, unit=" MB"))
                print(f"      {float(told[1]):.0f} s, {path.stat().st_size / 1e6:.1f} MB")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(save(sys.argv[1], sys.argv[2], float(sys.argv[3])) if len(sys.argv) > 1 else main())
