"""NumPy archives: the values, their coordinates, and how they were made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpheatmap.heatmap.heatmap import Heatmap


def write(heat: Heatmap, path: Path) -> None:
    """Write ``values`` with the pixels' middles ``x`` and ``y`` and everything else needed to place and to cite them.

    ``bounds`` are x0, y0, x1, y1 in ``crs``; the pixels are even in ``grid_crs`` (both empty for images and unit
    squares). ``std`` is written where the values' standard deviation is known. ``epsilon`` and ``delta`` are fractions
    as text, such as 1/3; ``trusted`` is who had to be trusted; ``sigma`` is in ``sigma_unit``.
    """
    geographic = heat.domain.geographic
    uncertainty: dict[str, Any] = {} if heat.std is None else {"std": heat.std}
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            values=heat.values,
            **uncertainty,
            x=heat.x,
            y=heat.y,
            bounds=np.array(heat.domain.bounds),
            kind=np.array(heat.domain.kind),
            crs=np.array("EPSG:4326" if geographic else ""),
            grid_crs=np.array("EPSG:3857" if geographic else ""),
            sigma=np.array(heat.sigma),
            sigma_unit=np.array(heat.domain.unit_name),
            epsilon=np.array(str(heat.epsilon)),
            delta=np.array(str(heat.delta)),
            trusted=np.array(heat.trust.who),
            made=np.array(heat.made.isoformat()),
            seeded=np.array(heat.seeded),
            empty=np.array(heat.empty),
            quantity=np.array(heat.quantity),
        )
