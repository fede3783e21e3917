"""A release, the only thing that crosses the wall: the noisy tree, its label, its file, and who was trusted."""
