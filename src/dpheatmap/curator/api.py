"""The ways in from outside the wall: `aggregate`, `release`, and a `Curator` for other mechanisms' questions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from os import PathLike
from typing import Any

from dpheatmap.budget import PAPER_DECAY, read_epsilon
from dpheatmap.curator.aggregate import aggregate, checked_domain
from dpheatmap.curator.choice import chosen_design, settings_in
from dpheatmap.curator.counts import NOT_ADDED, Counts
from dpheatmap.curator.ledger import Ledger
from dpheatmap.curator.ledger_chain import Part
from dpheatmap.curator.measure import measure_counts
from dpheatmap.curator.noise import Source
from dpheatmap.curator.payment import Payment
from dpheatmap.curator.questions import Curator
from dpheatmap.design import PAPER_WIDTH
from dpheatmap.domain import Domain
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.release import AnyDesign, LedgerEntry, Release

__all__ = ["Counts", "Curator", "aggregate", "release", "release_from"]


def release(
    events: Any,
    domain: Domain | None = None,
    *,
    epsilon: Any,
    user: str | None = None,
    x: str | None = None,
    y: str | None = None,
    geometry: str | None = None,
    weight: str | None = None,
    where: str | None = None,
    each_row_is_a_person: bool = False,
    design: str = "adaptive",
    width: int = PAPER_WIDTH,
    decay: float | Fraction = PAPER_DECAY,
    users: int | None = None,
    first_level: int | None = None,
    depth: int | None = None,
    sigma: float | None = None,
    ledger: str | PathLike[str] | Ledger | None = None,
    population: str | None = None,
    partition: Mapping[str, Sequence[str]] | None = None,
    part: str | None = None,
    bad_lines: str = "stop",
    engine: str | None = None,
    table: str | None = None,
    memory: int | None = None,
    progress: Callable[[float, float], None] | None = None,
    seen: Callable[[Counts], None] | None = None,
) -> Release:
    """Measure where people are under user-level epsilon-differential privacy.

    ``events`` is what :func:`aggregate` takes (with ``domain``, ``user``, ``x`` and ``y``), or the counts it returned.
    ``seen`` is shown those counts, for the data holder's eyes. The release protects each person's whole data: it is
    exactly ``epsilon``-DP for adding or removing one person.

    ``design`` is "adaptive", which gives each cell what it needs of epsilon; "paper", with about twice the error; or
    "dense", the paper's other one, which measures one grid of about epsilon cells a person. Its size follows ``users``,
    the number of people, if that is public; if it isn't, leave it out: 5 % of epsilon then go into a noisy one.
    For experts: in the paper's design ``width`` cells are kept at each level, whose parts of epsilon fall by ``decay``;
    ``first_level`` and ``depth`` are the first and the last measured level.
    ``sigma`` tells how much the map will be smoothed: levels whose cells are finer than a quarter of it are not
    measured, which leaves more of epsilon to the others.

    With a ``ledger`` (a file, or the URL of a PostgreSQL database) epsilon is charged to a ``population`` before any
    noise is drawn, and refused if that goes beyond its limit. Of a ``partition`` of people (see :func:`aggregate`) what
    is spent on its parts does not add up.

    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> r = dph.release(generated_people(500), dph.Domain.unit(6), epsilon=1, user="person", x="x", y="y")
    >>> r.epsilon, r.design.name
    (Fraction(1, 1), 'adaptive')
    """
    return release_from(
        os.urandom, events, domain, epsilon=epsilon, user=user, x=x, y=y, geometry=geometry, weight=weight, where=where,
        each_row_is_a_person=each_row_is_a_person, design=design, width=width, decay=decay, users=users,
        first_level=first_level, depth=depth, sigma=sigma, ledger=ledger, population=population, partition=partition,
        part=part, bad_lines=bad_lines, engine=engine, table=table, memory=memory, progress=progress, seen=seen,
    )  # fmt: skip


def release_from(
    source: Source,
    events: Any,
    domain: Domain | None,
    *,
    epsilon: Any,
    ledger: str | PathLike[str] | Ledger | None = None,
    population: str | None = None,
    seen: Callable[[Counts], None] | None = None,
    **options: Any,
) -> Release:
    """`release`, with the source of randomness given. Anything but os.urandom is stamped as NOT PRIVATE.

    The options are the settings of `chosen_design`, and those of `aggregate` if events are not counts already.

    Everything that can be refused is refused before the table is read, let alone noise drawn. The ledger is asked
    then, too, and charged after the reading: in between, others may have spent what was left.
    """
    if isinstance(events, (list, tuple)) and any(isinstance(one, Counts) for one in events):
        raise PrivacyRefusal(NOT_ADDED)
    given = events.domain if isinstance(events, Counts) else checked_domain(domain)
    exact = read_epsilon(epsilon)
    design = chosen_design(given, exact, **settings_in(options))
    part = events.part if isinstance(events, Counts) else Part.of(options.get("partition"), options.get("part"))
    payment = Payment.asked_for(ledger, population, exact, part, events)
    counts = _counts(events, domain, options)
    if seen is not None:
        seen(counts)
    entry = payment.charge()
    return measured_release(counts, exact, design, source, payment.made, entry)


def measured_release(
    counts: Counts,
    epsilon: Fraction,
    design: AnyDesign,
    source: Source,
    made: datetime,
    entry: LedgerEntry | None,
) -> Release:
    """Counts across the wall: noisy values, when and how they were made, and what was charged for them."""
    return Release(
        domain=counts.domain,
        epsilon=epsilon,
        measurements=measure_counts(counts, epsilon, design, source),
        design=design,
        seeded=source is not os.urandom,
        made=made,
        ledger=entry,
    )


def _counts(events: Any, domain: Domain | None, columns: dict[str, Any]) -> Counts:
    if isinstance(events, Counts):
        extra = sorted(name for name, value in columns.items() if value not in (None, False, "stop"))
        if extra or (domain is not None and domain != events.domain):
            raise ParameterError(
                f"Counts already have their domain and columns, and {', '.join(extra) or 'another domain'} was given. "
                "Give it to aggregate instead."
            )
        return events
    return aggregate(events, domain, **columns)  # type: ignore[arg-type]
