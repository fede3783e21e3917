"""PrivTree (Zhang, Xiao, Xie 2016, "PrivTree: A Differentially Private Algorithm for Hierarchical Decompositions")."""

from __future__ import annotations

from fractions import Fraction

from dpheatmap.curator import Curator
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.peers.non_negative import nearest_non_negative


def privtree(curator: Curator) -> Distribution:
    """Spend half of epsilon on a tree that is finer where people are, half on the counts of its leaves.

    This is the authors' split. :meth:`~dpheatmap.curator.Curator.private_tree` explains how the tree is grown, and why
    its cost depends neither on its depth nor on people's weights. The leaves are disjoint, so their counts are one
    question. No number of people is needed. Mass lies evenly in a leaf, as the authors answer range counts. The method
    works at any depth: it only visits cells that the tree reaches.

    Negative counts are removed as in :mod:`~dpheatmap.evaluate.peers.non_negative`.
    """
    levels, codes = curator.private_tree(curator.part(Fraction(1, 2)))
    people = nearest_non_negative(curator.cells(levels, codes, curator.rest))
    return Distribution.from_people(curator.domain, levels, codes, people)
