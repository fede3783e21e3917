"""What tests share: people and places to test with, rivals, oracles, servers and browsers."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The project's folder."""
TESTS = ROOT / "tests"
