"""CSV of a series in long form: the slice and the position of each pixel, and its share of people."""

from __future__ import annotations

from pathlib import Path

from dpheatmap.heatmap.series import Series


def write(series: Series, path: Path) -> None:
    """Write columns ``slice, lon, lat, share, std`` for a box, else ``slice, x, y, share, std``; floats round-trip."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number, label in enumerate(series.labels):
            heat = series[label]
            layers = [heat.values] if heat.std is None else [heat.values, heat.std]
            if number == 0:
                file.write(",".join(["slice", *heat.domain.place.axes, heat.quantity, "std"]) + "\n")
            name = '"' + label.replace('"', '""') + '"'
            across = [repr(x) for x in heat.domain.place.customary(heat.x).tolist()]
            for y, *rows in zip(heat.y.tolist(), *layers, strict=True):
                texts = [map(repr, row.tolist()) for row in rows]
                values = zip(across, *texts, strict=True)
                file.writelines(
                    f"{name},{x},{y!r},{','.join(found)}{',' * (heat.std is None)}\n" for x, *found in values
                )
