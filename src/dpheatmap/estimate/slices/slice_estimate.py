"""The estimate of one slice, from what was measured of all slices of its group.

**Blocks.** The pooled map's posterior says where people are inside each block, and `variation.py` how many people are
in each block and slice. A slice's map has these numbers in the blocks, spread as the pooled map is. In draws, the
spread differs from the pooled map's by further random factors in the quarters of a block and in their quarters, with
the amplitude by which blocks differ. What blocks hold is moved further from the mean by _WIDER, because amplitude and
memory are taken for known. Visits scatter the people of a block over its cells. A visit weighs _VISITS times the
posterior mean of the scatter, because blocks show a part of it as moves. Both factors are empirical, and
`benchmarks/slices.py` holds the intervals against true values.

**Apart.** A slice that was measured by itself has a posterior of its own. Its base measure is the mean map of the other
slices, believed as far as the evidence says (`posterior/public_measure.py`). Slices of time are alike: that map reads
the others as equal but for their volumes, in one likelihood (`posterior/map_estimate.py`). Groups are not, and there it
is the sum of their own maps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice

import numpy as np

from dpheatmap.design.shares import UNITS
from dpheatmap.estimate.areas.area_estimate import WIDER
from dpheatmap.estimate.cell_overlay import Division, Overlay, overlay
from dpheatmap.estimate.distribution import Distribution
from dpheatmap.estimate.number_of_people import number_of_people
from dpheatmap.estimate.posterior.leaves import Leaves, std_of_shares
from dpheatmap.estimate.posterior.map_estimate import EstimateOfRelease, MapEstimate, mean_maps_of_others
from dpheatmap.estimate.posterior.posterior import Draws, Posterior, posterior, seed_of
from dpheatmap.estimate.posterior.public_measure import PublicMeasure, public_measure
from dpheatmap.estimate.posterior.randomness import Randomness
from dpheatmap.estimate.slices.variation import Measured, SlicesPosterior, infer_slices
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.place.quadtree import Ints, decode
from dpheatmap.releases.measurements import SliceMeasurements
from dpheatmap.releases.release import Release
from dpheatmap.releases.sliced_release import SlicedRelease

_WIDER = 1.2
_VISITS = 2.0  # times the mean scatter: what a visit weighs
_VISIT = 0.05  # people: what a visit weighs at least
_LEAST_VOLUME = 0.05  # of the mean one: what a slice is taken to have at least when it is read with others
_PIXELS = 256  # on the longer side of other slices' maps
_KEPT = 5_000_000  # numbers of draws of the pooled map that are kept for other slices: 40 MB
_AT_ONCE = 200_000  # numbers of draws that are made in one go
_DEEPER = 2  # levels below a block at which a slice's spread differs from the pooled map's


@dataclass(frozen=True, eq=False)
class Together:
    """The estimate of all slices of a group that were measured in blocks; maps are as fine as ``level``."""

    release: SlicedRelease
    family: int
    level: int | None

    @property
    def _found(self) -> SliceMeasurements:
        found = self.release.families[self.family]
        assert isinstance(found, SliceMeasurements)
        return found

    @property
    def blocks(self) -> Division:
        """The blocks."""
        assert self._found.blocks is not None
        return Division(*self._found.blocks)

    @cached_property
    def pooled(self) -> Posterior:
        """The posterior of the pooled map."""
        return posterior(self._tree, None, self.level)

    @property
    def _tree(self) -> Release:
        return self.release.trees(self.family)[0]

    @cached_property
    def overlay(self) -> Overlay:
        """The cells of the pooled map's layout, cut by the blocks."""
        inside = self.pooled.layout
        return overlay(self.release.domain, [Division(inside.levels, inside.codes), self.blocks])

    @property
    def holder(self) -> Ints:
        """The number of the block that holds each cell."""
        return self.overlay.holders[1]

    @cached_property
    def masses(self) -> Floats:
        """The pooled map's masses of the cells, none of them zero."""
        return self.cells_of(self.pooled.layout.masses(self.pooled.node_means))

    def cells_of(self, masses: Floats) -> Floats:
        """Masses of the layout's cells, passed on to the cells that blocks cut."""
        lying: Floats = np.maximum(masses, 1e-9)[self.overlay.holders[0]] * self.overlay.parts[0]
        return lying

    @cached_property
    def _first_cells(self) -> Ints:
        """The number of the first cell of each block; the cells of a block follow each other."""
        return np.flatnonzero(np.diff(self.holder, prepend=-1))

    def in_blocks(self, masses: Floats) -> Floats:
        """Add up masses of the cells, along the last axis, block by block."""
        added: Floats = np.add.reduceat(masses, self._first_cells, axis=-1)
        return added

    @cached_property
    def slices(self) -> SlicesPosterior:
        """The posterior of the numbers of people in blocks and slices."""
        found, domain = self._found, self.release.domain
        assert found.counts is not None
        noisy = found.counts / UNITS
        loss = float(found.rule.loss_of_slices(self.release.loss).epsilon)
        x, y = _middles(domain, self.blocks)
        measured = Measured(
            noisy, np.full(noisy.shape, np.sqrt(2.0) / loss), self.in_blocks(self.masses), self._variances, x, y,
            _parents(domain, self.blocks),
        )  # fmt: skip
        return infer_slices(measured, self.release.axis.period)

    @property
    def _variances(self) -> Floats:
        """The variances of the pooled map's numbers in blocks."""
        whole = posterior(self._tree)
        numbers = {key: k for k, key in enumerate(zip(whole.levels.tolist(), whole.codes.tolist(), strict=True))}
        cells = zip(self.blocks.levels.tolist(), self.blocks.codes.tolist(), strict=True)
        found = np.array([whole.variances[numbers[cell]] for cell in cells])
        return found + 1e-6 * self.in_blocks(self.masses) ** 2

    def pooled_draws(self, count: int, rng: Randomness) -> Iterable[Floats]:
        """Draw the pooled map's masses of the cells. As for :meth:`numbers`, they are made once for all slices."""
        drawn = map(self.cells_of, self.pooled.draws(count, rng).masses)
        if count * len(self.holder) > _KEPT:
            return drawn
        key = int(rng.random((1,))[0] * 2**53), count
        if key not in self._drawn_pooled:
            self._drawn_pooled[key] = list(drawn)
        return self._drawn_pooled[key]

    @cached_property
    def _drawn_pooled(self) -> dict[tuple[int, int], list[Floats]]:
        return {}

    def numbers(self, count: int, rng: Randomness) -> Floats:
        """Draw numbers of people: draws x slices x blocks, moved away from their mean by _WIDER.

        All slices come with generators of the same seed, so that they are given the same draws, which are made once.
        """
        key = int(rng.random((1,))[0] * 2**53), count
        if key not in self._drawn:
            own = np.random.default_rng(key)
            drawn = np.stack([self.slices.draw(own) for _ in range(count)])
            self._drawn[key] = np.maximum(self.slices.means + _WIDER * (drawn - self.slices.means), 0.0)
        return self._drawn[key]

    @cached_property
    def _drawn(self) -> dict[tuple[int, int], Floats]:
        return {}

    @property
    def seed(self) -> list[int]:
        """A seed made of what was released."""
        counts = self._found.counts
        assert counts is not None
        return [*seed_of(self._tree), int(np.abs(counts).sum() & 0x7FFFFFFF)]


@dataclass(frozen=True, eq=False)
class SliceEstimate:
    """The estimate of one slice that was measured in blocks."""

    together: Together
    number: int

    @property
    def total(self) -> float:
        """The posterior mean of the number of people in the slice."""
        return float(self.together.slices.means[self.number].sum())

    @property
    def concentration(self) -> float:
        """The pooled map's concentration."""
        return self.together.pooled.concentration

    @property
    def strength(self) -> float:
        """The epsilon with which the slice's people would have the signal of the pooled map, which spreads them."""
        pooled = self.together.release.trees(self.together.family)[0]
        return float(pooled.epsilon) * self.together.pooled.total / max(self.total, 1e-9)

    @property
    def seed(self) -> list[int]:
        """A seed that all slices share, so that their draws belong together."""
        return self.together.seed

    def distribution(self) -> Distribution:
        """The pooled map, with the slice's numbers in the blocks."""
        family = self.together
        people = self._spread(family.masses, family.slices.means[self.number])
        return Distribution.from_people(family.release.domain, *family.overlay.cells, people)

    def leaves(self) -> Leaves:
        """The blocks, which are the finest cells that were measured of a slice."""
        family, posterior_ = self.together, self.together.slices
        means, variances = posterior_.means[self.number], posterior_.deviations[self.number] ** 2
        share = means / means.sum()
        std = std_of_shares(share, variances, float(variances.sum()), float(means.sum()))
        return Leaves(family.release.domain, *family.blocks, share, std, np.sqrt(variances))

    def draws(self, count: int, rng: Randomness) -> Draws:
        """Draw maps: the pooled map's, with numbers that were drawn for all slices together."""
        family = self.together
        of_pooled, of_numbers, own = rng.spawn(3)
        pooled, numbers = family.pooled_draws(count, of_pooled), family.numbers(count, of_numbers)
        own.standard_normal(self.number)  # so that slices have factors of their own

        def masses() -> Iterator[Floats]:
            left, done = iter(pooled), 0
            while some := list(islice(left, max(_AT_ONCE // len(family.holder), 1))):
                people, drawn = numbers[done : done + len(some), self.number], np.stack(some)
                yield from self._scatter(self._spread(drawn * self._factors(len(some), own), people), people, own)
                done += len(some)

        return Draws(*family.overlay.cells, masses())

    def _spread(self, masses: Floats, people: Floats) -> Floats:
        """Spread the people of blocks over their cells, in proportion to masses; both may have a row for each draw."""
        spread: Floats = masses * (people / self.together.in_blocks(masses))[..., self.together.holder]
        return spread

    def _scatter(self, expected: Floats, people: Floats, rng: Randomness) -> Floats:
        """Scatter the people of blocks over their cells by few visits: gamma laws of the expected numbers.

        By Wilson and Hilferty, the cube root of a gamma variable is nearly normal.
        """
        expected = np.maximum(expected, 1e-12)
        visits = np.maximum(expected / max(_VISITS * self.together.slices.mean_scatter, _VISIT), 1e-9)
        normal = rng.standard_normal(visits.size).reshape(visits.shape)
        root = np.maximum(1.0 - 1.0 / (9.0 * visits) + normal / (3.0 * np.sqrt(visits)), 1e-3)
        return self._spread(expected * (root * root * root), people)

    def _factors(self, count: int, rng: Randomness) -> Floats:
        """Draw factors of the cells: one for each quarter of a block, and one for each of its quarters."""
        family, amplitude = self.together, self.together.slices.variation.amplitude
        found = np.ones((count, len(family.holder)))
        for parts in _inner_cells(family):
            size = count, int(parts.max()) + 1
            found *= np.exp(amplitude * rng.standard_normal(size[0] * size[1]).reshape(size))[:, parts]
        return found


@lru_cache(maxsize=8)
def _together(release: SlicedRelease, family: int, level: int | None) -> Together:
    return Together(release, family, level)


@lru_cache(maxsize=8)
def _inner_cells(family: Together) -> list[Ints]:
    """For each of the levels below blocks, the number of the cell that holds each cell of the overlay."""
    levels, codes = family.overlay.cells
    block_levels = family.blocks.levels[family.holder]
    found = []
    for deeper in range(1, _DEEPER + 1):
        at = np.minimum(block_levels + deeper, levels)
        found.append(np.unique(np.stack([at, codes >> 2 * (levels - at)]), axis=1, return_inverse=True)[1].ravel())
    return found


def estimate_of_slice(release: SlicedRelease, number: int, level: int | None) -> MapEstimate:
    """The estimate of a slice by its number; what was measured below ``level`` is folded."""
    family, time = divmod(number, len(release.axis.times))
    found = release.families[family]
    if isinstance(found, SliceMeasurements) and not found.rule.apart:
        return SliceEstimate(_together(release, family, level), time)
    return EstimateOfRelease(*_apart(release, family)[time], level=level)


@lru_cache(maxsize=4)
def _apart(release: SlicedRelease, family: int) -> list[tuple[Release, str, PublicMeasure | None]]:
    """The release of each slice, and the mean map of the others as its base measure."""
    trees = release.trees(family)
    if len(trees) > 1:
        totals = [posterior(tree).total for tree in trees]
        least = max(_LEAST_VOLUME * sum(totals) / len(totals), 1e-9)
        measures = mean_maps_of_others(trees, volumes=tuple(max(total, least) for total in totals))
        return [(tree, "posterior", measure) for tree, measure in zip(trees, measures, strict=True)]
    people = _maps_of_groups(release)
    others = np.sum(people, axis=0) - people[family]
    return [(trees[0], "posterior", _measure(release.domain, others) if len(people) > 1 else None)]


@lru_cache(maxsize=2)
def _maps_of_groups(release: SlicedRelease) -> list[Floats]:
    """Of groups without slices of time, the people on the map of each."""
    return [_raster(release.trees(family)[0]) for family in range(len(release.families))]


def _raster(tree: Release) -> Floats:
    found = posterior(tree).distribution()
    finest = tree.domain.cells(tree.domain.depth)
    scale = min(1.0, _PIXELS / max(finest.columns, finest.rows))
    size = max(1, round(scale * finest.columns)), max(1, round(scale * finest.rows))
    raster: Floats = found.raster(*size) * (0.0 if found.empty else found.total)
    return raster


def _measure(domain: Domain, people: Floats) -> PublicMeasure | None:
    return public_measure(np.maximum(people, 0.0), domain) if people.max() > 0.0 else None


def _middles(domain: Domain, blocks: Division) -> tuple[Floats, Floats]:
    """The middles of blocks, in sides of the domain."""
    finest = domain.cells(domain.depth)
    side = max(finest.columns, finest.rows) / 2.0**domain.depth
    x, y = decode(blocks.codes)
    scale = 2.0 ** -blocks.levels.astype(np.float64)
    return (x + 0.5) * scale / side, (y + 0.5) * scale / side


def _parents(domain: Domain, blocks: Division) -> list[Ints]:
    """For each coarser level, the finest first, the number of the cell that holds each block."""
    found = []
    for level in range(int(blocks.levels.max()) - 1, -1, -1):
        at = np.minimum(blocks.levels, level)
        cells = np.stack([at, blocks.codes >> 2 * (blocks.levels - at)])
        found.append(np.unique(cells, axis=1, return_inverse=True)[1].ravel())
    return found


def drawn_totals(estimate: MapEstimate, count: int) -> Floats:
    """Draw the number of people in a slice; slices that were measured in blocks are drawn together."""
    rng = np.random.default_rng(estimate.seed)
    if isinstance(estimate, SliceEstimate):
        totals: Floats = estimate.together.numbers(count, rng)[:, estimate.number].sum(axis=1)
        return totals
    assert isinstance(estimate, EstimateOfRelease)
    found = number_of_people(estimate.release)
    return np.maximum(found.mean + WIDER * found.std * rng.standard_normal(count), 0.0)
