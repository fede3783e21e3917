"""Helpers that know nothing of maps: files, connections, compiled functions and checks of parameters."""
