"""What a ladder publishes, as its table says: one cell after the other, in Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dpheatmap.curator.core.counts import Counts
from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.shares import FARTHEST, SHARES, UNITS

Noise = Callable[[int, int, int], int]
"""The noise of a share, a level and a cell."""
Output = set[tuple[int, int, int, int]]
"""Levels, cells, noisy counts and shares."""

MOST = 2**14  # cells of a level that may be looked at at once


@dataclass
class LadderReference:
    """A ladder that climbs slowly, and what it has published so far."""

    design: LadderDesign
    counts: Counts
    epsilon: Fraction
    noise: Noise
    found: Output = field(default_factory=set)

    def climb(self) -> Output:
        """Publish everything."""
        level = self.start()
        deeper = self.levels_if_even(level)
        left = self.design.rungs[0].left
        for cell in self.counts.domain.codes(level).tolist():
            if deeper:
                self.publish_even(level, cell, deeper, left)
            else:
                self.look(level, cell, 0)
        return self.found

    def start(self) -> int:
        """The level of the first looks, which a noisy total may deepen."""
        design, domain = self.design, self.counts.domain
        total = design.total_question(domain)
        if total is None:
            return design.first
        cell = int(total.cells[0])
        self.publish(total.level, cell, self.noise(total.share, total.level, cell), total.share)
        (_, _, noisy, _) = next(iter(self.found))
        most = min(self.epsilon * noisy / UNITS / design.start, Fraction(MOST))
        return max([design.first, *(k for k in range(design.first, design.last) if domain.count(k) <= most)])

    # Looks

    def look(self, level: int, cell: int, opened: int) -> None:
        """Open, deepen, finish or close a cell, under so many that were opened."""
        design = self.design
        left, taken = design.rungs[opened]
        if level == design.last:
            return self.publish(level, cell, self.noise(left, level, cell), left)
        if level == design.last - 1:
            drawn = {child: self.noise(left, level + 1, child) for child in self.inside(level, cell)}
            return self.close_or_finish(level, cell, drawn, left)
        below = self.draws(level, cell, left)
        deep = self.count(level, cell) + sum(g for of in below.values() for g in of.values())
        if deep + self.noise(taken, level, cell) > self.threshold(design.opening, left):
            self.publish(level, cell, self.noise(taken, level, cell), taken)
            for child in self.inside(level, cell):
                self.look(level + 1, child, opened + 1)
        elif deep > self.threshold(design.deepening, left):
            self.deepen(level, below, left)
        else:
            self.close_or_finish(level, cell, {k: next(iter(of.values())) for k, of in below.items()}, left)
        return None

    def deepen(self, level: int, below: dict[int, dict[int, int]], left: int) -> None:
        """Publish the children of a cell; of those that are split, their own children."""
        for child, of in below.items():
            if self.count(level + 1, child) + sum(of.values()) > self.threshold(self.design.splitting, left):
                for grandchild, g in of.items():
                    self.publish(level + 2, grandchild, g, left)
            else:
                self.publish(level + 1, child, next(iter(of.values())), left)

    def close_or_finish(self, level: int, cell: int, drawn: dict[int, int], left: int) -> None:
        """Publish the children of a cell, or the cell itself."""
        if self.count(level, cell) + sum(drawn.values()) > self.threshold(self.design.closing, left):
            for child, g in drawn.items():
                self.publish(level + 1, child, g, left)
        else:
            self.publish(level, cell, next(iter(drawn.values())), left)

    # Even maps

    def levels_if_even(self, level: int) -> int:
        """How many levels deeper all cells are published at once; 0 if the map is not even."""
        design, domain = self.design, self.counts.domain
        cells = domain.codes(level).tolist()
        if level >= design.last - 1 or domain.count(level + 1) > MOST or len(cells) * design.evenness <= 1:
            return 0
        left, taken = design.rungs[0]
        seen = [self.first_look(level, cell) for cell in cells]
        variance = 2 * len(cells) * self.scale(taken) ** 2 + 2 * domain.count(level + 2) * self.scale(left) ** 2
        squares = sum(z * z for z in seen) - variance
        together = max(sum(seen), 0)
        if together**2 <= design.evenness * len(seen) * squares:
            return 0
        signal = Fraction(together, len(seen)) / self.scale(left)
        finest = domain.count(level + 2)
        twice = finest <= MOST and (finest <= design.even_cells or self.is_spotty(level, cells))
        return 2 if twice and signal >= design.even_twice else 1 if signal >= design.even_once else 0

    def first_look(self, level: int, cell: int) -> int:
        """The noisy count by which a cell would be opened."""
        left, taken = self.design.rungs[0]
        drawn = [g for of in self.draws(level, cell, left).values() for g in of.values()]
        return self.count(level, cell) + self.noise(taken, level, cell) + sum(drawn)

    def is_spotty(self, level: int, cells: list[int]) -> bool:
        """Whether children differ within their cells by more than the noise."""
        left = self.design.rungs[0].left
        within, squares = Fraction(0), Fraction(0)
        for cell in cells:
            seen, noises = [], []
            for child in self.inside(level, cell):
                finer = self.inside(level + 1, child)
                seen.append(self.count(level + 1, child) + sum(self.noise(left, level + 2, one) for one in finer))
                noises.append(2 * len(finer) * self.scale(left) ** 2)
            middle = Fraction(sum(seen), len(seen))
            within += sum((z - middle) ** 2 for z in seen) - sum(noises) * Fraction(len(seen) - 1, len(seen))
            squares += sum(z * z for z in seen) - sum(noises)
        return within > self.design.roughness * squares

    def publish_even(self, level: int, cell: int, deeper: int, left: int) -> None:
        """Publish what lies one or two levels below a cell."""
        for child in self.inside(level, cell):
            finer = self.inside(level + 1, child)
            if deeper == 1:
                self.publish(level + 1, child, self.noise(left, level + 2, finer[0]), left)
            for grandchild in finer if deeper == 2 else ():
                self.publish(level + 2, grandchild, self.noise(left, level + 2, grandchild), left)

    # Parts

    def count(self, level: int, cell: int) -> int:
        return int(self.counts.exact(level, np.array([cell]))[0])

    def publish(self, level: int, cell: int, drawn: int, share: int) -> None:
        noisy = max(-FARTHEST, min(FARTHEST, self.count(level, cell) + drawn))
        self.found.add((level, cell, noisy, share))

    def inside(self, level: int, cell: int) -> list[int]:
        """The children that meet the domain."""
        return [int(child) for child in self.counts.domain.children(level, np.array([cell]))]

    def draws(self, level: int, cell: int, left: int) -> dict[int, dict[int, int]]:
        """The noises of all grandchildren, by child."""
        return {
            child: {one: self.noise(left, level + 2, one) for one in self.inside(level + 1, child)}
            for child in self.inside(level, cell)
        }

    def scale(self, share: int) -> Fraction:
        """The scale of the noise of a share."""
        return Fraction(UNITS * SHARES) / (self.epsilon * share)

    def threshold(self, signal: Fraction, left: int) -> int:
        return int(signal * self.scale(left))  # of a positive number: rounded down
