"""NetCDF, and the xarray ``Dataset`` that it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpheatmap._util.extras import import_extra
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain
from dpheatmap.render.formats.features import density_name
from dpheatmap.render.formats.metadata import facts

_GROUND = {
    "lat": {"standard_name": "latitude", "units": "degrees_north"},
    "lon": {"standard_name": "longitude", "units": "degrees_east"},
}


def write(heat: Heatmap, path: Path) -> None:
    """Write compressed NetCDF 4 by the CF conventions."""
    data = to_xarray(heat)
    packed = {name: {"zlib": True, "complevel": 4} for name in data.data_vars}
    data.to_netcdf(path, engine="h5netcdf", encoding=packed)


def refuse(domain: Domain) -> None:
    """Refuse without the two packages that are needed."""
    import_extra("xarray", "geo", "A NetCDF file")
    import_extra("h5netcdf", "geo", "A NetCDF file")


def to_xarray(heat: Heatmap) -> Any:
    """Convert the map to a ``Dataset`` by latitude and longitude (evenly spaced on the Mercator map), or by y and x."""
    xarray = import_extra("xarray", "geo", "A Dataset of xarray")
    ground = heat.domain.geographic
    down, across = ("lat", "lon") if ground else ("y", "x")
    density = heat.density * heat.domain.place.units.area
    told = "number of people" if heat.quantity == "people" else "share of people"
    layers = {
        heat.quantity: (heat.values, f"{told} in the pixel", "1"),
        density_name(heat): (density, f"{told} per area", heat.domain.place.units.per_area),
    }
    if heat.std is not None:
        layers["std"] = (heat.std, f"standard deviation of the {heat.quantity}", "1")
    axis = _GROUND if ground else {name: {"units": heat.domain.unit_name} for name in ("y", "x")}
    return xarray.Dataset(
        {
            name: ((down, across), values, {"long_name": words, "units": unit})
            for name, (values, words, unit) in layers.items()
        },
        coords={down: (down, heat.y, axis[down]), across: (across, heat.x, axis[across])},
        attrs={"Conventions": "CF-1.11", **facts(heat)},
    )
