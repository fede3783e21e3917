"""The raster of a map: values pixel by pixel, painted in the colours of their legend."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render.figure.background import background_of
from dpheatmap.render.figure.scale import Legend, Pixels

_BLANK = 246  # the grey of a map that has lines only


@dataclass(frozen=True, eq=False)
class Raster:
    """Values over a domain in the legend's unit, and which of them are within the noise.

    If ``smooth``, values between pixels can be interpolated. ``background`` lies under the colours. ``pale`` means that
    dark lines and words read well on it; otherwise light ones do.
    """

    domain: Domain
    values: Floats
    noise: NDArray[np.bool_]
    legend: Legend
    smooth: bool
    background: str | PathLike[str] | None = None
    pale: bool = False

    def pixels(self, factor: int) -> Pixels:
        """The colours of the map, ``factor x factor`` pixels of the picture for each pixel of the map."""
        values = enlarge(self.values, factor, smooth=self.smooth)
        noise = enlarge(self.noise.astype(np.float64), factor, smooth=self.smooth) > 0.5
        painted = self.legend.paint(values, noise)
        if (painted[..., 3] == 255).all():
            return np.ascontiguousarray(painted[..., :3])
        if self.background is not None:
            under = background_of(self.domain, self.background, (values.shape[1], values.shape[0]))
        else:
            under = np.full((*values.shape, 3), _BLANK, np.uint8)
        opacity = painted[..., 3:] / 255.0
        return np.rint(under * (1.0 - opacity) + painted[..., :3] * opacity).astype(np.uint8)


def enlarge(values: Floats, factor: int, *, smooth: bool) -> Floats:
    """Enlarge each pixel to ``factor x factor``, equal ones or linear between pixels; no value leaves the old range."""
    if factor == 1:
        return values
    rows, columns = values.shape
    method = Image.Resampling.BILINEAR if smooth else Image.Resampling.NEAREST
    picture = Image.fromarray(values.astype(np.float32)).resize((factor * columns, factor * rows), method)
    return np.asarray(picture, dtype=np.float64)


def is_smooth(domain: Domain, sigma: float, values: Floats) -> bool:
    """Whether the kernel is so wide that values between pixels can be interpolated."""
    pixel: float = domain.longer_side / max(values.shape)
    return sigma >= 2.0 * pixel
