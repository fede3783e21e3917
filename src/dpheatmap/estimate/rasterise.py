"""The loop that rasterises cells, compiled on first use. It imports numba, so it is imported late."""

from __future__ import annotations

from dpheatmap._util.jit import njit
from dpheatmap.place.domain import Floats


@njit(cache=True)
def rasterise(
    values: Floats, first: int, mass: Floats, left: Floats, right: Floats, top: Floats, bottom: Floats
) -> None:
    """Add to each pixel of ``values`` the mass of the rectangles, given in pixels, by the area they share with it.

    The rows of ``values`` are those from row ``first`` on.
    """
    rows, columns = values.shape
    for k in range(len(mass)):
        if mass[k] == 0.0:
            continue
        density = mass[k] / ((right[k] - left[k]) * (bottom[k] - top[k]))
        for i in range(max(int(top[k]), first), first + rows):
            height = min(bottom[k], i + 1.0) - max(top[k], float(i))
            if height <= 0.0:
                break
            for j in range(int(left[k]), columns):
                width = min(right[k], j + 1.0) - max(left[k], float(j))
                if width <= 0.0:
                    break
                values[i - first, j] += density * height * width
