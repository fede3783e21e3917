"""Bugs planted into the ladder, each a plausible slip, as in `planted`: in its looks, its total and its budget."""

from __future__ import annotations

import inspect
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from dpheatmap.curator.core import looks, measure
from dpheatmap.curator.core.counts import Counts
from dpheatmap.design.ladder import LadderDesign, Rung
from dpheatmap.design.shares import SHARES
from dpheatmap.place.quadtree import Ints


def _rewritten(patch: pytest.MonkeyPatch, name: str, *changes: tuple[str, str]) -> None:
    """Write a function of `looks` otherwise, at places that are there once."""
    text = dedent(inspect.getsource(getattr(looks, name)))
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is not there once"
        text = text.replace(old, new)
    made: dict[str, Any] = {}
    exec(compile(f"from __future__ import annotations\n{text}", name, "exec"), vars(looks), made)
    for module in (looks, measure):
        if hasattr(module, name):
            patch.setattr(module, name, made[name])


def closed_with_the_noise_of_its_look(patch: pytest.MonkeyPatch) -> None:
    """A closed cell publishes x + V, and not x + G_*."""
    _rewritten(patch, "_four_ways", ("children, ~opened & ~deepened)", "children, ~opened & ~deepened, own)"))
    _rewritten(
        patch,
        "_close_or_finish",
        ("here: Bools)", "here: Bools, own=None)"),
        ("level, cells, here", "level, cells if own is None else cells._replace(noise=own), here"),
    )


def looks_without_own_noise(patch: pytest.MonkeyPatch) -> None:
    """The look that opens a cell lacks the noise of what an opened cell publishes: Z1 is Z1'."""
    _rewritten(patch, "_four_ways", ("look = deep_look + own", "look = deep_look"))


def children_share_noise(patch: pytest.MonkeyPatch) -> None:
    """All children of a cell, or what is in them, have the noise of the first that meets the domain."""
    _rewritten(
        patch,
        "_below",
        (
            "return Below(codes, inside, there, noise)",
            "some = inside.reshape(len(cells), 4, -1).any(axis=-1).argmax(axis=-1)\n"
            "    first = noise[np.arange(len(cells)), some][:, None]\n"
            "    return Below(codes, inside, there, np.where(inside, first, 0))",
        ),
    )


def split_by_other_noise(patch: pytest.MonkeyPatch) -> None:
    """The look at a child has the noise V, which is in nothing that is published then."""
    _rewritten(
        patch,
        "_four_ways",
        ("children.counts + below.noise.sum(axis=-1) > rules", "children.counts + own[:, None] > rules"),
    )


def deepened_by_two_looks(patch: pytest.MonkeyPatch) -> None:
    """A cell is deepened only if the look that finishes it says so, too."""
    _rewritten(
        patch,
        "_four_ways",
        (
            "(deep_look > rules.deepening)",
            "(deep_look > rules.deepening) & (cells.counts + children.noise.sum(axis=-1) > rules.closing)",
        ),
    )


def noise_reused_below(patch: pytest.MonkeyPatch) -> None:
    """Noise is kept by cell: what is below an opened cell is measured with the noise that was in its look."""
    honest, climb = looks._below, looks.climb
    kept: dict[int, tuple[Ints, Ints]] = {}

    def starting(*arguments: Any) -> Any:
        kept.clear()
        return climb(*arguments)

    def reusing(counts: Counts, level: int, cells: Ints, levels: int, *further: Any) -> Any:
        below = honest(counts, level, cells, levels, *further)
        if level + levels in kept:
            codes, noise = kept[level + levels]
            at = np.minimum(np.searchsorted(codes, below.codes), len(codes) - 1)
            return below._replace(noise=np.where(codes[at] == below.codes, noise[at], below.noise))
        kept[level + levels] = below.codes.ravel(), below.noise.ravel()
        return below

    patch.setattr(looks, "_below", reusing)
    for module in (looks, measure):
        patch.setattr(module, "climb", starting)


def evenness_without_own_noise(patch: pytest.MonkeyPatch) -> None:
    """Whether a map is even is seen from looks that lack the noise V."""
    _rewritten(patch, "_four_ways", ("levels_if_even(rules.even, look,", "levels_if_even(rules.even, deep_look,"))


def counts_clipped_in_looks(patch: pytest.MonkeyPatch) -> None:
    """The count of a cell is held at 4 units, and those of its children are not."""
    _rewritten(patch, "_parents", ("below.counts.sum(axis=-1)", "np.minimum(below.counts.sum(axis=-1), 4)"))


def first_of_four(patch: pytest.MonkeyPatch) -> None:
    """G_k is the noise of the first of four cells, whether it meets the domain or not."""
    _rewritten(patch, "_parents", ("below.inside.argmax(axis=-1)", "np.zeros(below.inside.shape[:-1], np.int64)"))


def opened_for_nothing(patch: pytest.MonkeyPatch) -> None:
    """An opened cell is charged to nobody: what is below it has as much left as if it had not been measured."""

    def rungs(self: LadderDesign) -> list[Rung]:
        left = SHARES - int(SHARES * self.total) if self.first < self.last else SHARES
        return [Rung(left, int(left * self.spent))] * (self.last - self.first + 1)

    patch.setattr(LadderDesign, "rungs", property(rungs))


def opened_by_true_counts(patch: pytest.MonkeyPatch) -> None:
    """Cells are opened by their true counts."""
    _rewritten(patch, "_four_ways", ("opened = look >", "opened = cells.counts >"))


def closed_by_true_counts(patch: pytest.MonkeyPatch) -> None:
    """Cells are closed or finished by their true counts."""
    _rewritten(patch, "_close_or_finish", ("cells.counts + children.noise.sum(axis=-1) >", "cells.counts >"))


def evenness_by_true_counts_of_looks(patch: pytest.MonkeyPatch) -> None:
    """Whether a map is even is seen from its true counts."""
    _rewritten(patch, "_four_ways", ("levels_if_even(rules.even, look,", "levels_if_even(rules.even, cells.counts,"))


def start_of_ladder_by_true_total(patch: pytest.MonkeyPatch) -> None:
    """The level that a ladder starts at is chosen by the true total."""
    _rewritten(patch, "climb", ("int(noisy[0])", "int(counts.exact(total.level, total.cells)[0])"))


def total_of_ladder_for_nothing(patch: pytest.MonkeyPatch) -> None:
    """The total is not charged: what follows has the whole of epsilon."""

    def rungs(self: LadderDesign) -> list[Rung]:
        found, left = [], SHARES
        for _ in range(self.last - self.first + 1):
            found.append(Rung(left, int(left * self.spent)))
            left -= found[-1].taken
        return found

    patch.setattr(LadderDesign, "rungs", property(rungs))
