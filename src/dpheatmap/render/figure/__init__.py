"""Figures of maps, places and differences, drawn by one stack."""
