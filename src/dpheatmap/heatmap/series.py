"""A series of heatmaps: one for each slice of a release, with the number of people in each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from dpheatmap._util.extras import import_extra
from dpheatmap._util.parameters import check
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.rendering import smooth_estimate
from dpheatmap.heatmap.slice_difference import SliceDifference
from dpheatmap.heatmap.smoothing import sigma_of
from dpheatmap.heatmap.volumes import Volumes, volumes_of
from dpheatmap.place.domain import Domain
from dpheatmap.releases.sliced_release import SlicedRelease

if TYPE_CHECKING:
    from dpheatmap.estimate.posterior.map_estimate import MapEstimate


_DRAWS = 80  # of each slice, where a map of its own has 200: there are many slices


@dataclass(frozen=True, eq=False)
class Series(Mapping[str, Heatmap]):
    """A heatmap for each slice of a release, by its name.

    Attributes
    ----------
    release : SlicedRelease
        The release.
    sigma : float
        The smoothing of all maps.
    size : int or None
        The number of pixels on the longer side.
    """

    release: SlicedRelease
    sigma: float
    size: int | None = None

    @property
    def domain(self) -> Domain:
        """The place."""
        return self.release.domain

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the slices, in order."""
        return self.release.slices

    @cached_property
    def _maps(self) -> dict[str, Heatmap]:
        return {}

    def __getitem__(self, label: str) -> Heatmap:
        """The map of a slice."""
        if label not in self._maps:
            self._maps[label] = self._map(self.release.number_of(label))
        return self._maps[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def _map(self, number: int) -> Heatmap:
        estimate = self._estimate(number)
        heat = smooth_estimate(estimate.distribution(), estimate, self.release, sigma=self.sigma, size=self.size)
        known = heat.uncertainty and replace(heat.uncertainty, count=_DRAWS)
        return replace(heat, ledger=self.release.ledger, slice=self.labels[number], uncertainty=known)

    def _estimate(self, number: int) -> MapEstimate:
        from dpheatmap.estimate.posterior.folding import finest_level
        from dpheatmap.estimate.slices.slice_estimate import estimate_of_slice

        return estimate_of_slice(self.release, number, finest_level(self.domain, self.sigma))

    @cached_property
    def volumes(self) -> Volumes:
        """How many people are in each slice, and their share, with intervals."""
        return volumes_of(self.release, [self._estimate(number) for number in range(len(self))])

    def difference(self, before: str, after: str) -> SliceDifference:
        """Subtract the map of one slice from that of another: ``after`` minus ``before``.

        The errors of slices are related, because they share the pooled map. The standard deviation of a change is that
        of draws of both slices together.

        Parameters
        ----------
        before, after : str
            The names of two slices.

        Returns
        -------
        SliceDifference
            The change of the share of people in each pixel, with its uncertainty.
        """
        if before == after:
            raise ParameterError(f"A difference needs two slices, and was given {before!r} twice. Name another one.")
        return SliceDifference(self[before], self[after], (before, after))

    def save(self, path: str | PathLike[str], **options: Any) -> None:
        """Write all maps to a file in the format of its suffix, whole or not at all.

        Parameters
        ----------
        path : path
            The file: .png, .svg or .pdf for small maps on one scale, with a chart of the volumes; .html for an
            interactive map with a slider; .gif or .webp for an animation; .tif, .nc, .csv or .parquet for numbers.
        **options
            Words and looks, as for :meth:`Heatmap.save`.
        """
        from dpheatmap.render.series import save

        save(self, path, **options)

    def to_xarray(self) -> Any:
        """Convert the maps to a data set of xarray with a dimension for slices.

        Returns
        -------
        xarray.Dataset
            The shares, by slice, row and column; and the volumes, by slice.
        """
        xarray = import_extra("xarray", "geo", "A data set of xarray")
        each = [self[label].to_xarray() for label in self.labels]
        joined = xarray.concat(each, dim=xarray.IndexVariable("slice", list(self.labels)))
        volumes = self.volumes
        return joined.assign(volume=("slice", volumes.people), volume_std=("slice", volumes.std))

    def _repr_html_(self) -> str:
        from dpheatmap.render.web.notebook import output_of_series

        return output_of_series(self)

    def __repr__(self) -> str:
        return (
            f"<Series of {len(self)} heatmaps, {self.release.axis.words}, {self.domain.kind} domain, "
            f"sigma={self.sigma:g} {self.domain.unit_name}, epsilon={self.release.epsilon}>"
        )


def series_of(release: SlicedRelease, *, sigma: float | None, size: int | None) -> Series:
    """The series of a release; :meth:`SlicedRelease.heatmap` calls this."""
    given = {name: value for name, value in (("sigma", sigma), ("size", size)) if value is not None}
    check(**given)
    return Series(release, float(np.float64(sigma_of(release.domain, sigma))), size)
