"""Maps as data frames of GeoPandas."""

from __future__ import annotations

from typing import Any

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import check
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.render.formats.features import Areas, areas_of
from dpheatmap.render.formats.metadata import facts


def to_geopandas(heat: Heatmap) -> Any:
    """The leaves of the release; in degrees for a box, without a coordinate system otherwise."""
    return frame(heat, areas_of(heat))


def to_h3(heat: Heatmap, h3: int) -> Any:
    """The hexagons at a resolution, by their names."""
    check(h3=h3)
    return frame(heat, areas_of(heat, h3)).set_index("h3")


def frame(heat: Heatmap, areas: Areas) -> Any:
    """Convert areas to a ``GeoDataFrame``; ``attrs`` says how the map was made."""
    geopandas = import_extra("geopandas", "geo", "A GeoDataFrame")
    shapely = import_extra("shapely", "geo", "A GeoDataFrame")
    table = geopandas.GeoDataFrame(
        areas.columns(),
        geometry=[shapely.Polygon(ring) for ring in areas.rings],
        crs="EPSG:4326" if heat.domain.geographic else None,
    )
    table.attrs = facts(heat, smoothed=areas.smoothed)
    return table
