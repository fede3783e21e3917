"""What areas must be: polygons of finite coordinates, in the system that they claim, and some of them in the place."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.errors import DataError, PlaceWarning
from dpheatmap.estimate.areas.named_areas import NamedAreas
from dpheatmap.place.domain import Domain
from dpheatmap.place.vector_rings import valid_geometries

MENDED, OVERLAP = "crossed itself and was mended", "overlaps with others"
_FARTHEST, _NORTHERNMOST = 540.0, 90.0  # degrees: the world and half of it again on either side
_ALLOWED = 0.005  # part of the smaller area: borders of neighbours that were drawn by hand
_ROUGHLY = 0.001  # of the side of an area, to which its border is simplified before it is compared


def only_polygons(read: NamedAreas) -> NamedAreas:
    """Leave out what is no polygon, with a warning; refuse if there is nothing else."""
    import shapely

    geometries = shapely.force_2d(np.asarray(read.geometries, dtype=object))
    read = read._replace(geometries=geometries)
    parts, of = shapely.get_parts(geometries, return_index=True)
    while (nested := shapely.get_type_id(parts) > 3).any():
        inner, within = shapely.get_parts(parts[nested], return_index=True)
        parts, of = np.concatenate([parts[~nested], inner]), np.concatenate([of[~nested], of[nested][within]])
    kept = np.zeros(len(geometries), np.bool_)
    kept[of[(shapely.get_type_id(parts) == 3) & ~shapely.is_empty(parts)]] = True
    if not kept.any():
        raise DataError("The source of the areas has no polygons. Give areas as Polygon or MultiPolygon.")
    if kept.all():
        return read
    warnings.warn(
        f"{np.sum(~kept):,} of {len(kept):,} areas are no polygons, and are left out.", PlaceWarning, stacklevel=2
    )
    return read.only(kept)


def check_coordinates(read: NamedAreas, domain: Domain) -> None:
    """Refuse coordinates that are no numbers, and lengths that are labelled as degrees."""
    import shapely

    points = shapely.get_coordinates(read.geometries)
    if not np.isfinite(points).all() or np.abs(points).max(initial=0.0) > 1e100:
        raise DataError("The areas have coordinates that are not finite numbers. Check the file.")
    if not domain.geographic:
        return
    pyproj = import_extra("pyproj", "geo", "Another system of coordinates")
    if not pyproj.CRS.from_user_input(read.crs).is_geographic:
        return
    far = (np.abs(points) > [_FARTHEST, _NORTHERNMOST]).any(axis=1)
    if far.any():
        x, y = points[far][0].tolist()
        raise DataError(
            f"The areas are labelled as degrees, and their point {x:g}, {y:g} is none: they look like metres. "
            "Save them with their own system of coordinates."
        )


def mend_crossings(read: NamedAreas) -> NamedAreas:
    """Make every geometry valid, and note which were not."""
    import shapely

    broken = ~shapely.is_valid(read.geometries)
    read = read._replace(geometries=valid_geometries(read.geometries))
    return read.noting(MENDED, broken) if broken.any() else read


def with_overlaps(read: NamedAreas) -> NamedAreas:
    """Note which areas share more ground with another than borders that were drawn by hand do."""
    import shapely

    if read.is_grid or len(read.names) < 2:
        return read
    sizes = shapely.area(read.geometries)
    rough = shapely.simplify(read.geometries, _ROUGHLY * np.sqrt(sizes))
    one, other = shapely.STRtree(rough).query(rough)
    one, other = one[one < other], other[one < other]
    shared = shapely.area(shapely.intersection(rough[one], rough[other]))
    over = shared > _ALLOWED * np.minimum(sizes[one], sizes[other])
    where = np.zeros(len(read.names), np.bool_)
    where[one[over]], where[other[over]] = True, True
    return read.noting(OVERLAP, where) if where.any() else read


def refuse_outside(read: NamedAreas, domain: Domain) -> NoReturn:
    """Say what may be wrong with areas that are all outside the place."""
    import shapely

    turned: Any = shapely.transform(read.geometries, lambda points: points[:, ::-1])
    x0, y0, x1, y1 = read._replace(geometries=turned).shapes(domain).edges.T
    whole = domain.cells(domain.depth)
    middle_x, middle_y = 0.5 * (x0 + x1), 0.5 * (y0 + y1)
    inside = (whole.x0 < middle_x) & (middle_x < whole.x1) & (whole.y0 < middle_y) & (middle_y < whole.y1)
    if inside.any():
        raise DataError(
            "All of the areas lie outside the place, and with x and y swapped they lie inside: x and y are swapped. "
            "Put x, the longitude, first."
        )
    raise DataError(
        "All of the areas lie outside the place: they are in another place, or in another system of coordinates than "
        "they tell, or their x and y are swapped. Check which."
    )
