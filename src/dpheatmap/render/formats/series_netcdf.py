"""NetCDF of a series, with a dimension for slices."""

from __future__ import annotations

from pathlib import Path

from dpheatmap.heatmap.series import Series


def write(series: Series, path: Path) -> None:
    """Write compressed NetCDF 4 by the CF conventions."""
    data = series.to_xarray()
    packed = {name: {"zlib": True, "complevel": 4} for name in data.data_vars if data[name].ndim > 1}
    data.to_netcdf(path, engine="h5netcdf", encoding=packed)
