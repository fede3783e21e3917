"""Text files to counts, against the leanest query of DuckDB's own reader on the same file: CPU as a ratio, and memory.

The lean query reads the columns it needs by DuckDB's CSV or JSON reader on all cores, counts each person's events and
adds their shares up by cell: no checks, no counters, and one person's quote can take other people's rows with it.
Each figure is taken in a process of its own; kernels are compiled before.

    python benchmarks/text.py                the figures of docs/scale.md
    python benchmarks/text.py 1e6            fewer rows
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

import dpheatmap as dph
from common import bar, cpu_seconds, peak_megabytes
from dpheatmap.budget import UNITS
from dpheatmap.embedded import connect

LEVEL = 10
COLUMNS = {"user": "rider", "x": "x", "y": "y"}
ROUNDS = 3


def write_events(path: Path, rows: int) -> None:
    """A million people anywhere in the unit square, as CSV or JSON lines."""
    connect(memory_limit="1GB").execute(
        f"""COPY (SELECT 'rider-' || CAST(floor(1000000 * random()) AS BIGINT) AS rider, '2024-06-01' AS day,
            round(random(), 8) AS x, round(random(), 8) AS y FROM range({rows}))
        TO '{path}' (FORMAT {"csv" if path.suffix == ".csv" else "json"})"""
    )


def lean(path: Path) -> tuple[float, int]:
    """CPU seconds of the lean query, and the sum of its answer."""
    kinds = "{'rider': 'VARCHAR', 'day': 'VARCHAR', 'x': 'DOUBLE', 'y': 'DOUBLE'}"
    if path.suffix == ".csv":
        table = f"read_csv('{path}', auto_detect=false, header=true, columns={kinds})"
    else:
        table = f"read_json('{path}', format='newline_delimited', columns={kinds})"
    side = 2**LEVEL
    sql = f"""WITH events AS (
            SELECT rider, CAST(floor(x * {side}) AS INTEGER) AS cx, CAST(floor(y * {side}) AS INTEGER) AS cy
            FROM {table} WHERE x BETWEEN 0 AND 1 AND y BETWEEN 0 AND 1),
        shares AS (SELECT rider, {UNITS} // COUNT(*) AS units FROM events GROUP BY rider)
        SELECT cx, cy, CAST(SUM(units) AS BIGINT) AS weight FROM events JOIN shares USING (rider) GROUP BY cx, cy"""
    with connect(memory_limit="800MB", preserve_insertion_order="false") as con:
        con.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
        found: list[int] = []
        seconds = cpu_seconds(lambda: found.append(int(con.execute(sql).fetchnumpy()["weight"].sum())))
    return seconds, found[0]


def ours(path: Path, bad_lines: str) -> tuple[float, float, int, float]:
    """CPU seconds, wall seconds, the sum of the counts, and megabytes."""
    small = path.with_name(f"small{path.suffix}")
    with path.open("rb") as file:
        small.write_bytes(b"".join(file.readline() for _ in range(100)))
    dph.aggregate(small, dph.Domain.unit(LEVEL), **COLUMNS)  # type: ignore[arg-type]
    found: list[int] = []
    start = time.perf_counter()
    seconds = cpu_seconds(
        lambda: found.append(dph.aggregate(path, dph.Domain.unit(LEVEL), **COLUMNS, bad_lines=bad_lines).total)  # type: ignore[arg-type]
    )
    return seconds, time.perf_counter() - start, found[0], peak_megabytes()


def main() -> int:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    results = []
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool,
    ):
        for name, count, limit in (("trips.csv", rows, 1.6), ("trips.jsonl", rows // 2, 2.5)):
            path = Path(folder, name)
            write_events(path, count)
            pool.apply(ours, (path, "stop"))  # compiles, and warms the disk's cache
            runs = [
                (pool.apply(lean, (path,)), pool.apply(ours, (path, "stop")), pool.apply(ours, (path, "skip")))
                for _ in range(ROUNDS)
            ]
            least, stop, skip = (min(run[k] for run in runs) for k in range(3))
            assert least[1] == stop[2] == skip[2], "the sums differ"
            print(
                f"{name}: {count:,} rows, {path.stat().st_size / 1e6:.0f} MB: lean {least[0]:.2f} CPU s, stop "
                f"{stop[0]:.2f} CPU s in {stop[1]:.2f} s, skip {skip[0]:.2f} CPU s"
            )
            results += [
                bar(f"{name}, CPU over the lean query", stop[0] / least[0], limit, unit="x"),
                bar(f"{name}, broken lines left out", skip[0] / least[0], limit, unit="x"),
                bar(f"{name}, peak memory", max(run[k][3] for run in runs for k in (1, 2)), 600, unit=" MB"),
                bar(f"{name}, cores used", stop[0] / min(run[1][1] for run in runs), 1.2, at_least=True),
            ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
