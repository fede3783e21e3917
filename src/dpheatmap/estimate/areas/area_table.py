"""The table of areas: shares, people and ranks with their intervals, and notes where there is little to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import check
from dpheatmap.estimate.areas.area_columns import own_columns
from dpheatmap.estimate.areas.area_counts import AreaCounter, CountedAreas
from dpheatmap.estimate.areas.area_estimate import DRAWS, PAIRED_DRAWS, draws_for
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.releases.estimable import Estimable

_WHOLE = 0.999  # part of an area that is inside of the place: borders and boundaries differ by rounding
OUTSIDE, PARTLY, VAGUE = "outside the place: not counted", "partly outside the place", "too small to tell"


def area_table(release: Estimable, areas: Any, *, confidence: float, **source: str | None) -> Any:
    """Estimate the people in areas: a frame of geopandas in the order of the areas.

    Areas outside the place have no numbers: nothing is known of them. ``source`` has the options of `read_areas`. The
    frame's ``attrs`` have the confidence, the names of the columns of numbers, and lines on how the areas were read.
    """
    check(confidence=confidence)
    counted = AreaCounter(areas, release.domain, **source).count(release, draws_for(confidence))
    return frame_of(counted, numbers_of(counted, release.domain, confidence), confidence)


def frame_of(counted: CountedAreas, numbers: Mapping[str, Any], confidence: float) -> Any:
    """The frame of areas with some columns of numbers; of a grid, only the areas in the place."""
    geopandas = import_extra("geopandas", "geo", "Numbers of people in areas")
    read, ours = counted.read, {"area": counted.read.names, **numbers}
    columns = ours | own_columns(read.columns, list(ours))
    table = geopandas.GeoDataFrame(columns, geometry=list(read.geometries), crs=read.crs)
    if read.is_grid:
        table = table[~counted.outside].reset_index(drop=True)
    table.attrs = {"confidence": confidence, "columns": list(ours), "said": list(read.said)}
    return table


def exceeding(release: Estimable, areas: Any, **source: str | None) -> Any:
    """Estimate the probability that there are more people in one area than in another: a square frame.

    It is counted in draws, so it is never closer to 0 or 1 than one of them.
    """
    counted = AreaCounter(areas, release.domain, **source).count(release, PAIRED_DRAWS)
    drawn = counted.found.drawn_people
    more = np.stack(
        [(one[:, None] > drawn).mean(axis=0) + 0.5 * (one[:, None] == drawn).mean(axis=0) for one in drawn.T]
    )
    more = np.clip(more, 1.0 / PAIRED_DRAWS, 1.0 - 1.0 / PAIRED_DRAWS)
    more[counted.outside], more[:, counted.outside] = np.nan, np.nan
    pandas = import_extra("pandas", "geo", "Numbers of people in areas")
    table = pandas.DataFrame(more, index=counted.read.names, columns=counted.read.names)
    return table.loc[~counted.outside, ~counted.outside] if counted.read.is_grid else table


def numbers_of(counted: CountedAreas, domain: Domain, confidence: float) -> dict[str, Any]:
    """The columns of numbers, and the notes."""
    pandas = import_extra("pandas", "geo", "Numbers of people in areas")
    found, outside = counted.found, counted.outside
    share = found.shares
    low, high = interval_of(found.drawn_shares, share, confidence)
    people_low, people_high = interval_of(found.drawn_people, found.people, confidence)
    ground = found.coverage.ground / domain.place.units.area
    numbers = {
        "share": share,
        "low": low,
        "high": np.minimum(high, 1.0),
        "standard_error": found.drawn_shares[:DRAWS].std(axis=0),
        "people": found.people,
        "people_low": people_low,
        "people_high": people_high,
        "people_standard_error": found.drawn_people[:DRAWS].std(axis=0),
        domain.place.units.density: found.people / np.where(ground > 0.0, ground, np.nan),
    }
    ranks = {
        name: pandas.array(np.where(outside, np.nan, column), dtype="Int64")
        for name, column in _ranks(counted, confidence).items()
    }
    vague = ~outside & ((high - low > 2.0 * share) | (share <= 0.0))
    notes = [", ".join(filter(None, row)) for row in zip(notes_of(counted), np.where(vague, VAGUE, ""), strict=True)]
    known = {name: np.where(outside, np.nan, column) for name, column in numbers.items()}
    return {**known, **ranks, "note": notes}


def _ranks(counted: CountedAreas, confidence: float) -> dict[str, Floats]:
    """The ranks of areas in the place, and between which places they may be; the others come last."""
    people, drawn = (
        np.where(counted.outside, -np.inf, each) for each in (counted.found.people, counted.found.drawn_people)
    )
    ranks = (1 + (-drawn).argsort(axis=1).argsort(axis=1)).astype(np.float64)
    low, high = (np.rint(end) for end in _quantiles(ranks, confidence))
    rank = (1 + (-people).argsort(kind="stable").argsort()).astype(np.float64)
    return {"rank": rank, "rank_low": np.minimum(low, rank), "rank_high": np.maximum(high, rank)}


def interval_of(drawn: Floats, mean: Floats, confidence: float) -> tuple[Floats, Floats]:
    """The ends of intervals, between which the means lie, too; draws are a row each."""
    low, high = _quantiles(drawn, confidence)
    return np.minimum(low, mean), np.maximum(high, mean)


def _quantiles(drawn: Floats, confidence: float) -> Floats:
    """Quantiles between which another draw would lie with the confidence given."""
    tail = 0.5 * (1.0 - confidence)
    found: Floats = np.quantile(drawn, [tail, 1.0 - tail], axis=0, method="weibull")
    return found


def notes_of(counted: CountedAreas) -> list[str]:
    """What a reader should know of each area: how it lies in the place, and how it was read."""
    told = counted.read.notes or [""] * len(counted.outside)
    inside = counted.found.coverage.inside.tolist()
    return [_note(*row) for row in zip(told, counted.outside.tolist(), inside, strict=True)]


def _note(told: str, outside: bool, inside: float) -> str:
    if outside:
        return OUTSIDE
    partly = f"{PARTLY}: {_percent(inside)} % inside" if 0.0 < inside < _WHOLE else ""
    return ", ".join(filter(None, (partly, told)))


def _percent(part: float) -> str:
    """A part in percent, never 0 or 100.

    >>> _percent(0.634), _percent(0.0001), _percent(0.9989)
    ('63', 'under 1', '99')
    """
    return "under 1" if part < 0.01 else f"{min(round(100 * part), 99)}"
