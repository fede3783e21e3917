"""A Heatmap: a smoothed distribution with its place and its privacy loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.parameters import check
from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.smoothing import middle_rows, parts_inside, pixel_sides
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.releases.noise_law import LAPLACE, NoiseLaw
from dpheatmap.releases.trust import CURATOR, Trust

_NOBODY = 1e-9  # people: values of a map of nobody are not 0, so that they have a scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpheatmap.estimate.posterior.map_estimate import MapEstimate
    from dpheatmap.heatmap.uncertainty import Uncertainty
    from dpheatmap.releases.release import LedgerEntry, Release


@dataclass(frozen=True, eq=False)
class Heatmap:
    """A smoothed map of the share of people in each pixel. :meth:`Release.heatmap` makes one.

    Attributes
    ----------
    values : array of float, two-dimensional
        The share of people in each pixel; the shares add up to 1. After :meth:`in_people`, it is the number of people.
        Row 0 is the north, the image's top, or y = 0. The pixels cut ``domain.bounds`` evenly, for a box evenly on the
        Mercator map.
    domain : Domain
        The place.
    sigma : float
        The smoothing, in ground metres, pixels or fractions of the side, as the domain is.
    loss : PrivacyLoss
        The privacy loss of the release.
    made : datetime
        When the release was made.
    seeded : bool
        Whether the release's noise came from a seed; such a map is NOT PRIVATE.
    uniform : bool
        Whether the estimate was zero everywhere. The map is then even and says nothing.
    uncertainty : Uncertainty or None
        Draws from the posterior, from which ``std`` and :meth:`interval` follow. None for the paper's methods, and for
        empty maps.
    release : Release or None
        The release that the map was made from.
    method : str
        The reconstruction: "posterior", "paper" or "dense".
    trust : Trust
        Who was trusted with people's data.
    noise : LaplaceNoise or GaussianNoise
        The law of the release's noise.
    estimate : MapEstimate or None
        The masses that were smoothed.
    priors : tuple of Release
        The earlier releases that the map's prior was made from.
    combined : tuple of Release
        The releases that the map combines; empty for the map of one release.
    ledger : LedgerEntry or None
        The entry of the ledger that the release was charged to.
    quantity : {"share", "people"}
        What the values are.
    slice : str or None
        The name of the slice that the map is of, if its release has several.
    """

    values: Floats
    domain: Domain
    sigma: float
    loss: PrivacyLoss
    made: datetime
    seeded: bool
    uniform: bool
    uncertainty: Uncertainty | None = None
    release: Release | None = field(default=None, repr=False)
    method: str = "posterior"
    trust: Trust = CURATOR
    noise: NoiseLaw = LAPLACE
    estimate: MapEstimate | None = field(default=None, repr=False)
    priors: tuple[Release, ...] = field(default=(), repr=False)
    combined: tuple[Release, ...] = field(default=(), repr=False)
    ledger: LedgerEntry | None = field(default=None, repr=False)
    quantity: str = "share"
    slice: str | None = None

    def in_people(self) -> Heatmap:
        """Convert the shares to numbers of people, by the estimate of how many there are in all.

        People are sums of weights: somebody with half of their events in a pixel counts one half there. The number of
        all people is an estimate, too, and its uncertainty is part of that of the values.

        Returns
        -------
        Heatmap
            The same map with numbers of people as values, which add up to the estimated number of all.

        Raises
        ------
        ParameterError
            If the map was not made from a release.

        Examples
        --------
        >>> import dpheatmap as dph
        >>> from dpheatmap.testing import generated_people
        >>> r = dph.release(generated_people(500), dph.Domain.unit(6), epsilon=5, user="person", x="x", y="y")
        >>> 400 < float(r.heatmap().in_people().values.sum()) < 600
        True
        """
        if self.quantity == "people":
            return self
        if self.estimate is None:
            raise ParameterError("Numbers of people are known of maps from a release. Use Release.heatmap.")
        total = self.estimate.total
        known = self.uncertainty and replace(self.uncertainty, quantity="people", maps=None)
        return replace(self, values=self.values * max(total, _NOBODY), uncertainty=known, quantity="people")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the values wherever NumPy wants an array: ``dph.metrics.emd(heat, other)``, ``plt.imshow(heat)``."""
        return np.array(self.values, dtype, copy=copy)

    @cached_property
    def empty(self) -> bool:
        """Whether no place stands out from the noise: pictures of such a map paint nothing, and say so."""
        from dpheatmap.render.content.clarity import stands_out

        return not stands_out(self)

    @property
    def epsilon(self) -> Fraction:
        """The release's epsilon: how much may leak about a person."""
        return self.loss.epsilon

    @property
    def delta(self) -> Fraction:
        """The release's delta: the probability that more than epsilon leaks."""
        return self.loss.delta

    @property
    def std(self) -> Floats | None:
        """The standard deviation of each value, or None where it is not known.

        It is not known for the paper's methods and for empty maps. It covers the noise and what the noise leaves open.
        Values are not normal: at a weak signal they can lie far above, but not below 0. :meth:`interval` allows for
        that, and for hot spots that hide in cells too large to show them. This does not, so take intervals from there.
        """
        return None if self.uncertainty is None else self.values * self.uncertainty.relative_std

    def interval(self, confidence: float = 0.9) -> tuple[Floats, Floats]:
        """Compute an interval for each pixel that holds its true value with the confidence given.

        Parameters
        ----------
        confidence : float, default 0.9
            The probability with which the interval of a pixel holds its true value.

        Returns
        -------
        low, high : array of float
            The ends of the intervals, in the shape of ``values``.

        Raises
        ------
        ParameterError
            If the uncertainty of the map is not known.

        Notes
        -----
        The intervals hold pixel by pixel, not for all pixels at once. In trials on real and generated maps of 50 to
        2000 people at epsilon 0.1 to 10, intervals of 90 % held the true values of 93 to 100 % of the pixels, and of 85
        to 100 % of the busiest tenth, on average over maps. On nine maps of ten they held at least 77 % of the busiest
        tenth; with fewer than 10 people times epsilon, at least 60 %. At a weak signal they are wide: at 20 people
        times epsilon, the mean interval is 13 times as long as the mean value. Intervals of 95 % held 96 % of the
        busiest tenth there, but those of 80 % only 70 %. `docs/explanation/results.md` has the numbers.
        """
        check(confidence=confidence)
        low, high = self._need_uncertainty().relative_interval(float(confidence))
        return self.values * low, self.values * high

    def significant(
        self, level: float | Floats | None = None, *, confidence: float = 0.95, control: str = "discovery"
    ) -> NDArray[np.bool_]:
        """Find the pixels whose true value exceeds a level, with a small error on the whole map: the real hot spots.

        Parameters
        ----------
        level : float or array of float, optional
            A share of people per pixel: one for all pixels, or one for each. By default it is the share that each pixel
            would have if people were spread evenly.
        confidence : float, default 0.95
            One minus the error that ``control`` names.
        control : {"discovery", "family"}, default "discovery"
            Which error is held below 1 - ``confidence``: with "discovery", the expected part of the pixels found that
            don't exceed the level (the false discovery rate); with "family", the probability of even one (the
            family-wise error).

        Returns
        -------
        array of bool
            Whether each pixel exceeds the level.

        Raises
        ------
        ParameterError
            If the uncertainty of the map is not known, or if the level is not a share of 0 or more.

        Notes
        -----
        Grey on a drawn map means something else: a place whose heat, by itself, can't be told from nothing.

        In trials at epsilon 0.1 to 10 and a confidence of 0.95, at most 4 % of the pixels found were wrong on cities,
        gaze and mixtures, and 7 % on cities with hot spots narrower than the cells measured. At most 4 % of the maps
        had any wrong pixel with "family".
        """
        check(confidence=confidence, control=control)
        known = self._need_uncertainty()
        wanted = np.broadcast_to(np.asarray(self._even if level is None else level, np.float64), self.values.shape)
        if not (np.isfinite(wanted).all() and (wanted >= 0).all()):
            raise ParameterError(
                "level must be a share of people per pixel, 0 or more. Leave it out for an even map's."
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(self.values > 0, wanted / self.values, np.inf)
        return known.exceeds(relative, confidence=float(confidence), family=control == "family")

    @property
    def _even(self) -> Floats:
        """The value of each pixel if people were spread evenly on the ground."""
        even: Floats = self.ground * (self.values.sum() / self.ground.sum())
        return even

    def _need_uncertainty(self) -> Uncertainty:
        if self.uncertainty is None:
            raise ParameterError(
                f"The uncertainty of this map is not known: it was made by the method {self.method!r}, or nothing rose "
                "above the noise. Make it with method='posterior'."
            )
        return self.uncertainty

    @property
    def x(self) -> Floats:
        """The middles of the columns: degrees of longitude, pixels, or fractions of the side."""
        bounds, columns = self.domain.bounds, self.values.shape[1]
        middles: Floats = bounds.x0 + (np.arange(columns) + 0.5) * ((bounds.x1 - bounds.x0) / columns)
        return middles

    @property
    def y(self) -> Floats:
        """The middles of the rows: degrees of latitude, pixels, or fractions of the side."""
        at = middle_rows(self.domain, self.values.shape[0]) / 2.0**self.domain.depth
        return self.domain.place.from_root(np.zeros_like(at), at)[1]

    @property
    def density(self) -> Floats:
        """The values per square metre on the ground, per square pixel of the image, or per square side.

        It is that of the part of a pixel inside the place, and 0 where there is none.
        """
        ground = self.ground
        density: Floats = self.values / np.where(ground > 0.0, ground, 1.0)
        return density

    @property
    def ground(self) -> Floats:
        """The area of each pixel inside the place, in the shape of ``values``, as :attr:`pixel_areas` counts it."""
        areas = np.broadcast_to(self.pixel_areas[:, None], self.values.shape)
        inside: Floats = areas * parts_inside(self.domain, self.values.shape)
        return inside

    @property
    def pixel_areas(self) -> Floats:
        """The area of a pixel of each row: square metres on the ground, square pixels of the image, or square sides."""
        width, height = pixel_sides(self.domain, *self.values.shape)
        area: Floats = width * height
        return area

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
        bare: bool = False,
        h3: int | None = None,
        zooms: tuple[int, int] | None = None,
        tiles: str | None = None,
        values: str = "share",
        crs: str | None = None,
    ) -> None:
        """Write the map to a file in the format of its suffix, whole or not at all.

        Parameters
        ----------
        path : path
            The file. .html is an interactive map that works from disk without a network; .png, .svg and .pdf are
            pictures; .tif, .geojson, .parquet, .pmtiles, .csv, .npz and .nc are for map tools and tables.
        title : str, optional
            The title of a picture or a page. By default it says what the place tells: where people are, or looked.
            This and the other texts have up to 300 characters, none of them a line break or control character.
        subtitle : str, optional
            A line below the title.
        source : str, optional
            Whose data it is, for the small print.
        what : str, optional
            What people did there, such as "check-ins", for the title and the words.
        style : {"bands", "smooth", "contour"}, default "bands"
            How a picture or a page draws the values: at most six bands, a gradient, or, on pictures, lines.
        colours : {"light", "dark"}, optional
            The ground of a picture or a page. A picture is light by default; a page follows its reader's device.
        limits : tuple of two float, optional
            The first and the last edge of the bands, or the ends of a gradient, for a series of maps on one scale: of
            every 1,000 people per square kilometre; of every 100 per 100 x 100 pixels or 10 x 10 m; or times even.
        background : path, optional
            The image that people looked at or clicked, drawn below the heat of a picture or a page; or "pitch", a
            football pitch.
        basemap : bool, default True
            Whether a picture or a page of a box shows coast, borders and names.
        context : str or sequence of str, optional
            Files with your own map: GeoJSON, GeoPackage, Shapefile, GeoParquet or PMTiles. After a colon stands how to
            draw it (water, park, land, road, rail or border) or the column with names: "parks.geojson:park". It says
            nothing about people and costs no budget; never give a file that was made from the private table.
        context_credit : str, optional
            Whose map that is, for the small print.
        bare : bool, default False
            Whether a .png leaves out everything but the heat.
        h3 : int, optional
            The resolution of H3 hexagons, which a .csv, .geojson or .parquet then lists instead of the measured cells.
        zooms : tuple of two int, optional
            The first and the last zoom of the tiles of a .pmtiles, or of the pixels of a .tif: it has those of the last
            and overviews down to the first. A pixel of the last possible zoom is one of the place's finest cells.
        tiles : str, optional
            An address of map tiles with {z}, {x} and {y}, for the background of an .html. The page then asks the
            network for these tiles, and for nothing else.
        values : {"share", "people"}, default "share"
            What numbers are shown in: shares of all people, or people, as :meth:`in_people` has them.
        crs : str, optional
            The projected system of coordinates of a .tif, such as the equal-area "EPSG:3035". By default it is that of
            web maps.

        Raises
        ------
        ParameterError
            If a value lies outside its rule, or if the format does not take an option.
        MissingDependency
            If the format needs an optional package that is not installed.
        """
        from dpheatmap.render import save

        check(values=values)
        heat = self.in_people() if values == "people" else self
        save(
            heat, path, title=title, subtitle=subtitle, source=source, what=what, style=style, colours=colours,
            limits=limits, background=background, basemap=basemap, context=context, context_credit=context_credit,
            bare=bare, h3=h3, zooms=zooms, tiles=tiles, crs=crs,
        )  # fmt: skip

    def to_xarray(self) -> Any:
        """Convert the map to xarray.

        Returns
        -------
        xarray.Dataset
            The variables share, density and, if known, std, by latitude and longitude, or by y and x.
        """
        from dpheatmap.render.formats.netcdf import to_xarray

        return to_xarray(self)

    def to_geopandas(self) -> Any:
        """Convert the map to geopandas.

        Returns
        -------
        geopandas.GeoDataFrame
            The cells that the release knows: share, std if known, density, and outline.
        """
        from dpheatmap.render.formats.geodataframe import to_geopandas

        return to_geopandas(self)

    def to_h3(self, h3: int) -> Any:
        """Convert the map to hexagons of H3.

        Parameters
        ----------
        h3 : int
            The resolution of H3, from 0 to 15.

        Returns
        -------
        geopandas.GeoDataFrame
            The hexagons by their names: share, std if known, density, and outline.
        """
        from dpheatmap.render.formats.geodataframe import to_h3

        return to_h3(self, h3)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the map into axes of matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes; by default new ones.

        Returns
        -------
        matplotlib.axes.Axes
            The axes that hold the map.
        """
        from dpheatmap.render.figure.plot import plot

        return plot(self, ax)

    def _repr_html_(self) -> str:
        from dpheatmap.render.content.picture import picture_of
        from dpheatmap.render.web.notebook import output

        return output(picture_of(self))

    def _repr_png_(self) -> bytes:
        from dpheatmap.render.web.notebook import still

        return still(self)

    def __repr__(self) -> str:
        rows, columns = self.values.shape
        notes = ", no signal" * self.uniform + ", NOT PRIVATE" * self.seeded
        return (
            f"<Heatmap of {columns} x {rows} pixels, {self.domain.kind} domain, sigma={self.sigma:g} "
            f"{self.domain.unit_name}, epsilon={self.epsilon}{f', delta={self.delta}' if self.delta else ''}{notes}>"
        )
