"""Compiles kernels before anybody waits for them. The types of their arguments are those of real commands.

    python scripts/kernels.py            those of a release and its maps, into numba's cache beside the sources
    python scripts/kernels.py FOLDER     those of all common commands, for a wheel and any processor

The first needs numba alone, so that it can run while the rest is being installed.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path


def use_maps() -> None:
    """Release invented people and estimate their maps."""
    import numpy as np

    import dpheatmap as dph
    from dpheatmap.testing import CITY

    domain = dph.Domain.bbox(*CITY, resolution=100)
    cells, side = domain.cells(domain.depth), 40
    y, x = np.divmod(np.arange(side * side), side)
    people = np.where(x == y, 100, 3) * 2**30
    for count in (1, len(x)):
        counts = dph.Counts.from_cells(domain, cells.x0 + x[:count], cells.y0 + y[:count], people[:count])
        heat = dph.release(counts, domain, epsilon=1).heatmap(sigma=250)
        heat.std.sum()


def use_commands(folder: Path) -> None:
    """Do what the other common commands do: read text, draw, combine, find places, compare, count in areas."""
    import numpy as np

    import dpheatmap as dph
    from dpheatmap.testing import CITY, generated_people

    domain = dph.Domain.bbox(*CITY, resolution=100)
    people = generated_people(20_000, extent=CITY)
    parquet, csv, json_lines = (str(folder / f"people.{ending}") for ending in ("parquet", "csv", "jsonl"))
    people.write_parquet(parquet)
    people.write_csv(csv)
    rows = [dict(zip(people.columns, row, strict=True)) for row in people.fetchall()]
    Path(json_lines).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    releases = [
        dph.release(table, domain, epsilon=1, user="person", x="x", y="y") for table in (parquet, csv, json_lines)
    ]
    features = [
        {"properties": row, "geometry": {"type": "Point", "coordinates": [row["x"], row["y"]]}} for row in rows[:100]
    ]
    (folder / "people.geojson").write_text(json.dumps({"features": features}))
    dph.aggregate(folder / "people.geojson", domain, user="person")
    for made in releases[0], dph.combine(releases[:2], same=True):
        heat = made.heatmap(sigma=250)
        heat.save(str(folder / "map.png"))
        heat.save(str(folder / "map.html"))
    west, south, east, north = CITY
    boundary = {"type": "Polygon", "coordinates": [[(west, south), (east, south), (east, north), (west, south)]]}
    inside = dph.Domain.polygon(boundary, resolution=100)
    region = dph.release(parquet, inside, epsilon=1, user="person", x="x", y="y")
    region.heatmap(sigma=250).save(str(folder / "map.png"))
    releases[0].areas({"half": (west, south, (west + east) / 2, north)})
    releases[0].sample(100)
    dph.kmedian(releases[0], 5)
    uneven = np.arange(64.0).reshape(8, 8)
    dph.metrics.emd(uneven, uneven.T)
    dph.metrics.emd(uneven, uneven.T, tolerance=0.01)


def keep_kernels(folder: Path) -> int:
    """Write every kernel that was compiled into the store in a folder; returns how many there are."""
    from numba.core.dispatcher import Dispatcher

    from dpheatmap._util.kernel_store import KernelStore

    store = KernelStore(folder)
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith("dpheatmap")]
    kernels = {kernel for module in modules for kernel in vars(module).values() if isinstance(kernel, Dispatcher)}
    compiled = [(kernel.py_func, types, result) for kernel in kernels for types, result in kernel.overloads.items()]
    for function, types, result in compiled:
        store.save(function, types, result)
    return len(compiled)


def main(folder: str | None = None) -> None:
    """Compile into numba's cache or, for a wheel, into a folder."""
    if folder is None:
        use_maps()
        return
    with tempfile.TemporaryDirectory() as work:
        os.environ |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": work}
        use_maps()
        use_commands(Path(work))
        print(f"{keep_kernels(Path(folder))} kernels in {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:])
