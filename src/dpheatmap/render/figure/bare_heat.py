"""Heat alone as a picture, pixel by pixel, and world files for its position."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.picture import Picture, picture_of
from dpheatmap.render.figure.painting import Pixels, paint
from dpheatmap.render.formats.geotiff import mercator_bounds
from dpheatmap.render.palette import THEMES


def bare_heat(heat: Heatmap, look: Look) -> Image.Image:
    """The picture of the heat alone; what can't be told is left out."""
    return Image.fromarray(bare_pixels(picture_of(heat, look), look))


def bare_pixels(picture: Picture, look: Look) -> Pixels:
    """Red, green, blue and opacity of each pixel of a map; where nothing is painted, all are transparent."""
    theme = THEMES[look.colours or "light"]
    rows, columns = picture.values.shape
    colours = paint(picture, theme, columns, rows, style=look.style).colours
    if not picture.painted:
        colours[..., 3] = 0
    return colours


def world_files(heat: Heatmap, path: Path) -> dict[Path, str]:
    """A world file and its coordinate system, for GIS: size of a pixel and middle of the first, in Web Mercator."""
    rows, columns = heat.values.shape
    left, bottom, right, top = mercator_bounds(heat.domain)
    across, down = (right - left) / columns, (top - bottom) / rows
    numbers = (across, 0.0, 0.0, -down, left + across / 2.0, top - down / 2.0)
    return {
        path.with_suffix(".pgw"): "".join(f"{number!r}\n" for number in numbers),
        path.with_name(f"{path.name}.aux.xml"): "<PAMDataset><SRS>EPSG:3857</SRS></PAMDataset>\n",
    }
