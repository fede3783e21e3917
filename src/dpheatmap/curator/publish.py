"""Releases from a table or its counts: first every refusal, then the payment, then the measurement."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import date, datetime
from os import PathLike
from typing import Any, Unpack, overload

from dpheatmap._util.options import option_fields, shows_options, take_options
from dpheatmap._util.parameters import check
from dpheatmap.curator.aggregation import Progress, count, public_domain
from dpheatmap.curator.core.counts import NOT_ADDED, Counts
from dpheatmap.curator.core.measure import check_noise, measure_counts, rehearse
from dpheatmap.curator.core.noise import Source
from dpheatmap.curator.core.row_report import RowReport
from dpheatmap.curator.ledger.ledger import Ledger
from dpheatmap.curator.ledger.payment import Payment
from dpheatmap.curator.read.reading import Reading, ReadingOptions
from dpheatmap.curator.remarks import tell_on_terminal
from dpheatmap.curator.sliced_counts import SlicedCounts
from dpheatmap.design.design import Design
from dpheatmap.design.privacy_loss import ConcentratedLoss, PureLoss, read_loss
from dpheatmap.design.registry import choose_design, choose_for_gaussian
from dpheatmap.design.settings import DesignOptions, Settings
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.place.domain import Domain
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.noise_law import DISCRETE_GAUSSIAN, LAPLACE
from dpheatmap.releases.release import LedgerEntry, Release
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.releases.trust import CURATORS


class ReleaseOptions(DesignOptions, ReadingOptions, total=False):
    """The design's settings, and how the table is read."""


@overload
def release(
    events: SlicedCounts,
    domain: Domain | None = None,
    *,
    epsilon: Any,
    ledger: str | PathLike[str] | Ledger | None = None,
    population: str | None = None,
    series: int | None = None,
    seen: Callable[[RowReport], None] | None = None,
    **options: Unpack[DesignOptions],
) -> SlicedRelease: ...
@overload
def release(
    events: Any,
    domain: Domain | None = None,
    *,
    epsilon: Any = None,
    noise: str = "laplace",
    rho: Any = None,
    delta: Any = None,
    ledger: str | PathLike[str] | Ledger | None = None,
    population: str | None = None,
    progress: Progress | None = None,
    seen: Callable[[RowReport], None] | None = None,
    **options: Unpack[ReleaseOptions],
) -> Release: ...
@overload
def release(
    events: Any,
    domain: Domain,
    *,
    epsilon: Any,
    time: str | None = None,
    every: str | None = None,
    time_zone: str | None = None,
    start: str | date | None = None,
    end: str | date | None = None,
    group: str | None = None,
    groups: Iterable[str] | None = None,
    split: str = "weight",
    ledger: str | PathLike[str] | Ledger | None = None,
    population: str | None = None,
    progress: Progress | None = None,
    seen: Callable[[RowReport], None] | None = None,
    **options: Unpack[ReleaseOptions],
) -> SlicedRelease: ...
@shows_options(Settings, Reading)
def release(
    events: Any,
    domain: Domain | None = None,
    *,
    epsilon: Any = None,
    noise: str = "laplace",
    rho: Any = None,
    delta: Any = None,
    time: str | None = None,
    every: str | None = None,
    time_zone: str | None = None,
    start: str | date | None = None,
    end: str | date | None = None,
    group: str | None = None,
    groups: Iterable[str] | None = None,
    split: str = "weight",
    ledger: str | PathLike[str] | Ledger | None = None,
    population: str | None = None,
    series: int | None = None,
    progress: Progress | None = None,
    seen: Callable[[RowReport], None] | None = None,
    **options: Unpack[ReleaseOptions],
) -> Release | SlicedRelease:
    """Measure where people are under user-level epsilon-differential privacy.

    The release protects each person's whole data: it is exactly ``epsilon``-DP for adding or removing one person. With
    Gaussian noise it is ``rho``-zCDP.

    Parameters
    ----------
    events : path, data frame, relation, URL, Counts or SlicedCounts
        What :func:`aggregate` takes, or the counts that it or :func:`read_counts` returned.
    domain : Domain, optional
        The public place; counts have their own.
    epsilon : number, str or Fraction, optional
        How much may leak about a person: 1, "0.1", Fraction(1, 3). It is taken exactly as written. Gaussian noise has a
        rho instead.
    noise : {"laplace", "gaussian"}, default "laplace"
        The law of the noise. Gaussian noise is for many releases about the same people, in a ledger with a limit of
        epsilon and delta, or of rho; its design is "adaptive".
    rho : number, str or Fraction, optional
        For Gaussian noise, how much may leak about a person, by zero-concentrated differential privacy.
    delta : number, str or Fraction, optional
        For Gaussian noise, the delta at which rho is told as an epsilon, too; 1e-6 by default.
    time : str, optional
        The column of times, for a map of every slice of time: times, dates, seconds since 1970, or such as text.
    every : {"hour-of-day", "hour-of-week", "weekday", "day", "week", "month", "3 hours"}, optional
        What a slice of time is. Any number of hours will do.
    time_zone : str, optional
        The zone whose clocks tell the slice, such as "Europe/Zurich". Only dates need none.
    start, end : str or date, optional
        The public range of times, on these clocks. An end that is a date is included. Slices other than those of a day
        or a week need one.
    group : str, optional
        The column of groups, for a map of each; with ``time``, for a map of every slice of each.
    groups : iterable of str, optional
        The public list of groups.
    split : {"weight", "epsilon"}, default "weight"
        By "weight" a person's weight of 1 is shared over all slices, which cost epsilon once, together; by "epsilon"
        each slice gets an equal part of epsilon, and a person weighs up to 1 in each.
    ledger : path, URL or Ledger, optional
        A file, or the URL of a PostgreSQL database: epsilon is charged to the population before any noise is drawn, and
        refused if that goes beyond its limit. What is spent on the parts of a ``partition`` does not add up.
    population : str, optional
        The name of the people in the ledger.
    series : int, optional
        The number of the ledger's entry that reserved the release, as one of a series. It costs nothing more then.
    progress : callable, optional
        Called while the table is read, with the part done (below 0 if unknown) and the seconds gone by.
    seen : callable, optional
        Shown a report of the reading: exact numbers of rows and people, for the data holder's eyes.
    **options
        The design's settings, and how the table is read.

    Returns
    -------
    Release or SlicedRelease
        Noisy measurements, which are safe to publish; with ``time`` or ``group``, or of sliced counts, those of all
        slices.

    Examples
    --------
    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> r = dph.release(generated_people(500), dph.Domain.unit(6), epsilon=1, user="person", x="x", y="y")
    >>> r.epsilon, r.design.name
    (Fraction(1, 1), 'ladder')
    """
    check(split=split, **({} if series is None else {"series": series}))
    sliced = (time, every, time_zone, start, end, group, groups)
    given = any(option is not None for option in sliced)
    if given or isinstance(events, SlicedCounts):
        if noise != "laplace" or rho is not None or delta is not None:
            raise ParameterError("Slices have Laplace noise and an epsilon. Leave noise, rho and delta out.")
        if series is not None:
            raise ParameterError("A series that was reserved is one of single maps. Leave series out, or the slices.")
        from dpheatmap.curator.read.slice_numbers import Slices
        from dpheatmap.curator.sliced_publish import release_slices, slices_of

        slices = slices_of(*sliced) if given else Slices(events.axis)
        return release_slices(
            os.urandom, events, domain, slices, epsilon=epsilon, split=split, ledger=ledger, population=population,
            progress=progress, seen=seen, **options,
        )  # fmt: skip
    if split != "weight":
        raise ParameterError("split is about slices, and there are none. Leave it out, or name time or group.")
    return release_from(
        os.urandom, events, domain, epsilon=epsilon, noise=noise, rho=rho, delta=delta, ledger=ledger,
        population=population, series=series, progress=progress, seen=seen, **options,
    )  # fmt: skip


def release_from(
    source: Source,
    events: Any,
    domain: Domain | None,
    *,
    epsilon: Any = None,
    noise: str = "laplace",
    rho: Any = None,
    delta: Any = None,
    ledger: str | PathLike[str] | Ledger | None = None,
    population: str | None = None,
    series: int | None = None,
    progress: Progress | None = None,
    seen: Callable[[RowReport], None] | None = None,
    **options: Unpack[ReleaseOptions],
) -> Release:
    """`release`, with the source of randomness given. Anything but os.urandom is stamped as NOT PRIVATE.

    Everything that can be refused is refused before the table is read and noise is drawn. The ledger is checked then,
    too, and charged after the reading: in between, others may have spent what was left. With ``series``, the release
    was reserved by the entry of that number.
    """
    if isinstance(events, (list, tuple)) and any(isinstance(one, Counts) for one in events):
        raise PrivacyRefusal(NOT_ADDED)
    counts = events if isinstance(events, Counts) else None
    place = public_domain(domain) if counts is None else counts.domain
    settings, reading = split_options(options)
    loss = read_loss(epsilon, noise, rho, delta)
    design = design_for(place, loss, settings)
    part = reading.people if counts is None else counts.part
    payment = Payment.prepare(ledger, population, loss, part, events, series)
    if counts is None:
        (counts,) = count(events, place, reading, progress=progress)
    else:
        refuse_reading(counts, domain, reading)
    if seen is not None and counts.report is not None:
        seen(counts.report)
    entry = payment.charge()
    made = measure_release(counts, loss, design, source, payment.made, entry)
    if seen is None:
        tell_on_terminal(counts.report)
    return made


def split_options(options: ReleaseOptions) -> tuple[Settings, Reading]:
    """Split the options of a release into the design's settings and the reading."""
    given: dict[str, Any] = dict(options)
    settings = Settings(**{name: given.pop(name) for name in option_fields(Settings) if name in given})
    return settings, take_options(Reading, given, "release")


def design_for(domain: Domain, loss: PureLoss | ConcentratedLoss, settings: Settings) -> Design:
    """Choose the design that the settings name; refuse settings that don't fit, and noise that can't be exact."""
    if isinstance(loss, ConcentratedLoss):
        from dpheatmap.curator.gaussian.gaussian_measure import check_gaussian_noise

        adaptive = choose_for_gaussian(domain, settings)
        check_gaussian_noise(loss, adaptive, domain)
        return adaptive
    design = choose_design(domain, loss.epsilon, settings)
    check_noise(loss, design, domain)
    if not isinstance(settings.design, str):
        _check_rehearsal(domain, loss, design)
    return design


def _check_rehearsal(domain: Domain, loss: PureLoss, design: Design) -> None:
    """Refuse a design that can't be gone through even where nobody is, before anything is charged for it."""
    try:
        rehearse(loss, design, domain)
    except (AssertionError, LookupError, TypeError, ValueError) as error:
        raise ParameterError(
            f"The design given asks questions that it may not ask ({type(error).__name__}). Mend it, or name one."
        ) from error


def measure_release(
    counts: Counts,
    loss: PureLoss | ConcentratedLoss,
    design: Design,
    source: Source,
    made: datetime,
    entry: LedgerEntry | None,
) -> Release:
    """Measure counts and make the release: noisy values, how and when they were made, and the charge for them."""
    return Release(
        domain=counts.domain,
        loss=loss,
        measurements=measure(counts, loss, design, source),
        noise=DISCRETE_GAUSSIAN if isinstance(loss, ConcentratedLoss) else LAPLACE,
        design=design,
        seeded=source is not os.urandom,
        made=made,
        ledger=entry,
        trust=CURATORS[counts.unit],
    )


def measure(
    counts: Counts, loss: PureLoss | ConcentratedLoss, design: Design, source: Source = os.urandom
) -> Measurements:
    """Measure counts with the noise that a loss stands for: Laplace, or Gaussian."""
    if not isinstance(loss, ConcentratedLoss):
        return measure_counts(counts, loss, design, source)
    from dpheatmap.curator.gaussian.gaussian_measure import measure_with_gaussian

    return measure_with_gaussian(counts, loss, design, source)


def refuse_reading(counts: Counts | SlicedCounts, domain: Domain | None, reading: Reading) -> None:
    """Refuse another domain, and columns, for counts, which have their own."""
    if reading.given or (domain is not None and domain != counts.domain):
        raise ParameterError(
            f"Counts already have their domain and columns, and {', '.join(reading.given) or 'another domain'} was "
            "given. Give it to aggregate instead."
        )
