"""Tries an installed dpheatmap as a newcomer would: python smoke.py, with the Python of the environment to try.

It imports nothing but the standard library and the package, and writes into a folder of its own.
"""

from __future__ import annotations

import importlib.metadata
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

LICENCES = ("LICENSE", "THIRD-PARTY.txt", "CREDITS.md", "OFL.txt")
PLACE = ("--user", "rider", "--x", "lon", "--y", "lat", "--bbox=-74.1,40.6,-73.8,40.9")


def run(*arguments: str, status: int = 0) -> str:
    """Run the command, and return what it printed."""
    command = [sys.executable, "-W", "error::DeprecationWarning:dpheatmap", "-m", "dpheatmap", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"dpheatmap {' '.join(arguments)} ended with {done.returncode}, not {status}:\n{done.stderr}")
    return done.stdout


def write_trips(path: Path) -> None:
    """Write trips of 300 invented riders."""
    rows = [f"{n % 300},{random.gauss(-73.97, 0.03):.5f},{random.gauss(40.75, 0.03):.5f}" for n in range(3000)]
    path.write_text("rider,lon,lat\n" + "\n".join(rows) + "\n")


def main() -> None:
    """Try the package."""
    version = importlib.metadata.version("dpheatmap")
    if version not in run("--version"):
        sys.exit("the command and the package are of different versions")
    listed = {Path(str(file)).name for file in importlib.metadata.files("dpheatmap") or ()}
    if missing := [name for name in LICENCES if name not in listed]:
        sys.exit(f"licences are missing: {missing}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_trips(Path("trips.csv"))
        run("plan", "--epsilon", "1", "--users", "300", PLACE[-1])
        made = ["trips.dph.parquet", "map.html", "map.png", "map.csv"]
        outputs = [f"-o{name}" for name in made]
        run("release", "trips.csv", "--epsilon", "1", *PLACE, "--ledger", "city.ledger", *outputs)
        run("export", made[0], "-o", "map.geojson", "--sigma", "600")
        run("ledger", "verify", "city.ledger")
        run("release", "trips.csv", "--epsilon", "1", "--x", "lon", "--y", "lat", PLACE[-1], "-o", "no.csv", status=4)
        if empty := [name for name in (*made, "map.geojson") if not Path(name).stat().st_size]:
            sys.exit(f"nothing was written into {empty}")
    print(f"dpheatmap {version} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
