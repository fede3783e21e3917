"""The proof of the measurement, step by step, without statistics: what is asked, what is drawn, and what is published.

Every question is watched: the cells whose counts are looked up, the noise drawn for them and its rate. This catches
what an audit by sampling can miss, such as noise shared by cells, or a rate that is not that of the share on record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import dpheatmap as dph
from dpheatmap.curator.core import measure
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.noise import DiscreteLaplace
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.shares import SHARES, UNITS
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, encode
from dpheatmap.testing import SeededSource, generated_people, seeded_release

EPSILON = Fraction(3, 2)
DOMAINS = [Domain.unit(6), Domain.image(50, 21), Domain.unit(0), Domain.bbox(7.3, 46.9, 7.5, 47.02, depth=15)]


@dataclass
class Watched:
    """What was asked in one release: levels, codes, true counts, noise and its rate, question by question."""

    questions: list[tuple[int, Ints, Ints]] = field(default_factory=list)
    draws: list[tuple[Fraction, Ints]] = field(default_factory=list)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    seen = Watched()
    look, draw = Counts.exact, DiscreteLaplace.exact

    def exact(self: Counts, level: int, codes: Ints) -> Ints:
        counts = look(self, level, codes)
        seen.questions.append((level, codes.copy(), counts))
        return counts

    def noise(self: DiscreteLaplace, size: int, source: Any) -> Ints:
        drawn = draw(self, size, source)
        seen.draws.append((self.rate, drawn.copy()))
        return drawn

    monkeypatch.setattr(Counts, "exact", exact)
    monkeypatch.setattr(DiscreteLaplace, "exact", noise)
    return seen


def crowd(domain: Domain) -> dph.Counts:
    return dph.aggregate(generated_people(400, extent=domain.extent), domain, user="person", x="x", y="y")


def a_person(domain: Domain, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Finest cells and units, W in all, of somebody who is here and there."""
    r = domain.cells(domain.depth)
    codes = np.unique(encode(rng.integers(r.x0, r.x1, 6), rng.integers(r.y0, r.y1, 6)))
    units = np.full(len(codes), UNITS // len(codes))
    units[0] += UNITS - units.sum()
    return codes, units


by_domain = pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: f"{domain.kind}{domain.depth}")
by_design = pytest.mark.parametrize("design", ["adaptive", "paper", "dense"])
"""Designs that ask questions; the ladder's noise is also in its looks, so it is watched in its own way below."""


@by_design
@by_domain
def test_what_is_published_is_a_count_and_its_own_noise_of_the_recorded_rate(
    domain: Domain, design: str, watched: Watched
) -> None:
    counts = crowd(domain)
    release = seeded_release(counts, epsilon=EPSILON, design=design, seed=1)
    m = release.measurements
    published = sorted(zip(m.levels.tolist(), m.codes.tolist(), m.counts.tolist(), m.shares.tolist(), strict=True))
    expected = []
    for (level, codes, true), (rate, noise) in zip(watched.questions, watched.draws, strict=True):
        share = rate * UNITS * SHARES / EPSILON
        assert share.denominator == 1
        assert len(codes) == len(np.unique(codes)) == len(noise)
        expected += [
            (level, c, t + k, int(share)) for c, t, k in zip(codes.tolist(), true.tolist(), noise.tolist(), strict=True)
        ]
    assert published == sorted(expected)
    noise = np.concatenate([noise for _, noise in watched.draws])
    assert len(np.unique(noise)) == len(noise), "two measurements have the same noise, of a scale of 2^30 units or so"


@by_design
@by_domain
def test_what_was_spent_on_a_person_is_at_most_epsilon(domain: Domain, design: str, watched: Watched) -> None:
    """The sum of rate times the person's units, over all that was measured; in all but the paper's, epsilon exactly."""
    counts, rng = crowd(domain), np.random.default_rng(2)
    for seed in range(5):
        watched.questions.clear()
        watched.draws.clear()
        seeded_release(counts, epsilon=EPSILON, design=design, seed=seed)
        codes, units = a_person(domain, rng)
        spent = Fraction(0)
        for (level, asked, _), (rate, _) in zip(watched.questions, watched.draws, strict=True):
            inside = np.isin(codes >> 2 * (domain.depth - level), asked)
            spent += rate * int(units[inside].sum())
        assert spent <= EPSILON
        if design != "paper":
            assert spent == EPSILON


@by_design
@by_domain
def test_neighbours_are_asked_the_same_if_they_answered_the_same(
    domain: Domain, design: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With answers that have nothing to do with the counts, a release of nobody and of a crowd are equal."""
    none = np.zeros(0, np.int64)
    found = []
    for counts in (crowd(domain), dph.Counts.from_cells(domain, none, none, none)):
        answers = np.random.default_rng(3)
        monkeypatch.setattr(
            measure,
            "count_with_noise",
            lambda counts, level, cells, *_, made_up=answers: made_up.integers(-5, 40, len(cells)) * UNITS,
        )
        m = seeded_release(counts, epsilon=EPSILON, design=design, seed=1).measurements
        found.append([column.tolist() for column in (m.levels, m.codes, m.counts, m.shares)])
    assert found[0] == found[1]


class Drawn(NamedTuple):
    """A draw of the ladder: its share, and the cell that it is for."""

    share: int
    level: int
    code: int


def drawn_by(watched: Watched, design: LadderDesign) -> dict[int, Drawn]:
    """All draws of a ladder's release, by their values. Those without a question before them are the cells' own."""
    own = {rung.taken for rung in design.rungs}
    questions, found = iter(watched.questions), dict[int, Drawn]()
    level, codes = 0, np.zeros(0, np.int64)
    for rate, noise in watched.draws:
        share = int(rate * UNITS * SHARES / EPSILON)
        if share in own:
            here, cells = level - 2, np.unique(codes >> 4)
        else:
            level, codes, _ = next(questions)
            here, cells = level, codes
        assert len(cells) == len(noise)
        found |= {n: Drawn(share, here, c) for n, c in zip(noise.tolist(), cells.tolist(), strict=True)}
    assert next(questions, None) is None
    assert len(found) == sum(len(noise) for _, noise in watched.draws), "two draws are equal, of a scale of 2^30 units"
    return found


@pytest.mark.parametrize("seed", range(4))
@by_domain
def test_the_ladder_publishes_counts_each_with_one_draw_of_its_own(domain: Domain, seed: int, watched: Watched) -> None:
    """Of the recorded rate, drawn for the cell or for one inside it; and no draw is in two published values."""
    counts = crowd(domain)
    release = seeded_release(counts, epsilon=EPSILON, design="ladder", seed=seed)
    m, design = release.measurements, release.design
    assert isinstance(design, LadderDesign)
    draws, used = drawn_by(watched, design), set[int]()
    for level, code, noisy, share in zip(m.levels, m.codes, m.counts, m.shares, strict=True):
        true = sum(int(w) for w in np.diff(counts.sums)[counts.codes >> 2 * (domain.depth - level) == code])
        noise = int(noisy) - true
        draw = draws[noise]
        assert draw.share == share
        assert level <= draw.level <= level + 2
        assert draw.code >> 2 * (draw.level - level) == code
        used.add(noise)
    assert len(used) == len(m)
    if len(m) > 100:  # every kind is there
        assert {draws[noise].share in design.rungs[0] for noise in used} == {True, False}


@by_domain
def test_what_the_ladder_spends_on_a_person_is_epsilon(domain: Domain) -> None:
    counts, rng = crowd(domain), np.random.default_rng(2)
    for seed in range(5):
        m = seeded_release(counts, epsilon=EPSILON, design="ladder", seed=seed).measurements
        codes, units = a_person(domain, rng)
        spent = Fraction(0)
        for level, code, share in zip(m.levels.tolist(), m.codes.tolist(), m.shares.tolist(), strict=True):
            inside = codes >> 2 * (domain.depth - level) == code
            spent += EPSILON * share / SHARES * int(units[inside].sum()) / UNITS
        assert spent == EPSILON


def test_the_source_is_read_anew_for_every_question() -> None:
    """Equal questions to one source get different noise: no table of noise is kept."""
    law = DiscreteLaplace(Fraction(1, UNITS))
    source = SeededSource(5)
    assert not np.array_equal(law.sample(50, source), law.sample(50, source))
