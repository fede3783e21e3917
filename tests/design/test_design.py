"""The questions of a design: cells against sets of plain pairs, shares by sums along paths, and the check of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.core.budget import EVERYTHING, check_paths, refine
from dpheatmap.curator.core.walk import walk
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.dense import DenseDesign
from dpheatmap.design.design import AskingDesign, Question
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.privacy_loss import PrivacyLoss, PureLoss
from dpheatmap.design.shares import SHARES, UNITS, split_over_levels
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, decode, encode
from helpers.designs import Answer, paper_design, walked

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

DOMAINS = [
    Domain.unit(4), Domain.unit(0), Domain.image(11, 6), Domain.image(1, 16), Domain.image(100, 3, depth=5),
    Domain.bbox(6.9, 50.9, 7.3, 51.0, depth=12), Domain.bbox(-1, -1, 1, 1, depth=9),
]  # fmt: skip
ONE = Fraction(1)
LOSS = PureLoss(ONE)


def designs(domain: Domain, width: int = 3) -> list[AskingDesign]:
    first = domain.first_level(width)
    adaptive = AdaptiveDesign(first, domain.depth)
    half = replace(adaptive, spent=Fraction(1, 2), total=Fraction(1, 3), start=Fraction(1, 1000))
    paper = paper_design(split_over_levels(first, domain.depth), width)
    dense = [DenseDesign(first, domain.depth), DenseDesign(first, first)]
    return [paper, adaptive, replace(adaptive, total=Fraction(0)), half, *dense]


def pairs(codes: Ints) -> list[tuple[int, int]]:
    x, y = decode(codes)
    return list(zip(x.tolist(), y.tolist(), strict=True))


def meeting(domain: Domain, level: int) -> set[tuple[int, int]]:
    r = domain.cells(level)
    return {(x, y) for x in range(r.x0, r.x1) for y in range(r.y0, r.y1)}


def children_of(cells: list[tuple[int, int]], domain: Domain, level: int) -> set[tuple[int, int]]:
    four = {(2 * x + dx, 2 * y + dy) for x, y in cells for dx in (0, 1) for dy in (0, 1)}
    return four & meeting(domain, level + 1)


@pytest.mark.parametrize("domain", DOMAINS)
def test_all_cells_are_those_that_meet_the_domain_in_order(domain: Domain) -> None:
    for level in range(min(domain.depth, 9) + 1):
        codes = domain.codes(level)
        assert np.all(np.diff(codes) > 0)
        assert set(pairs(codes)) == meeting(domain, level)


# The paper's design


@pytest.mark.parametrize("domain", [domain for domain in DOMAINS if domain.depth > 1])
@given(data=st.data())
def test_the_papers_next_cells_are_the_children_of_the_largest(domain: Domain, data: st.DataObject) -> None:
    level = data.draw(st.integers(1, min(domain.depth - 1, 6)))
    cells = domain.codes(level)
    cells = cells[data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells)))]
    noisy = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=len(cells), max_size=len(cells))), dtype=np.int64)
    width = data.draw(st.integers(1, 30))
    for first, kept in ((0, width), (level, None)):
        ranked = sorted(zip((-noisy).tolist(), cells.tolist(), pairs(cells), strict=True))[:kept]
        design = paper_design(split_over_levels(first, domain.depth), width)
        left = SHARES - sum(design.shares[k] for k in range(first, level + 1))
        [below] = design.after(domain, LOSS, Question(level, cells, design.shares[level], left), noisy)
        assert set(pairs(below.cells)) == children_of([pair for _, _, pair in ranked], domain, level)
        assert np.all(np.diff(below.cells) > 0)
        assert (below.level, below.share) == (level + 1, design.shares[level + 1])
        assert below.left == left - below.share


def test_the_paper_begins_with_all_cells_of_its_first_level_and_ends_with_nothing_left() -> None:
    domain, design = Domain.unit(3), paper_design(split_over_levels(1, 3), 1)
    begin = design.begin(domain)
    assert begin.cells.tolist() == [0, 1, 2, 3]
    assert (begin.level, begin.share, begin.left) == (1, design.shares[1], SHARES - design.shares[1])
    rows = walked(design, domain, ONE, lambda asked: np.zeros(len(asked.cells), np.int64))
    assert [(asked.level, len(asked.cells)) for asked in rows] == [(1, 4), (2, 16), (3, 4)]
    assert rows[-1].left == 0
    assert design.possible_shares(domain) == set(design.shares.values())


def test_ties_go_to_the_smaller_code_whatever_the_order_of_the_data() -> None:
    domain, design = Domain.unit(3), paper_design(split_over_levels(0, 3), 1)
    [below] = design.after(domain, LOSS, Question(1, np.arange(4), 1, SHARES // 2), np.zeros(4, dtype=np.int64))
    assert pairs(below.cells) == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert design.after(domain, LOSS, Question(3, np.arange(64), 1, 0), np.zeros(64, dtype=np.int64)) == []
    assert encode(np.array([1]), np.array([0])).tolist() == [1]


# What the proof of the measurement rests on

made_up_values = st.sampled_from(["wild", "even", "crowded"])


def answers(kind: str, rng: np.random.Generator, scale: int) -> Answer:
    """Noisy values made up for whatever cells come next: anything, nearly equal ones, or most in one cell."""

    def answer(asked: Question) -> Ints:
        size = len(asked.cells)
        if kind == "even":
            return scale * UNITS * 50 // size + rng.integers(-9, 9, size)
        noisy = rng.integers(-scale * UNITS, scale * UNITS, size)
        if kind == "crowded":
            noisy[rng.integers(size)] = 2**61
        return noisy

    return answer


@pytest.mark.parametrize("domain", DOMAINS)
@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32), kind=made_up_values, scale=st.sampled_from([1, 20, 400, 10**6]),
    epsilon=st.sampled_from(["1/7", "1", "30", "1/1000000000"]),
)  # fmt: skip
def test_along_every_path_the_shares_add_up_to_epsilon(
    domain: Domain, seed: int, kind: str, scale: int, epsilon: str
) -> None:
    """For made-up noisy values, path by path and without the walk's own check; in all but the paper's, exactly."""
    for design in designs(domain):
        asked = walked(design, domain, Fraction(epsilon), answers(kind, np.random.default_rng(seed), scale))
        assert {question.share for question in asked} <= design.possible_shares(domain)
        spent: dict[tuple[int, int], int] = {}
        for question in asked:
            assert 0 < len(question.cells) == len(np.unique(question.cells))
            assert question.level <= design.last
            assert domain.meets(question.level, *decode(question.cells)).all()
            for code in question.cells.tolist():
                spent[question.level, code] = spent.get((question.level, code), 0) + question.share
        paths = {cell: sum(spent.get((cell[0] - k, cell[1] >> 2 * k), 0) for k in range(cell[0] + 1)) for cell in spent}
        inner = {(level - k, code >> 2 * k) for level, code in spent for k in range(1, level + 1)}
        assert max(paths.values()) <= SHARES
        if not isinstance(design, PaperDesign):
            assert {total for cell, total in paths.items() if cell not in inner} == {SHARES}
            assert covers(domain, [cell for cell in spent if cell not in inner])


def covers(domain: Domain, leaves: list[tuple[int, int]]) -> bool:
    """No path goes past the cells that end one: they are disjoint, and the finest cells under them are all."""
    finest = domain.cells(domain.depth)
    area = 0
    for level, code in leaves:
        side = 1 << (domain.depth - level)
        x, y = (int(at[0]) * side for at in decode(np.array([code])))
        wide = min(x + side, finest.x1) - max(x, finest.x0)
        area += wide * (min(y + side, finest.y1) - max(y, finest.y0))
    return area == finest.count


@pytest.mark.parametrize("domain", DOMAINS)
def test_questions_follow_from_noisy_values_alone(domain: Domain) -> None:
    """The same answers lead to the same questions, each time; a design is handed nothing else and keeps nothing."""
    for design in designs(domain):
        for kind in ("wild", "even", "crowded"):
            runs = [walked(design, domain, ONE, answers(kind, np.random.default_rng(5), 40)) for _ in "ab"]
            assert [str(question) for question in runs[0]] == [str(question) for question in runs[1]]


# The check that the walk makes at every step

CELLS = np.arange(4)
ASKED = Question(2, CELLS, 10, 100)
FAULTS: dict[str, tuple[list[Question], str]] = {
    "more than is left": ([Question(2, CELLS, 101, 0)], "more on a path"),
    "more than is left, later": ([Question(2, CELLS, 100, 1)], "more on a path"),
    "more than is left, on no cell": ([Question(2, CELLS[:0], 101, 0)], "more on a path"),
    "nothing": ([Question(2, CELLS, 0, 0)], "more on a path"),
    "less than nothing": ([Question(2, CELLS, -5, 0)], "more on a path"),
    "less than nothing left": ([Question(2, CELLS, 101, -1)], "more on a path"),
    "a cell twice": ([Question(2, np.array([1, 1]), 9, 0)], "twice in one question"),
    "cells out of order": ([Question(2, np.array([2, 1]), 9, 0)], "twice in one question"),
    "a cell closed and opened": ([Question(2, CELLS[:1], 50, 0), Question(3, CELLS, 50, 0)], "on two ways"),
    "two questions to a cell": ([Question(2, CELLS[:1], 50, 0), Question(2, CELLS[:1], 50, 0)], "on two ways"),
    "children asked twice": ([Question(3, CELLS[:2], 50, 0), Question(3, CELLS[1:], 50, 0)], "on two ways"),
    "children and grandchildren": ([Question(3, CELLS, 50, 0), Question(4, CELLS + 12, 50, 0)], "on two ways"),
    "a cell not asked before": ([Question(2, np.array([4]), 50, 0)], "elsewhere"),
    "a child of none": ([Question(3, np.array([15, 16]), 50, 0)], "elsewhere"),
    "deeper than any cell": ([Question(29, CELLS, 50, 0)], "deeper than any cell"),
    "a level up": ([Question(1, np.zeros(1, np.int64), 50, 0)], "back up"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_walk_stops_at_each_way_to_overspend(fault: str) -> None:
    following, words = FAULTS[fault]
    with pytest.raises(AssertionError, match=words):
        check_paths(ASKED, following)

    class Faulty(PaperDesign):
        """Asks the questions that are at fault, after an honest one."""

        def begin(self, domain: Domain) -> Question:
            return ASKED

        def after(self, domain: Domain, loss: PrivacyLoss, asked: Question, noisy: Ints) -> list[Question]:
            return following

    asked: list[Question] = []

    def answer(question: Question) -> Ints:
        asked.append(question)
        return np.zeros(len(question.cells), np.int64)

    with pytest.raises(AssertionError, match=words):
        walk(Faulty({2: SHARES}, 1, ONE), Domain.unit(5), LOSS, answer)
    told = [(question.level, question.cells.tolist()) for question in asked]
    assert told == [(ASKED.level, ASKED.cells.tolist())], "nothing of what is at fault is measured"


def test_what_keeps_the_rules_passes() -> None:
    check_paths(ASKED, [])
    check_paths(ASKED, [Question(2, CELLS, 100, 0)])
    check_paths(ASKED, [Question(2, CELLS[:1], 100, 0), Question(3, CELLS + 4, 1, 99), Question(4, CELLS + 32, 60, 40)])
    check_paths(ASKED, [Question(3, CELLS[:2], 50, 0), Question(4, CELLS + 8, 50, 0), Question(3, CELLS[3:], 50, 0)])
    check_paths(EVERYTHING, [Question(2, np.arange(16), SHARES, 0)])


def test_paths_told_by_deeper_cells_have_as_much_left() -> None:
    """Some of the cells inside those asked about: what is left is theirs, and what is not named is not followed."""
    finer = refine(ASKED, 4, CELLS + 16)
    assert (finer.level, finer.cells.tolist(), finer.share, finer.left) == (4, (CELLS + 16).tolist(), 0, ASKED.left)
    assert refine(ASKED, 2, CELLS).left == ASKED.left
    assert len(refine(ASKED, 3, CELLS[:0]).cells) == 0
    check_paths(finer, [Question(4, CELLS + 16, ASKED.left, 0)])
    for following, words in (
        (Question(4, CELLS + 16, ASKED.left + 1, 0), "more on a path"),
        (Question(4, CELLS + 20, ASKED.left, 0), "elsewhere"),
        (Question(3, CELLS + 4, ASKED.left, 0), "back up"),
    ):
        with pytest.raises(AssertionError, match=words):
            check_paths(finer, [following])


@pytest.mark.parametrize(
    ("level", "cells", "words"),
    [(3, np.array([16]), "elsewhere"), (2, np.array([4]), "elsewhere"), (1, np.array([0]), "back up")],
)
def test_paths_are_not_told_by_cells_elsewhere(level: int, cells: Ints, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        refine(ASKED, level, cells)


@pytest.mark.parametrize(
    ("begin", "words"),
    [
        (Question(0, CELLS[:1], SHARES + 1, 0), "more on a path"),
        (Question(0, CELLS[:1], 1, SHARES), "more on a path"),
        (Question(1, np.array([0, 0]), 1, 0), "twice"),
        (Question(1, np.array([0, 4]), 1, 0), "elsewhere"),
        (Question(1, np.array([-1]), 1, 0), "elsewhere"),
    ],
)
def test_the_first_question_is_checked_like_any_other(begin: Question, words: str) -> None:
    class Faulty(PaperDesign):
        """Starts with a fault."""

        def begin(self, domain: Domain) -> Question:
            return begin

    with pytest.raises(AssertionError, match=words):
        walk(Faulty({0: SHARES}, 1, ONE), Domain.unit(2), LOSS, lambda asked: pytest.fail("nothing may be measured"))


# Designs that change their mind after they were checked


class Twice(list[Question]):
    """A list that shows nothing to whoever looks first, and a question to whoever looks again."""

    looks = 0

    def __iter__(self) -> Iterator[Question]:
        self.looks += 1
        return iter([]) if self.looks == 1 else super().__iter__()


class Altering(PaperDesign):
    """Alters the cells that it was asked about, and the noisy counts, after they were measured."""

    def after(self, domain: Domain, loss: PrivacyLoss, asked: Question, noisy: Ints) -> list[Question]:
        following = super().after(domain, loss, asked, noisy)
        asked.cells[:] = 0
        noisy[:] = 0
        return following


def test_what_is_checked_is_what_is_asked() -> None:
    class Sly(PaperDesign):
        """Hands over a list that is not the same when it is read again."""

        def after(self, domain: Domain, loss: PrivacyLoss, asked: Question, noisy: Ints) -> list[Question]:
            return Twice([Question(asked.level + 1, domain.codes(asked.level + 1), SHARES, 0)])

    asked: list[Question] = []

    def answer(question: Question) -> Ints:
        asked.append(question)
        return np.ones(len(question.cells), np.int64)

    walk(Sly({0: SHARES}, 1, ONE), Domain.unit(2), LOSS, answer)
    assert len(asked) == 1, "only what was checked is asked"


def test_a_design_can_not_alter_what_was_measured() -> None:
    given: list[tuple[Question, Ints]] = []

    def answer(question: Question) -> Ints:
        given.append((question, np.arange(len(question.cells)) + 1))
        return given[-1][1]

    walk(Altering(split_over_levels(0, 2), 20, ONE), Domain.unit(2), LOSS, answer)
    assert [question.cells.tolist() for question, _ in given] == [list(range(4**level)) for level in range(3)]
    assert all((noisy == np.arange(len(noisy)) + 1).all() for _, noisy in given)


def test_a_question_of_anything_but_whole_numbers_stops_the_walk() -> None:
    class Inexact(PaperDesign):
        """Asks for a share that is no whole number."""

        def begin(self, domain: Domain) -> Question:
            return super().begin(domain)._replace(share=0.5)  # type: ignore[arg-type]

    with pytest.raises(TypeError):
        walk(Inexact({0: SHARES}, 1, ONE), Domain.unit(2), LOSS, lambda asked: pytest.fail("nothing may be measured"))


FAULTY = [
    (PaperDesign({2: SHARES, 3: SHARES}, 20, ONE), "asks questions that it may not ask"),
    (PaperDesign({2: SHARES // 2, 4: SHARES // 2}, 20, ONE), "asks questions that it may not ask"),
    (AdaptiveDesign(2, 20), "has levels down to 20"),
    (AdaptiveDesign, "design must be one of"),
]


@pytest.mark.parametrize(("design", "words"), FAULTY)
def test_a_design_that_can_not_work_is_refused_before_it_is_paid_for(design: Any, words: str, tmp_path: Path) -> None:
    none = np.zeros(0, np.int64)
    counts = dph.Counts.from_cells(Domain.unit(6), none, none, none)
    ledger = dph.Ledger(tmp_path / "city.ledger")
    ledger.limit("riders", 5)
    with pytest.raises(dph.errors.ParameterError, match=words):
        dph.release(counts, epsilon=1, design=design, ledger=ledger, population="riders")
    with pytest.raises(dph.errors.ParameterError, match="width goes with the name of a design"):
        dph.release(counts, epsilon=1, design=AdaptiveDesign(2, 6), width=5)
    assert ledger.accounts()["riders"].spent == 0
