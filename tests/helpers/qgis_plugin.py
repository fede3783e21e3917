"""The QGIS plugin, its packing, and a command beside it that runs this very code."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import dpheatmap
from helpers import ROOT

PLUGIN = ROOT / "qgis" / "dpheatmap_processing"


def module_of(path: Path) -> ModuleType:
    """Load a file that is no part of the package."""
    found = importlib.util.spec_from_file_location(f"loaded_{path.stem}", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def command_in(folder: Path) -> Path:
    """A command called dpheatmap in a folder."""
    folder.mkdir(exist_ok=True)
    made = folder / "dpheatmap"
    source = Path(dpheatmap.__file__).parent.parent
    made.write_text(f'#!/bin/sh\nPYTHONPATH="{source}" exec "{sys.executable}" -m dpheatmap "$@"\n')
    made.chmod(0o755)
    return made
