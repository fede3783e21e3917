"""What a release and one slice of it offer alike: people in areas, and synthetic points. It costs no budget."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from dpheatmap._util.parameters import check

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from fractions import Fraction

    from dpheatmap.design.privacy_loss import PrivacyLoss
    from dpheatmap.estimate.distribution import Distribution
    from dpheatmap.heatmap.heatmap import Heatmap
    from dpheatmap.place.domain import Domain
    from dpheatmap.releases.noise_law import NoiseLaw
    from dpheatmap.releases.release import LedgerEntry
    from dpheatmap.releases.trust import Trust


class Estimable:
    """Something that people are estimated from: one map with its uncertainty, in a public place."""

    if TYPE_CHECKING:

        @property
        def domain(self) -> Domain:
            """The public place."""

        @property
        def loss(self) -> PrivacyLoss:
            """The privacy loss."""

        @property
        def epsilon(self) -> Fraction:
            """The epsilon of the loss."""

        @property
        def delta(self) -> Fraction:
            """The delta of the loss."""

        @property
        def seeded(self) -> bool:
            """Whether the noise came from a seed."""

        @property
        def made(self) -> datetime:
            """When the release was made."""

        @property
        def ledger(self) -> LedgerEntry | None:
            """The entry of the ledger that it was charged to."""

        @property
        def trust(self) -> Trust:
            """Who was trusted with people's data."""

        @property
        def noise(self) -> NoiseLaw:
            """The law of the noise."""

        @property
        def label(self) -> Mapping[str, str]:
            """The privacy label."""

        def distribution(self, *, method: str = "posterior") -> Distribution:
            """Estimate where people are."""

        def heatmap(self, *, sigma: float | None = None, size: int | None = None, method: str = "posterior") -> Heatmap:
            """Make the smoothed map."""

    def areas(
        self,
        areas: Any,
        *,
        confidence: float = 0.9,
        name: str | None = None,
        layer: str | None = None,
        areas_crs: str | None = None,
    ) -> Any:
        """Estimate how many people are in areas; this costs no budget.

        Parameters
        ----------
        areas : path, GeoDataFrame, mapping, sequence of str or int
            The areas: polygons in a file (GeoJSON, GeoPackage, Shapefile, GeoParquet) or a frame, in any system of
            coordinates; a mapping of names to rectangles (x0, y0, x1, y1) or lists of corners; H3 cells or geohashes;
            "h3:7", for all H3 cells of that resolution; a level, for the release's own cells. For images, also a
            picture (.png) as large as the image, with a colour for each area; white belongs to none.
        confidence : float, default 0.9
            The probability with which an interval holds the true value.
        name : str, optional
            The column of the areas' names. By default it is the first column of text in which nearly all differ.
        layer : str, optional
            The layer of the file, if it has several.
        areas_crs : str, optional
            The system of coordinates of areas that don't tell it, such as "EPSG:2056".

        Returns
        -------
        GeoDataFrame
            A row for each area, in their order: area, share with its interval low to high and its standard_error,
            people with people_low, people_high and people_standard_error, per_km2 (per_pixel, or a density relative to
            an even map), rank with rank_low and rank_high, a note, the areas' own columns, and the geometry. Somebody
            with half of their events in an area counts one half there. The numbers are those of the part of an area
            inside the place; areas outside have none. The note says how much is inside, if the area overlaps with
            others or was mended, and if it is too small to tell anything.

        Examples
        --------
        >>> import dpheatmap as dph
        >>> from dpheatmap.testing import generated_people
        >>> r = dph.release(generated_people(500), dph.Domain.unit(6), epsilon=1, user="person", x="x", y="y")
        >>> halves = r.areas({"left": (0, 0, 0.5, 1), "right": (0.5, 0, 1, 1)})
        >>> halves["area"].tolist(), round(float(halves["share"].sum()), 6)
        (['left', 'right'], 1.0)
        """
        from dpheatmap.estimate.areas.area_table import area_table

        return area_table(self, areas, confidence=confidence, name=name, layer=layer, areas_crs=areas_crs)

    def exceeds(
        self, areas: Any, *, name: str | None = None, layer: str | None = None, areas_crs: str | None = None
    ) -> Any:
        """Estimate, for each two areas, the probability that more people are in one than in the other.

        Parameters
        ----------
        areas : path, GeoDataFrame, mapping, sequence of str or int
            The areas, as for :meth:`areas`.
        name : str, optional
            The column of the areas' names.
        layer : str, optional
            The layer of the file, if it has several.
        areas_crs : str, optional
            The system of coordinates of areas that don't tell it.

        Returns
        -------
        DataFrame
            A square of probabilities: that there are more in the area of the row than in that of the column. They are
            counted in 1,000 draws, and lie between 0.001 and 0.999. Areas outside the place have none.
        """
        from dpheatmap.estimate.areas.area_table import exceeding

        return exceeding(self, areas, name=name, layer=layer, areas_crs=areas_crs)

    def save_areas(
        self,
        areas: Any,
        path: str | PathLike[str],
        *,
        confidence: float = 0.9,
        name: str | None = None,
        layer: str | None = None,
        areas_crs: str | None = None,
        values: str = "share",
        title: str | None = None,
        subtitle: str | None = None,
        source: str | None = None,
        colours: str | None = None,
        background: str | PathLike[str] | None = None,
        basemap: bool = True,
    ) -> None:
        """Estimate how many people are in areas, and write them to a file in the format of its suffix.

        Parameters
        ----------
        areas : path, GeoDataFrame, mapping, sequence of str or int
            The areas, as for :meth:`areas`.
        path : path
            The file: .csv, .geojson, .gpkg or .parquet for the table; .png, .svg or .pdf for a map of the areas with a
            chart of their ranks; .html for an interactive map.
        confidence : float, default 0.9
            The probability with which an interval holds the true value.
        name : str, optional
            The column of the areas' names.
        layer : str, optional
            The layer of the file of areas, if it has several.
        areas_crs : str, optional
            The system of coordinates of areas that don't tell it.
        values : {"share", "people"}, default "share"
            What numbers pictures and pages show.
        title, subtitle, source : str, optional
            The words around a picture or a page, as for :meth:`Heatmap.save`.
        colours : {"light", "dark"}, optional
            The ground of a picture or a page.
        background : path, optional
            The image that people looked at, below the areas.
        basemap : bool, default True
            Whether coast, borders and names are drawn.
        """
        from dpheatmap.render.content.look import Look
        from dpheatmap.render.formats.area_file import refuse, save

        words = {"title": title, "subtitle": subtitle, "source": source, "colours": colours, "background": background}
        given = {key: value for key, value in words.items() if value is not None}
        check(**given, basemap=basemap, values=values, confidence=confidence)
        look = Look(**given, basemap=basemap)  # type: ignore[arg-type]
        refuse(self.domain, path, look)
        table = self.areas(areas, confidence=confidence, name=name, layer=layer, areas_crs=areas_crs)
        save(self, table, path, look, values=values)

    def widget(
        self,
        areas: Any = None,
        *,
        confidence: float = 0.9,
        name: str | None = None,
        layer: str | None = None,
        areas_crs: str | None = None,
    ) -> Any:
        """Make the map a widget of a notebook, on which a box is drawn or an area clicked; this costs no budget.

        Parameters
        ----------
        areas : path, GeoDataFrame, mapping, sequence of str or int, optional
            Areas to click, as for :meth:`areas`. Without them, boxes can be drawn.
        confidence : float, default 0.9
            The probability with which an interval holds the true value.
        name : str, optional
            The column of the areas' names.
        layer : str, optional
            The layer of the file of areas, if it has several.
        areas_crs : str, optional
            The system of coordinates of areas that don't tell it.

        Returns
        -------
        anywidget.AnyWidget
            The map. Its ``selection`` is None, or what was selected: name, bounds, share with low and high, and people
            with people_low and people_high. ``observe(function, "selection")`` calls a function for each.

        Raises
        ------
        MissingDependency
            If anywidget is not installed. Maps are shown in notebooks without it, too, but tell Python nothing.
        """
        from dpheatmap.render.web.map_widget import map_widget

        source = {"name": name, "layer": layer, "areas_crs": areas_crs}
        return map_widget(self, areas, confidence=confidence, **source)

    def sample(self, points: int, *, seed: int | None = None, uncertain: bool = False) -> Any:
        """Draw synthetic points from the estimate; this costs no budget.

        They are places where somebody may be, each drawn by itself. No point is a person, and there are no journeys in
        them.

        Parameters
        ----------
        points : int
            How many points.
        seed : int, optional
            Another seed gives other points. By default it follows from the release.
        uncertain : bool, default False
            Whether to draw from one of the maps that may be true, instead of from the likeliest.

        Returns
        -------
        DataFrame
            The columns x and y, in the place's coordinates.

        Examples
        --------
        >>> import dpheatmap as dph
        >>> from dpheatmap.testing import generated_people
        >>> r = dph.release(generated_people(500), dph.Domain.unit(6), epsilon=1, user="person", x="x", y="y")
        >>> r.sample(1000, seed=1).shape
        (1000, 2)
        """
        from dpheatmap.estimate.synthetic_points import sample_points

        return sample_points(self, points, seed=seed, uncertain=uncertain)
