"""Runs notebooks: for their test, and for scripts/notebook, which writes the outputs into the file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient


def executed(path: Path, folder: Path) -> Any:
    """The notebook with fresh outputs, run in a folder."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of day, different each time
    return notebook


def main() -> None:
    path = Path(sys.argv[1])
    nbformat.write(executed(path, path.parent), path)


if __name__ == "__main__":
    main()
