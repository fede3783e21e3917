"""CSV tables of places: coordinates, the number of people nearest to each, and their distance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpheatmap.estimate.places import Places


def write(places: Places, path: Path) -> None:
    """Write the columns as CSV, one row a place."""
    columns = columns_of(places)
    rows = (",".join(f"{value:.10g}" for value in row) for row in zip(*columns.values(), strict=True))
    text = "\n".join([",".join(columns), *rows]) + "\n"
    path.write_text(text, encoding="ascii", newline="\n")


def columns_of(places: Places) -> dict[str, list[Any]]:
    """The columns, one row a place: coordinates, the people nearest to it, and their average distance.

    Where the uncertainty of the numbers of people is known, there are also columns for their interval of 90 %.
    """
    names = places.domain.place.axes
    ends = places.intervals() if places.has_intervals else ()
    sure = {name: end.tolist() for name, end in zip(("people_low", "people_high"), ends, strict=False)}
    return {
        "place": list(range(1, len(places.centres) + 1)),
        names[0]: places.domain.place.customary(places.centres[:, 0]).tolist(),
        names[1]: places.centres[:, 1].tolist(),
        "people": places.weights.tolist(),
        **sure,
        "share": places.shares.tolist(),
        f"distance_in_{places.domain.place.units.lengths}": places.distances.tolist(),
    }
