"""How much disk `pip install dpheatmap` takes, without extras but with all that it pulls in."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from common import bar

ROOT = Path(__file__).parent.parent


def megabytes(folder: Path) -> float:
    """The size of all files under a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) / 1e6


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder]
        subprocess.run([*command, str(ROOT)], check=True)
        sizes = {path.name: megabytes(path) for path in Path(folder).iterdir() if path.is_dir()}
        for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:6]:
            print(f"      {name}: {size:,.0f} MB")
        return 0 if bar("installed without extras", megabytes(Path(folder)), 450, unit=" MB") else 1


if __name__ == "__main__":
    sys.exit(main())
