"""The measurement of slices that are alike: a look at all of them, a map of all, and blocks of it slice by slice.

**Contract of `measure_slices`.** Given the counts of slices, in which one person weighs at most W units over all slices
together, the returned measurements are epsilon-DP for adding or removing one person's whole data.

**Why.** The finest things that are counted are pairs (c, t) of a finest cell and a slice. A measured set v is a cell in
all slices (the look, the pooled map), or a cell in one slice (a block, or a cell of a slice that is measured apart).
Let b_v be the sum of the parts of epsilon spent on v, and p(v) the person's units in it.

1. *One measurement*: a count that moves by d units changes the probability of its noisy value by exp(|d| b / W).
2. *The whole output.* Fix an output. What follows the look is a function of its noisy value. The pooled map is a
   ladder's: given what it publishes, the probability of having decided so has no data in it (`looks.py`). Blocks are a
   function of its published values, and each is counted once in each slice. All noises are drawn afresh. So the ratio
   of the probabilities of the output, with and without the person, is at most ``exp(sum over v of b_v p(v) / W)``.
3. *Exchange sums.* This is the sum over pairs of p(c, t) times what was spent on measured sets that hold (c, t). These
   are the look, LOOK of epsilon; the cells on the path to c in the pooled map, together at most its part; and the one
   block that holds c, at t, with the part of the slices: blocks are disjoint, which is checked. These parts are exact
   fractions that add up to epsilon. If slices are apart, they are the look and the cells on the path to c in the tree
   of t, with the rest. So the sum is at most ``epsilon * sum of p(c, t) <= epsilon W``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.measure import measure_counts, noise_of_shares
from dpheatmap.curator.core.noise import Source
from dpheatmap.curator.core.publishing import count_with_noise
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PrivacyLoss, PureLoss
from dpheatmap.design.shares import FARTHEST, SHARES
from dpheatmap.design.slice_rule import Blocks, SliceRule, choose_blocks, loss_of_look
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints
from dpheatmap.releases.measurements import SliceMeasurements


def measure_slices(
    counts: Sequence[Counts], loss: PrivacyLoss, design: LadderDesign, source: Source
) -> SliceMeasurements:
    """Measure the counts of slices that are alike."""
    domain, everybody = counts[0].domain, pool(counts)
    level = domain.first_level(1)
    look = _count(everybody, level, domain.codes(level), loss_of_look(loss), source)
    rule = SliceRule.after_look(int(look[0]), loss.epsilon, len(counts))
    each = rule.loss_of_slices(loss)
    if rule.apart:
        return SliceMeasurements(int(look[0]), rule, tuple(measure_counts(one, each, design, source) for one in counts))
    found = measure_counts(everybody, rule.loss_of_map(loss), rule.design_of_trees(design), source)
    blocks = choose_blocks(domain, found.levels, found.codes, found.counts, each, len(counts))
    check_blocks(domain, blocks)
    noisy = np.stack([_blocks_of(one, blocks, each, source) for one in counts])
    return SliceMeasurements(int(look[0]), rule, (found,), blocks, noisy)


def check_blocks(domain: Domain, blocks: Blocks) -> None:
    """Stop if two blocks overlap, in which case somebody's part of a slice would be counted twice."""
    begin, end = ((blocks.codes + more) << 2 * (domain.depth - blocks.levels) for more in (0, 1))
    if (begin[1:] < end[:-1]).any():
        raise AssertionError("blocks overlap; please report this")


def pool(counts: Sequence[Counts]) -> Counts:
    """Add up the counts of slices, up to FARTHEST in a cell. A person weighs at most W in all, and so in the sum."""
    codes, place = np.unique(np.concatenate([one.codes for one in counts]), return_inverse=True)
    weights = np.concatenate([np.diff(one.sums) for one in counts])
    high, low = np.zeros((2, len(codes)), np.int64)  # of halves of 32 bits, no sum overflows
    np.add.at(high, place, weights >> 32)
    np.add.at(low, place, weights % 2**32)
    held = np.where(high + (low >> 32) < FARTHEST >> 32, (high << 32) + low, FARTHEST)
    return Counts.in_order(counts[0].domain, codes, held)


def _blocks_of(counts: Counts, blocks: Blocks, loss: PureLoss, source: Source) -> Ints:
    """Count all blocks in a slice."""
    noisy = np.zeros(len(blocks.codes), np.int64)
    for level in np.unique(blocks.levels):
        here = np.flatnonzero(blocks.levels == level)
        noisy[here] = _count(counts, int(level), blocks.codes[here], loss, source)
    return noisy


def _count(counts: Counts, level: int, cells: Ints, loss: PureLoss, source: Source) -> Ints:
    """Count cells with all of a loss."""
    noise = noise_of_shares(loss, (SHARES,))
    return count_with_noise(counts, level, cells, SHARES, lambda share, size: noise[share].exact(size, source))
