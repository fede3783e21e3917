"""Rival methods: other differentially private methods for a map, each from its authors' paper.

A peer is a function of a :class:`~dpheatmap.curator.Curator`, who answers its questions with the same exact noise
as a release and refuses to spend more than epsilon. A peer's use of the answers is post-processing, so each is
epsilon-DP for adding or removing one person with any weights. None gets the number of people for free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpheatmap.curator import Curator
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.evaluate.peers.active_nodes import active_nodes
from dpheatmap.evaluate.peers.dawa import dawa
from dpheatmap.evaluate.peers.federated import federated_heatmap
from dpheatmap.evaluate.peers.grids import adaptive_grid, uniform_grid
from dpheatmap.evaluate.peers.hierarchies import hay_hierarchy, hb_hierarchy, quadtree
from dpheatmap.evaluate.peers.homogeneous_tree import htf
from dpheatmap.evaluate.peers.multiplicative_weights import mwem
from dpheatmap.evaluate.peers.private_measure import pmm
from dpheatmap.evaluate.peers.private_tree import privtree
from dpheatmap.evaluate.peers.tiles import tiles


@dataclass(frozen=True)
class Peer:
    """A rival method: its name in commands, its title in figures, its publication, and its algorithm."""

    name: str
    title: str
    reference: str
    algorithm: Callable[[Curator], Distribution]
    any_depth: bool = False


PEERS = (
    Peer("uniform-grid", "Uniform grid", "Qardaji, Yang, Li 2013", uniform_grid),
    Peer("adaptive-grid", "Adaptive grid", "Qardaji, Yang, Li 2013", adaptive_grid),
    Peer("privtree", "PrivTree", "Zhang, Xiao, Xie 2016", privtree, any_depth=True),
    Peer("quadtree", "Quadtree, geometric", "Cormode et al. 2012", quadtree),
    Peer("hay", "Hierarchy", "Hay et al. 2010", hay_hierarchy),
    Peer("hb", "Hierarchy, best fan-out", "Qardaji, Yang, Li 2013, HB", hb_hierarchy),
    Peer("dawa", "DAWA", "Li et al. 2014", dawa),
    Peer("pmm", "Private measure", "He, Vershynin, Zhu 2023", pmm, any_depth=True),
    Peer("mwem", "MWEM", "Hardt, Ligett, McSherry 2012", mwem, any_depth=True),
    Peer("federated", "Adaptive federated", "Bagdasaryan et al. 2021", federated_heatmap, any_depth=True),
    Peer("htf", "Homogeneous tree", "Shaham et al. 2021, 2023", htf),
    Peer("active-nodes", "Active nodes", "Feldman et al. 2024", active_nodes, any_depth=True),
    Peer("tiles", "Mobility report's tiles", "Kapp et al. 2022", tiles),
)
"""All rivals, in the order of tables and legends."""
