"""Bugs planted into the measurement, each a plausible slip, to see that the audit of `test_privacy` finds them.

A bug takes pytest's monkeypatch and changes one thing in the code that `release` runs; everything else stays as it is.
None of them is planted below a cache, which would carry it into other tests or, filled already, hide it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpheatmap.curator import aggregation, bounding_box, groups, publish
from dpheatmap.curator.core import looks, measure, query, slices
from dpheatmap.curator.core import walk as walks
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.noise import DiscreteLaplace, Source, discrete_laplace
from dpheatmap.curator.core.publishing import count_with_noise
from dpheatmap.curator.read.reading import Reading
from dpheatmap.curator.rivals import Curator
from dpheatmap.design import adaptive
from dpheatmap.design.adaptive import AdaptiveDesign
from dpheatmap.design.dense import DenseDesign
from dpheatmap.design.design import Question
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.privacy_loss import PrivacyLoss, PureLoss
from dpheatmap.design.shares import SHARES, UNITS
from dpheatmap.design.slice_rule import LOOK, Blocks, SliceRule
from dpheatmap.place.domain import CellRange, Domain, Floats
from dpheatmap.place.quadtree import Ints, decode
from dpheatmap.slicing import axis
from dpheatmap.testing import SeededSource


def scale_too_small(patch: pytest.MonkeyPatch) -> None:
    """The noise's scale is 20 % too small."""
    honest = measure.noise_of_shares

    def quieter(epsilon: Fraction, shares: tuple[int, ...]) -> dict[int, DiscreteLaplace]:
        return {share: discrete_laplace(law.rate * Fraction(5, 4)) for share, law in honest(epsilon, shares).items()}

    patch.setattr(measure, "noise_of_shares", quieter)


def weight_too_large(patch: pytest.MonkeyPatch) -> None:
    """A person weighs 20 % more than W."""
    honest = Counts.exact
    patch.setattr(Counts, "exact", lambda self, level, codes: honest(self, level, codes) * 6 // 5)


def whole_budget_on_each_level(patch: pytest.MonkeyPatch) -> None:
    """Each level spends all of epsilon."""

    def spending(loss: PrivacyLoss, shares: tuple[int, ...]) -> dict[int, DiscreteLaplace]:
        return dict.fromkeys(shares, discrete_laplace(loss.epsilon / UNITS))

    patch.setattr(measure, "noise_of_shares", spending)


def selection_from_true_counts(patch: pytest.MonkeyPatch) -> None:
    """The cells to visit next are chosen by their true counts."""
    _decide_by_true_counts(patch, PaperDesign, lambda asked: True)


def opening_by_true_counts(patch: pytest.MonkeyPatch) -> None:
    """Cells are opened by their true counts."""
    _decide_by_true_counts(patch, AdaptiveDesign, lambda asked: True)


def start_by_true_total(patch: pytest.MonkeyPatch) -> None:
    """The level to start at is chosen by the true total; cells by their noisy counts."""
    _decide_by_true_counts(patch, AdaptiveDesign, lambda asked: len(asked.cells) == 1)


def evenness_by_true_counts(patch: pytest.MonkeyPatch) -> None:
    """Whether a map is even is seen from its true counts, what becomes of its cells from their noisy ones."""
    even: Callable[..., int | None] = AdaptiveDesign._levels_if_even
    true = _remember_true_counts(patch)

    def levels(self: Any, domain: Domain, epsilon: Fraction, asked: Question, noisy: Ints) -> int | None:
        return even(self, domain, epsilon, asked, true())

    patch.setattr(AdaptiveDesign, "_levels_if_even", levels)


def _remember_true_counts(patch: pytest.MonkeyPatch) -> Callable[[], Ints]:
    """What was last measured, without its noise."""
    true = [np.zeros(0, dtype=np.int64)]

    def remembering(counts: Counts, level: int, cells: Ints, *further: Any) -> Ints:
        true[0] = counts.exact(level, cells)
        return count_with_noise(counts, level, cells, *further)

    patch.setattr(measure, "count_with_noise", remembering)
    return lambda: true[0]


def _decide_by_true_counts(
    patch: pytest.MonkeyPatch,
    kind: type[PaperDesign] | type[AdaptiveDesign] | type[DenseDesign],
    decides: Callable[[Question], bool],
) -> None:
    true = _remember_true_counts(patch)
    honest: Callable[..., list[Question]] = kind.after

    def after(self: Any, domain: Domain, loss: PrivacyLoss, asked: Question, noisy: Ints) -> list[Question]:
        return honest(self, domain, loss, asked, true() if decides(asked) else noisy)

    patch.setattr(kind, "after", after)


def unchecked(patch: pytest.MonkeyPatch) -> None:
    """Nothing checks any more what paths have left: the first line of defence is gone."""
    for module in (walks, looks):
        patch.setattr(module, "check_paths", lambda asked, following: None)


def closed_with_all_of_epsilon(patch: pytest.MonkeyPatch) -> None:
    """A closed cell is measured again with the whole of epsilon instead of what its path has left."""
    honest = adaptive._spend_the_rest

    def whole(domain: Domain, asked: Question, cells: Ints, deeper: int) -> Question:
        return honest(domain, asked, cells, deeper)._replace(share=SHARES)

    patch.setattr(adaptive, "_spend_the_rest", whole)
    _with_any_share(patch)


def paths_spend_twice(patch: pytest.MonkeyPatch) -> None:
    """Cells are closed with what is left, and their children are measured nevertheless, with the same again."""
    honest = AdaptiveDesign.after

    def after(self: Any, domain: Domain, loss: PrivacyLoss, asked: Question, noisy: Ints) -> list[Question]:
        below = domain.children(asked.level, asked.cells) if asked.level < self.last else asked.cells[:0]
        further = Question(asked.level + 1, below, max(asked.left, 1), 0)
        return [*honest(self, domain, loss, asked, noisy), *([further] if asked.left else [])]

    patch.setattr(AdaptiveDesign, "after", after)


def total_for_nothing(patch: pytest.MonkeyPatch) -> None:
    """The total is not charged: what follows is given the whole of epsilon again."""
    honest = AdaptiveDesign.after

    def after(self: Any, domain: Domain, loss: PrivacyLoss, asked: Question, noisy: Ints) -> list[Question]:
        following = honest(self, domain, loss, asked, noisy)
        if not self._is_total(asked):
            return following
        return [question._replace(share=SHARES, left=0) for question in following]

    patch.setattr(AdaptiveDesign, "after", after)
    _with_any_share(patch)


def total_with_64_times_its_share(patch: pytest.MonkeyPatch) -> None:
    """The noise of the total is that of 64 times its share; what is published of it says its own."""
    _total_louder(patch, 64)


def total_with_4_times_its_share(patch: pytest.MonkeyPatch) -> None:
    """The noise of the total is that of 4 times its share: 3 % of epsilon too much."""
    _total_louder(patch, 4)


def _total_louder(patch: pytest.MonkeyPatch, times: int) -> None:
    honest = measure.noise_of_shares
    total = int(SHARES * AdaptiveDesign.total)

    def louder(loss: PrivacyLoss, shares: tuple[int, ...]) -> dict[int, DiscreteLaplace]:
        laws = dict(honest(loss, shares))
        return laws | {total: discrete_laplace(laws[total].rate * times)} if total in laws else laws

    patch.setattr(measure, "noise_of_shares", louder)


def total_asks_for_64_times_its_share(patch: pytest.MonkeyPatch) -> None:
    """The design itself asks for 64 times the share, and leaves as much to what follows as before."""
    _total_asks_for_more(patch, 64)


def total_asks_for_4_times_its_share(patch: pytest.MonkeyPatch) -> None:
    """The design itself asks for 4 times the share, and leaves as much to what follows as before."""
    _total_asks_for_more(patch, 4)


def _total_asks_for_more(patch: pytest.MonkeyPatch, times: int) -> None:
    honest = AdaptiveDesign.begin

    def begin(self: AdaptiveDesign, domain: Domain) -> Question:
        asked = honest(self, domain)
        return asked._replace(share=asked.share * times) if self._is_total(asked) else asked

    patch.setattr(AdaptiveDesign, "begin", begin)
    of_ladder = LadderDesign.total_question

    def total_question(self: LadderDesign, domain: Domain) -> Question | None:
        asked = of_ladder(self, domain)
        return asked and asked._replace(share=asked.share * times)

    patch.setattr(LadderDesign, "total_question", total_question)


def grid_with_all_of_epsilon(patch: pytest.MonkeyPatch) -> None:
    """The budget is not split: after the total, the grid is measured with the whole of epsilon."""
    honest = DenseDesign.after

    def after(self: Any, domain: Domain, loss: PrivacyLoss, asked: Question, noisy: Ints) -> list[Question]:
        return [question._replace(share=SHARES) for question in honest(self, domain, loss, asked, noisy)]

    patch.setattr(DenseDesign, "after", after)
    _with_any_share(patch, DenseDesign)


def noise_of_grid_too_small(patch: pytest.MonkeyPatch) -> None:
    """The noise of the grid has a third of the scale that it should have."""
    honest = DiscreteLaplace.exact

    def quieter(self: DiscreteLaplace, size: int, source: Source) -> Ints:
        law = self if size == 1 else discrete_laplace(self.rate * 3)
        return honest(law, size, source)

    patch.setattr(DiscreteLaplace, "exact", quieter)


def grid_by_true_total(patch: pytest.MonkeyPatch) -> None:
    """The grid is chosen by the true number of people."""
    _decide_by_true_counts(patch, DenseDesign, lambda asked: True)


def _with_any_share(patch: pytest.MonkeyPatch, kind: type[AdaptiveDesign] | type[DenseDesign] = AdaptiveDesign) -> None:
    honest: Callable[..., set[int]] = kind.possible_shares
    patch.setattr(kind, "possible_shares", lambda self, domain: honest(self, domain) | {SHARES})


def noise_shared_by_cells(patch: pytest.MonkeyPatch) -> None:
    """Noise is drawn once a level and added to all its cells."""
    honest = DiscreteLaplace.exact
    patch.setattr(DiscreteLaplace, "exact", lambda self, size, source: np.repeat(honest(self, 1, source), size))


def noise_shared_by_levels(patch: pytest.MonkeyPatch) -> None:
    """Noise is drawn for the first level, and the others take it over."""
    honest, honest_walk = DiscreteLaplace.exact, walks.walk
    drawn: list[Ints] = []

    def starting(*arguments: Any) -> None:
        drawn.clear()
        honest_walk(*arguments)

    def reusing(self: DiscreteLaplace, size: int, source: Source) -> Ints:
        if not drawn:
            drawn.append(honest(self, size, source))
        return np.resize(drawn[0], size)

    patch.setattr(measure, "walk", starting)
    patch.setattr(DiscreteLaplace, "exact", reusing)


def noise_shared_by_releases(patch: pytest.MonkeyPatch) -> None:
    """The source starts anew at each draw, so that every release gets the same noise."""
    honest = DiscreteLaplace.exact
    patch.setattr(DiscreteLaplace, "exact", lambda self, size, source: honest(self, size, SeededSource(1)))


def rows_weigh_like_people(patch: pytest.MonkeyPatch) -> None:
    """The aggregation gives each row of a person all W units, and nothing checks what it adds up to."""
    honest = query._of_people

    def careless(weighted: bool, place: str) -> tuple[dict[str, str], str]:
        steps, placed = honest(weighted, place)
        assert "totals.share AS units" in placed
        return steps, placed.replace("totals.share AS units", f"{UNITS} AS units")

    patch.setattr(query, "_of_people", careless)
    patch.setattr(aggregation, "_verify", lambda counts, report: None)


def files_by_themselves(patch: pytest.MonkeyPatch) -> None:
    """Each file of a glob is aggregated by itself, and the counts are added up: a person weighs 1 in every file."""
    honest = aggregation.count

    def careless(events: Any, domain: Domain, reading: Reading, **options: Any) -> list[Counts]:
        paths = sorted(Path(events).parent.glob(Path(events).name))
        return [_added_up([honest(str(path), domain, reading, **options)[0] for path in paths])]

    patch.setattr(aggregation, "count", careless)
    patch.setattr(publish, "count", careless)


def _added_up(parts: list[Counts]) -> Counts:
    codes, place = np.unique(np.concatenate([counts.codes for counts in parts]), return_inverse=True)
    weights = np.zeros(len(codes), np.int64)
    np.add.at(weights, place, np.concatenate([np.diff(counts.sums) for counts in parts]))
    return Counts.from_cells(parts[0].domain, *decode(codes), weights)


def a_person_weighs_one_in_every_image(patch: pytest.MonkeyPatch) -> None:
    """The aggregation shares a person's W units within each image instead of over all of them."""
    honest = query._of_people

    def careless(weighted: bool, place: str) -> tuple[dict[str, str], str]:
        steps, placed = honest(weighted, place)
        assert not weighted
        assert "FROM events GROUP BY person" in steps["tallies"]
        assert "located.person = totals.person" in placed
        tallies = steps["tallies"].replace("SELECT person,", "SELECT person, group_number AS theirs,")
        tallies = tallies.replace("FROM events GROUP BY person", "FROM events GROUP BY person, group_number")
        same = "located.person = totals.person AND located.group_number = totals.theirs"
        return {**steps, "tallies": tallies}, placed.replace("located.person = totals.person", same)

    patch.setattr(query, "_of_people", careless)
    patch.setattr(aggregation, "_verify", lambda counts, report: None)


def noise_shared_by_images(patch: pytest.MonkeyPatch) -> None:
    """All images of a call are measured with the same draws."""
    _noise_shared_by_images(patch, lambda number: 0)


def noise_shared_by_two_images(patch: pytest.MonkeyPatch) -> None:
    """Every third image is measured with the draws of the one before."""
    _noise_shared_by_images(patch, lambda number: number - (number % 3 == 2))


def _noise_shared_by_images(patch: pytest.MonkeyPatch, drawn_as: Callable[[int], int]) -> None:
    honest, measured, seeds = axis.listed_names, publish.measure_release, [0, 0]

    def starting(names: Iterable[str], rule: str) -> tuple[str, ...]:
        seeds[:] = [int.from_bytes(os.urandom(8), "big"), 0]
        return honest(names, rule)

    def sharing(counts: Counts, loss: PureLoss, design: Any, source: Source, *further: Any) -> Any:
        seed, number = seeds
        seeds[1] += 1
        return measured(counts, loss, design, SeededSource(seed + drawn_as(number)), *further)

    patch.setattr(groups, "listed_names", starting)
    patch.setattr(groups, "measure_release", sharing)


def a_person_weighs_one_in_every_slice(patch: pytest.MonkeyPatch) -> None:
    """The aggregation shares a person's W units within each slice instead of over all of them."""
    a_person_weighs_one_in_every_image(patch)


def noise_shared_by_slices(patch: pytest.MonkeyPatch) -> None:
    """All slices of a group are counted with the same draws."""
    honest = slices._blocks_of

    def sharing(counts: Counts, blocks: Blocks, loss: PureLoss, source: Source) -> Ints:
        key = id(blocks.codes)
        if sharing_seed.get("key") != key:
            sharing_seed.update(key=key, seed=int.from_bytes(os.urandom(8), "big"))
        return honest(counts, blocks, loss, SeededSource(sharing_seed["seed"]))

    sharing_seed: dict[str, int] = {}
    patch.setattr(slices, "_blocks_of", sharing)


def pooled_part_charged_to_nobody(patch: pytest.MonkeyPatch) -> None:
    """Slices get all that the look left, though the pooled map has had a part of it."""
    patch.setattr(SliceRule, "loss_of_slices", lambda self, whole: PureLoss(whole.epsilon * (1 - LOOK)))


def look_with_all_of_epsilon(patch: pytest.MonkeyPatch) -> None:
    """The count of everybody is charged a hundredth of epsilon, and has the noise of all of it."""
    patch.setattr(slices, "loss_of_look", lambda whole: PureLoss(whole.epsilon))


def rings_with_a_quarter_of_the_noise(patch: pytest.MonkeyPatch) -> None:
    """The last question of the search for a box has a quarter of the noise that it pays for."""
    honest = Curator.rings

    def quieter(self: Curator, boxes: Sequence[CellRange], epsilon: Fraction) -> Floats:
        self._spend(epsilon)
        return honest(Curator(self._counts, 4 * epsilon), boxes, 4 * epsilon)

    patch.setattr(Curator, "rings", quieter)


def walk_for_nothing(patch: pytest.MonkeyPatch) -> None:
    """Each question of the walk takes all of epsilon, and none is charged: the last question takes it once more."""
    honest = bounding_box._nested_boxes

    def walking(curator: Curator, share: float) -> list[CellRange]:
        return honest(Curator(curator._counts, curator.epsilon / bounding_box.STEP), share)

    patch.setattr(bounding_box, "_nested_boxes", walking)


def walk_with_little_noise(patch: pytest.MonkeyPatch) -> None:
    """The walk's questions have a twelfth of the noise that they pay for."""
    honest, nested = Curator.cells, bounding_box._nested_boxes

    def quieter(self: Curator, levels: Ints | int, codes: Ints, epsilon: Fraction) -> Floats:
        self._spend(epsilon)
        return honest(Curator(self._counts, 12 * epsilon), levels, codes, 12 * epsilon)

    def walking(curator: Curator, share: float) -> list[CellRange]:
        with pytest.MonkeyPatch.context() as during:
            during.setattr(Curator, "cells", quieter)
            return nested(curator, share)

    patch.setattr(bounding_box, "_nested_boxes", walking)
