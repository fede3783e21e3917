"""``python -m dpheatmap``: the command line."""

from dpheatmap.cli import main

if __name__ == "__main__":
    main()
