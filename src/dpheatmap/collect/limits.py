"""What terms of collections may be, whatever their model."""

from __future__ import annotations

from fractions import Fraction

from dpheatmap.errors import ParameterError, PrivacyRefusal

MOST_CELLS = 2**22
"""The most cells that a device has numbers for."""
LARGEST_EPSILON = 100


def check_numbers(n_min: int, n_max: int) -> None:
    """Refuse a collection that waits for more people than it has room for."""
    if n_min > n_max:
        raise ParameterError(f"n_min must be at most n_max; they were {n_min} and {n_max}. Swap them.")


def check_epsilon(epsilon: Fraction) -> None:
    """Refuse an epsilon that protects nobody."""
    if epsilon > LARGEST_EPSILON:
        raise ParameterError(
            f"A collection's epsilon must be at most {LARGEST_EPSILON}; it was {epsilon}. Use a smaller one."
        )


def check_cells(cells: int) -> None:
    """Refuse more cells than a device may have numbers for."""
    if cells > MOST_CELLS:
        raise ParameterError(
            f"A collection must have at most {MOST_CELLS} cells that devices send; there were {cells}. "
            "Use a smaller depth."
        )


def check_participants(participants: int, n_min: int) -> None:
    """Refuse a release of too few people."""
    if participants < n_min:
        raise PrivacyRefusal(
            f"{participants} contributions are fewer than n_min, {n_min}, and make no release. "
            "Collect again, for longer."
        )
