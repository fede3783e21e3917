"""A private box: its claim over many data sets, what it costs, what it tells of one person, and what it never does."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpheatmap as dph
from dpheatmap.curator import Counts, Curator
from dpheatmap.curator import bounding_box as private
from dpheatmap.curator import rivals as questions
from dpheatmap.curator.bounding_box import DEEPEST, STEP, find_box, noise_quantile
from dpheatmap.curator.core.noise import discrete_laplace
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError, PrivacyRefusal
from dpheatmap.evaluate.audit.confidence import epsilon_lower_bound
from dpheatmap.place.domain import CellRange, Floats
from dpheatmap.place.projection import NORTHERNMOST
from dpheatmap.place.quadtree import decode
from dpheatmap.testing import SeededSource

WORLD = dph.Domain.bbox(-180, -NORTHERNMOST, 180, NORTHERNMOST, depth=DEEPEST)
FALSE_ALARM = 1e-6
COLUMNS: dict[str, Any] = {"user": "who", "x": "lon", "y": "lat"}
Place = tuple[float, float]


def counts_of(places: Floats) -> Counts:
    """One whole person at each place."""
    columns, rows, inside = WORLD.locate(places[:, 0], places[:, 1])
    cells, people = np.unique(np.stack([columns, rows])[:, inside], axis=1, return_counts=True)
    return Counts.from_cells(WORLD, cells[0], cells[1], people * UNITS)


def around(centres: Any, spread: float, people: int, rng: np.random.Generator) -> Floats:
    """People around centres, each of which has a part of them that is drawn."""
    centres = np.atleast_2d(np.asarray(centres, float))
    chosen = centres[rng.choice(len(centres), people, p=rng.dirichlet(np.ones(len(centres))))]
    places: Floats = chosen + rng.normal(0, 1, (people, 2)) * (spread, 0.7 * spread)
    return places


DATA: dict[str, Callable[[int, np.random.Generator], Floats]] = {
    "a city": lambda n, rng: around((13.4, 52.5), 0.1, n, rng),
    "a city on the edges of tiles": lambda n, rng: around((0, 0), 0.1, n, rng),
    "a campus": lambda n, rng: around((-122.17, 37.43), 0.005, n, rng),
    "a city and a few abroad": lambda n, rng: np.concatenate(
        [around((13.4, 52.5), 0.1, n - n // 60, rng), around((-74, 40.7), 0.1, n // 60, rng)]
    ),
    "a city and a twentieth abroad": lambda n, rng: np.concatenate(
        [around((13.4, 52.5), 0.1, n - n // 20, rng), around((-74, 40.7), 0.1, n // 20, rng)]
    ),
    "a country": lambda n, rng: around(rng.normal((10, 50), (3, 2), (40, 2)), 0.1, n, rng),
    "two continents": lambda n, rng: np.concatenate(
        [
            around(rng.normal((10, 50), (8, 4), (40, 2)), 0.3, n // 2, rng),
            around(rng.normal((-95, 40), (15, 5), (40, 2)), 0.3, n - n // 2, rng),
        ]
    ),
    "both sides of the antimeridian": lambda n, rng: around([(178, -18), (-172, -14)], 0.5, n, rng),
    "everywhere": lambda n, rng: rng.uniform((-180, -85), (180, 85), (n, 2)),
    "a ring around the world": lambda n, rng: np.stack([rng.uniform(-180, 180, n), rng.normal(0, 0.3, n)], axis=1),
    "two cities at opposite ends of the earth": lambda n, rng: np.concatenate(
        [rng.normal((13.4, 52.5), 0.1, (n - n // 19, 2)), rng.normal((-166.6, -52.5), 0.1, (n // 19, 2))]
    ),
    "a line along the edges of tiles": lambda n, rng: np.stack(
        [rng.choice([0.0, math.nextafter(0, -1)], n), rng.uniform(-60, 60, n)], axis=1
    ),
    "a crowded point in an empty world": lambda n, rng: np.concatenate(
        [np.full((n - n // 19, 2), (100.0, 13.0)), rng.uniform((-180, -85), (180, 85), (n // 19, 2))]
    ),
    "the corners of the world": lambda n, rng: np.stack(
        [rng.choice([-180.0, 180.0], n), rng.choice([-85.05, 85.05], n)], axis=1
    ),
    "a few": lambda n, rng: around((13.4, 52.5), 0.1, n // 400, rng),
}


def share_inside(counts: Counts, box: CellRange) -> float:
    """What the box really holds of everybody's weight; 1 where nobody is."""
    x, y = decode(counts.codes)
    weight = np.diff(counts.sums)
    inside = (x >= box.x0) & (x < box.x1) & (y >= box.y0) & (y < box.y1)
    return float(weight[inside].sum() / weight.sum()) if weight.sum() else 1.0


def wrong_claims(share: float, confidence: float, rounds: int, seed: int) -> tuple[int, int]:
    """How many claims are wrong on all the data sets, new ones each round; and how many runs there were."""
    rng, source = np.random.default_rng(seed), SeededSource(seed)
    wrong = runs = 0
    for _ in range(rounds):
        for make in DATA.values():
            people, epsilon = int(rng.choice([500, 2000, 10000])), Fraction(rng.choice(["1/20", "1/5", "1"]))
            counts = counts_of(make(people, rng))
            box, _ = find_box(Curator(counts, epsilon, source), share, confidence)
            wrong += box is not None and share_inside(counts, box) < share
            runs += 1
    return wrong, runs


@pytest.mark.parametrize(("share", "confidence"), [(0.95, 0.95), (0.5, 0.6)])
def test_what_is_claimed_holds_as_often_as_it_says(share: float, confidence: float) -> None:
    """From one campus to everywhere; false-alarm rate 1e-6, if each claim were wrong as often as it may."""
    wrong, runs = wrong_claims(share, confidence, 17, seed=1)
    assert stats.binom.sf(wrong - 1, runs, 1 - confidence) > FALSE_ALARM


def claims_of_a_box_that_just_fails(runs: int, monkeypatch: pytest.MonkeyPatch, inner: int = 1) -> int:
    """How often a box with a hair less than the share is claimed; boxes inside and around it are proposed, too."""
    counts = counts_of(np.array([(10.0, 50.0)] * 949 + [(-74.0, 40.7)] * 51))
    column, row, _ = WORLD.locate([10.0], [50.0])
    boxes = [
        CellRange(x - side, y - side, x + side, y + side)
        for side in (5000, 300, *(30 >> k for k in range(inner)))
        for x, y in [(int(column[0]), int(row[0]))]
    ]
    monkeypatch.setattr(private, "_nested_boxes", lambda curator, share: boxes)
    source = SeededSource(5)
    assert [share_inside(counts, box) < 0.95 for box in boxes] == [False, *[True] * (1 + inner)]
    found = [find_box(Curator(counts, Fraction(1, 4), source), 0.95, 0.8)[0] for _ in range(runs)]
    return sum(box is not None and box != boxes[0] for box in found)


def test_a_box_that_just_fails_is_claimed_as_often_as_it_may_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The margin is the noise's own quantile: 20 % would be claimed if the box lacked nothing at all."""
    wrong = claims_of_a_box_that_just_fails(1500, monkeypatch)
    assert stats.binom.sf(wrong - 1, 1500, 0.2) > FALSE_ALARM
    assert stats.binom.sf(wrong - 1, 1500, 0.04) < FALSE_ALARM


def test_a_margin_of_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "noise_quantile", lambda scales, confidence: 0.0)
    wrong = claims_of_a_box_that_just_fails(1500, monkeypatch)
    assert stats.binom.sf(wrong - 1, 1500, 0.2) < FALSE_ALARM


def test_trying_many_boxes_needs_no_correction(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = claims_of_a_box_that_just_fails(1000, monkeypatch, inner=4)
    assert stats.binom.sf(wrong - 1, 1000, 0.2) > FALSE_ALARM


@pytest.mark.parametrize("scales", [[1.0], [0.95, 0.05], [0.95] * 6 + [0.05] * 2, [0.5] * 8, [3.0, 1e-3]])
@pytest.mark.parametrize("confidence", [0.6, 0.95, 0.999])
def test_the_quantile_of_a_sum_of_noises(scales: list[float], confidence: float) -> None:
    """Against a sum of drawn ones, and against the exact quantile of one; it may be a little large, never small."""
    found = noise_quantile(np.array(scales), confidence)
    drawn = np.random.default_rng(3).laplace(0, scales, (400_000, len(scales))).sum(axis=1)
    exceeded = int((drawn > found).sum())
    assert stats.binom.sf(exceeded - 1, len(drawn), 1 - confidence) > FALSE_ALARM
    smaller = found - len(scales) * max(scales) / 32  # two steps of its grid for each
    assert stats.binom.cdf(int((drawn > smaller).sum()), len(drawn), 1 - confidence) > FALSE_ALARM
    if len(scales) == 1:
        assert 0 <= found + math.log(2 * (1 - confidence)) * scales[0] < scales[0] / 50


def test_the_quantile_is_that_of_discrete_noise() -> None:
    """Noise whose scale is one of the units that weights are counted in is a unit or more in 27 cases of 100."""
    assert noise_quantile(np.array([1 / UNITS]), 0.75) * UNITS >= 1


def test_a_certainty_that_floats_cannot_tell_is_never_claimed() -> None:
    assert noise_quantile(np.array([1.0]), 1 - 1e-16) == math.inf
    assert 24 < noise_quantile(np.array([1.0]), 1 - 1e-11) < 25


def test_nothing_is_claimed_of_more_people_than_are_counted() -> None:
    """A count is held at 2^31 people: how many more there are, inside or outside of a box, it does not tell."""
    inside, outside = WORLD.locate(np.array([10.0, -74.0]), np.array([50.0, 40.7]))[:2]
    for people, claimed in ((2**29, True), (2**32, False)):
        weight = np.array([people * UNITS, people * UNITS // 40])
        counts = Counts.from_cells(WORLD, inside, outside, weight)
        assert (find_box(Curator(counts, 1, SeededSource(1)), 0.95, 0.95)[0] is not None) == claimed


# What it finds


@pytest.mark.parametrize(
    ("name", "people", "epsilon", "widest"),
    [("a city", 10_000, "1/10", 1.5), ("a campus", 10_000, "1/10", 0.1), ("a country", 10_000, "1/2", 30.0),
     ("a city and a few abroad", 10_000, "1/2", 1.5), ("two continents", 20_000, "1/2", 225.0)],
)  # fmt: skip
def test_boxes_are_tight_where_there_are_people_enough(name: str, people: int, epsilon: str, widest: float) -> None:
    rng = np.random.default_rng(11)
    for seed in range(5):
        box, total = find_box(
            Curator(counts_of(DATA[name](people, rng)), Fraction(epsilon), SeededSource(seed)), 0.95, 0.95
        )
        assert box is not None
        assert 360 * max(box.columns, box.rows) / 2**DEEPEST <= widest
        assert abs(total - people) < 0.1 * people


@pytest.mark.parametrize(("name", "people"), [("a few", 2000), ("everywhere", 10_000), ("a city", 0)])
def test_it_says_that_it_cannot_claim_anything(name: str, people: int) -> None:
    places = DATA[name](max(people, 1), np.random.default_rng(2))[:people]
    assert find_box(Curator(counts_of(places), Fraction(1, 10), SeededSource(3)), 0.95, 0.95)[0] is None


def test_a_box_is_of_whole_tiles_and_no_rounding_cuts_anybody_off() -> None:
    """Also at its edges: what `aggregate` finds inside the returned domain is what was found in its tiles."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        level = int(rng.integers(1, DEEPEST + 1))
        x0, x1 = np.sort(rng.choice(2**level + 1, 2, replace=False)) << (DEEPEST - level)
        y0, y1 = np.sort(rng.choice(2**level + 1, 2, replace=False)) << (DEEPEST - level)
        box = CellRange(int(x0), int(y0), int(x1), int(y1))
        domain = private._of_tiles(box)
        assert domain.depth < level or domain.cells(domain.depth).count % (box.count >> 2 * (DEEPEST - level)) == 0
        shift = abs(DEEPEST - domain.depth)
        finest = domain.cells(domain.depth)
        edges = (finest.x0, finest.y0, finest.x1, finest.y1)
        if domain.depth >= DEEPEST:
            assert edges == tuple(edge << shift for edge in (x0, y0, x1, y1))
        for edge in (domain.extent.y0, domain.extent.y1):
            near = [edge]
            for towards in (-90.0, 90.0):
                at = edge
                for _ in range(40):
                    at = math.nextafter(at, towards)
                    near.append(at)
            lon = np.full(len(near), (domain.extent.x0 + domain.extent.x1) / 2)
            _, row, known = WORLD.locate(lon, np.array(near))
            in_tiles = known & (row >= box.y0) & (row < box.y1)
            assert not np.any(in_tiles & ~domain.locate(lon, np.array(near))[2])


# What it costs and tells


def table(people: int, centre: Place = (13.4, 52.5)) -> pd.DataFrame:
    places = around(centre, 0.1, 2 * people, np.random.default_rng(6))
    return pd.DataFrame({"who": np.arange(2 * people) % max(people, 1), "lon": places[:, 0], "lat": places[:, 1]})


def test_it_is_charged_to_the_ledger_and_the_release_beside_it(tmp_path: Path) -> None:
    ledger = dph.Ledger(tmp_path / "city.ledger")
    ledger.limit("riders", 1)
    budget: dict[str, Any] = {"ledger": ledger, "population": "riders"}
    found = dph.discover(table(5000), epsilon="0.2", **COLUMNS, **budget)
    assert found.ledger is not None
    assert found.ledger.number == 2
    assert found.found
    assert found.epsilon == ledger.accounts()["riders"].spent == Fraction(1, 5)
    release = dph.release(table(5000), found.domain, epsilon="0.8", **COLUMNS, **budget)
    assert release.domain == found.domain
    assert ledger.accounts()["riders"].left == 0
    with pytest.raises(PrivacyRefusal, match="Nothing fits any more"):
        dph.discover("/nonexistent/trips.csv", epsilon="0.1", **COLUMNS, **budget)


def test_a_crash_after_the_charge_does_not_give_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = dph.Ledger(tmp_path / "city.ledger", limits_needed=False)

    def crash(*_: Any) -> None:
        assert ledger.accounts()["riders"].spent == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(private, "find_box", crash)
    with pytest.raises(KeyboardInterrupt):
        dph.discover(table(10), epsilon=1, ledger=ledger, population="riders", **COLUMNS)
    assert ledger.accounts()["riders"].spent == 1


@pytest.mark.parametrize("people", [0, 1, 3])
def test_whatever_depends_on_people_never_refuses(people: int) -> None:
    """Nobody, one person, and people with no valid place get an answer like any other."""
    some = table(people)
    for frame in (some, some.assign(lon=math.nan), some.assign(lat=89.9), some.assign(lon=1e9)):
        found = dph.discover(frame, epsilon=0.1, **COLUMNS)
        assert found.domain.kind == "bbox"


def test_an_epsilon_too_small_for_exact_noise_is_refused_before_the_table_is_opened() -> None:
    with pytest.raises(ParameterError, match="epsilon is too small"):
        dph.discover("/nonexistent/trips.csv", epsilon=Fraction(1, 2**40), **COLUMNS)


def spent(counts: Counts, epsilon: Fraction, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Fraction, Any]]:
    """The rate, in people, of the noise of every question, with the sums that were asked for: read off the curator."""
    asked: list[tuple[Fraction, Any]] = []
    honest = Curator._noisy

    def watching(self: Curator, sums: Any, part: Fraction) -> Any:
        asked.append((part, sums))
        return honest(self, sums, part)

    with monkeypatch.context() as patch:
        patch.setattr(Curator, "_noisy", watching)
        find_box(Curator(counts, epsilon, SeededSource(1)), 0.95, 0.95)
    return asked


@pytest.mark.parametrize("name", ["a city", "a campus", "two continents", "everywhere", "a few"])
def test_all_of_epsilon_is_spent_and_no_more_and_each_question_counts_a_person_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = DATA[name](2000, np.random.default_rng(8))
    without, added = counts_of(places[1:]), counts_of(places)
    for one, other in zip(
        spent(without, Fraction(2), monkeypatch), spent(added, Fraction(2), monkeypatch), strict=True
    ):
        if len(one[1]) == len(other[1]):  # else the walks differ, which the noise decides
            assert np.abs(other[1] - one[1]).sum() <= UNITS
    parts = [part for part, _ in spent(added, Fraction(2), monkeypatch)]
    assert sum(parts) == 2
    assert set(parts[:-1]) == {2 * STEP}
    assert parts[-1] >= Fraction(5, 6)


EPSILON, RUNS = 1, 3000


def told_by_the_total(
    monkeypatch: pytest.MonkeyPatch, bug: Callable[[pytest.MonkeyPatch], None] | None = None
) -> float:
    """How much of epsilon shows about one person among a few: a lower bound that holds but once in 1e6.

    The event, fixed beforehand: the noisy number of people is at least what it is with them. The few are too few to be
    seen, so all but one question's part of epsilon goes into that number.
    """
    few = counts_of(np.array([(10.0, 50.0)] * 3))
    many = counts_of(np.array([(10.0, 50.0)] * 4))
    with monkeypatch.context() as patch:
        if bug is not None:
            bug(patch)
        hits = [
            sum(find_box(Curator(counts, EPSILON), 0.95, 0.95)[1] >= 4 for _ in range(RUNS)) for counts in (many, few)
        ]
    return epsilon_lower_bound(hits[0], RUNS, hits[1], RUNS, FALSE_ALARM)


def half_the_noise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(questions, "discrete_laplace", lambda rate: discrete_laplace(2 * rate))


def people_counted_twice(patch: pytest.MonkeyPatch) -> None:
    honest = Curator.rings
    patch.setattr(Curator, "rings", lambda self, boxes, epsilon: honest(self, boxes, epsilon) + _exact(self, boxes))


def _exact(curator: Curator, boxes: Any) -> Floats:
    sums = np.zeros(len(boxes) + 1)
    sums[0] = curator._counts.sums[-1] / UNITS - 3.5
    return sums


def test_what_it_tells_of_one_person_stays_within_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0.4 < told_by_the_total(monkeypatch) < EPSILON


@pytest.mark.parametrize("bug", [half_the_noise, people_counted_twice])
def test_the_audit_finds_planted_bugs(
    bug: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told_by_the_total(monkeypatch, bug) > EPSILON


def test_a_budget_spent_twice_is_refused_by_the_curator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last question with the whole of epsilon again, after the walk had its parts."""
    honest = Curator.rings
    monkeypatch.setattr(Curator, "rings", lambda self, boxes, epsilon: honest(self, boxes, self.epsilon))
    with pytest.raises(ParameterError, match="at most what is left of epsilon"):
        find_box(Curator(counts_of(DATA["a city"](100, np.random.default_rng(1))), 1), 0.95, 0.95)


def test_one_person_alone_is_as_good_as_nobody() -> None:
    """At a small epsilon neither gets a box: fewer than 1 in 100 runs, at a false-alarm rate of 1e-6 each."""
    for places in (np.zeros((0, 2)), np.array([(13.4, 52.5)])):
        boxes = [find_box(Curator(counts_of(places), Fraction(1, 10)), 0.95, 0.95)[0] for _ in range(400)]
        assert stats.binom.sf(sum(box is not None for box in boxes) - 1, 400, 0.01) > FALSE_ALARM
