"""The ladder: a cell's fate is decided by secret looks at its count, and the looks are free of charge.

**Contract of `climb`.** Given counts in which one person weighs at most W units, and noise that is drawn afresh by each
call, the published values are epsilon-DP for adding or removing one person's whole data.

**The theorem.** A step draws secret noise and ends in one of finitely many branches. Branch B publishes values
Y_B = counts + independent noise, and nothing else. Let Z_B be all the looks that were consulted on the way to B, those
that sent the walk elsewhere included.

    If, for every branch B, the law of Z_B given Y_B does not depend on the data, then the step costs in branch B what
    publishing Y_B alone costs.

*Proof.* Let x be the data. Z_B alone tells whether the step ends in B. So ``P_x(branch B, Y_B = y) = P_x(Y_B = y) *
P(Z_B leads to B | Y_B = y)``, and the second factor has no x in it. So the ratio of P_x and P_x' of any output is that
of its published values alone. Two branches may publish alike (below: finishing, and deepening where no child is split).
Then their values have the same shares, and a sum of terms with bounded ratios has a bounded ratio.

**A cell** v with count x, children k with counts x_k and grandchildren kj with counts x_kj, as many as meet the domain.
Its paths have L left, of which opening takes e. The step draws V of the share e and one G_kj of the share L for each
grandchild. G_k is G_kj of child k's first grandchild, and G_* is G_k of the first child, *first among those that meet
the domain*: each value that is published carries exactly one draw of its own. In this order:

====================================  =============  ==================================================  ==========
look                                  if it exceeds  the branch publishes                                share
====================================  =============  ==================================================  ==========
Z1  = x + V + sum of all G_kj         opening        x + V; the children go on, with fresh noise         e
Z1' = x + sum of all G_kj             deepening      of each child k with Z_k = x_k + sum_j G_kj above   L
                                                     splitting: all x_kj + G_kj; of others: x_k + G_k
Z2  = x + sum of all G_k              closing        all x_k + G_k                                       L
otherwise                                            x + G_*                                             L
====================================  =============  ==================================================  ==========

*Why the theorem applies.* Given what is published, every look is a function of it and of noise that is in no published
value, hence independent of them and without data:

* opened, y = x + V: ``Z1 = y + sum G_kj``;
* closed, y = x + G_*: ``Z2 = y + the other G_k``, ``Z1' = Z2 + the G_kj that are no G_k``, ``Z1 = Z1' + V``;
* finished, y_k = x_k + G_k: ``Z2 = sum y_k``, the rest as if closed;
* deepened: ``Z_k = sum_j y_kj`` (split) or ``y_k + the other G_kj`` (not split), ``Z1' = sum Z_k``, ``Z1 = Z1' + V``.

A cell of the level above the last has no grandchildren: its G_k are drawn themselves, and Z2 decides alone. A cell of
the last level is published, without a look.

**Even maps.** Before anything else, the first step looks at Z1 of *all* its cells together. If the map is even, it may
look at Z_k of all their children, too, and then each cell publishes x_k + G_k of all children or x_kj + G_kj of all
grandchildren: ``Z_k = y_k + the other G_kj``, or ``sum_j y_kj``, ``Z1' = sum Z_k`` and ``Z1 = Z1' + V``. If it is not
even, only the Z1 were consulted, and they are as above in each branch that their cells can end in. Noises of different
cells are independent: given all published values, the joint law of all looks has no data in it. A map of more cells
than a block has (BLOCK) is never measured at once.

**The whole output.** A step uses no noise of another step, and where it happens and with which shares follows from what
was published before. So the probability of an output is the product of its published values' probabilities and of
factors without data. Steps 1 to 3 of the argument in `measure.py` do the rest: each path spends at most epsilon, which
`budget.py` checks for every step before anything is published. Drawing a step's noise when the step is reached has the
law of drawing it beforehand, as there.

**Conditions that the code keeps.** *Nothing is clipped inside a look*: counts and noise are exact integers of any size,
and x and x_k are computed as sums of x_kj, so ``Z2 = sum y_k`` holds exactly. Only what is published is clipped,
afterwards. *No draw is used twice*: noise is drawn in the step, never looked up by cell. *Looks don't leave the step.*
This holds for a curator alone: servers have no place for secret noise that outlives a round.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from operator import index
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.evenness import each_if_even, is_rough
from dpheatmap.curator.core.budget import EVERYTHING, check_paths, copy_question, refine
from dpheatmap.curator.core.counts import Counts
from dpheatmap.curator.core.publishing import Draw, Published, clip, count_with_noise, summable
from dpheatmap.design.design import Question
from dpheatmap.design.ladder import EvenRule, LadderDesign, Step
from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.design.shares import UNITS
from dpheatmap.design.start import MOST_AT_ONCE
from dpheatmap.place.quadtree import Ints, decode

Bools = NDArray[np.bool_]
BLOCK = MOST_AT_ONCE
"""The most cells that are looked at at once, which bounds the memory."""


def climb(design: LadderDesign, counts: Counts, loss: PrivacyLoss, draw: Draw) -> list[Published]:
    """Measure counts by a ladder. See the contract above."""
    domain, found = counts.domain, list[Published]()
    paths, level = EVERYTHING, design.first
    asked = design.total_question(domain)
    if asked is not None:
        total = copy_question(asked)
        check_paths(paths, [total])
        noisy = count_with_noise(counts, total.level, total.cells, total.share, draw)
        found.append(Published(total, noisy))
        paths, level = total, design.start_of(domain, loss.epsilon * int(noisy[0]) / UNITS)
    steps = [_plain(step) for step in design.steps(domain, loss.epsilon, level)]
    cells = domain.codes(level)
    for rules in steps:
        if len(cells) > BLOCK:
            rules = rules._replace(even=None)  # the rule needs the looks at all cells
        paths = refine(paths, level, cells)
        published = _join(
            measured
            for start in range(0, len(cells), BLOCK)
            for measured in _measure(rules, counts, level, cells[start : start + BLOCK], draw)
        )
        check_paths(paths, [one.question for one in published])
        found += published
        opened = [one.question for one in published if one.question.left]
        if not opened:
            break
        paths, level, cells = opened[0], level + 1, domain.children(level, opened[0].cells)
    return found


def _plain(step: Step) -> Step:
    """The rules in whole numbers and fractions, so that a decision is a function of the looks' exact values."""
    last, left, taken, *thresholds = (index(number) for number in step[:-1])
    opening, deepening, splitting, closing = thresholds
    even = step.even and EvenRule(
        Fraction(step.even.evenness),
        tuple(map(Fraction, step.even.least)),
        Fraction(step.even.own_variance),
        Fraction(step.even.variance),
        step.even.roughness and Fraction(step.even.roughness),
    )
    return Step(last, left, taken, opening, deepening, splitting, closing, even)


def _join(measured: Iterable[Published]) -> list[Published]:
    """Join the blocks of a step: one question for each level and share."""
    parts: dict[tuple[int, int, int], list[Published]] = {}
    for one in measured:
        if len(one.noisy):
            parts.setdefault((one.question.level, one.question.share, one.question.left), []).append(one)
    joined = []
    for (level, share, left), some in parts.items():
        cells = np.concatenate([one.question.cells for one in some])
        noisy = np.concatenate([one.noisy for one in some])
        order = np.argsort(cells)
        joined.append(Published(Question(level, cells[order], share, left), noisy[order]))
    return joined


class Below(NamedTuple):
    """The cells of a level inside those of a block: codes, counts and one noise each; 0 outside the domain.

    ``inside`` tells which of them meet the domain. All arrays have a row for each cell of the block, and an axis of
    four for each level in between.
    """

    codes: Ints
    inside: Bools
    counts: Ints
    noise: Ints


def _measure(rules: Step, counts: Counts, level: int, cells: Ints, draw: Draw) -> list[Published]:
    """Look at a block of cells, and measure them or what is in them."""
    if level == rules.last:
        noisy = count_with_noise(counts, level, cells, rules.left, draw)
        return [Published(Question(level, cells, rules.left, 0), noisy)]
    if level == rules.last - 1:
        children = _below(counts, level, cells, 1, rules.left, draw)
        return _close_or_finish(rules, level, children, np.ones(len(cells), np.bool_))
    grandchildren = _below(counts, level, cells, 2, rules.left, draw)
    return _four_ways(rules, level, grandchildren, summable(draw(rules.taken, len(cells))))


def _below(counts: Counts, level: int, cells: Ints, levels: int, share: int, draw: Draw) -> Below:
    """Count what is so many levels below cells, and draw one noise for each cell there that meets the domain."""
    domain, codes = counts.domain, cells
    for _ in range(levels):
        codes = codes[..., None] * 4 + np.arange(4)
    inside = domain.meets(level + levels, *decode(codes.ravel())).reshape(codes.shape)
    found = summable(counts.exact(level + levels, codes[inside])), summable(draw(share, int(inside.sum())))
    there, noise = (np.zeros(codes.shape, numbers.dtype) for numbers in found)
    there[inside], noise[inside] = found
    return Below(codes, inside, there, noise)


def _parents(below: Below) -> Below:
    """The cells one level up: their counts are sums, and the noise of each is that of its first cell inside."""
    first = below.inside.argmax(axis=-1)[..., None]
    noise = np.take_along_axis(below.noise, first, axis=-1)[..., 0]
    inside: Bools = np.any(below.inside, axis=-1, keepdims=True)[..., 0]
    return Below(below.codes[..., 0] >> 2, inside, below.counts.sum(axis=-1), noise)


def _four_ways(rules: Step, level: int, below: Below, own: Ints) -> list[Published]:
    """Open, deepen, finish or close cells, by their grandchildren and their own noise V; or measure all alike."""
    children = _parents(below)
    cells = _parents(children)
    deep_look = cells.counts + below.noise.sum(axis=(1, 2))
    look = deep_look + own
    deeper = levels_if_even(rules.even, look, int(below.inside.sum())) if rules.even else 0
    if deeper == 2 and not is_spotty(rules.even, below, children):
        deeper = 1
    if deeper:
        alike = children if deeper == 1 else below
        return [_publish_some(rules, level + deeper, alike, alike.inside)]
    opened = look > rules.opening
    deepened = ~opened & (deep_look > rules.deepening)
    split = deepened[:, None] & children.inside & (children.counts + below.noise.sum(axis=-1) > rules.splitting)
    return [
        Published(
            Question(level, cells.codes[opened], rules.taken, rules.left - rules.taken),
            clip((cells.counts + own)[opened]),
        ),
        _publish_some(rules, level + 2, below, split[..., None] & below.inside),
        _publish_some(rules, level + 1, children, deepened[:, None] & children.inside & ~split),
        *_close_or_finish(rules, level, children, ~opened & ~deepened),
    ]


def levels_if_even(rule: EvenRule, looks: Ints, noises: int) -> int:
    """How many levels down all may be measured, by the looks at all cells, with so many G in them; 0 if not even."""
    if not rule.least:
        return 0
    noise = len(looks) * rule.own_variance + noises * rule.variance
    each = each_if_even([int(look) for look in looks], noise, rule.evenness)
    return 0 if each is None else sum(each >= least for least in rule.least)


def is_spotty(rule: EvenRule | None, below: Below, children: Below) -> bool:
    """Whether an even map is worth two levels, by the looks Z_k at all children."""
    if rule is None or rule.roughness is None:
        return True
    noises = below.inside.sum(axis=-1) * rule.variance
    return is_rough(children.counts + below.noise.sum(axis=-1), children.inside, noises, rule.roughness)


def _close_or_finish(rules: Step, level: int, children: Below, here: Bools) -> list[Published]:
    """Close or finish some of the cells, by their children."""
    cells = _parents(children)
    finished = here & (cells.counts + children.noise.sum(axis=-1) > rules.closing)
    return [
        _publish_some(rules, level, cells, here & ~finished),
        _publish_some(rules, level + 1, children, finished[:, None] & children.inside),
    ]


def _publish_some(rules: Step, level: int, some: Below, chosen: Bools) -> Published:
    """Publish the chosen ones of some cells, each with its own noise."""
    return Published(Question(level, some.codes[chosen], rules.left, 0), clip((some.counts + some.noise)[chosen]))
