"""GeoParquet of a series in long form: the measured cells of each slice, one row a cell and slice."""

from __future__ import annotations

from pathlib import Path

from dpheatmap._util.extras import import_extra
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.series import Series
from dpheatmap.place.domain import Floats
from dpheatmap.render.formats.features import areas_of
from dpheatmap.render.formats.geodataframe import frame
from dpheatmap.render.formats.geoparquet import refuse, write_frame
from dpheatmap.render.formats.metadata import facts_of_series

__all__ = ["refuse", "write"]


def write(series: Series, path: Path) -> None:
    """Write the columns slice, level, x, y, share, people, std, the density, and the outline.

    Areas are the cells that the release knows, not smoothed: a slice that was measured in blocks has the cells of the
    pooled map. Shares of a slice add up to 1, and people to its volume. ``std`` and the density are those of shares, or
    of people in a series of people.
    """
    pandas = import_extra("pandas", "geo", "A GeoParquet file")
    tables = []
    for label in series.labels:
        heat = series[label]
        table = frame(heat, areas_of(heat))
        share, people = _both(heat, table[heat.quantity].to_numpy())
        table = table.drop(columns=heat.quantity)
        table.insert(0, "slice", label)
        table.insert(4, "share", share)
        table.insert(5, "people", people)
        tables.append(table)
    whole = pandas.concat(tables, ignore_index=True)
    whole.attrs = facts_of_series(series, smoothed=False)
    write_frame(whole, path)


def _both(heat: Heatmap, values: Floats) -> tuple[Floats, Floats]:
    """The shares and the numbers of people of cells, of which one is known."""
    assert heat.estimate is not None
    total = heat.estimate.total
    return (values / max(total, 1e-9), values) if heat.quantity == "people" else (values, total * values)
