"""A table of generated people with times and vehicles."""

from __future__ import annotations

from pathlib import Path

from dpheatmap.testing import generated_people
from helpers.served import BOX


def timed_trips(path: Path, people: int = 300) -> Path:
    """Trips of June 2026 by bike, or by bus or tram."""
    table = generated_people(people, extent=BOX).project(
        "person AS rider, x AS lon, y AS lat, TIMESTAMP '2026-06-01' + INTERVAL 1 SECOND * (hash(x) % 2592000) AS at, "
        "CASE WHEN hash(y) % 2 = 0 THEN 'bike' ELSE 'bus, or tram' END AS vehicle"
    )
    table.write_csv(str(path))
    return path
