"""People in areas slice by slice, and what changes in them from one slice to another.

Slices that were measured in blocks share their draws, so a draw of a change is the difference of draws that belong
together. Changes inside of blocks are smoothed away, so draws of changes are moved away from their mean by _WIDER.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import check
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.areas.area_counts import AreaCounter
from dpheatmap.estimate.areas.area_estimate import DRAWS, draws_for
from dpheatmap.estimate.areas.area_table import frame_of, interval_of, notes_of, numbers_of
from dpheatmap.estimate.discoveries import discoveries
from dpheatmap.place.domain import Floats
from dpheatmap.releases.sliced_release import SlicedRelease

_WIDER = 1.2


def areas_by_slice(release: SlicedRelease, areas: Any, *, confidence: float, **source: str | None) -> Any:
    """Estimate the people in areas in every slice: a frame with a row for each area in each slice."""
    check(confidence=confidence)
    counter, frames = AreaCounter(areas, release.domain, **source), []
    for label in release.slices:
        counted = counter.count(release.slice(label), draws_for(confidence))
        frame = frame_of(counted, numbers_of(counted, release.domain, confidence), confidence)
        frame.insert(0, "slice", label)
        frames.append(frame)
    told = frames[0].attrs
    for frame in frames:
        frame.attrs = {}
    pandas = import_extra("pandas", "geo", "Numbers of people in areas")
    table = pandas.concat(frames, ignore_index=True)
    table.attrs = {**told, "columns": ["slice", *told["columns"]]}
    return table


def changes_of_areas(
    release: SlicedRelease, areas: Any, before: str, after: str, *, confidence: float, **source: str | None
) -> Any:
    """Estimate the changes in areas from one slice to another: a frame in the order of the areas."""
    check(confidence=confidence)
    if before == after:
        raise ParameterError(f"A change needs two slices, and was given {before!r} twice. Name another one.")
    slices, counter = [release.slice(label) for label in (before, after)], AreaCounter(areas, release.domain, **source)
    counted, later = (counter.count(one, draws_for(confidence)) for one in slices)
    one, other = counted.found, later.found
    share, drawn = other.shares - one.shares, other.drawn_shares - one.drawn_shares
    number, drawn_number = other.people - one.people, other.drawn_people - one.drawn_people
    low, high, error = _spread(share, drawn, confidence)
    people_low, people_high, people_error = _spread(number, drawn_number, confidence)
    inside = ~counted.outside
    significant = np.zeros(len(share), np.bool_)
    significant[inside] = discoveries(share[inside], error[inside])
    numbers = {
        "share_before": one.shares, "share_after": other.shares, "share_change": share, "low": low, "high": high,
        "standard_error": error, "people_before": one.people, "people_after": other.people, "people_change": number,
        "people_low": people_low, "people_high": people_high, "people_standard_error": people_error,
    }  # fmt: skip
    known = {name: np.where(inside, column, np.nan) for name, column in numbers.items()}
    return frame_of(counted, {**known, "significant": significant, "note": notes_of(counted)}, confidence)


def _spread(mean: Floats, drawn: Floats, confidence: float) -> tuple[Floats, Floats, Floats]:
    """The ends of the intervals of changes, and their standard errors, from draws in rows."""
    wider = mean + _WIDER * (drawn - mean)
    low, high = interval_of(wider, mean, confidence)
    error: Floats = wider[:DRAWS].std(axis=0)
    return low, high, error
