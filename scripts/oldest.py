"""Prints the oldest versions of dependencies that pyproject.toml admits, as constraints for pip: python oldest.py."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path


def oldest(requirement: str) -> str:
    """The constraint of a requirement's lower bound.

    >>> oldest("numpy>=2.0")
    'numpy==2.0'
    """
    found = re.match(r"([\w.-]+)>=([\d.]+)", requirement)
    if found is None:
        raise SystemExit(f"{requirement} has no lower bound")
    return "==".join(found.groups())


if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    print("\n".join(map(oldest, project["dependencies"])))
