"""How near a release a day comes to the truth, against one release at the end, on check-ins in New York over 30 days.

All 30 days together have epsilon 1 at delta 1e-6, by `DailyReleases`. Maps of all days and of single days are judged by
their exact EMD (64 x 64, in sides, sigma 0.02) to the truth of what they are about. In maps of days together a person
weighs up to 1 each day; in one release at the end, 1 over all days. Days are those of September 2010, some 200 people
each, and days of the same number modulo 30 of all 18 months, put together, so that a day has more people.

Needs the data folder (DPHEATMAP_DATA). ``--quick`` makes one draw of noise instead of three.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np

import dpheatmap as dph
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.experiments import stand_in_data
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Floats

DOMAIN, SIGMA, SIZE, DAYS = dph.Domain.unit(8), 0.02, 64, 30
LIMIT, DELTA, FIRST = 1, "1e-6", date(2024, 6, 1)
WEST, SOUTH, EAST, NORTH = -74.06, 40.62, -73.86, 40.82
PERIODS = {
    "September 2010": ("time >= '2010-09-01' AND time < '2010-10-01'", 200),
    "18 months, folded": ("true", 1000),
}
"""Which rows, and the guess of the people of a day."""


def days_of(condition: str) -> tuple[list[dph.Counts], dph.Counts]:
    """The counts of each day, and those of all days."""
    file = Path(str(stand_in_data.folder()), "gowalla_nyc_timed.parquet")
    with duckdb.connect() as con:
        con.execute(
            f'CREATE TABLE rows AS SELECT "user" AS who, (lon - ({WEST})) / {EAST - WEST} AS x, '
            f"({NORTH} - lat) / {NORTH - SOUTH} AS y, CAST(floor(epoch(time) / 86400) AS BIGINT) % {DAYS} AS day "
            f"FROM '{file}' WHERE {condition}"
        )
        tables = [f"SELECT * FROM rows WHERE day = {day}" for day in range(DAYS)]
        *days, every = (
            dph.aggregate(con.sql(sql), DOMAIN, user="who", x="x", y="y") for sql in (*tables, "SELECT * FROM rows")
        )
    return days, every


def error(true: Floats, shown: Floats) -> float:
    """The EMD between two maps."""
    return float(dph.metrics.emd(true, shown))


def outside(releases: list[dph.Release], true: Floats) -> float:
    """The part of true values that the intervals of the map of all days don't hold."""
    low, high = dph.combine(releases, same=False).heatmap(sigma=SIGMA, size=SIZE).interval()
    return float(((true < low) | (true > high)).mean())


def errors(days: list[dph.Counts], users: int, delta: str | None) -> dict[str, float]:
    """The EMD of each way of one draw of noise."""
    with TemporaryDirectory() as folder:
        ledger = dph.Ledger(f"{folder}/city.ledger")
        ledger.limit("people", LIMIT, delta=delta)
        made = dph.DailyReleases.start(
            f"{folder}/month", DOMAIN, first=FIRST, days=DAYS, limit=LIMIT, delta=delta, users=users, ledger=ledger,
            population="people",
        )  # fmt: skip
        for day, counts in zip(made.days, days, strict=True):
            made.release(counts, day=day, ledger=ledger)
        releases = list(made.releases.values())
    truths = [true_distribution(counts) for counts in days]
    maps = [smooth(true, SIGMA, SIZE) for true in truths]
    people = [counts.total for counts in days]
    alone = [smooth(release.distribution(), SIGMA, SIZE) for release in releases]
    informed = [
        smooth(release.distribution(prior=[other for other in releases if other is not release]), SIGMA, SIZE)
        for release in releases
    ]
    together = smooth(dph.combine(releases, same=False).distribution(), SIGMA, SIZE)
    equal = smooth(dph.combine(releases, same=True).distribution(), SIGMA, SIZE)
    month = np.average(maps, axis=0, weights=people)
    return {
        f"all days together ({made.plan.way})": error(month, together),
        "all days, read as equal": error(month, equal),
        "all days together, true values outside of 90 % intervals": outside(releases, month),
        "a day by itself": float(np.mean([error(*pair) for pair in zip(maps, alone, strict=True)])),
        "a day with the others": float(np.mean([error(*pair) for pair in zip(maps, informed, strict=True)])),
        "a day shown as all days, read as equal": float(np.mean([error(true, equal) for true in maps])),
    }


def main() -> int:
    if stand_in_data.folder() is None:
        print("No data folder: set DPHEATMAP_DATA to one that holds gowalla_nyc_timed.parquet.")
        return 0
    for name, (condition, users) in PERIODS.items():
        days, every = days_of(condition)
        seen = [counts.report.people for counts in days if counts.report is not None]
        print(f"{name}: {np.mean(seen):.0f} people a day, {every.report and every.report.people} in all")
        found = defaultdict(list)
        month = smooth(true_distribution(every), SIGMA, SIZE)
        for _ in range(1 if "--quick" in sys.argv else 3):
            end = dph.release(every, epsilon=LIMIT)
            found["one release at the end, epsilon 1"].append(error(month, smooth(end.distribution(), SIGMA, SIZE)))
            for delta in (DELTA, None):
                for way, value in errors(days, users, delta).items():
                    found[f"{way}, {'delta ' + delta if delta else 'pure'}"].append(value)
        for way, values in found.items():
            print(f"  {way}: {np.mean(values):.4f} ({min(values):.4f} to {max(values):.4f})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
