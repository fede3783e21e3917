"""Coast, lakes and rivers of the world good to about 100 m, for maps of dpheatmap.

The data is GSHHG's, with estuaries of Natural Earth, and licensed under LGPL-3.0-or-later.
"""

from __future__ import annotations

from pathlib import Path

PATH = Path(__file__).with_name("coast.tiles")
"""The file that dpheatmap reads."""
