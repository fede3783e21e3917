"""How near maps of hours, weekdays and groups come to the truth, what their intervals hold, and what they cost.

Rivals get the same people in the same run: each slice by itself (forest), no variation (pooled, with the true volumes),
and the pooled map times the smoothed ratio of a forest (product). EMD (64 x 64), KL and SIM are means over up to eight
slices, weighted by people, sigma 0.02. Check-ins in New York, football and gaze need the data folder (DPHEATMAP_DATA);
commuters are generated. ``--quick`` has one draw of people and one epsilon.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from itertools import product as product_of
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np

import dpheatmap as dph
from aggregation import write_events
from common import bar, cpu_seconds
from dpheatmap.curator.aggregation import count
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.measure import measure_counts
from dpheatmap.curator.core.slices import measure_slices, pool
from dpheatmap.curator.engines.duckdb import connection
from dpheatmap.curator.publish import design_for
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.read.slice_numbers import Slices
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.settings import Settings
from dpheatmap.design.shares import UNITS
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.posterior.posterior import posterior
from dpheatmap.estimate.slices.slice_estimate import estimate_of_slice
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.experiments import stand_in_data
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.release import Release
from dpheatmap.releases.sliced_release import Family, SlicedRelease
from dpheatmap.slicing.axis import Axis
from dpheatmap.slicing.period import Period
from dpheatmap.testing import SeededSource, seeded_release

PLACE, SIDE, SIGMA = Domain.unit(8), 256, 0.02
DAY = "2024-06-03"
PERIODS = {
    24: Period.of("hour-of-day", "UTC"),
    7: Period.of("weekday", "UTC"),
    168: Period.of("hour-of-week", "UTC"),
    4: Period.of("6 hours", "UTC", DAY, DAY),
    2: Period.of("12 hours", "UTC", DAY, DAY),
}
BOX = (-74.06, 40.62, -73.86, 40.82)
ENOUGH, WITHIN = 200, 1.05
ROWS = 10_000_000
EVERYBODY = 10**6
Table = tuple[Ints, Floats, Floats, Ints]
"""People, positions in the unit square, and slices."""


def check_ins(slices: int, seed: int) -> Table:
    """Check-ins in New York by hour, weekday, hour of the week, or quarter of the day."""
    file = Path(str(stand_in_data.folder()), "gowalla_nyc_timed.parquet")
    rows = duckdb.connect().sql(f"SELECT \"user\" AS u, lon, lat, epoch(time)::BIGINT AS t FROM '{file}'").fetchnumpy()
    u, lon, lat, t = (np.asarray(rows[name]) for name in ("u", "lon", "lat", "t"))
    west, south, east, north = BOX
    inside = (lon >= west) & (lon < east) & (lat > south) & (lat <= north)
    u, lon, lat, t = u[inside], lon[inside], lat[inside], t[inside] - 5 * 3600
    return (
        u,
        (lon - west) / (east - west),
        (north - lat) / (north - south),
        _slot(t // 3600 % 24, (t // 86400 + 3) % 7, slices),
    )


def commuters(slices: int, seed: int) -> Table:
    """Generated people with homes, work in few centres, and leisure, by hours and weekdays."""
    rng = np.random.default_rng(seed + 77)
    people = 5000
    quarters, widths = rng.beta(1.3, 1.3, (40, 2)), np.exp(rng.uniform(np.log(0.01), np.log(0.05), 40))
    chosen = rng.choice(40, people, p=(weights := rng.pareto(1.5, 40) + 0.2) / weights.sum())
    home = quarters[chosen] + widths[chosen, None] * rng.standard_normal((people, 2))
    offices, haunts = 0.5 + 0.12 * rng.standard_normal((6, 2)), 0.5 + 0.2 * rng.standard_normal((8, 2))
    work = offices[rng.choice(6, people, p=np.array([8, 4, 3, 2, 1, 1]) / 19)] + 0.015 * rng.standard_normal(
        (people, 2)
    )
    haunt = haunts[rng.choice(8, people)] + 0.02 * rng.standard_normal((people, 2))
    u = np.repeat(np.arange(people), 1 + rng.geometric(1 / 20, people))
    activity = np.ones(24)
    activity[1:6], activity[17:22] = 0.25, 1.6
    hour, day = rng.choice(24, len(u), p=activity / activity.sum()), rng.integers(0, 7, len(u))
    at_work = np.where((hour >= 9) & (hour < 17), 0.75, np.where((hour >= 7) & (hour < 19), 0.35, 0.04)) * (day < 5)
    at_work += 0.06 * (day >= 5)
    out = np.where((hour >= 18) & (hour < 23), 0.4, np.where((hour >= 11) & (hour < 18), 0.25, 0.06))
    out *= np.where(day >= 5, 1.3, 0.7)
    lot = rng.random(len(u))[:, None]
    at = np.where(lot < at_work[:, None], work[u], np.where(lot < (at_work + out)[:, None], haunt[u], home[u]))
    x, y = np.clip(at + 0.004 * rng.standard_normal((len(u), 2)), 0, 0.9999).T
    return u, x, y, _slot(hour, day, slices)


def football(slices: int, seed: int) -> Table:
    """Events of football matches by half."""
    file = Path(str(stand_in_data.folder()), "wyscout_events.parquet")
    rows = (
        duckdb.connect()
        .sql(
            f"SELECT \"user\" AS u, x / 100 AS x, y / 100 AS y, (period = '2H')::INTEGER AS half FROM '{file}' "
            "WHERE period IN ('1H', '2H')"
        )
        .fetchnumpy()
    )
    u, x, y, half = (np.asarray(rows[name]) for name in ("u", "x", "y", "half"))
    return u, np.clip(x, 0, 0.9999), np.clip(y, 0, 0.9999), half.astype(np.int64)


def gaze(slices: int, seed: int) -> Table:
    """Where people looked on the first images of a set, each image a group."""
    file = Path(str(stand_in_data.folder()), "osie_mouse_amt.parquet")
    images = f"(SELECT DISTINCT image FROM '{file}' ORDER BY image LIMIT {slices})"
    rows = (
        duckdb.connect()
        .sql(
            f'SELECT "user" AS u, x / 800 AS x, y / 600 AS y, dense_rank() OVER (ORDER BY image) - 1 AS slot '
            f"FROM '{file}' WHERE image IN {images}"
        )
        .fetchnumpy()
    )
    u, x, y, slot = (np.asarray(rows[name]) for name in ("u", "x", "y", "slot"))
    return u, np.clip(x, 0, 0.9999), np.clip(y, 0, 0.9999), slot.astype(np.int64)


def _slot(hour: Ints, day: Ints, slices: int) -> Ints:
    return np.asarray({24: hour, 7: day, 168: day * 24 + hour, 4: hour // 6}[slices], np.int64)


KINDS: dict[str, Callable[[int, int], Table]] = {
    "check-ins": check_ins,
    "commuters": commuters,
    "football": football,
    "gaze": gaze,
}


def counted(table: Table, people: int, slices: int, seed: int) -> list[Counts]:
    """The exact counts of each slice, of some of the people; each weighs 1 in all slices together."""
    u, x, y, slot = table
    chosen = np.isin(u, np.random.default_rng(seed).permutation(np.unique(u))[:people])
    ids = np.unique(u[chosen], return_inverse=True)[1]
    weight = UNITS // np.bincount(ids)[ids]
    cells = [np.minimum((at[chosen] * SIDE).astype(np.int64), SIDE - 1) for at in (y, x)]
    raster = np.zeros((slices, SIDE, SIDE), np.int64)
    np.add.at(raster, (slot[chosen], *cells), weight)
    found = []
    for one in raster:
        row, column = np.nonzero(one)
        found.append(Counts.from_cells(PLACE, column, row, one[row, column]))
    return found


Maps = tuple[list[Floats], Floats]
"""A map of each slice, and their volumes."""


def ours(counts: list[Counts], epsilon: Fraction, seed: int) -> SlicedRelease:
    """A release of all slices."""
    loss = PureLoss(epsilon)
    design = design_for(PLACE, loss, Settings(sigma=SIGMA))
    assert isinstance(design, LadderDesign)
    made, source = seeded_release(counts[0], seed=1, epsilon=1).made, SeededSource(seed)
    if len(counts) in PERIODS:
        families: tuple[Family, ...] = (measure_slices(counts, loss, design, source),)
        axis = Axis(PERIODS[len(counts)])
    else:
        families = tuple((measure_counts(one, loss, design, source),) for one in counts)
        axis = Axis(None, tuple(f"image {k}" for k in range(len(counts))))
    return SlicedRelease(PLACE, loss, axis, "weight", design, families, True, made)


def maps_of(release: SlicedRelease) -> Maps:
    """The estimated map of each slice."""
    estimates = [estimate_of_slice(release, k, None) for k in range(len(release.slices))]
    return [one.distribution().raster(SIDE, SIDE) for one in estimates], np.array([one.total for one in estimates])


def forest(counts: list[Counts], epsilon: Fraction, seed: int) -> Maps:
    """Each slice by itself."""
    found = [posterior(_seeded(one, epsilon, 1000 * seed + k)) for k, one in enumerate(counts)]
    return [one.distribution().raster(SIDE, SIDE) for one in found], np.array([one.total for one in found])


def pooled(counts: list[Counts], epsilon: Fraction, seed: int) -> Maps:
    """All slices alike, with the true volumes."""
    raster = posterior(_seeded(pool(counts), epsilon, 1000 * seed)).distribution().raster(SIDE, SIDE)
    return [raster] * len(counts), np.array([one.total / UNITS for one in counts])


def product(counts: list[Counts], epsilon: Fraction, seed: int) -> Maps:
    """The pooled map, with three tenths of epsilon, times the ratio of a forest, smoothed over 0.12."""
    from scipy.ndimage import gaussian_filter

    fine = pooled(counts, epsilon * Fraction(3, 10), seed + 1)[0][0]
    coarse, volumes = forest(counts, epsilon * Fraction(7, 10), seed + 2)
    whole = np.einsum("k,kij->ij", volumes, np.array(coarse))
    below = gaussian_filter(whole / whole.sum(), 0.12 * SIDE) + 1e-12
    maps = [fine * gaussian_filter(one, 0.12 * SIDE) / below for one in coarse]
    return [one / one.sum() for one in maps], volumes


def _seeded(counts: Counts, epsilon: Fraction, seed: int) -> Release:
    return seeded_release(counts, seed=seed, epsilon=epsilon, sigma=SIGMA)


def scores(counts: list[Counts], maps: list[Floats]) -> Floats:
    """EMD, KL and 1 - SIM, means by people over up to eight slices."""
    volumes = np.array([one.total for one in counts], np.float64)
    chosen = np.unique(np.linspace(0, len(counts) - 1, min(len(counts), 8)).astype(int))
    found = []
    for k in chosen:
        true = smooth(true_distribution(counts[k]), SIGMA)
        shown = smooth(Distribution.from_raster(PLACE, maps[k]), SIGMA)
        small = [one.reshape(64, 4, 64, 4).sum(axis=(1, 3)) for one in (true, shown)]
        found.append((dph.metrics.emd(*small), dph.metrics.kl(true, shown), 1 - dph.metrics.similarity(true, shown)))
    mean: Floats = np.average(np.array(found), axis=0, weights=volumes[chosen])
    return mean


def accuracy(quick: bool) -> list[bool]:
    """Hold our maps against the best of the three rivals, or where the signal is weak against the pooled one."""
    reached, draws = [], 1 if quick else 3
    cases = [*product_of(("check-ins", "commuters"), (5000, 1000), (24, 7, 4, 168))]
    for kind, people, slices in [*cases, ("football", 1000, 2), ("gaze", EVERYBODY, 8)]:
        for epsilon in (Fraction(1),) if quick else (Fraction(1, 2), Fraction(1), Fraction(2)):
            runs = []
            for seed in range(100, 100 + draws):
                table = KINDS[kind](slices, seed)
                counts = counted(table, people, slices, seed)
                rivals = [scores(counts, rival(counts, epsilon, seed)[0]) for rival in (forest, pooled, product)]
                runs.append([scores(counts, maps_of(ours(counts, epsilon, seed))[0]), *rivals])
            mean = np.array(runs).mean(axis=0)
            strong = min(people, len(np.unique(table[0]))) * epsilon / slices >= ENOUGH
            best = mean[1:].min(axis=0) if strong else mean[2]
            whose = "all" if people == EVERYBODY else f"{people}"
            at = f"{kind}, {whose} people, {slices} slices, epsilon {float(epsilon):g}"
            for name, own, other in zip(("EMD", "KL", "1 - SIM"), mean[0], best, strict=True):
                against = "the best" if strong else "pooled"
                reached.append(bar(f"{at}: {name} {own:.4f} of {against}'s {other:.4f}", own / other, WITHIN))
    return reached


def the_figures() -> list[bool]:
    """EMD and KL of 24 hours of 5,000 people's check-ins at epsilon 1."""
    found = []
    for seed in range(200, 208):
        counts = counted(check_ins(24, seed), 5000, 24, seed)
        found.append(scores(counts, maps_of(ours(counts, Fraction(1), seed))[0]))
    emd, kl, _ = np.mean(found, axis=0)
    return [bar("24 hours of check-ins: EMD", emd, 0.026), bar("24 hours of check-ins: KL", kl, 0.13)]


def coverage(quick: bool) -> list[bool]:
    """The part of true values that intervals of 90 % hold, on maps of slices, their changes and their volumes."""
    reached = []
    cases = [("check-ins", 5000, 24), ("commuters", 5000, 24), ("check-ins", 5000, 7), ("commuters", 1000, 7)]
    for kind, people, slices in cases:
        held: dict[str, list[float]] = {"slices": [], "changes": [], "volumes": []}
        for seed in range(300, 301 if quick else 303):
            counts = counted(KINDS[kind](slices, seed), people, slices, seed)
            series = ours(counts, Fraction(1), seed).heatmap(sigma=SIGMA, size=128)
            low, high = series.volumes.interval(0.9)
            volumes = np.array([one.total / UNITS for one in counts])
            held["volumes"].append(float(((volumes >= low) & (volumes <= high)).mean()))
            true = [smooth(true_distribution(one), SIGMA, 128) for one in counts]
            for k in range(0, slices, max(slices // 4, 1)):
                label, other = series.labels[k], (k + slices // 3) % slices
                ends, busy = series[label].interval(0.9), true[k] > 0.25 * true[k].mean()
                held["slices"].append(float(((true[k] >= ends[0]) & (true[k] <= ends[1]))[busy].mean()))
                change = series.difference(label, series.labels[other])
                assert change.std is not None
                busy = true[k] + true[other] > 0.5 * (true[k] + true[other]).mean()
                off = np.abs(change.values - (true[other] - true[k])) < 1.645 * change.std
                held["changes"].append(float(off[busy].mean()))
        for what, parts in held.items():
            at = f"{kind}, {people} people, {slices} slices: {what} held"
            reached += [bar(at, float(np.mean(parts)), 0.85, at_least=True), bar(at, float(np.mean(parts)), 0.95)]
    return reached


def areas_held(quick: bool) -> list[bool]:
    """The part of true shares, numbers and changes that intervals of 90 % hold, in ninths and 64ths of the map."""
    held: dict[str, list[float]] = {"shares": [], "people": [], "changes of shares": []}
    boxes = [(k * side, j * side, side) for side in (85, 32) for k in range(256 // side) for j in range(256 // side)]
    areas = {f"{x} {y} {d}": tuple(at / SIDE for at in (x, y, x + d, y + d)) for x, y, d in boxes}
    for kind, slices in product_of(("check-ins", "commuters"), (24, 7)):
        for seed in range(400, 401 if quick else 403):
            counts = counted(KINDS[kind](slices, seed), 5000, slices, seed)
            made = ours(counts, Fraction(1), seed)
            chosen = range(0, slices, slices // 3)
            true = {k: true_distribution(counts[k]).raster(SIDE, SIDE) for k in chosen}
            share = {k: np.array([one[y : y + d, x : x + d].sum() for x, y, d in boxes]) for k, one in true.items()}
            for k in chosen:
                found, people = made.slice(made.slices[k]).areas(areas), share[k] * counts[k].total / UNITS
                held["shares"].append(_held(share[k], found["low"], found["high"]))
                held["people"].append(_held(people, found["people_low"], found["people_high"]))
            for before, after in pairwise(chosen):
                change = made.area_changes(areas, made.slices[before], made.slices[after])
                held["changes of shares"].append(_held(share[after] - share[before], change["low"], change["high"]))
    reached = []
    for what, parts in held.items():
        at = f"areas of slices: {what} held"
        reached += [bar(at, float(np.mean(parts)), 0.85, at_least=True), bar(at, float(np.mean(parts)), 0.95)]
    return reached


def _held(true: Floats, low: Floats, high: Floats) -> float:
    return float(((true >= np.asarray(low)) & (true <= np.asarray(high))).mean())


def speed() -> list[bool]:
    """CPU time of 24 slices, and of the aggregation of 168 slices against that of one."""
    counts = counted(check_ins(24, 1), 5000, 24, 1)
    releases = iter([ours(counts, Fraction(1), seed) for seed in range(3)])
    seconds = cpu_seconds(lambda: maps_of(next(releases)), 3)
    reached = [bar("posterior of 24 slices of 5,000 people", seconds, 3, unit=" s")]
    with TemporaryDirectory() as folder:
        pages = iter([ours(counts, Fraction(1), seed).heatmap() for seed in range(3)])
        seconds = cpu_seconds(lambda: next(pages).save(f"{folder}/day.html"), 3)
    reached.append(bar("page of 24 slices of 5,000 people, with the posterior", seconds, 4, unit=" s"))
    with TemporaryDirectory() as folder:
        plain, sliced, lean = aggregation_seconds(Path(folder))
    print(
        f"{ROWS:,} rows: {plain:.2f} CPU s unsliced, {sliced:.2f} CPU s in 168 slices; the leanest query of DuckDB "
        f"that has their cells, in UTC and in no order, {lean:.2f} CPU s"
    )
    return [*reached, bar(f"168 slices of {ROWS:,} rows, of the unsliced aggregation", sliced / plain, 1.3)]


def aggregation_seconds(folder: Path) -> tuple[float, float, float]:
    """CPU time of the aggregation of events in a year, of that by the hours of the week in New York, and of a peer.

    All three take turns, because what else the machine does slows them down. The first turn only loads what they need.
    """
    bare, events = folder / "bare.parquet", folder / "events.parquet"
    write_events(bare, ROWS)
    at = "TIMESTAMPTZ '2024-01-01 00:00:00Z' + to_microseconds(CAST(hash(x, y) % 31622400000000 AS BIGINT))"
    duckdb.connect(config={"memory_limit": "1GB"}).execute(
        f"COPY (SELECT *, {at} AS t FROM '{bare}') TO '{events}' (FORMAT parquet)"
    )
    reading = Reading(user="person", x="x", y="y")
    slices = Slices(Axis(Period.of("hour-of-week", "America/New_York")), time="t")
    turns = [
        (
            cpu_seconds(lambda: count(events, PLACE, reading)),
            cpu_seconds(lambda: count(events, PLACE, reading, slices=slices)),
            cpu_seconds(lambda: lean_cells(events)),
        )
        for _ in range(4)
    ]
    plain, sliced, lean = (min(seconds) for seconds in zip(*turns[1:], strict=True))
    return plain, sliced, lean


def lean_cells(events: Path) -> None:
    """The weights of all cells and hours, by the fewest steps: no check, no counter, no zone, and in no order."""
    cell = f"CAST(floor(x * {SIDE}) AS INTEGER) * {SIDE} + CAST(floor(y * {SIDE}) AS INTEGER)"
    hour = "CAST((epoch_us(t) + 259200000000) // 3600000000 % 168 AS INTEGER)"
    with connection() as (con, _):
        con.execute(f"""WITH events AS NOT MATERIALIZED (
                SELECT person, {hour} * {SIDE**2} + {cell} AS cell FROM read_parquet('{events}')),
            shares AS MATERIALIZED (SELECT person, {UNITS} // COUNT(*) AS units FROM events GROUP BY person)
            SELECT cell, CAST(SUM(units) AS BIGINT) AS weight FROM events JOIN shares USING (person) GROUP BY cell
        """).fetchnumpy()


def main() -> int:
    if stand_in_data.folder() is None:
        print("No data folder: set DPHEATMAP_DATA to one that holds gowalla_nyc_timed.parquet.")
        return 0
    quick = "--quick" in sys.argv
    return 0 if all([*the_figures(), *speed(), *coverage(quick), *areas_held(quick), *accuracy(quick)]) else 1


if __name__ == "__main__":
    sys.exit(main())
