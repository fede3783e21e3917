"""The difference between two heatmaps of one place: B minus A, with its own uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpheatmap._util.parameters import check
from dpheatmap.design.privacy_loss import PrivacyLoss
from dpheatmap.errors import ParameterError
from dpheatmap.estimate.discoveries import discoveries
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.place.domain import Domain, Floats
from dpheatmap.releases.copies import are_copies
from dpheatmap.releases.release import Release, need_release

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Difference:
    """The difference of two maps: where there are more people, and where fewer; :func:`difference` makes one.

    Attributes
    ----------
    before : Heatmap
        The map that is subtracted.
    after : Heatmap
        The map that it is subtracted from. It has the same pixels and the same smoothing.
    given_names : tuple of two str or None
        What both maps are called in words, such as "by day" and "at night".
    """

    before: Heatmap
    after: Heatmap
    given_names: tuple[str, str] | None = None

    @property
    def named(self) -> bool:
        """Whether both maps were named."""
        return self.given_names is not None

    @property
    def names(self) -> tuple[str, str]:
        """The names of the earlier and the later map."""
        return self.given_names or ("before", "after")

    @property
    def domain(self) -> Domain:
        """The place that both maps show."""
        return self.after.domain

    @property
    def sigma(self) -> float:
        """The smoothing of both maps, in ground metres, pixels or fractions of the side, as the domain is."""
        return self.after.sigma

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of both maps together."""
        return self.before.loss + self.after.loss

    @property
    def of_one_release(self) -> bool:
        """Whether both maps are slices of one release, which costs people once."""
        return False

    @property
    def values(self) -> Floats:
        """The change of the share of people in each pixel: ``after`` minus ``before``. The changes add up to 0."""
        change: Floats = self.after.values - self.before.values
        return change

    @property
    def std(self) -> Floats | None:
        """The standard deviation of each change, or None if that of either map is not known.

        The noises of the two releases are independent, so their variances add up.
        """
        before, after = self.before.std, self.after.std
        if before is None or after is None:
            return None
        std: Floats = np.hypot(before, after)
        return std

    def significant(self, *, confidence: float = 0.95) -> NDArray[np.bool_]:
        """Find the pixels that changed, either way: at most 1 - ``confidence`` of them are expected to be noise.

        Parameters
        ----------
        confidence : float, default 0.95
            One minus the false discovery rate.

        Returns
        -------
        array of bool
            Whether each pixel changed.

        Raises
        ------
        ParameterError
            If the standard deviation of either map is not known.

        Notes
        -----
        The changes are taken for normal. The procedure of Benjamini and Hochberg selects among them.
        """
        check(confidence=confidence)
        std = self.std
        if std is None:
            raise ParameterError(
                "Which changes are noise is known only where both maps have a standard deviation. "
                "Make both with method='posterior'."
            )
        inside = self.after.ground > 0.0
        changed = np.zeros(self.values.shape, np.bool_)
        changed[inside] = discoveries(self.values[inside], std[inside], confidence)
        return changed

    def save(
        self,
        path: str | PathLike[str],
        *,
        title: str | None = None,
        subtitle: str | None = None,
        source: str | None = None,
        colours: str | None = None,
        background: str | PathLike[str] | None = None,
        basemap: bool = True,
        tiles: str | None = None,
    ) -> None:
        """Write the map to a file in the format of its suffix, whole or not at all.

        Parameters
        ----------
        path : path
            The file: .html for an interactive map; .png, .svg or .pdf for a picture; .tif, .csv, .geojson or .parquet
            for map tools and tables.
        title, subtitle, source : str, optional
            The words around the map, as for :meth:`Heatmap.save`.
        colours : {"light", "dark"}, optional
            The ground, as for :meth:`Heatmap.save`.
        background : path, optional
            A picture under the changes, or "pitch", as for :meth:`Heatmap.save`.
        basemap : bool, default True
            Whether coast, borders and names are drawn.
        tiles : str, optional
            An address of map tiles with {z}, {x} and {y}, for the background of an .html. The page then asks the
            network for these tiles, and for nothing else.
        """
        from dpheatmap.render.content.look import Look
        from dpheatmap.render.figure.change import save

        words = {"title": title, "subtitle": subtitle, "source": source, "colours": colours, "background": background}
        given = {name: value for name, value in words.items() if value is not None}
        check(**given, basemap=basemap)
        save(self, path, Look(**given, basemap=basemap), tiles=tiles)  # type: ignore[arg-type]

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
        from dpheatmap.render.figure.plot import plot_difference

        return plot_difference(self, ax)

    def _repr_html_(self) -> str:
        from dpheatmap.render.content.changes import picture_of_difference
        from dpheatmap.render.web.notebook import output

        return output(picture_of_difference(self))

    def __repr__(self) -> str:
        rows, columns = self.values.shape
        return f"<Difference of two heatmaps of {columns} x {rows} pixels, {self.domain.kind} domain>"


def difference(
    after: Release | Heatmap,
    before: Release | Heatmap,
    *,
    sigma: float | None = None,
    size: int | None = None,
    method: str = "posterior",
    names: tuple[str, str] | None = None,
) -> Difference:
    """Subtract one map from another of the same place: ``after`` minus ``before``. This costs no budget.

    Parameters
    ----------
    after, before : Release or Heatmap
        Two releases of one domain, or two heatmaps with the same pixels and the same smoothing.
    sigma : float, optional
        The smoothing of maps made from releases, as for :meth:`Release.heatmap`.
    size : int, optional
        The number of pixels on the longer side of maps made from releases, as for :meth:`Release.heatmap`.
    method : {"posterior", "paper", "dense"}, default "posterior"
        The reconstruction of maps made from releases, as for :meth:`Release.heatmap`.
    names : tuple of two str, optional
        What the earlier and the later map are called in words, such as ("by day", "at night").

    Returns
    -------
    Difference
        The change of the share of people in each pixel, with its uncertainty.

    Raises
    ------
    ParameterError
        If one release is given twice, or if the maps differ in place, size or smoothing.

    Examples
    --------
    >>> import numpy as np
    >>> from dpheatmap import Counts, Domain, release
    >>> cells = np.array([1, 2]), np.array([1, 1]), np.array([2**30, 2**30])
    >>> a, b = (release(Counts.from_cells(Domain.unit(4), *cells), epsilon=1) for _ in range(2))
    >>> bool(abs(difference(b, a).values.sum()) < 1e-9)
    True
    """
    for given in (after, before):
        need_release(given, Heatmap)
    if after is before or (isinstance(after, Release) and isinstance(before, Release) and are_copies(after, before)):
        raise ParameterError("A difference needs two releases, and was given one twice. Give the one before as well.")
    a, b = (
        each.heatmap(sigma=sigma, size=size, method=method) if isinstance(each, Release) else each
        for each in (before, after)
    )
    if a.domain != b.domain or a.values.shape != b.values.shape or a.sigma != b.sigma:
        raise ParameterError(
            f"A difference needs two maps of one place, size and smoothing; they were {a!r} and {b!r}. "
            "Give releases of the same domain, and sigma and size for both."
        )
    if names is not None:
        check(names=names)
    return Difference(a, b, names and (names[0], names[1]))
