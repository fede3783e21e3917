"""A release of several slices, times or groups or both, under one epsilon. It crosses the wall as a `Release` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from dpheatmap.design.ladder import LadderDesign
from dpheatmap.design.privacy_loss import PureLoss
from dpheatmap.design.shares import UNITS
from dpheatmap.errors import ParameterError
from dpheatmap.place.domain import Domain
from dpheatmap.releases.measurements import Measurements, SliceMeasurements
from dpheatmap.releases.noise_law import LAPLACE, NoiseLaw
from dpheatmap.releases.release import LedgerEntry, Release
from dpheatmap.releases.trust import CURATOR, Trust
from dpheatmap.slicing.axis import Axis

if TYPE_CHECKING:
    from dpheatmap.heatmap.series import Series
    from dpheatmap.releases.release_slice import Slice

Family = SliceMeasurements | tuple[Measurements, ...]
"""What was measured of the slices of one group: of slices that are alike, or of each by itself."""


@dataclass(frozen=True, eq=False)
class SlicedRelease:
    """Noisy measurements of several slices under one epsilon, and everything public about how they were made.

    :func:`dpheatmap.release` makes one if ``time`` or ``group`` is given, and :func:`dpheatmap.load` reads one.

    Attributes
    ----------
    domain : Domain
        The public place.
    loss : PureLoss
        The privacy loss of all slices together.
    axis : Axis
        The public slices.
    split : {"weight", "epsilon"}
        What was split over the slices: a person's weight of 1, or epsilon.
    design : LadderDesign
        The design of slices that were measured apart, and of the pooled map but for its start.
    families : tuple
        What was measured of the slices of each group.
    seeded : bool
        Whether the noise came from a seed; such a release is NOT PRIVATE.
    made : datetime
        When it was made, with a time zone.
    ledger : LedgerEntry or None
        The entry of the ledger that it was charged to.
    trust : Trust
        Who was trusted with people's data: a curator.
    noise : LaplaceNoise
        The law of the noise.
    """

    domain: Domain
    loss: PureLoss
    axis: Axis
    split: str
    design: LadderDesign
    families: tuple[Family, ...]
    seeded: bool
    made: datetime
    ledger: LedgerEntry | None = None
    trust: Trust = CURATOR
    noise: NoiseLaw = LAPLACE

    @property
    def slices(self) -> tuple[str, ...]:
        """The names of all slices in order, also of those that nobody is in."""
        return self.axis.labels

    @property
    def epsilon(self) -> Fraction:
        """The epsilon of all slices together: how much may leak about a person."""
        return self.loss.epsilon

    @property
    def delta(self) -> Fraction:
        """The probability that more than epsilon leaks: 0."""
        return self.loss.delta

    @property
    def label(self) -> Mapping[str, str]:
        """The privacy label, as of any release, and what the slices are."""
        from dpheatmap.releases.label import privacy_label

        return {**privacy_label(self), "slices": self._words}

    @property
    def _words(self) -> str:
        """What the slices are, and how they were measured."""
        many = f"{len(self.slices)} slice{'s' * (len(self.slices) != 1)}, {self.axis.words}"
        if self.split == "epsilon":
            return f"{many}, each with an equal part of epsilon; a person weighs up to 1 in each."
        how = dict.fromkeys(_words_of(family) for family in self.families)
        shared = "A person's weight of 1 is shared over all of them, so together they cost epsilon once."
        if len(self.slices) == 1:
            shared = "A person's weight of 1 is shared over their events in it."
        return f"{many}. {shared} {' '.join(how)}"

    def trees(self, family: int) -> tuple[Release, ...]:
        """The releases that a family consists of: the pooled map alone, or each slice by itself.

        Parameters
        ----------
        family : int
            The number of the group; 0 if there are none.

        Returns
        -------
        tuple of Release
            Ordinary releases, each with its part of epsilon.
        """
        return self._trees[family]

    @cached_property
    def _trees(self) -> list[tuple[Release, ...]]:
        return [self._trees_of(family) for family in self.families]

    def _trees_of(self, family: Family) -> tuple[Release, ...]:
        if isinstance(family, SliceMeasurements):
            trees, rule = family.trees, family.rule
            loss = rule.loss_of_slices(self.loss) if rule.apart else rule.loss_of_map(self.loss)
            design = rule.design_of_trees(self.design)
        else:
            trees, design = family, self.design
            loss = PureLoss(self.loss.epsilon / (len(self.slices) if self.split == "epsilon" else 1))
        return tuple(
            Release(
                domain=self.domain, loss=loss, measurements=measured, design=design, units=UNITS, seeded=self.seeded,
                made=self.made, ledger=self.ledger, trust=self.trust,
            )
            for measured in trees
        )  # fmt: skip

    def heatmap(
        self,
        *,
        sigma: float | None = None,
        size: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Series:
        """Make a smoothed map of every slice; this costs no budget.

        Parameters
        ----------
        sigma : float, optional
            The standard deviation of the Gaussian filter, as for :meth:`Release.heatmap`.
        size : int, optional
            The number of pixels on the longer side, as for :meth:`Release.heatmap`.
        progress : callable, optional
            Called before the map of a slice is made, with the number of the slice, from 1 on, and that of all slices.

        Returns
        -------
        Series
            A map for each slice, and how many people are in each.

        Examples
        --------
        >>> import dpheatmap as dph
        >>> from dpheatmap.testing import generated_people
        >>> table = generated_people(500).project("*, CAST(hash(x) % 86400 AS BIGINT) AS second")
        >>> made = dph.release(
        ...     table, dph.Domain.unit(6), epsilon=1, user="person", x="x", y="y",
        ...     time="second", every="hour-of-day", time_zone="UTC",
        ... )
        >>> made.slices[:3], made.heatmap(size=32)["8"].values.shape
        (('0', '1', '2'), (32, 32))
        """
        from dpheatmap.heatmap.series import series_of

        return series_of(self, sigma=sigma, size=size, progress=progress)

    def slice(self, name: str) -> Slice:
        """Take one slice, which offers what a release of one map does.

        Parameters
        ----------
        name : str
            The name of the slice, one of ``slices``.

        Returns
        -------
        Slice
            The slice, for areas, synthetic points and :func:`kmedian`.
        """
        from dpheatmap.releases.release_slice import Slice

        self.number_of(name)
        return Slice(self, name)

    def areas(
        self,
        areas: Any,
        *,
        confidence: float = 0.9,
        name: str | None = None,
        layer: str | None = None,
        areas_crs: str | None = None,
    ) -> Any:
        """Estimate how many people are in areas, slice by slice; this costs no budget.

        Parameters
        ----------
        areas : path, GeoDataFrame, mapping, sequence of str or int
            The areas, as for :meth:`Release.areas`.
        confidence : float, default 0.9
            The probability with which an interval holds the true value.
        name : str, optional
            The column of the areas' names.
        layer : str, optional
            The layer of the file, if it has several.
        areas_crs : str, optional
            The system of coordinates of areas that don't tell it.

        Returns
        -------
        GeoDataFrame
            A row for each area in each slice: slice, then the columns of :meth:`Release.areas`. A share is one of the
            slice's people, and a rank is one among its areas.

        Examples
        --------
        >>> import dpheatmap as dph
        >>> from dpheatmap.testing import generated_people
        >>> table = generated_people(500).project("*, CASE WHEN person % 3 = 0 THEN 'bike' ELSE 'walk' END AS mode")
        >>> made = dph.release(
        ...     table, dph.Domain.unit(6), epsilon=1, user="person", x="x", y="y", group="mode", groups=["bike", "walk"]
        ... )
        >>> halves = made.areas({"left": (0, 0, 0.5, 1), "right": (0.5, 0, 1, 1)})
        >>> halves["slice"].tolist(), halves["area"].tolist()
        (['bike', 'bike', 'walk', 'walk'], ['left', 'right', 'left', 'right'])
        """
        from dpheatmap.estimate.areas.slice_areas import areas_by_slice

        return areas_by_slice(self, areas, confidence=confidence, name=name, layer=layer, areas_crs=areas_crs)

    def area_changes(
        self,
        areas: Any,
        before: str,
        after: str,
        *,
        confidence: float = 0.9,
        name: str | None = None,
        layer: str | None = None,
        areas_crs: str | None = None,
    ) -> Any:
        """Estimate what changes in areas from one slice to another: ``after`` minus ``before``. This costs no budget.

        The errors of slices are related, because they share the pooled map. Intervals come from draws of both slices
        together.

        Parameters
        ----------
        areas : path, GeoDataFrame, mapping, sequence of str or int
            The areas, as for :meth:`Release.areas`.
        before, after : str
            The names of two slices.
        confidence : float, default 0.9
            The probability with which an interval holds the true value.
        name : str, optional
            The column of the areas' names.
        layer : str, optional
            The layer of the file, if it has several.
        areas_crs : str, optional
            The system of coordinates of areas that don't tell it.

        Returns
        -------
        GeoDataFrame
            A row for each area, in their order: area, share_before, share_after, share_change with its interval low to
            high and its standard_error, people_before, people_after, people_change with people_low, people_high and
            people_standard_error, significant, a note, the areas' own columns, and the geometry. Of the changes of
            shares that are significant, at most 5 % are expected to be noise.
        """
        from dpheatmap.estimate.areas.slice_areas import changes_of_areas

        source = {"name": name, "layer": layer, "areas_crs": areas_crs}
        return changes_of_areas(self, areas, before, after, confidence=confidence, **source)

    def sample(self, points: int, *, seed: int | None = None, uncertain: bool = False) -> Any:
        """Draw synthetic points of all slices from the estimate; this costs no budget.

        A slice gets points in proportion to its people. :meth:`slice` takes one of them, which has a method of the same
        name.

        Parameters
        ----------
        points : int
            How many points, in all slices together.
        seed : int, optional
            Another seed gives other points. By default it follows from the release.
        uncertain : bool, default False
            Whether to draw from maps that may be true, instead of from the likeliest. Slices are drawn together.

        Returns
        -------
        DataFrame
            The columns x and y, in the place's coordinates, and slice.
        """
        from dpheatmap.estimate.synthetic_points import sample_slices

        return sample_slices(self, points, seed=seed, uncertain=uncertain)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the release to one Parquet file, whole or not at all.

        Parameters
        ----------
        path : path
            The file, such as ``week.dph.parquet``.
        """
        from dpheatmap.releases.sliced_file import write

        write(self, path)

    def number_of(self, label: str) -> int:
        """The number of a slice.

        Parameters
        ----------
        label : str
            Its name, one of ``slices``.

        Returns
        -------
        int
            Its place in ``slices``.
        """
        if label not in self.slices:
            first, last = self.slices[0], self.slices[-1]
            raise ParameterError(
                f"There is no slice {label!r}; they are called {first!r} to {last!r}. Name one of them."
            )
        return self.slices.index(label)

    def __repr__(self) -> str:
        return (
            f"<SlicedRelease epsilon={self.epsilon} of {self.domain.kind} domain, {len(self.slices)} slices"
            f"{', NOT PRIVATE' if self.seeded else ''}>"
        )


def _words_of(family: Family) -> str:
    if not isinstance(family, SliceMeasurements) or family.rule.apart:
        return "Each slice was measured by itself."
    assert family.blocks is not None
    part, many = round(100 * float(family.rule.pooled)), len(family.blocks.codes)
    blocks = f"{many} blocks of it were" if many > 1 else "the whole place was"
    return f"A map of all slices together got {part} % of epsilon, and {blocks} counted slice by slice with the rest."
