"""The table of areas: shares, people and ranks with their intervals, and notes where there is little to say."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import check
from dpheatmap.estimate.areas.area_estimate import AreaEstimate, draws_for, estimate_areas
from dpheatmap.estimate.areas.area_source import read_areas
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.releases.release import Release

_WHOLE = 0.999  # part of an area that is inside of the place: borders and boundaries differ by rounding
OUTSIDE, PARTLY, VAGUE = "outside the place", "partly outside the place", "too small to tell"


def area_table(release: Release, areas: Any, *, confidence: float, name: str | None, layer: str | None) -> Any:
    """Estimate the people in areas: a frame of geopandas in the order of the areas."""
    check(confidence=confidence)
    read = read_areas(areas, release.domain, name=name, layer=layer)
    found = estimate_areas(release, read.shapes(release.domain), draws_for(confidence))
    geopandas = import_extra("geopandas", "geo", "Numbers of people in areas")
    columns = {"area": read.names, **_numbers(found, release.domain, confidence)}
    return geopandas.GeoDataFrame(columns, geometry=list(read.geometries), crs=read.crs)


def exceeding(release: Release, areas: Any, *, name: str | None, layer: str | None) -> Any:
    """Estimate the probability that there are more people in one area than in another: a square frame."""
    read = read_areas(areas, release.domain, name=name, layer=layer)
    drawn = estimate_areas(release, read.shapes(release.domain)).drawn_people
    more = np.stack(
        [(one[:, None] > drawn).mean(axis=0) + 0.5 * (one[:, None] == drawn).mean(axis=0) for one in drawn.T]
    )
    pandas = import_extra("pandas", "geo", "Numbers of people in areas")
    return pandas.DataFrame(more, index=read.names, columns=read.names)


def _numbers(found: AreaEstimate, domain: Domain, confidence: float) -> dict[str, Any]:
    """The columns of numbers, and the notes."""
    share = found.shares
    low, high = _interval(found.drawn_shares, share, confidence)
    people_low, people_high = _interval(found.drawn_people, found.people, confidence)
    ranks = (1 + (-found.drawn_people).argsort(axis=1).argsort(axis=1)).astype(np.float64)
    rank_low, rank_high = (np.rint(end).astype(np.int64) for end in _quantiles(ranks, confidence))
    ground = found.coverage.ground / domain.place.units.area
    return {
        "share": share,
        "low": low,
        "high": np.minimum(high, 1.0),
        "standard_error": found.drawn_shares.std(axis=0),
        "people": found.people,
        "people_low": people_low,
        "people_high": people_high,
        domain.place.units.density: found.people / np.where(ground > 0.0, ground, np.nan),
        "rank": 1 + (-found.people).argsort(kind="stable").argsort(),
        "rank_low": rank_low,
        "rank_high": rank_high,
        "note": [_note(*row) for row in zip(found.coverage.inside, share, low, high, strict=True)],
    }


def _interval(drawn: Floats, mean: Floats, confidence: float) -> tuple[Floats, Floats]:
    """The ends of intervals, between which the means lie, too; draws are a row each."""
    low, high = _quantiles(drawn, confidence)
    return np.minimum(low, mean), np.maximum(high, mean)


def _quantiles(drawn: Floats, confidence: float) -> Floats:
    """Quantiles between which another draw would lie with the confidence given."""
    tail = 0.5 * (1.0 - confidence)
    found: Floats = np.quantile(drawn, [tail, 1.0 - tail], axis=0, method="weibull")
    return found


def _note(inside: float, share: float, low: float, high: float) -> str:
    """What a reader should know of an area's numbers."""
    if inside <= 0.0:
        return OUTSIDE
    vague = VAGUE if high - low > 2.0 * share else ""
    partly = PARTLY if inside < _WHOLE else ""
    return ", ".join(note for note in (partly, vague) if note)
