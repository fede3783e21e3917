"""Minimum-cost flow on a grid, which the earth mover's distance and the dense reconstruction share."""
