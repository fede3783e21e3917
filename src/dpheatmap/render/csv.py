"""A table of pixels: the middle of each, in the domain's coordinates, and its share of people."""

from __future__ import annotations

from pathlib import Path

from dpheatmap.heatmap import Heatmap


def write(heat: Heatmap, path: Path) -> None:
    """Columns ``lon, lat, share`` for a box, else ``x, y, share``, row by row from the top; floats round-trip."""
    header = "lon,lat,share" if heat.domain.kind == "bbox" else "x,y,share"
    x = heat.x.tolist()
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.write(header + "\n")
        for y, row in zip(heat.y.tolist(), heat.values, strict=True):
            file.writelines(f"{column!r},{y!r},{share!r}\n" for column, share in zip(x, row.tolist(), strict=True))
