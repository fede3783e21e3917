"""Imported by every Python that the tests start: watches its connections, as `tests/network.py` says."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
from helpers import network

sys.path.pop()
network.watch()
