"""``python -m dpheatmap``: the command line."""

from dpheatmap.cli import main

main()
