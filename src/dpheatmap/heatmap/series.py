"""A series of heatmaps: one for each slice of a release, with the number of people in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

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
    quantity : {"share", "people"}
        What the values of the maps are.
    progress : callable or None
        Called before the map of a slice is made, with its number, from 1 on, and that of all slices.
    """

    release: SlicedRelease
    sigma: float
    size: int | None = None
    quantity: str = "share"
    progress: Callable[[int, int], None] | None = None

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
            number = self.release.number_of(label)
            if self.progress is not None:
                self.progress(number + 1, len(self))
            self._maps[label] = self._map(number)
        return self._maps[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def _map(self, number: int) -> Heatmap:
        estimate = self._estimate(number)
        heat = smooth_estimate(estimate.distribution(), estimate, self.release, sigma=self.sigma, size=self.size)
        known = heat.uncertainty and replace(heat.uncertainty, count=_DRAWS)
        heat = replace(heat, ledger=self.release.ledger, slice=self.labels[number], uncertainty=known)
        return heat.in_people() if self.quantity == "people" else heat

    def _estimate(self, number: int) -> MapEstimate:
        from dpheatmap.estimate.posterior.folding import finest_level
        from dpheatmap.estimate.slices.slice_estimate import estimate_of_slice

        return estimate_of_slice(self.release, number, finest_level(self.domain, self.sigma))

    def in_people(self) -> Series:
        """Convert the shares of all maps to numbers of people, as :meth:`Heatmap.in_people` does.

        Returns
        -------
        Series
            The same maps with numbers of people as values, which add up to the number of people in each slice.
        """
        return replace(self, quantity="people")

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
        from dpheatmap.render.content.slice_names import SliceNames

        phrases = SliceNames(self.release.axis).phrases
        names = phrases[self.release.number_of(before)], phrases[self.release.number_of(after)]
        return SliceDifference(self[before], self[after], names)

    def save(
        self,
        path: str | PathLike[str],
        *,
        title: str | None = None,
        subtitle: str | None = None,
        source: str | None = None,
        what: str | None = None,
        style: str = "bands",
        colours: str | None = None,
        limits: tuple[float, float] | None = None,
        background: str | PathLike[str] | None = None,
        basemap: bool = True,
        context: str | Sequence[str] | None = None,
        context_credit: str | None = None,
        values: str | None = None,
        tiles: str | None = None,
    ) -> None:
        """Write all maps to a file in the format of its suffix, whole or not at all.

        Parameters
        ----------
        path : path
            The file: .png, .svg or .pdf for small maps on one scale, with a chart of the volumes; .gif or .webp for an
            animation; .html for an interactive map with a slider; .tif, .nc, .csv or .parquet for numbers. A sheet of
            small maps shows at most 24 slices, and an animation 200, evenly spaced.
        title : str, optional
            The title. By default it says what the place tells: where people are, or looked. This and the other texts
            have up to 300 characters, none of them a line break or control character.
        subtitle : str, optional
            A line below the title. By default it says what the slices are.
        source : str, optional
            Whose data it is, for the small print.
        what : str, optional
            What people did there, such as "check-ins", for the title and the words.
        style : {"bands", "smooth", "contour"}, default "bands"
            How the values are drawn: at most six bands, a gradient, or lines.
        colours : {"light", "dark"}, optional
            The ground of a picture or a page. A picture is light by default; a page follows its reader's device.
        limits : tuple of two float, optional
            The first and the last edge of the bands of all maps, as for :meth:`Heatmap.save`.
        background : path, optional
            The image that people looked at or clicked, drawn below the heat; or "pitch", a football pitch.
        basemap : bool, default True
            Whether maps of a box show coast, borders and names.
        context : str or sequence of str, optional
            Files with your own map, as for :meth:`Heatmap.save`.
        context_credit : str, optional
            Whose map that is, for the small print.
        values : {"share", "people"}, optional
            What numbers are shown in: shares of the people of each slice, or people, as :meth:`in_people` has them. By
            default they are what the series has.
        tiles : str, optional
            An address of map tiles with {z}, {x} and {y}, for the background of an .html, as for :meth:`Heatmap.save`.

        Raises
        ------
        ParameterError
            If a value lies outside its rule, or if the format does not take an option.
        MissingDependency
            If the format needs an optional package that is not installed.
        """
        from dpheatmap.render.series_files import save

        if values is not None:
            check(values=values)
        save(
            self if values in (None, self.quantity) else replace(self, quantity=str(values)), path, title=title,
            subtitle=subtitle, source=source, what=what, style=style, colours=colours, limits=limits,
            background=background, basemap=basemap, context=context, context_credit=context_credit,
            tiles=tiles,
        )  # fmt: skip

    def to_xarray(self) -> Any:
        """Convert the maps to a data set of xarray with a dimension for slices.

        Returns
        -------
        xarray.Dataset
            The values and their standard deviations, by slice, row and column; and the volumes, by slice.
        """
        from dpheatmap.render.formats.series_netcdf import to_xarray

        return to_xarray(self)

    def _repr_html_(self) -> str:
        from dpheatmap.render.web.notebook import output_of_series

        return output_of_series(self)

    def __repr__(self) -> str:
        return (
            f"<Series of {len(self)} heatmaps, {self.release.axis.words}, {self.domain.kind} domain, "
            f"sigma={self.sigma:g} {self.domain.unit_name}, epsilon={self.release.epsilon}>"
        )


def series_of(
    release: SlicedRelease,
    *,
    sigma: float | None,
    size: int | None,
    progress: Callable[[int, int], None] | None = None,
) -> Series:
    """The series of a release; :meth:`SlicedRelease.heatmap` calls this."""
    given = {name: value for name, value in (("sigma", sigma), ("size", size)) if value is not None}
    check(**given)
    return Series(release, float(np.float64(sigma_of(release.domain, sigma))), size, progress=progress)
