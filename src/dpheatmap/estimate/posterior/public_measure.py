"""Base measures from what is already public: an earlier release, a map of one, a raster, or polygons.

Each is read as a density at points of the domain, at the middles of the quarters of cells of one level, and kept as a
measure on the cells of all levels; inside a cell of that level it lies evenly. A part of it (`FLOOR`) is area, so that
no place is ruled out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.geojson_shapes import polygons_of
from dpheatmap.place.quadtree import Ints, decode
from dpheatmap.releases.release import Release

if TYPE_CHECKING:
    from dpheatmap.heatmap.heatmap import Heatmap

FLOOR = 0.05
_FINEST = 256  # cells on the longer side
_PIXELS = 1024  # on the longer side of an earlier release's map
Density = Callable[[Floats, Floats], Floats]
"""Densities at points, given by the domain's coordinates."""


@dataclass(frozen=True, eq=False)
class PublicMeasure:
    """A measure on the cells of a domain whose total is the domain's area, and the releases that it was made from.

    ``masses`` has the measure of ``domain.codes(level)``.
    """

    domain: Domain
    level: int
    masses: Floats
    releases: tuple[Release, ...] = ()

    @cached_property
    def _levels(self) -> list[tuple[Ints, Floats]]:
        """Codes and masses of all cells of the levels up to ``level``."""
        found = [(self.domain.codes(self.level), self.masses)]
        for _ in range(self.level):
            above, where = np.unique(found[-1][0] >> 2, return_inverse=True)
            found.append((above, np.bincount(where, found[-1][1]).astype(np.float64)))
        return found[::-1]

    def weight(self, level: int, codes: Ints) -> Floats:
        """The measure of cells; below ``level``, a cell has its part of the area of the cell that holds it."""
        shift = 2 * max(level - self.level, 0)
        there, masses = self._levels[min(level, self.level)]
        at = np.minimum(np.searchsorted(there, codes >> shift), len(there) - 1)
        found: Floats = np.where(there[at] == codes >> shift, masses[at], 0.0)
        if shift:
            whole = self.domain.weight(self.level, codes >> shift)
            found = found * self.domain.weight(level, codes) / np.where(whole > 0, whole, 1.0)
        return found


@dataclass(frozen=True, eq=False)
class MixedMeasure:
    """(1 - belief) times the area, and belief times a public measure."""

    public: PublicMeasure
    belief: float

    def weight(self, level: int, codes: Ints) -> Floats:
        """The weighted mean of both measures."""
        area = self.public.domain.weight(level, codes)
        mixed: Floats = (1.0 - self.belief) * area + self.belief * self.public.weight(level, codes)
        return mixed


def public_measure(prior: Any, domain: Domain) -> PublicMeasure:
    """Read a prior as a base measure on a domain; refuse what is not public or not about this place."""
    if isinstance(prior, PublicMeasure):
        return prior
    density, releases = _density(prior, domain)
    depth = max(
        level for level in range(domain.depth + 1) if _longer(domain, level) <= max(_FINEST, _longer(domain, 0))
    )
    codes = domain.codes(depth)
    x, y = (at.astype(np.float64) for at in decode(codes))
    found, side = np.zeros(len(codes)), 0.5**depth
    for across, down in ((0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)):
        found += np.maximum(density(*domain.place.from_root((x + across) * side, (y + down) * side)), 0.0)
    area = domain.weight(depth, codes)
    masses = found * area
    if not np.isfinite(masses).all() or masses.sum() <= 0.0:
        raise ParameterError(
            "A prior needs positive numbers somewhere in the domain, and this one has none there, or some that are not "
            "finite. Give one of the same place."
        )
    masses = (1.0 - FLOOR) * masses * (area.sum() / masses.sum()) + FLOOR * area
    return PublicMeasure(domain, depth, masses, releases)


def _longer(domain: Domain, level: int) -> int:
    cells = domain.cells(level)
    return max(cells.columns, cells.rows)


def _density(prior: Any, domain: Domain) -> tuple[Density, tuple[Release, ...]]:
    """The density of a prior of any kind, and the releases that it was made from."""
    if isinstance(prior, Release):
        _refuse_secret(prior.seeded, "release")
        return _on_grid(raster_of(prior.distribution()), prior.domain, domain), (prior,)
    if isinstance(prior, (list, tuple)):
        return _of_several(prior, domain)
    if isinstance(prior, np.ndarray):
        if prior.ndim != 2 or prior.size == 0:
            raise ParameterError(f"A raster has two dimensions, and this array has {prior.ndim}. Give rows of pixels.")
        return _on_grid(prior.astype(np.float64), domain, domain), ()
    if hasattr(prior, "uncertainty") and hasattr(prior, "values"):
        return _of_heatmap(prior, domain)
    if isinstance(prior, Mapping):
        return _in_polygons(prior), ()
    if isinstance(prior, (str, PathLike)):
        return _of_file(Path(prior), domain)
    raise ParameterError(
        "A prior is a release or a list of them, a heatmap, an array, a GeoTIFF or polygons; it was a "
        f"{type(prior).__name__}. Give one of these, or leave it out."
    )


def _of_several(prior: Sequence[Any], domain: Domain) -> tuple[Density, tuple[Release, ...]]:
    """The density of several releases of one domain, read as releases about one table."""
    if not prior or not all(isinstance(one, Release) and one.domain == prior[0].domain for one in prior):
        raise ParameterError("A list as prior holds releases of one domain, and no others. Leave the others out.")
    _refuse_secret(any(release.seeded for release in prior), "release")
    from dpheatmap.estimate.posterior.map_estimate import EstimateOfEqual

    shown = EstimateOfEqual(tuple(prior)).distribution()
    return _on_grid(raster_of(shown), prior[0].domain, domain), tuple(prior)


def raster_of(shown: Distribution) -> Floats:
    """The shares of the pixels of a distribution, on a grid fine enough for a base measure."""
    finest = shown.domain.cells(shown.domain.depth)
    scale = min(1.0, _PIXELS / max(finest.columns, finest.rows))
    return shown.raster(max(1, round(scale * finest.columns)), max(1, round(scale * finest.rows)))


def _of_heatmap(heat: Heatmap, domain: Domain) -> tuple[Density, tuple[Release, ...]]:
    made_from = heat.combined or (() if heat.release is None else (heat.release,))
    _refuse_secret(heat.seeded or not made_from, "heatmap")
    return _on_grid(heat.values, heat.domain, domain), (*made_from, *heat.priors)


def _refuse_secret(secret: bool, what: str) -> None:
    if secret:
        raise PrivacyRefusal(
            f"A prior must be public, and this {what} is not: it was made with a seed or without noise. "
            "Give a release with its own noise, or leave the prior out."
        )


def _of_file(path: Path, domain: Domain) -> tuple[Density, tuple[Release, ...]]:
    name = path.name.lower()
    if name.endswith(".parquet"):
        from dpheatmap.releases.release import load_one

        return _density(load_one(path), domain)
    if name.endswith((".tif", ".tiff")):
        return _of_geotiff(path, domain), ()
    if name.endswith((".geojson", ".json")):
        try:
            return _in_polygons(json.loads(path.read_text(encoding="utf-8"))), ()
        except (OSError, ValueError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(f"The prior {fspath(path)!r} can't be read as GeoJSON. Check the file.") from error
    raise ParameterError(
        f"A prior is a .dph.parquet, a .tif or a .geojson file; it was {fspath(path)!r}. Convert it to one of these."
    )


def _on_grid(values: Floats, source: Domain, target: Domain) -> Density:
    """The values of a grid that cuts the bounds of a domain evenly, 0 outside of it."""
    if source.kind != target.kind:
        raise ParameterError(
            f"A prior must be about the release's place, {target.place.words}; it was about {source.place.words}. "
            "Give one of the same place."
        )
    finest, side = source.cells(source.depth), 2.0**source.depth
    rows, columns = values.shape

    def density(x: Floats, y: Floats) -> Floats:
        u, v = source.to_root(x, y)
        across = (u * side - finest.x0) / finest.columns
        down = (v * side - finest.y0) / finest.rows
        inside = (across >= 0) & (across < 1) & (down >= 0) & (down < 1)
        row = np.where(inside, down * rows, 0).astype(np.int64)
        column = np.where(inside, across * columns, 0).astype(np.int64)
        return np.where(inside, values[row, column], 0.0)

    return density


def _of_geotiff(path: Path, domain: Domain) -> Density:
    """The first band of a GeoTIFF, 0 outside of it and where it has no data."""
    rasterio = import_extra("rasterio", "geo", "A GeoTIFF as prior")
    warp = import_extra("rasterio.warp", "geo", "A GeoTIFF as prior")
    if not domain.geographic:
        raise ParameterError(
            f"A GeoTIFF lies on the ground, and the place is {domain.place.words}. Give the prior as an array."
        )
    try:
        with rasterio.open(path) as file:
            values = np.asarray(file.read(1, masked=True).filled(0), np.float64)
            inverse, crs = ~file.transform, file.crs
    except rasterio.errors.RasterioIOError as error:
        raise ParameterError(f"The prior {fspath(path)!r} can't be read as a raster. Check the file.") from error

    def density(x: Floats, y: Floats) -> Floats:
        at = warp.transform("EPSG:4326", crs, x, y) if crs else (x, y)
        column, row = inverse * (np.asarray(at[0]), np.asarray(at[1]))
        inside = (row >= 0) & (row < values.shape[0]) & (column >= 0) & (column < values.shape[1])
        picked = values[np.where(inside, row, 0).astype(np.int64), np.where(inside, column, 0).astype(np.int64)]
        return np.where(inside, np.nan_to_num(picked), 0.0)

    return density


def _in_polygons(shape: Mapping[str, Any]) -> Density:
    """1 inside of polygons, 0 outside, by the number of edges that a ray to the east crosses."""
    rings = [ring for polygon in polygons_of(shape, "prior") for ring in polygon]

    def density(x: Floats, y: Floats) -> Floats:
        inside = np.zeros(len(x), np.bool_)
        for ring in rings:
            for (x0, y0), (x1, y1) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
                if y0 != y1:
                    crosses = (y0 > y) != (y1 > y)
                    inside ^= crosses & (x < x0 + (y - y0) * ((x1 - x0) / (y1 - y0)))
        return inside.astype(np.float64)

    return density
