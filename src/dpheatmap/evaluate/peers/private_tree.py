"""PrivTree (Zhang, Xiao, Xie 2016, "PrivTree: A Differentially Private Algorithm for Hierarchical Decompositions")."""

from __future__ import annotations

from fractions import Fraction

from dpheatmap.curator import Curator
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.peers.non_negative import nearest_non_negative


def privtree(curator: Curator) -> Distribution:
    """Half of epsilon for a tree that is finer where people are, half for the counts of its leaves.

    The authors' split. How the tree is grown, and why that costs what it does however deep it gets and whatever
    people weigh, stands with :meth:`~dpheatmap.curator.Curator.private_tree`; the leaves are disjoint, so their
    counts are one question. No number of people is needed. Mass lies evenly in a leaf, as the authors answer range
    counts. It works at any depth: only cells that the tree reaches are looked at.

    Negative counts give way as :mod:`~dpheatmap.evaluate.peers.non_negative` has it.
    """
    levels, codes = curator.private_tree(curator.part(Fraction(1, 2)))
    people = nearest_non_negative(curator.cells(levels, codes, curator.rest))
    return Distribution.from_people(curator.domain, levels, codes, people)
