"""An example to try the app with: people who do not exist, in a city that does not."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dpheatmap.testing import CITY, generated_people

PEOPLE = 5000
NAME = "invented people.csv"


def invented_table(people: int = PEOPLE) -> bytes:
    """A CSV file of invented people.

    >>> invented_table(1).splitlines()[0]
    b'person,lon,lat'
    """
    with TemporaryDirectory(prefix="dpheatmap-") as folder:
        path = Path(folder) / "people.csv"
        generated_people(people, extent=CITY).project("person, x AS lon, y AS lat").write_csv(str(path))
        return path.read_bytes()


def settings() -> dict[str, Any]:
    """The choices that go with the table: the public box of the city, and the number of people."""
    return {"place": {"kind": "bbox", "bounds": list(CITY)}, "users": PEOPLE}
