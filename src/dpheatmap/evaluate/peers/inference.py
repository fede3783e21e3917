"""Trees of blocks over the grid of finest cells: their measurement, and least squares on their noisy counts.

Level 0 has square blocks of the finest side, and each level after it blocks ``fan_out`` times as wide. All begin at the
grid's first row and column, so block (i, j) lies in block ``(i // fan_out, j // fan_out)`` of the next level; those at
the far edges may be cut off. A tree is a list of arrays, one a level, finest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpheatmap.curator import Curator
from dpheatmap.place.domain import Floats
from dpheatmap.place.quadtree import Ints


def block_sides(longest: int, fan_out: int, finest: int = 1) -> list[int]:
    """The sides of blocks from the finest up to the first that covers the grid alone.

    >>> block_sides(240, 4)
    [1, 4, 16, 64, 256]
    """
    sides = [finest]
    while sides[-1] < longest:
        sides.append(sides[-1] * fan_out)
    return sides


def block_labels(rows: int, columns: int, side: int) -> Ints:
    """For each finest cell the number of its block, counted row by row."""
    across = -(-columns // side)
    labels: Ints = (np.arange(rows)[:, None] // side) * across + np.arange(columns)[None, :] // side
    return labels


def ask(
    curator: Curator, shape: tuple[int, int], sides: Sequence[int], weights: Sequence[float | Fraction]
) -> tuple[list[Floats], list[float]]:
    """Ask for all blocks of each side with the rest of epsilon: noisy counts, and the variance of each level's noise.

    Levels share epsilon in proportion to the weights; the first gets the rest, so that nothing is left over.

    *Privacy.* The blocks of a level are disjoint, so one question about them costs its part of epsilon, for any spread
    of a person's weight over them. The parts add up over the levels.
    """
    rows, columns = shape
    whole, total = curator.rest, sum(weights)
    noisy: list[Floats] = []
    variances: list[float] = []
    for side, weight in reversed(list(zip(sides, weights, strict=True))):
        part = curator.rest if side == sides[0] else whole * Fraction(weight / total).limit_denominator(2**32)
        answers = curator.regions(block_labels(rows, columns, side), part)
        noisy.insert(0, answers.reshape(-(-rows // side), -(-columns // side)))
        variances.insert(0, 2.0 / float(part) ** 2)
    return noisy, variances


def make_consistent(noisy: Sequence[Floats], variances: Sequence[float], fan_out: int) -> list[Floats]:
    """Make noisy counts consistent by weighted least squares under "a block is the sum of its children".

    Let a block have noisy count y of variance v, and children whose best estimates from their own subtrees are z_c,
    of variance u_c. Their sum is a second, independent estimate of the block, of variance U = sum u_c. So the best
    estimate from the block's whole subtree weights the two by their precisions:

        z = (y / v + sum z_c / U) / (1 / v + 1 / U),    u = 1 / (1 / v + 1 / U).

    At the top, z is the answer x. Below, the parent's x moves the children's sum from sum z_c to x, and least squares
    shares the difference among them by variance: ``x_c = z_c + (u_c / U) (x - sum z_c)``. With one variance for all
    levels this is the inference of Hay et al. (2010). It holds for any variances and any numbers of children, so the
    three passes of Cormode et al. (2012) for unequal budgets give the same. It takes two passes and linear time.
    """
    best, spread = [noisy[0]], [np.full(noisy[0].shape, variances[0])]
    for counts, variance in zip(noisy[1:], variances[1:], strict=True):
        own = block_sums(spread[-1], fan_out)
        share = own / (variance + own)  # of the block's own count: (1 / v) / (1 / v + 1 / U)
        best.append(share * counts + (1.0 - share) * block_sums(best[-1], fan_out))
        spread.append(share * variance)
    answer = [best[-1]]
    for level in range(len(noisy) - 2, -1, -1):
        pull = (answer[0] - block_sums(best[level], fan_out)) / block_sums(spread[level], fan_out)
        answer.insert(0, best[level] + spread[level] * to_children(pull, fan_out, best[level].shape))
    return answer


def block_sums(values: Floats, side: int) -> Floats:
    """Sums over square blocks; those at the far edges may be cut off.

    >>> block_sums(np.ones((3, 5)), 2).tolist()
    [[4.0, 4.0, 2.0], [2.0, 2.0, 1.0]]
    """
    rows, columns = values.shape
    by_row: Floats = np.add.reduceat(values, np.arange(0, rows, side), axis=0)
    sums: Floats = np.add.reduceat(by_row, np.arange(0, columns, side), axis=1)
    return sums


def to_children(values: Floats, side: int, shape: tuple[int, ...]) -> Floats:
    """Copy each block's value to all of its ``side x side`` children: the transpose of :func:`block_sums`."""
    wide: Floats = np.repeat(np.repeat(values, side, axis=0)[: shape[0]], side, axis=1)[:, : shape[1]]
    return wide
