"""Files of sliced releases: as those of other releases, with the group and the slice of every measurement.

The column ``family`` is the number of the group, and ``slice`` that of the slice of time: 0 and above, LOOK for the
count of everybody, and POOLED for the map of all slices together. Whoever reads a file checks that it was made by the
rules: that the look leads to the parts of epsilon that are claimed, that the pooled map leads to the blocks, and that
every tree is one of its design.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from os import PathLike
from typing import Any

import numpy as np

from dpheatmap.design import privacy_loss
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.registry import read_design
from dpheatmap.design.shares import FARTHEST, SHARES, UNITS
from dpheatmap.design.slice_rule import Blocks, SliceRule, choose_blocks
from dpheatmap.errors import DpheatmapError, ReleaseFileError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, decode
from dpheatmap.releases import release_file
from dpheatmap.releases.measurements import Measurements, SliceMeasurements
from dpheatmap.releases.sliced_release import Family, SlicedRelease
from dpheatmap.slicing.axis import Axis

FORMAT = 3
LOOK, POOLED = -2, -1
COLUMNS = {"family": "INTEGER", "slice": "INTEGER"}


def write(release: SlicedRelease, path: str | PathLike[str]) -> None:
    """Write the release, whole or not at all."""
    release_file.write_table(columns_of(release), {**release_file.COLUMNS, **COLUMNS}, describe(release), path)


def describe(release: SlicedRelease) -> dict[str, Any]:
    """The metadata of a sliced release: everything but its measurements."""
    from dpheatmap import __version__

    return {
        "format": FORMAT,
        "software": f"dpheatmap {__version__}",
        "made": release.made.isoformat(),
        "domain": release.domain.to_dict(),
        **privacy_loss.to_dict(release.loss),
        **release_file.unit_of(release.trust, release.loss),
        "trusted": "curator",
        "design": release.design.name,
        "units_per_person": UNITS,
        "shares_of_epsilon": SHARES,
        **release.design.to_dict(release.loss.part),
        "slices": release.axis.to_dict(),
        "split": release.split,
        "families": [one.rule.to_dict() if isinstance(one, SliceMeasurements) else None for one in release.families],
        "seeded": release.seeded,
        "ledger": None if release.ledger is None else release.ledger._asdict(),
        "label": dict(release.label),
    }


def columns_of(release: SlicedRelease) -> dict[str, Ints]:
    """All measurements as columns."""
    rows = [row for number, family in enumerate(release.families) for row in _rows(release.domain, number, family)]
    names = ("family", "slice", "level", "code", "noisy_count", "budget_share")
    found = {name: np.concatenate(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    x, y = decode(found.pop("code"))
    return {**found, "x": x, "y": y}


def _rows(domain: Domain, number: int, family: Family) -> Iterator[tuple[Ints, ...]]:
    """The rows of a family, some at a time."""

    def row(slice_: int, levels: Ints, codes: Ints, counts: Ints, shares: Ints) -> tuple[Ints, ...]:
        size = len(levels)
        return np.full(size, number), np.full(size, slice_), levels, codes, counts, shares

    trees, first = (family.trees, POOLED) if isinstance(family, SliceMeasurements) else (family, 0)
    if isinstance(family, SliceMeasurements):
        level = domain.first_level(1)
        yield row(LOOK, np.array([level]), domain.codes(level), np.array([family.look]), np.array([SHARES]))
        first = 0 if family.rule.apart else POOLED
    for slice_, m in enumerate(trees, first):
        yield row(slice_, m.levels, m.codes, m.counts, m.shares)
    if isinstance(family, SliceMeasurements) and family.counts is not None:
        assert family.blocks is not None
        levels, codes = family.blocks
        for slice_, counts in enumerate(family.counts):
            yield row(slice_, levels, codes, counts, np.full(len(levels), SHARES))


def release_of(metadata: Mapping[str, Any], columns: Mapping[str, Ints], name: str) -> SlicedRelease:
    """Make the release that metadata and columns describe, after checking them."""
    try:
        release = _from_metadata(metadata, columns)
        problem = _problem(release)
    except (AssertionError, LookupError, TypeError, ValueError, ArithmeticError, DpheatmapError, MemoryError) as error:
        raise ReleaseFileError(f"{name} is damaged: its metadata can't be understood. Get a fresh copy.") from error
    if problem:
        raise ReleaseFileError(f"{name} is damaged or was altered: {problem}. Get a fresh copy.")
    return release


def _from_metadata(metadata: Mapping[str, Any], columns: Mapping[str, Ints]) -> SlicedRelease:
    design, axis = read_design(metadata), Axis.from_dict(metadata["slices"])
    if not isinstance(design, LadderDesign) or metadata["split"] not in ("weight", "epsilon"):
        raise ValueError("a sliced release has the design 'ladder'")
    codes = release_file.codes_of(columns)
    groups, domain = max(len(axis.groups), 1), Domain.from_dict(metadata["domain"])
    if len(metadata["families"]) != groups or not np.isin(columns["family"], np.arange(groups)).all():
        raise ValueError("there are other groups than listed")
    families = []
    for number, rule in enumerate(metadata["families"]):
        here = np.flatnonzero(columns["family"] == number)
        mine = {name: column[here] for name, column in {**columns, "code": codes}.items()}
        families.append(_family(mine, rule, len(axis.times), domain))
    loss, made = privacy_loss.from_dict(metadata), datetime.fromisoformat(metadata["made"])
    if loss.delta or made.tzinfo is None:
        raise ValueError("a curator's release has no delta, and a time of making with a zone")
    return SlicedRelease(
        domain=domain, loss=PureLoss(loss.epsilon), axis=axis, split=metadata["split"],
        design=design, families=tuple(families), seeded=bool(metadata["seeded"]),
        made=made, ledger=release_file.ledger_entry(metadata.get("ledger")), trust=release_file.curator(metadata),
    )  # fmt: skip


def _family(rows: Mapping[str, Ints], rule: Mapping[str, Any] | None, times: int, domain: Domain) -> Family:
    """What was measured of a group; there may be no rows that are nothing of it."""
    known = [*range(times)]
    if rule is not None:
        known += [LOOK] if SliceRule.from_dict(rule).apart else [LOOK, POOLED]
    if not np.isin(rows["slice"], known).all():
        raise ValueError("there are other slices than listed")
    if rule is None:
        return tuple(_tree(rows, slice_) for slice_ in range(times))
    found = SliceRule.from_dict(rule)
    look, level = _look(rows), domain.first_level(1)
    everybody = level, domain.codes(level)[0], SHARES
    if look is None or look[:3] != everybody or abs(look[3]) > FARTHEST:
        raise ValueError("the count of everybody is missing, or another one")
    if found.apart:
        return SliceMeasurements(look[3], found, tuple(_tree(rows, slice_) for slice_ in range(times)))
    first = rows["slice"] == 0
    blocks = Blocks(rows["level"][first], rows["code"][first])
    counts = np.stack([rows["noisy_count"][_same_cells(rows, slice_, blocks)] for slice_ in range(times)])
    return SliceMeasurements(look[3], found, (_tree(rows, POOLED),), blocks, counts)


def _look(rows: Mapping[str, Ints]) -> tuple[int, int, int, int] | None:
    """Level, cell, share and value of the count of everybody; None unless there is one."""
    at = np.flatnonzero(rows["slice"] == LOOK)
    if len(at) != 1:
        return None
    level, code, share, count = (int(rows[name][at[0]]) for name in ("level", "code", "budget_share", "noisy_count"))
    return level, code, share, count


def _same_cells(rows: Mapping[str, Ints], slice_: int, blocks: Blocks) -> Ints:
    """The rows of a slice, which must be of the blocks, in their order, with all of the slice's part."""
    here = np.flatnonzero(rows["slice"] == slice_)
    same = np.array_equal(rows["level"][here], blocks.levels) and np.array_equal(rows["code"][here], blocks.codes)
    if not same or (rows["budget_share"][here] != SHARES).any():
        raise ValueError("slices have other blocks, or other parts of epsilon")
    return here


def _tree(rows: Mapping[str, Ints], slice_: int) -> Measurements:
    here = np.flatnonzero(rows["slice"] == slice_)
    order = here[np.lexsort((rows["code"][here], rows["level"][here]))]
    return Measurements(
        rows["level"][order], rows["code"][order], rows["noisy_count"][order], rows["budget_share"][order]
    )


def _problem(release: SlicedRelease) -> str | None:
    """The first rule that the release breaks, in words, or None."""
    alike = release.split == "weight" and release.axis.period is not None
    for number, family in enumerate(release.families):
        if isinstance(family, SliceMeasurements) != alike:
            return "its slices were not measured as claimed"
        if isinstance(family, SliceMeasurements) and family.rule != SliceRule.after_look(
            family.look, release.epsilon, len(release.axis.times)
        ):
            return "its parts of epsilon are not those that its count of everybody leads to"
        for tree in release.trees(number):
            if problem := release_file.problem_of(tree):
                return problem
        if isinstance(family, SliceMeasurements) and (problem := _problem_of_blocks(release, family)):
            return problem
    return None


def _problem_of_blocks(release: SlicedRelease, family: SliceMeasurements) -> str | None:
    slices = len(release.axis.times)
    if family.blocks is None or family.counts is None:
        return None
    found, each = family.trees[0], family.rule.loss_of_slices(release.loss)
    blocks = choose_blocks(release.domain, found.levels, found.codes, found.counts, each, slices)
    same = np.array_equal(blocks.levels, family.blocks.levels) and np.array_equal(blocks.codes, family.blocks.codes)
    if not same:
        return "its blocks are not those that its pooled map leads to"
    far = (family.counts > FARTHEST) | (family.counts < -FARTHEST)
    return "its counts are out of range" if far.any() else None
