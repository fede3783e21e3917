"""NetCDF of a series, and the xarray ``Dataset`` that it holds, with a dimension for slices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap.heatmap.series import Series
from dpheatmap.render.formats import netcdf
from dpheatmap.render.formats.metadata import facts_of_series
from dpheatmap.render.formats.netcdf import refuse

__all__ = ["refuse", "to_xarray", "write"]


def write(series: Series, path: Path) -> None:
    """Write compressed NetCDF 4 by the CF conventions."""
    data = to_xarray(series)
    packed = {name: {"zlib": True, "complevel": 4} for name in data.data_vars if data[name].ndim > 1}
    data.to_netcdf(path, engine="h5netcdf", encoding=packed)


def to_xarray(series: Series) -> Any:
    """Convert the maps to a ``Dataset`` by slice; a slice whose standard deviations are not known has none."""
    xarray = import_extra("xarray", "geo", "A Dataset of xarray")
    each = []
    for label in series.labels:
        one = netcdf.to_xarray(series[label])
        each.append(one if "std" in one else one.assign(std=xarray.full_like(one[series.quantity], np.nan)))
    joined = xarray.concat(each, dim=xarray.IndexVariable("slice", list(series.labels)), combine_attrs="override")
    volumes = series.volumes
    told = {"long_name": "number of people in the slice", "units": "1"}
    joined = joined.assign(
        volume=("slice", volumes.people, told),
        volume_std=("slice", volumes.std, {"long_name": "standard deviation of the volume", "units": "1"}),
    )
    return joined.assign_attrs({"Conventions": "CF-1.11", **facts_of_series(series)})
