"""Heat as an overlay: colours that fade out where there is little heat, and world files for the position."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Floats
from dpheatmap.render.figure.colour import STEPS, colours
from dpheatmap.render.figure.within_noise import within_noise
from dpheatmap.render.formats.geotiff import mercator_bounds

_OPAQUE_FROM = 0.3  # of the hottest; below, colours fade out
_MOST_OPAQUE = 0.75


def see_through_colours() -> NDArray[np.uint8]:
    """The scale with a fourth column, the opacity of each step: 0 at 0, so that the layer below shows."""
    at = np.linspace(0.0, 1.0, STEPS)
    return np.column_stack([colours(at), opacity(at)])


def opacity(values: Floats) -> NDArray[np.uint8]:
    """The opacity of an overlay's heat, from its value between 0 and 1."""
    return np.rint(255.0 * _MOST_OPAQUE * np.minimum(values / _OPAQUE_FROM, 1.0)).astype(np.uint8)


def bare_heat(heat: Heatmap) -> Image.Image:
    """The picture of the heat alone, pixel by pixel; pixels within the noise are left out."""
    density = heat.density
    steps = np.rint((STEPS - 1) * density / density.max()).astype(np.intp)
    steps[within_noise(heat)] = 0
    return Image.fromarray(see_through_colours()[steps])


def world_files(heat: Heatmap, path: Path) -> dict[Path, str]:
    """A world file and its coordinate system, for GIS: size of a pixel and middle of the first, in Web Mercator."""
    rows, columns = heat.values.shape
    left, bottom, right, top = mercator_bounds(heat)
    across, down = (right - left) / columns, (top - bottom) / rows
    numbers = (across, 0.0, 0.0, -down, left + across / 2.0, top - down / 2.0)
    return {
        path.with_suffix(".pgw"): "".join(f"{number!r}\n" for number in numbers),
        path.with_name(f"{path.name}.aux.xml"): "<PAMDataset><SRS>EPSG:3857</SRS></PAMDataset>\n",
    }
