"""Designs for tests."""

from __future__ import annotations

from collections.abc import Mapping

from dpheatmap.budget import PAPER_DECAY
from dpheatmap.design import PaperDesign


def paper_design(shares: Mapping[int, int], width: int) -> PaperDesign:
    """The paper's design with these shares, whatever decay they come from."""
    return PaperDesign(shares, width, PAPER_DECAY)
