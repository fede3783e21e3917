"""The Release: the noisy tree and its label. Nothing else crosses the wall.

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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpheatmap._util.parameters import check
from dpheatmap.design.design import Design
from dpheatmap.design.paper import PaperDesign
from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.design.registry import POSTERIOR, check_method
from dpheatmap.design.shares import FARTHEST, UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.place.quadtree import Ints, decode
from dpheatmap.releases.estimable import Estimable
from dpheatmap.releases.measurements import Measurements
from dpheatmap.releases.noise_law import LAPLACE, NoiseLaw
from dpheatmap.releases.trust import CURATOR, Trust

if TYPE_CHECKING:
    from dpheatmap.estimate.distribution import Distribution
    from dpheatmap.estimate.number_of_people import NumberOfPeople
    from dpheatmap.estimate.posterior.public_measure import PublicMeasure
    from dpheatmap.heatmap.heatmap import Heatmap


class LedgerEntry(NamedTuple):
    """The entry of a ledger that a release was charged to.

    Attributes
    ----------
    number : int
        The number of the entry, from 1.
    head : str
        The head of the ledger's chain at that entry: its hash.
    """

    number: int
    head: str


@dataclass(frozen=True, eq=False)
class Release(Estimable):
    """A noisy tree under user-level differential privacy, and everything public about how it was made.

    :func:`dpheatmap.release` makes one, and :func:`dpheatmap.load` reads one from its file. Everything made from it is
    post-processing and costs no budget.

    Attributes
    ----------
    domain : Domain
        The public place.
    loss : PrivacyLoss
        The privacy loss: epsilon and delta.
    measurements : Measurements
        The cells that were measured, and their noisy counts.
    design : Design
        The design that chose the cells and their shares of epsilon.
    units : int
        W, the number of units that one person's weight of 1 is counted in.
    seeded : bool
        Whether the noise came from a seed; such a release is NOT PRIVATE.
    made : datetime
        When it was made, with a time zone.
    ledger : LedgerEntry or None
        The entry of the ledger that it was charged to.
    trust : Trust
        Who was trusted with people's data.
    noise : LaplaceNoise or GaussianNoise
        The law of the noise.
    """

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
        """Make a release without a curator, from the noisy sums of what devices sent for all cells of all levels.

        Parameters
        ----------
        domain : Domain
            The public place.
        design : PaperDesign
            A design that measures all cells of its levels at once.
        counts : array of int
            The noisy sums, in the order of ``design.coordinates(domain)``.
        loss : PrivacyLoss
            The privacy loss: epsilon and delta.
        trust : Trust
            The trust model, and the number of participants.
        noise : LaplaceNoise or GaussianNoise
            The law of the noise.
        units : int, default 1073741824
            The number of units that one person's weight of 1 is counted in.
        deviations : array of int, optional
            The standard deviations of the noise, in the units of the counts. They are for Gaussian noise only.
        seeded : bool, default False
            Whether the noise came from a seed; such a release is NOT PRIVATE.

        Returns
        -------
        Release
            The sums and everything public about them.

        Examples
        --------
        >>> from dpheatmap.design.paper import all_at_once
        >>> from dpheatmap.design.privacy_loss import ApproximateLoss
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
        """The epsilon of the release: how much may leak about a person."""
        return self.loss.epsilon

    @property
    def delta(self) -> Fraction:
        """The probability that more than epsilon leaks; 0 for a curator's release."""
        return self.loss.delta

    @property
    def measured_levels(self) -> tuple[int, int]:
        """The coarsest and the finest level that were measured. Inside the finest cells, mass is spread evenly."""
        return int(self.measurements.levels[0]), int(self.measurements.levels[-1])

    @property
    def label(self) -> Mapping[str, str]:
        """The privacy label: who is protected, from what, how strongly, and what is not promised."""
        from dpheatmap.releases.label import privacy_label

        return privacy_label(self)

    def columns(self) -> dict[str, Ints]:
        """Return the measurements as columns.

        Returns
        -------
        dict of str to array of int
            The columns level, x, y, noisy_count (in units of 1/W of a person) and budget_share. Where the noise does
            not follow from the share, there is also noise_deviation, in the units of the counts.
        """
        m = self.measurements
        x, y = decode(m.codes)
        found = {"level": m.levels, "x": x, "y": y, "noisy_count": m.counts, "budget_share": m.shares}
        return found if m.deviations is None else {**found, "noise_deviation": m.deviations}

    def distribution(self, *, method: str = "posterior", prior: Any = None) -> Distribution:
        """Estimate where people are, as masses of cells; this costs no budget.

        Parameters
        ----------
        method : {"posterior", "paper", "dense"}, default "posterior"
            "posterior" uses every measurement of any design. "paper" is the paper's own reconstruction for its two
            designs: Algorithm 2 for the design "paper", and the nearest map in the EMD norm for the design "dense".
            "dense" is another name for the latter.
        prior : Release, list of Release, Heatmap, array, path or mapping, optional
            What is already public about the place, in place of an even spread: another release, several of one domain
            (read as if about one table), or a map of one; a raster of population or land, as a two-dimensional array on
            the domain's bounds or a GeoTIFF; or polygons as GeoJSON, inside of which people are. It is believed as far
            as the evidence says. By giving a raster or polygons you declare them public. Only "posterior" takes one.

        Returns
        -------
        Distribution
            Masses of disjoint cells that add up to 1, and the estimated number of people.

        Raises
        ------
        ParameterError
            If the method is not one for the design of the release, or if the prior is not about its place.
        PrivacyRefusal
            If the prior is not public: made with a seed, or without noise.
        """
        check_method(method, self.design.name)
        if prior is not None:
            from dpheatmap.estimate.posterior.posterior import reconstruct

            return reconstruct(self, self._measure(prior, method))
        home = "dpheatmap.estimate.posterior.posterior" if method == POSTERIOR else self.design.methods[method]
        made: Distribution = import_module(home).reconstruct(self)
        return made

    def _measure(self, prior: Any, method: str) -> PublicMeasure:
        """Read a prior as base measure on the domain."""
        from dpheatmap.estimate.posterior.public_measure import public_measure

        if method != POSTERIOR:
            raise ParameterError(
                f"Only the method 'posterior' takes a prior; it was {method!r}. Leave one of them out."
            )
        return public_measure(prior, self.domain)

    def heatmap(
        self, *, sigma: float | None = None, size: int | None = None, method: str = "posterior", prior: Any = None
    ) -> Heatmap:
        """Make the smoothed map; this costs no budget, so any number of maps may be made from one release.

        Parameters
        ----------
        sigma : float, optional
            The standard deviation of the Gaussian filter, in ground metres, pixels or fractions of the side, as the
            domain is, from 1e-30 to 1e30. By default it is 2 % of the longer side.
        size : int, optional
            The number of pixels on the longer side. By default it is that of the domain's finest cells, at most 1024.
        method : {"posterior", "paper", "dense"}, default "posterior"
            The reconstruction, as for :meth:`distribution`. Only "posterior" comes with an uncertainty.
        prior : Release, list of Release, Heatmap, array, path or mapping, optional
            What is already public about the place, as for :meth:`distribution`. The map's label names every release
            used.

        Returns
        -------
        Heatmap
            The share of people in each pixel.

        Examples
        --------
        >>> import dpheatmap as dph
        >>> from dpheatmap.testing import generated_people
        >>> r = dph.release(generated_people(500), dph.Domain.unit(6), epsilon=1, user="person", x="x", y="y")
        >>> r.heatmap(sigma=0.05, size=32).values.shape
        (32, 32)
        """
        from dpheatmap.heatmap.rendering import render

        check(method=method)
        known = None if prior is None else self._measure(prior, method)
        return render(self, sigma=sigma, size=size, method=method, prior=known)

    @property
    def people(self) -> NumberOfPeople:
        """The estimated number of people in the place, from every level that was measured, with its interval."""
        from dpheatmap.estimate.number_of_people import number_of_people

        return number_of_people(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the release to one Parquet file, whole or not at all.

        Parameters
        ----------
        path : path
            The file, such as ``june.dph.parquet``.

        Raises
        ------
        ParameterError
            If the suffix is that of a format of maps, such as ``.png``.
        """
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


def load(path: str | PathLike[str]) -> Release | Any:
    """Read a release that :meth:`Release.save` wrote.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Release or SlicedRelease
        The release, after checking it against the rules of its design.

    Raises
    ------
    ReleaseFileError
        If there is no such file, or if it is damaged, altered, of a newer format, or not a release.

    Examples
    --------
    >>> import tempfile
    >>> import dpheatmap as dph
    >>> from dpheatmap.testing import generated_people
    >>> r = dph.release(generated_people(100), dph.Domain.unit(4), epsilon=1, user="person", x="x", y="y")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     r.save(f"{folder}/june.dph.parquet")
    ...     print(dph.load(f"{folder}/june.dph.parquet").epsilon)
    1
    """
    from dpheatmap.releases.release_file import read

    if not isinstance(path, (str, PathLike)):
        raise ParameterError(f"path must name a release file; it was a {type(path).__name__}. Give it as text.")
    return read(path)


def load_one(path: str | PathLike[str]) -> Release:
    """Read a release of one map; refuse one of several slices."""
    found = load(path)
    if not isinstance(found, Release):
        raise ParameterError(
            f"{Path(path).name} has {len(found.slices)} slices, and one map is needed here. Draw it with export, or "
            "release without slices."
        )
    return found


def need_release(given: object, *others: type) -> None:
    """Refuse anything but a release or an instance of ``others``; the usual mistake is a path."""
    if not isinstance(given, (Release, *others)):
        raise ParameterError(
            f"A Release is needed, and a {type(given).__name__} was given. Use dpheatmap.load for files."
        )


__all__ = ["Release", "load"]
