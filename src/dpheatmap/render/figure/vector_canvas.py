"""The canvas of SVG and PDF, by matplotlib: the map is an image, the rest is lines and text."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.domain import Floats
from dpheatmap.render.figure.canvas import HALO, Box
from dpheatmap.render.figure.lettering import FONTS, REGULAR, SEMIBOLD, has
from dpheatmap.render.palette import Rgb

_DPI = 144.0
_POINTS = 72.0 / _DPI  # of a pixel
_FAMILIES = {REGULAR: "Inter", SEMIBOLD: "Inter SemiBold"}  # the package's fonts, by which texts are measured
_OTHERWISE = "DejaVu Sans"  # matplotlib's own
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "dpheatmap",
    "pdf.fonttype": 42,
    "font.family": [_FAMILIES[REGULAR], _OTHERWISE],
}


def save_vectors(draw: Callable[[type[MatplotlibCanvas]], MatplotlibCanvas], path: Path, suffix: str) -> None:
    """Draw on a new canvas and write it as SVG or PDF, without a date, so that the same picture gives the same file."""
    import matplotlib

    _register_font()
    kind = suffix[1:]
    with matplotlib.rc_context(_STYLE):
        canvas = draw(MatplotlibCanvas)
        canvas.figure.savefig(path, format=kind, metadata={"CreationDate" if kind == "pdf" else "Date": None})
    if kind == "svg":
        _carry_font(path)


def _carry_font(path: Path) -> None:
    """Embed the font in an SVG file, as a PDF does: in another font, words could be wider than their room."""
    face = "".join(
        f"@font-face{{font-family:'{_FAMILIES[weight]}';font-weight:{weight};"
        f"src:url(data:font/ttf;base64,{base64.b64encode(font.read_bytes()).decode('ascii')})}}"
        for weight, font in FONTS.items()
    )
    style = '<style type="text/css">'
    path.write_text(path.read_text("utf-8").replace(style, style + face, 1), "utf-8", newline="\n")


@cache
def _register_font() -> None:
    """Tell matplotlib of the package's fonts."""
    from matplotlib import font_manager

    for font in FONTS.values():
        with resources.as_file(font) as path:
            font_manager.fontManager.addfont(path)


class MatplotlibCanvas:
    """One set of axes over the whole figure, in pixels from the upper left corner; later drawings lie above."""

    def __init__(self, width: int, height: int, colour: Rgb) -> None:
        from matplotlib.figure import Figure

        self.figure: Any = Figure(figsize=(width / _DPI, height / _DPI), facecolor=_of(colour))
        self._axes = self.figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(0, width), ylim=(height, 0))
        self._axes.set_axis_off()
        self._order = count(1)

    def image(self, pixels: NDArray[np.uint8], box: Box) -> None:
        """Draw an image at its own resolution, for any paper size."""
        extent = (box.left, box.right, box.bottom, box.top)
        self._axes.imshow(pixels, extent=extent, interpolation="none", aspect="auto", zorder=next(self._order))
        self._axes.set(xlim=self._axes.get_xlim(), ylim=self._axes.get_ylim())

    def fill(self, box: Box, colour: Rgb, radius: float = 0.0) -> None:
        """Draw a rectangle without rim; its corners may be round."""
        from matplotlib.patches import FancyBboxPatch, Rectangle

        style: dict[str, Any] = {"facecolor": _of(colour), "linewidth": 0, "zorder": next(self._order)}
        if not radius:
            self._axes.add_patch(Rectangle((box.left, box.top), box.width, box.height, **style))
            return
        inner = (box.left + radius, box.top + radius), box.width - 2 * radius, box.height - 2 * radius
        self._axes.add_patch(FancyBboxPatch(*inner, boxstyle=f"round,pad={radius},rounding_size={radius}", **style))

    def lines(self, lines: Sequence[Floats], inside: Box, *, width: float, colour: Rgb, opacity: float = 1.0) -> None:
        """Draw lines, clipped to a box."""
        if not lines:
            return
        from matplotlib.collections import LineCollection
        from matplotlib.patches import Rectangle

        drawn = LineCollection(
            lines, linewidths=width * _POINTS, colors=[(*_of(colour), opacity)], zorder=next(self._order)
        )
        self._axes.add_collection(drawn, autolim=False)
        clip = Rectangle((inside.left, inside.top), inside.width, inside.height, transform=self._axes.transData)
        drawn.set_clip_path(clip)

    def text(
        self, x: float, y: float, text: str, *, size: float, colour: Rgb, align: float = 0.0, weight: int = REGULAR,
        halo: Rgb | None = None,
    ) -> None:  # fmt: skip
        """Draw text as text, not as outlines; only the halo under it is outlines."""
        from matplotlib.patheffects import Stroke

        points = size * _POINTS
        families = [_FAMILIES[weight], *([] if all(map(has, text)) else [_OTHERWISE])]
        rim = [] if halo is None else [[Stroke(linewidth=points / 4, foreground=_of(halo), alpha=HALO)]]
        for effects in (*rim, []):
            self._axes.text(
                x, y, text.replace("$", r"\$"), fontsize=points, color=_of(colour), path_effects=effects,
                fontweight=weight, fontfamily=families, verticalalignment="baseline", zorder=next(self._order),
                horizontalalignment={0.0: "left", 0.5: "center", 1.0: "right"}[align],
            )  # fmt: skip


def _of(colour: Rgb) -> tuple[float, float, float]:
    red, green, blue = (part / 255.0 for part in colour)
    return red, green, blue
