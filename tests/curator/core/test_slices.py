"""What is spent on each pair of a finest cell and a slice adds up to epsilon, exactly; and blocks are disjoint."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpheatmap as dph
from dpheatmap.curator.core import slices
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.slices import check_blocks, measure_slices, pool
from dpheatmap.curator.publish import design_for
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.settings import Settings
from dpheatmap.design.shares import FARTHEST, SHARES, UNITS
from dpheatmap.design.slice_rule import Blocks, SliceRule, loss_of_look
from dpheatmap.place.domain import Domain
from dpheatmap.releases.measurements import Measurements, SliceMeasurements
from dpheatmap.testing import SeededSource

PLACE = Domain.unit(5)
BOX = dph.Domain.bbox(7.30, 46.90, 7.50, 47.02, depth=14)
POLYGON = dph.Domain.polygon({"type": "Polygon", "coordinates": [[[7, 46], [8, 46], [7.4, 46.8], [7, 46]]]}, depth=10)


def generated(domain: Domain, slices: int, people: int, seed: int = 0) -> list[Counts]:
    """Counts of slices, each of people in places of their own."""
    rng = np.random.default_rng(seed)
    codes = domain.codes(domain.depth)
    found = []
    for _ in range(slices):
        at = np.unique(codes[rng.integers(0, len(codes), max(people // 3, 1)) // rng.integers(1, 40)])
        weights = rng.multinomial(people, np.full(len(at), 1 / len(at))) * UNITS
        found.append(Counts.in_order(domain, at, weights.astype(np.int64)))
    return found


def measured(domain: Domain, counts: list[Counts], epsilon: Fraction, seed: int) -> tuple[SliceMeasurements, PureLoss]:
    loss = PureLoss(epsilon)
    design = design_for(domain, loss, Settings())
    assert isinstance(design, LadderDesign)
    return measure_slices(counts, loss, design, SeededSource(seed)), loss


def spent(domain: Domain, m: Measurements, loss: PureLoss) -> dict[int, Fraction]:
    """What a tree spends on the path to each finest cell."""
    codes = domain.codes(domain.depth)
    total = np.zeros(len(codes), dtype=object)
    for level, code, share in zip(m.levels.tolist(), m.codes.tolist(), m.shares.tolist(), strict=True):
        total[codes >> 2 * (domain.depth - level) == code] += share
    return {code: loss.epsilon * share / SHARES for code, share in zip(codes.tolist(), total, strict=True)}


@pytest.mark.parametrize("domain", [PLACE, BOX, POLYGON], ids=["unit", "box", "polygon"])
@pytest.mark.parametrize(("number", "people"), [(3, 0), (3, 200), (7, 300), (7, 400), (24, 600), (2, 50_000)])
def test_parts_add_up_to_epsilon_on_every_pair(domain: Domain, number: int, people: int) -> None:
    epsilon = Fraction(7, 5)
    found, loss = measured(domain, generated(domain, number, people), epsilon, seed=people)
    rule, each = found.rule, found.rule.loss_of_slices(loss)
    look = loss_of_look(loss).epsilon
    if rule.apart:
        for tree in found.trees:
            assert set(spent(domain, tree, each).values()) == {epsilon - look}
        return
    assert found.blocks is not None
    assert found.counts is not None
    assert found.counts.shape == (number, len(found.blocks.codes))
    pooled = spent(domain, found.trees[0], rule.loss_of_map(loss))
    every = Measurements(*found.blocks, found.counts[0], np.full(len(found.blocks.codes), SHARES))
    of_block = spent(domain, every, each)  # of one slice: each pair lies in exactly one block
    assert {look + pooled[code] + of_block[code] for code in pooled} == {epsilon}


def test_all_ways_are_met() -> None:
    """Of the cases above: few people are mostly pooled, more have blocks, and plenty are apart; each has its part."""
    rules = {
        (number, people): measured(PLACE, generated(PLACE, number, people), Fraction(7, 5), people)[0].rule
        for number, people in [(3, 0), (3, 200), (7, 300), (7, 400), (24, 600), (2, 50_000)]
    }
    assert [float(rule.pooled) for rule in rules.values()] == [0.9, 0.7, 0.8, 0.65, 0.5, 0.0]


def test_blocks_that_overlap_are_found_before_they_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    check_blocks(PLACE, Blocks(np.array([1, 2, 2]), np.array([0, 4, 5])))
    with pytest.raises(AssertionError, match="blocks overlap"):
        check_blocks(PLACE, Blocks(np.array([1, 2]), np.array([0, 3])))
    asked: list[Blocks] = []
    monkeypatch.setattr(slices, "choose_blocks", lambda *_: Blocks(np.array([0, 1]), np.array([0, 3])))
    monkeypatch.setattr(slices, "_blocks_of", lambda counts, blocks, *_: asked.append(blocks))
    with pytest.raises(AssertionError, match="blocks overlap"):
        measured(PLACE, generated(PLACE, 3, 200), Fraction(1), 1)
    assert asked == []


@settings(max_examples=50, deadline=None)
@given(st.lists(st.dictionaries(st.integers(0, 1023), st.integers(0, 2**40), max_size=20), min_size=1, max_size=5))
def test_pooled_counts_are_sums(slices_: list[dict[int, int]]) -> None:
    counts = [
        Counts.in_order(PLACE, np.array(sorted(one), np.int64), np.array([one[k] for k in sorted(one)], np.int64))
        for one in slices_
    ]
    every = pool(counts)
    assert every.total == sum(one.total for one in counts)
    codes = np.arange(1024)
    assert (every.exact(5, codes) == np.sum([one.exact(5, codes) for one in counts], axis=0)).all()


HEAVY = st.one_of(st.integers(0, 2**63 - 1), st.sampled_from([2**32 - 1, 2**32, 2**61 - 1, 2**61, 2**62, 2**63 - 1]))


@given(st.lists(HEAVY, min_size=1, max_size=8), st.integers(0, UNITS))
def test_a_cell_of_many_slices_is_held_and_never_overflows(weights: list[int], more: int) -> None:
    """More people than 64 bits hold weigh FARTHEST together, and a person moves the sum by no more than their units."""
    weights[0] = min(weights[0], 2**63 - 1 - more)

    def pooled(first: int) -> int:
        cell = np.array([7])
        return pool([Counts.in_order(PLACE, cell, np.array([one])) for one in [first, *weights[1:]]]).total

    alone, together = pooled(weights[0]), pooled(weights[0] + more)
    assert alone == min(sum(weights), FARTHEST)
    assert 0 <= together - alone <= more


def test_every_slice_has_noise_of_its_own() -> None:
    found, _ = measured(PLACE, generated(PLACE, 3, 0), Fraction(1), 5)
    assert found.counts is not None
    assert len(np.unique(found.counts)) == found.counts.size


@settings(max_examples=100, deadline=None)
@given(st.integers(-(2**61), 2**61), st.fractions(Fraction(1, 1000), 20), st.integers(1, 1000))
def test_every_rule_was_foreseen_and_spends_all(noisy: int, epsilon: Fraction, number: int) -> None:
    rule, whole = SliceRule.after_look(noisy, epsilon, number), PureLoss(epsilon)
    assert rule in SliceRule.every()
    parts = [loss_of_look(whole).epsilon, rule.loss_of_slices(whole).epsilon]
    parts += [] if rule.apart else [rule.loss_of_map(whole).epsilon]
    assert sum(parts) == epsilon


def test_the_pooled_map_starts_deeper_than_slices_apart() -> None:
    """A signal of 700 is 44 a cell of level 2 and 11 a cell of level 3; the least are 24 and 10."""
    design = design_for(PLACE, PureLoss(Fraction(1)), Settings())
    assert isinstance(design, LadderDesign)
    together, apart = (SliceRule(pooled).design_of_trees(design) for pooled in (Fraction(9, 10), Fraction(0)))
    assert apart == design
    assert [one.start_of(PLACE, Fraction(700)) for one in (apart, together)] == [2, 3]
