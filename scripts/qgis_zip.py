"""Packs the QGIS plugin: its files, the licence, and the version of dpheatmap; the same bytes each time."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLUGIN = ROOT / "qgis" / "dpheatmap_processing"
FIRST_TIME = (1980, 1, 1, 0, 0, 0)


def pack(folder: Path) -> Path:
    """Write the zip into a folder, and return its path."""
    found = re.search(r'^__version__ = "(.+)"', (ROOT / "src/dpheatmap/__init__.py").read_text(), re.MULTILINE)
    assert found is not None
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{PLUGIN.name}-{found[1]}.zip"
    files = {path.name: path.read_bytes() for path in PLUGIN.iterdir() if path.is_file()}
    files["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files["metadata.txt"] = files["metadata.txt"].replace(b"@VERSION@", found[1].encode())
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in sorted(files.items()):
            packed.writestr(zipfile.ZipInfo(f"{PLUGIN.name}/{name}", FIRST_TIME), content, zipfile.ZIP_DEFLATED)
    return target


if __name__ == "__main__":
    print(pack(Path(sys.argv[1])))
