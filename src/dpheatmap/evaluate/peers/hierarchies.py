"""Hierarchies of blocks: Hay et al. (2010), Cormode et al. (2012), and HB of Qardaji, Yang and Li (2013).

Each measures every block of every level of a full tree, then makes the levels consistent by least squares. They differ
in how epsilon is shared among the levels, in the number of children, and in the treatment of small and negative counts.

*Privacy.* The only access to people's data is the noisy counts of the levels. Blocks of one level are disjoint, so a
level costs its part of epsilon, and the parts add up to epsilon; see :func:`~dpheatmap.evaluate.peers.inference.ask`.
This holds for one person with any weights of sum 1. The tree's shape depends on the public domain alone, so none of
them needs the number of people, and nothing is spent on it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpheatmap.curator import Curator
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.baselines import finest_grid
from dpheatmap.evaluate.peers.inference import ask, block_sides, block_sums, make_consistent, to_children
from dpheatmap.place.domain import Floats

HALVES = 2
TALLEST = 10
"""The height of the quadtrees of Cormode et al.; on finer grids a leaf is a block of cells."""
WORTH_SPLITTING = 32.0
"""Cormode et al. cut the tree below a node with fewer points than this."""


def quadtree(curator: Curator) -> Distribution:
    """Measure a full quadtree with geometric budgets, least squares and pruning: Cormode et al. 2012 ("quad-opt").

    Tiling a rectangle needs at most of the order of 2^(h - i) blocks of height i (the leaves have i = 0), each with
    variance 2 / eps_i^2. The sum of these is least, for a given sum of eps_i, if eps_i grows by the cube root of 2 from
    one level to the next finer one.

    After least squares a node with a small estimate is made a leaf, its people spread evenly. The authors cut below 32
    points for epsilons up to 1. A count's product with epsilon determines whether it exceeds the noise, so here the
    threshold is 32 / epsilon: twice the people at half the epsilon are cut alike, and the threshold falls with the
    noise.
    """
    shape = finest_grid(curator.domain)
    longest = max(shape)
    finest = HALVES ** max(0, math.ceil(math.log2(longest)) - TALLEST)
    sides = block_sides(longest, HALVES, finest)
    noisy, variances = ask(curator, shape, sides, [2.0 ** (-height / 3) for height in range(len(sides))])
    tree = make_consistent(noisy, variances, HALVES)
    kept = prune(tree, _areas(shape, sides), WORTH_SPLITTING / float(curator.epsilon))
    areas = block_sums(np.ones(shape), finest)
    return Distribution.from_raster(curator.domain, to_children(kept / areas, finest, shape))


def hay_hierarchy(curator: Curator) -> Distribution:
    """Measure a full quadtree with equal budgets and constrained inference: Hay et al. 2010, two-dimensional.

    Counts can't be negative. The authors' rule, after inference, sets a whole subtree to zero if its root has an
    estimate of zero or less.
    """
    shape = finest_grid(curator.domain)
    sides = block_sides(max(shape), HALVES)
    noisy, variances = ask(curator, shape, sides, [Fraction(1)] * len(sides))
    tree = make_consistent(noisy, variances, HALVES)
    return Distribution.from_raster(curator.domain, zero_empty_subtrees(tree, HALVES))


def hb_hierarchy(curator: Curator) -> Distribution:
    """Measure blocks of the best fan-out for the grid, with equal budgets and constrained inference: HB in the plane.

    As in the authors' analysis, where b^h bins have h levels, the root is not measured: the coarsest level is that of
    its children. For a small grid the best tree has one level, and HB is noise on every cell. Its inference is that of
    Hay et al., and so is the treatment of negative counts here; the authors only ask for ranges.
    """
    shape = finest_grid(curator.domain)
    fan_out = best_fan_out(*shape)
    sides = _without_root(block_sides(max(shape), fan_out))
    noisy, variances = ask(curator, shape, sides, [Fraction(1)] * len(sides))
    tree = make_consistent(noisy, variances, fan_out)
    return Distribution.from_raster(curator.domain, zero_empty_subtrees(tree, fan_out))


def prune(tree: list[Floats], areas: list[Floats], threshold: float) -> Floats:
    """The leaves of a consistent quadtree after cutting, from the top, the subtrees of nodes below the threshold.

    The nodes of a cut subtree get shares of its root's people. These are below the threshold too, so they are cut as
    well.
    """
    people, cut = tree[-1], tree[-1] < threshold
    for level in range(len(tree) - 2, -1, -1):
        shape = tree[level].shape
        inherited = to_children(people / areas[level + 1], HALVES, shape) * areas[level]
        under_cut = to_children(cut.astype(np.float64), HALVES, shape) > 0
        people = np.where(under_cut, inherited, tree[level])
        cut = people < threshold
    return people


def zero_empty_subtrees(tree: list[Floats], fan_out: int) -> Floats:
    """The leaves of a consistent tree, zero below any node whose estimate is not above zero."""
    alive = tree[-1] > 0.0
    for level in range(len(tree) - 2, -1, -1):
        alive = (to_children(alive.astype(np.float64), fan_out, tree[level].shape) > 0) & (tree[level] > 0.0)
    return np.where(alive, tree[0], 0.0)


def best_fan_out(rows: int, columns: int) -> int:
    """Find the number of children per side for which the average rectangle's count has the least variance.

    For each height it tries the narrowest fan-out that reaches it.

    >>> best_fan_out(256, 256), best_fan_out(16, 16)
    (16, 16)
    """
    longest = max(rows, columns)
    fan_outs = {2}
    for height in range(1, longest.bit_length() + 1):
        narrowest = max(2, math.ceil(longest ** (1 / height) - 1e-9))
        fan_outs.add(narrowest if narrowest**height >= longest else narrowest + 1)
    return min(sorted(fan_outs), key=lambda fan_out: range_variance(rows, columns, fan_out))


def range_variance(rows: int, columns: int, fan_out: int) -> float:
    """Compute the variance of a rectangle's count, averaged over all rectangles, in units of flat noise on a cell.

    With h levels of equal budgets a block's noise has h^2 times the variance of flat noise. Before inference a range
    costs h^2 for each block that tiles it; in one dimension and for n = b^h that average is the authors'
    (b - 1) h^3 - 2 (b + 1) h^2 / 3. But counts are used after inference, which changes the ranking: on 256 x 256 cells
    blocks are worse than flat noise before it, and have half its variance after. So this is the variance after
    inference, in closed form.

    Let P_k project cell vectors onto those constant on the blocks of level k, of area a_k, and A be the matrix of all
    questions. The projections are nested, and ``A'A = sum_k a_k P_k``. So ``P_k - P_(k+1)`` is an eigenspace with
    eigenvalue ``a_0 + ... + a_k``, and a range q has, by least squares, the variance

        h^2 q' (A'A)^-1 q = h^2 sum_k (|P_k q|^2 - |P_(k+1) q|^2) / (a_0 + ... + a_k),

    where P_h = 0 as the root is not measured. (Blocks cut off at an edge are counted as if whole in a_k.)
    """
    sides = _without_root(block_sides(max(rows, columns), fan_out))
    energies = [_energy(rows, side) * _energy(columns, side) for side in sides] + [0.0]
    areas = np.cumsum([min(side, rows) * min(side, columns) for side in sides])
    return len(sides) ** 2 * float(np.sum(-np.diff(energies) / areas))


def _energy(length: int, side: int) -> float:
    """The average over all intervals q of 0 .. length - 1 of |P q|^2, P averaging over blocks of a side.

    It is a sum over blocks of the mean square of q's overlap, divided by the block's length. That square counts pairs
    i <= j of cells in the block, and (i + 1)(length - j) intervals hold both.
    """
    cell = np.arange(length, dtype=np.float64)
    begin = cell // side * side
    before = (cell * (cell + 1) - begin * (begin + 1)) / 2  # the sum of i + 1 over the block's cells i before this one
    intervals = (length - cell) * (2 * before + cell + 1)
    return float(np.sum(intervals / np.minimum(side, length - begin))) / (length * (length + 1) / 2)


def _without_root(sides: list[int]) -> list[int]:
    return sides[:-1] or sides


def _areas(shape: tuple[int, int], sides: list[int]) -> list[Floats]:
    """The number of finest cells in each block of each side."""
    return [block_sums(np.ones(shape), side) for side in sides]
