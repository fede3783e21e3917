"""Tables of a difference: pixels as CSV, and cells with their outlines as GeoJSON or GeoParquet.

Cells are the smallest that either release measured. Where the two cut the place differently, a large cell is shared out
by area among the small ones in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.cell_overlay import Division, overlay
from dpheatmap.estimate.discoveries import discoveries
from dpheatmap.estimate.posterior.leaves import Leaves
from dpheatmap.heatmap.differences import Difference
from dpheatmap.place.domain import Domain
from dpheatmap.render.formats.features import corners_of
from dpheatmap.render.formats.metadata import facts_of_difference, refuse_without_ground

_DIGITS = 7  # of a degree: a centimetre


def write(change: Difference, path: Path, suffix: str) -> None:
    """Write the table of a suffix; ``std`` and ``significant`` are left out where they are not known."""
    if suffix == ".csv":
        _write_pixels(change, path)
    elif suffix == ".geojson":
        _write_geojson(change, path)
    else:
        _frame(change).to_parquet(path, schema_version="1.1.0", write_covering_bbox=True, compression="zstd")


def refuse(domain: Domain, suffix: str) -> None:
    """Refuse GeoJSON of what is not on the ground, and GeoParquet without its packages."""
    if suffix == ".geojson":
        refuse_without_ground(domain, "GeoJSON", ".csv or .parquet")
    if suffix == ".parquet":
        import_extra("geopandas", "geo", "A GeoParquet file")
        import_extra("pyarrow", "geo", "A GeoParquet file")


def _write_pixels(change: Difference, path: Path) -> None:
    """Write columns ``lon, lat, change, std, significant`` for a box, else with ``x, y``, row by row from the top."""
    layers: list[Any] = [change.values]
    if change.std is not None:
        layers += [change.std, change.significant().astype(np.int64)]
    names = [*change.domain.place.axes, "change", "std", "significant"][: 2 + len(layers)]
    across = [repr(x) for x in change.domain.place.customary(change.after.x).tolist()]
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.write(",".join(names) + "\n")
        for y, *rows in zip(change.after.y.tolist(), *layers, strict=True):
            texts = [map(repr, row.tolist()) for row in rows]
            file.writelines(f"{x},{y!r},{','.join(values)}\n" for x, *values in zip(across, *texts, strict=True))


def _cells(change: Difference) -> tuple[Leaves, dict[str, Any]]:
    """The smallest cells of both releases, and their columns."""
    if change.before.estimate is None or change.after.estimate is None:
        raise ParameterError(
            "The measured cells are those of releases, and these maps were not made from such. Use .csv, or releases."
        )
    before, after = change.before.estimate.leaves(), change.after.estimate.leaves()
    both = overlay(change.domain, [Division(each.levels, each.codes) for each in (before, after)])
    none = [np.zeros(len(each)) for each in (before, after)]
    share = both.total([none[0], after.share]) - both.total([before.share, none[1]])
    std = None
    if before.std is not None and after.std is not None:
        std = np.sqrt(both.total([before.std**2, after.std**2], power=2))
    cells = Leaves(change.domain, *both.cells, share, std)
    columns: dict[str, Any] = {"level": cells.levels, "x": cells.x, "y": cells.y, "change": share}
    columns |= {} if std is None else {"std": std, "significant": discoveries(share, std)}
    unit = change.domain.place.units
    return cells, columns | {f"change_{unit.density}": unit.area * share / cells.area}


def _write_geojson(change: Difference, path: Path) -> None:
    """Write a collection of polygons in degrees; the member ``dpheatmap`` says how it was made."""
    cells, columns = _cells(change)
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]},
            "properties": dict(zip(columns, row, strict=True)),
        }
        for ring, row in zip(np.round(corners_of(cells), _DIGITS).tolist(), rows, strict=True)
    ]
    about = facts_of_difference(change)
    text = json.dumps({"type": "FeatureCollection", "dpheatmap": about, "features": features})
    path.write_text(f"{text}\n", encoding="utf-8", newline="\n")


def _frame(change: Difference) -> Any:
    geopandas, shapely = (import_extra(name, "geo", "A GeoParquet file") for name in ("geopandas", "shapely"))
    cells, columns = _cells(change)
    outlines = [shapely.Polygon(ring) for ring in corners_of(cells)]
    crs = "EPSG:4326" if change.domain.geographic else None
    frame = geopandas.GeoDataFrame(columns, geometry=outlines, crs=crs)
    frame.attrs = facts_of_difference(change)
    return frame
