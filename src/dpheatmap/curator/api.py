"""The ways in from outside the wall: `aggregate`, `release`, and a `Curator` for other mechanisms' questions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from typing import Any

from dpheatmap.adaptive import FIRST_CELLS, AdaptiveDesign
from dpheatmap.budget import PAPER_DECAY, UNITS, read_epsilon, split_over_levels
from dpheatmap.curator.counts import NOT_ADDED, Counts
from dpheatmap.curator.ledger import Ledger
from dpheatmap.curator.ledger_chain import Part
from dpheatmap.curator.measure import check_noise, measure_counts
from dpheatmap.curator.noise import Source
from dpheatmap.curator.questions import Curator
from dpheatmap.dense import MOST_CELLS, DenseDesign, grid_level
from dpheatmap.design import PAPER_WIDTH, PaperDesign
from dpheatmap.domain import Domain
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.parameters import as_epsilon, check
from dpheatmap.release import AnyDesign, LedgerEntry, Release

__all__ = ["Counts", "Curator", "aggregate", "release", "release_from"]

OPTIONAL = ("user", "x", "y", "geometry", "weight", "where")
MOST_FIRST_CELLS = 2**22
FINEST_OF_SIGMA = 0.25


def aggregate(
    events: Any,
    domain: Domain,
    *,
    user: str | None = None,
    x: str | None = None,
    y: str | None = None,
    geometry: str | None = None,
    weight: str | None = None,
    where: str | None = None,
    each_row_is_a_person: bool = False,
    partition: Mapping[str, Sequence[str]] | None = None,
    part: str | None = None,
    bad_lines: str = "stop",
    engine: str | None = None,
    table: str | None = None,
    memory: int | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Counts:
    """People's events to integer weights per cell. The result is private: it holds exact counts.

    ``events`` is a path, glob or folder (CSV, Parquet, GeoParquet, JSON), a pandas, Polars or Arrow table, a DuckDB
    relation, a Spark data frame, or the URL of a PostgreSQL database with the name of a ``table`` there; with
    ``engine="spark"`` it is the name of a table that Spark knows, or paths that it reads. ``user`` names the column
    that tells whose a row is, ``x`` and ``y`` the coordinates (longitude and latitude for a box), or ``geometry`` a
    column of points; of GeoParquet and PostGIS that is found if none is named. ``weight`` names an integer column;
    ``where`` is a public predicate on single rows. ``bad_lines`` of CSV "stop" the reading, or "skip" leaves them out.
    ``memory`` bounds the embedded engine, in megabytes. ``progress`` is called while the query runs, with the part done
    (below 0 if unknown) and the seconds gone by.

    ``partition={"district": ["north", "south"]}, part="north"`` keeps the people of one part: the column's value must
    be a function of the person, and whoever has rows with two values is left out whole.
    """
    return aggregate_pictures(
        events, domain, user=user, x=x, y=y, geometry=geometry, weight=weight, where=where,
        each_row_is_a_person=each_row_is_a_person, partition=partition, part=part, bad_lines=bad_lines, engine=engine,
        table=table, memory=memory, progress=progress,
    )[0]  # fmt: skip


def aggregate_pictures(
    events: Any,
    domain: Domain,
    *,
    image: str | None = None,
    images: Sequence[str] = ("",),
    partition: Mapping[str, Sequence[str]] | None = None,
    part: str | None = None,
    bad_lines: str = "stop",
    engine: str | None = None,
    table: str | None = None,
    memory: int | None = None,
    progress: Callable[[float, float], None] | None = None,
    **columns: Any,
) -> list[Counts]:
    """The counts of each listed image, or of the one place if no column names images; columns as for `aggregate`.

    Together they keep the contract of `Counts`: adding one person's data adds non-negative integers to all of them
    whose sum is at most W. The report, over all of them, is the same in each.
    """
    from dpheatmap.curator.engines import RowReport, opened
    from dpheatmap.curator.events import canonical
    from dpheatmap.curator.query import COUNTERS, aggregation

    checked_domain(domain)
    columns = {**dict.fromkeys(OPTIONAL), "each_row_is_a_person": False, **columns}
    check(bad_lines=bad_lines)
    reading: dict[str, Any] = {"engine": engine, "table": table, "memory": memory}
    check(**{name: v for name, v in {**reading, **columns}.items() if v is not None or name == "each_row_is_a_person"})
    check_coordinates(**{name: columns[name] for name in ("x", "y", "geometry")})
    chosen = Part.of(partition, part)
    with opened(events, user=columns["user"], bad_lines=bad_lines, **reading) as source:
        degrees = domain.kind == "bbox"
        relation = canonical(source.table, image=image, images=images, part=chosen, degrees=degrees, **columns)
        weighted, alone = columns["weight"] is not None, columns["each_row_is_a_person"]
        pictures = image is not None
        sql = aggregation(relation, domain, weighted=weighted, each_row_is_a_person=alone, pictures=pictures)
        answer, seconds = source.run(sql, pictures, progress)
        broken = source.broken_lines()
    report = RowReport(**dict(zip(COUNTERS, answer.counters, strict=True)), seconds=seconds, broken_lines=broken)
    found = answer.counts(domain, len(images))
    _verify(found, report)
    return [replace(counts, part=chosen, report=report) for counts in found]


def check_coordinates(x: str | None, y: str | None, geometry: str | None) -> None:
    """Refuse one coordinate alone, and coordinates twice."""
    missing = [name for name, column in (("x", x), ("y", y)) if column is None]
    if geometry is not None and len(missing) < 2:
        raise ParameterError("Either x and y name the coordinates, or geometry does, and both were given. Choose one.")
    if len(missing) == 1:
        raise ParameterError(f"{missing[0]} must name a column; none was given. Run dpheatmap inspect.")


def checked_domain(domain: object) -> Domain:
    """The public domain, or the refusal to go on without one."""
    if not isinstance(domain, Domain):
        raise PrivacyRefusal(
            "No public domain was given, and one taken from the data would tell where people are. "
            "Make one with Domain.bbox, Domain.image or Domain.unit."
        )
    return domain


def _verify(counts: Sequence[Counts], report: Any) -> None:
    """Stop if the query broke its contract: this is about the engine, not about the data."""
    adds_up = report.rows == report.without_person + report.invalid + report.outside + report.inside
    if not adds_up or sum(of_image.total for of_image in counts) > UNITS * report.people:
        raise AssertionError("the aggregation broke its contract: rows or weights don't add up; please report this")


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
    design: str | AdaptiveDesign = "adaptive",
    width: int = PAPER_WIDTH,
    decay: float | Fraction = PAPER_DECAY,
    users: int | None = None,
    first_level: int | None = None,
    depth: int | None = None,
    sigma: float | None = None,
    ledger: str | PathLike[str] | Ledger | None = None,
    population: str | None = None,
    seen: Callable[[Counts], None] | None = None,
    **columns: Any,
) -> Release:
    """`release`, with the source of randomness given. Anything but os.urandom is stamped as NOT PRIVATE.

    ``design`` may also be an adaptive design with other settings, for experiments.

    Everything that can be refused is refused before the table is read, let alone noise drawn. The ledger is asked
    then, too, and charged after the reading: in between, others may have spent what was left.
    """
    made = datetime.now(UTC).replace(microsecond=0)  # before reading: how long that takes depends on the rows
    if isinstance(events, (list, tuple)) and any(isinstance(one, Counts) for one in events):
        raise PrivacyRefusal(NOT_ADDED)
    given = events.domain if isinstance(events, Counts) else checked_domain(domain)
    exact = read_epsilon(epsilon)
    chosen = chosen_design(given, exact, design, width, decay, first_level, depth, sigma, users)
    account = account_of(ledger, population)
    if account is not None:
        of = events.part if isinstance(events, Counts) else Part.of(columns.get("partition"), columns.get("part"))
        account.check(str(population), exact, of=of)
    counts = _counts(events, domain, columns)
    if seen is not None:
        seen(counts)
    # No noise before this line, and nothing that can be refused after it.
    entry = charged(account, population, exact, of=counts.part, made=made)
    return measured_release(counts, exact, chosen, source, made, entry)


def chosen_design(
    domain: Domain,
    epsilon: Fraction,
    design: str | AdaptiveDesign = "adaptive",
    width: int = PAPER_WIDTH,
    decay: float | Fraction = PAPER_DECAY,
    first_level: int | None = None,
    depth: int | None = None,
    sigma: float | None = None,
    users: int | None = None,
) -> AnyDesign:
    """The design that the settings of `release` name, after every refusal that they call for."""
    check(design=design.name if isinstance(design, AdaptiveDesign) else design, width=width, decay=decay)
    _check_users(users, design)
    chosen: AnyDesign
    if isinstance(design, AdaptiveDesign):
        chosen = design
    else:
        most = {PaperDesign.name: int(width), DenseDesign.name: 1}.get(design, FIRST_CELLS)
        levels = _measured_levels(domain, most, first_level, depth, sigma)
        if design == DenseDesign.name:
            chosen = _dense(domain, levels, None if users is None else epsilon * int(users))
        else:
            chosen = _design(design, levels, int(width), as_epsilon(decay), start_is_given=first_level is not None)
    check_noise(epsilon, chosen, domain)
    return chosen


def _check_users(users: int | None, design: str | AdaptiveDesign) -> None:
    if users is None:
        return
    check(users=users)
    if design != DenseDesign.name:
        name = design if isinstance(design, str) else design.name
        raise ParameterError(
            f"users is for the design 'dense', whose grid it chooses; the design was {name!r}. Leave it out."
        )


def _dense(domain: Domain, levels: range, signal: Fraction | None) -> DenseDesign:
    """The dense design: with a declared number of people, times epsilon, there is one level and nothing to choose."""
    if domain.cells(levels[0]).count > MOST_CELLS:
        raise ParameterError(
            f"first_level must have at most {MOST_CELLS} cells in the design 'dense'; level {levels[0]} has "
            f"{domain.cells(levels[0]).count}. Leave it out, or choose a smaller one."
        )
    if signal is None:
        return DenseDesign(levels[0], levels[-1])
    level = grid_level(domain, signal, levels[0], levels[-1])
    return DenseDesign(level, level)


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


def _design(
    name: str, levels: range, width: int, decay: Fraction, *, start_is_given: bool
) -> PaperDesign | AdaptiveDesign:
    """The design of that name for the levels given; width and decay are for the paper's."""
    if name == PaperDesign.name:
        return PaperDesign(split_over_levels(levels[0], levels[-1], decay), width, decay)
    if start_is_given:
        return AdaptiveDesign(levels[0], levels[-1], total=Fraction(0))
    return AdaptiveDesign(levels[0], levels[-1])


def account_of(ledger: str | PathLike[str] | Ledger | None, population: str | None) -> Ledger | None:
    """The ledger to be charged, if any."""
    if population is not None:
        check(population=population)
    if (ledger is None) != (population is None):
        raise ParameterError(
            "ledger and population go together, and one of them is missing. Give ledger='city.ledger', "
            "population='riders'."
        )
    return ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)


def charged(
    account: Ledger | None, population: str | None, epsilon: Fraction, *, of: Part | None, made: datetime
) -> LedgerEntry | None:
    """Charge the ledger, if there is one, once all that draws noise is loaded.

    What comes between a charge and its release is short that way: being interrupted there loses what was paid for.
    """
    if account is None:
        return None
    from dpheatmap.curator.noise_kernels import load

    load()
    return account.charge(str(population), epsilon, of=of, made=made)


def _measured_levels(
    domain: Domain, most: int, first_level: int | None, depth: int | None, sigma: float | None
) -> range:
    """The levels that may be measured: from the deepest with at most ``most`` cells to the last one that is of use."""
    last = domain.depth
    if sigma is not None:
        check(sigma=sigma)
        last = domain.level_for(sigma * FINEST_OF_SIGMA)
    if depth is not None:
        check(depth=depth)
        last = min(last, int(depth))
    first = min(domain.first_level(most), last)
    if first_level is not None:
        check(first_level=first_level)
        first = int(first_level)
    if first > last:
        raise ParameterError(f"first_level must be at most the last level, {last}; it was {first}. Leave it out.")
    if domain.cells(first).count > MOST_FIRST_CELLS:
        raise ParameterError(
            f"first_level must have at most {MOST_FIRST_CELLS} cells, all of which are measured; level {first} "
            f"has {domain.cells(first).count}. Leave it out, or choose a smaller one."
        )
    return range(first, last + 1)


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
