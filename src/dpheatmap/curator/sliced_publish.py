"""Releases of several slices: times, groups, or both, from one table under one epsilon.

**Contract of `release_slices`.** All slices together are epsilon-DP for adding or removing one person's whole data,
whatever slices it is in.

**Why, if a person's weight is split** (the default). The one query shares a person's W units over all their events in
all slices (`query.py`). Slices of time in one group are alike, and measured as `core/slices.py` says, for epsilon. Each
group has cells of its own: a pair of a finest cell and a slice lies in the measured sets of its own group, so that the
exchange of sums there and in `groups.py` holds for all groups at once.

**Why, if epsilon is split.** Each slice has a release of its own, of epsilon / k for k slices, in which a person weighs
up to 1. The parts are exact fractions that add up to epsilon.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, Unpack

from dpheatmap._util.parameters import check
from dpheatmap.curator.aggregation import Progress, count, public_domain
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.measure import check_noise, measure_counts, noise_of_shares
from dpheatmap.curator.core.noise import Source
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.curator.core.slices import measure_slices
from dpheatmap.curator.ledger.ledger import Ledger
from dpheatmap.curator.ledger.payment import Payment
from dpheatmap.curator.publish import ReleaseOptions, design_for, refuse_reading, split_options
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.read.slice_numbers import Slices
from dpheatmap.curator.remarks import tell_on_terminal
from dpheatmap.curator.sliced_counts import SlicedCounts
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import SHARES
from dpheatmap.design.slice_rule import SliceRule, loss_of_look
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.place.domain import Domain
from dpheatmap.releases.measurements import Measurements, SliceMeasurements
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.releases.trust import CURATORS
from dpheatmap.slicing.axis import MOST_SLICES, Axis, listed_names
from dpheatmap.slicing.period import Period


def slices_of(
    time: str | None,
    every: object,
    time_zone: object,
    start: object,
    end: object,
    group: str | None,
    groups: Iterable[str] | None,
) -> Slices:
    """The slices that options name; refuse what is not public, and options that don't go together."""
    given = {"time": time, "group": group}
    check(**{name: column for name, column in given.items() if column is not None})
    names = () if groups is None else listed_names(groups)
    period = None
    if time is not None:
        if every is None:
            raise ParameterError("time needs every: what a slice is. Give one such as 'hour-of-day' (--every).")
        period = Period.of(every, time_zone, start, end)
    elif any(given is not None for given in (every, time_zone, start, end)):
        raise ParameterError(
            "every, time_zone, start and end are about slices of time. Name its column: time (--time)."
        )
    if group is not None:
        if groups is None:
            raise PrivacyRefusal(
                "A group column needs the public list of groups, and one taken from the data would tell which occur. "
                "Give groups (--groups)."
            )
    elif groups is not None:
        raise ParameterError("groups are the values of a column. Name it: group (--group).")
    times = 1 if period is None else len(period.labels)
    if max(len(names), 1) * times > MOST_SLICES:
        raise ParameterError(
            f"There may be at most {MOST_SLICES:,} slices, and {times:,} times in {len(names):,} groups are more. List "
            "fewer groups, or choose longer slices."
        )
    try:
        axis = Axis(period, names)
    except ValueError as error:
        raise ParameterError("The names of groups are too long for so many slices. Shorten them.") from error
    return Slices(axis, time=time, group=group)


def release_slices(
    source: Source,
    events: Any,
    domain: Domain | None,
    slices: Slices,
    *,
    epsilon: Any,
    split: str = "weight",
    ledger: str | PathLike[str] | Ledger | None = None,
    population: str | None = None,
    progress: Progress | None = None,
    seen: Callable[[RowReport], None] | None = None,
    **options: Unpack[ReleaseOptions],
) -> SlicedRelease:
    """Measure all slices, of a table or of counts, which have their own. See the contract above."""
    check(split=split)
    if isinstance(events, Counts):
        raise ParameterError("Counts are about one place, and slices are read from a table. Give the table.")
    known = events if isinstance(events, SlicedCounts) else None
    if known is not None and (slices != Slices(known.axis) or split != "weight"):
        raise ParameterError(
            "These counts have their slices, in all of which a person weighs 1 together. Leave the options of slices "
            "out, and split, too."
        )
    if split == "epsilon" and hasattr(events, "read_next_batch"):
        raise ParameterError("split='epsilon' reads the table once for each slice; it was a stream. Give a table.")
    place = public_domain(domain) if known is None else known.domain
    axis, whole = slices.axis, PureLoss.read(epsilon)
    each = _loss_of_each(whole, axis, split)
    settings, reading = split_options(options)
    design = design_for(place, each, settings)
    if not isinstance(design, LadderDesign):
        raise ParameterError(f"Slices have the design 'ladder'; it was {design.name!r}. Leave it out.")
    if split == "weight" and axis.period is not None:
        check_slices(whole, design, place)
    if known is not None:
        refuse_reading(known, domain, reading)
    part = reading.people if known is None else known.part
    payment = Payment.prepare(ledger, population, whole, part, events)
    if known is None:
        counts = _count_all(events, place, reading, slices, split, progress, seen)
    else:
        counts = list(known.slices)
        if seen is not None and known.report is not None:
            seen(known.report)
    entry = payment.charge()  # all slices together cost epsilon, once
    made = SlicedRelease(
        domain=place, loss=whole, axis=axis, split=split, design=design,
        families=measure_families(counts, axis, split, whole, design, source),
        seeded=source is not os.urandom, made=payment.made, ledger=entry, trust=CURATORS[counts[0].unit],
    )  # fmt: skip
    if seen is None:
        tell_on_terminal(counts[0].report)
    return made


def _loss_of_each(whole: PureLoss, axis: Axis, split: str) -> PureLoss:
    """The loss of a slice that is measured by itself; refuse an epsilon that a file could not hold."""
    return PureLoss.read(whole.epsilon / (len(axis.labels) if split == "epsilon" else 1))


def check_slices(loss: PureLoss, design: LadderDesign, domain: Domain) -> None:
    """Refuse an epsilon that is too small for exact noise, before any data is read."""
    noise_of_shares(loss_of_look(loss), (SHARES,))
    for rule in SliceRule.every():
        noise_of_shares(rule.loss_of_slices(loss), (SHARES,))
        part = rule.loss_of_slices(loss) if rule.apart else rule.loss_of_map(loss)
        check_noise(part, rule.design_of_trees(design), domain)


def _count_all(
    events: Any,
    domain: Domain,
    reading: Reading,
    slices: Slices,
    split: str,
    progress: Progress | None,
    seen: Callable[[RowReport], None] | None,
) -> list[Counts]:
    """The counts of all slices: from one reading, or from one for each if people weigh 1 in each."""
    axis = slices.axis
    wanted: Sequence[int | None] = [None] if split == "weight" else range(len(axis.labels))
    counts: list[Counts] = []
    for only in wanted:
        found = count(events, domain, reading, slices=slices.only(only), progress=progress)
        if seen is not None and found[0].report is not None:
            seen(found[0].report)
        counts += found if only is None else found[only : only + 1]
    return counts


def measure_families(
    counts: Sequence[Counts],
    axis: Axis,
    split: str,
    whole: PureLoss,
    design: LadderDesign,
    source: Source = os.urandom,
) -> tuple[SliceMeasurements | tuple[Measurements, ...], ...]:
    """What was measured of each group: slices of time that are alike, or each slice by itself."""
    times = len(axis.times)
    each = _loss_of_each(whole, axis, split)
    groups = [counts[start : start + times] for start in range(0, len(counts), times)]
    if split == "epsilon" or axis.period is None:
        return tuple(tuple(measure_counts(one, each, design, source) for one in group) for group in groups)
    return tuple(measure_slices(group, whole, design, source) for group in groups)
