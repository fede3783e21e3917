"""A Release: the noisy tree and its label, the only thing that crosses the wall.

It holds measurements (cell, noisy count, budget) and public facts about how they were made. Everything else
(reconstruction, heatmap, files) is computed from it and costs no budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpheatmap._util.parameters import check
from dpheatmap.design.budget import FARTHEST, UNITS
from dpheatmap.design.design import Design, Question
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.design.registry import POSTERIOR, check_method
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, decode
from dpheatmap.releases.noise_law import LAPLACE, NoiseLaw
from dpheatmap.releases.trust import CURATOR, Trust

if TYPE_CHECKING:
    from dpheatmap.estimate.distribution import Distribution
    from dpheatmap.heatmap.heatmap import Heatmap


@dataclass(frozen=True, eq=False)
class Measurements:
    """Cells and their noisy counts; a cell may be measured more than once, each time with its own budget.

    Rows are ordered by level, then by Morton code, then in time. ``counts`` are in units of 1/W of a person; ``shares``
    are the shares of epsilon (out of `SHARES`) spent on each. Where the noise does not follow
    from them, ``deviations`` are its standard deviations, in the same units as the counts.
    """

    levels: Ints
    codes: Ints
    counts: Ints
    shares: Ints
    deviations: Ints | None = None

    def __len__(self) -> int:
        return len(self.levels)

    def at(self, level: int) -> tuple[Ints, Ints]:
        """Codes and noisy counts of one level."""
        start, stop = np.searchsorted(self.levels, [level, level + 1])
        return self.codes[start:stop], self.counts[start:stop]

    def answers(self, asked: Question) -> Ints | None:
        """The noisy counts that answer a question, or None if some of its cells were not measured with its share."""
        start, stop = np.searchsorted(self.levels, [asked.level, asked.level + 1])
        here = self.shares[start:stop] == asked.share
        codes, counts = self.codes[start:stop][here], self.counts[start:stop][here]
        at = np.searchsorted(codes, asked.cells)
        if len(codes) == 0 or at[-1] >= len(codes) or not np.array_equal(codes[at], asked.cells):
            return None
        found: Ints = counts[at]
        return found


class LedgerEntry(NamedTuple):
    """Where a release stands in the ledger that it was charged to: the entry's number, and the chain's head then."""

    number: int
    head: str


@dataclass(frozen=True, eq=False)
class Release:
    """A noisy tree under user-level differential privacy, and everything public about how it was made."""

    domain: Domain
    loss: PrivacyLoss
    measurements: Measurements
    design: Design
    units: int = UNITS
    seeded: bool = False
    made: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))
    ledger: LedgerEntry | None = None
    trust: Trust = CURATOR
    noise: NoiseLaw = LAPLACE

    @classmethod
    def collected(
        cls,
        domain: Domain,
        design: PaperDesign,
        counts: Ints,
        *,
        loss: PrivacyLoss,
        trust: Trust,
        noise: NoiseLaw,
        units: int = UNITS,
        deviations: Ints | None = None,
        seeded: bool = False,
    ) -> Release:
        """A release without a curator: the noisy sums of what devices sent, all cells of the design's levels at once.

        ``counts`` are in the order of ``design.coordinates(domain)``, in units of which a person has ``units``, and
        ``deviations``, for Gaussian noise only, the standard deviations of their noise in the same units.

        >>>         >>> from dpheatmap.design.privacy_loss import ApproximateLoss
        >>> from dpheatmap.releases.noise_law import shuffled_noise
        >>> place = Domain.unit(3)
        >>> design = all_at_once(place)
        >>> noisy = np.zeros(len(design.coordinates(place)[0]), np.int64)
        >>> loss, trust = ApproximateLoss(Fraction(5), Fraction(1, 10**5)), Trust("shuffler", 60)
        >>> r = Release.collected(place, design, noisy, loss=loss, trust=trust, noise=shuffled_noise(60, 50), units=256)
        >>> r.trust.who, len(r.measurements)
        ('shuffler', 80)
        """
        check(epsilon=loss.epsilon, delta=loss.delta, units=units)
        levels, codes = design.coordinates(domain)
        held = np.clip(counts, -FARTHEST, FARTHEST)
        shares = np.repeat([share for _, share in sorted(design.shares.items())], np.bincount(levels)[design.first :])
        return cls(
            domain=domain, loss=loss, measurements=Measurements(levels, codes, held, shares, deviations),
            design=design, units=units, seeded=seeded, trust=trust, noise=noise,
        )  # fmt: skip

    @property
    def epsilon(self) -> Fraction:
        """How much may leak about a person."""
        return self.loss.epsilon

    @property
    def delta(self) -> Fraction:
        """The probability that more than that leaks; 0 for a curator's release."""
        return self.loss.delta

    @property
    def measured_levels(self) -> tuple[int, int]:
        """The coarsest and the finest level that were measured; inside the finest cells, mass lies evenly."""
        return int(self.measurements.levels[0]), int(self.measurements.levels[-1])

    @property
    def label(self) -> Mapping[str, str]:
        """The privacy label: who is protected, from what, how strongly, and what is not promised."""
        from dpheatmap.releases.label import privacy_label

        return privacy_label(self)

    def columns(self) -> dict[str, Ints]:
        """The measurements as columns: level, x, y, noisy_count (in units of 1/W of a person), budget_share.

        Where the noise does not follow from the share there is noise_deviation, too, in the units of the counts.
        """
        m = self.measurements
        x, y = decode(m.codes)
        found = {"level": m.levels, "x": x, "y": y, "noisy_count": m.counts, "budget_share": m.shares}
        return found if m.deviations is None else {**found, "noise_deviation": m.deviations}

    def distribution(self, *, method: str = "posterior") -> Distribution:
        """Where people are, as masses of cells that add up to 1; costs no budget.

        ``method`` is "posterior", which counts every measurement of any design, or "paper", the paper's own for its two
        designs: Algorithm 2 for "paper"; for "dense" the nearest map in the EMD norm, which "dense" names, too.
        """
        check_method(method, self.design.name)
        home = "dpheatmap.estimate.posterior.posterior" if method == POSTERIOR else self.design.methods[method]
        made: Distribution = import_module(home).reconstruct(self)
        return made

    def heatmap(self, *, sigma: float | None = None, size: int | None = None, method: str = "posterior") -> Heatmap:
        """The smoothed map; costs no budget, so any number may be made from one release.

        ``sigma`` is the smoothing in ground metres, pixels or fractions of the side (default: 2 % of the longer
        side); ``size`` the number of pixels on the longer side (default: the domain's own grid, at most 1024).
        """
        from dpheatmap.heatmap.heatmap import render

        return render(self.distribution(method=method), sigma=sigma, size=size, release=self, method=method)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the release to one Parquet file, such as june.dph.parquet, whole or not at all."""
        from dpheatmap.releases.release_file import write
        from dpheatmap.render import FORMATS

        suffix = Path(path).suffix.lower()
        if suffix in FORMATS and suffix != ".parquet":
            raise ParameterError(
                f"A release is saved as Parquet, and {suffix} files hold maps; the file was {fspath(path)!r}. "
                "Draw the map with release.heatmap().save, or use a name such as june.dph.parquet."
            )
        write(self, path)

    def _repr_html_(self) -> str:
        return self.heatmap()._repr_html_()

    def _repr_png_(self) -> bytes:
        return self.heatmap()._repr_png_()

    def __repr__(self) -> str:
        first, last = self.measured_levels
        return (
            f"<Release epsilon={self.epsilon}{f', delta={self.delta}' if self.delta else ''} of {self.domain.kind} "
            f"domain, levels {first} to {last}, {len(self.measurements)} measurements"
            f"{f', trusted: {self.trust.who}' if self.trust.collected else ''}"
            f"{', NOT PRIVATE' if self.seeded else ''}>"
        )


def load(path: str | PathLike[str]) -> Release:
    """Read a release that :meth:`Release.save` wrote; a broken, foreign or newer file gets a clear error."""
    from dpheatmap.releases.release_file import read

    if not isinstance(path, (str, PathLike)):
        raise ParameterError(f"path must name a release file; it was a {type(path).__name__}. Give it as text.")
    return read(path)


def need_release(given: object, *others: type) -> None:
    """Refuse what is no release, nor of another type that would do: a path, most likely."""
    if not isinstance(given, (Release, *others)):
        raise ParameterError(
            f"A Release is needed, and a {type(given).__name__} was given. Use dpheatmap.load for files."
        )


__all__ = ["Measurements", "Release", "load"]
