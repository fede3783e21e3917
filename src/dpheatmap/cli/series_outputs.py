"""The files of a sliced release: series of maps, the map of one slice, and the difference of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpheatmap.cli.output_files import SERIES
from dpheatmap.cli.shared_options import look_for
from dpheatmap.cli.terminal import say
from dpheatmap.errors import ParameterError
from dpheatmap.heatmap.heatmap import Heatmap
from dpheatmap.heatmap.series import Series
from dpheatmap.releases.release import Release
from dpheatmap.releases.release_slice import Slice
from dpheatmap.releases.sliced_release import SlicedRelease
from dpheatmap.render import is_release

_NAMED = 12
"""The most slices that a warning names."""
_SOON = 32
"""The most posteriors that a release waits for without a map."""


def check_series(outputs: Sequence[str], *, method: str, values: str, prior: str | None = None) -> None:
    """Refuse what maps of slices don't take, before data is read or budget spent."""
    if method != "posterior":
        raise ParameterError(f"Maps of slices are made by the method 'posterior'; it was {method!r}. Leave it out.")
    if prior is not None:
        raise ParameterError("Maps of slices borrow strength from each other, and take no --prior. Leave it out.")
    drawn = [output for output in outputs if not is_release(output)]
    if values != "share" and not any("values" in SERIES.options_of(output) for output in drawn):
        raise ParameterError(f"None of the outputs takes --values {values}. Leave it out: volumes tell people.")


def write_series(release: SlicedRelease, outputs: Sequence[str], look: dict[str, Any], **settings: Any) -> None:
    """Write the maps of all slices to each output, and warn of slices in which nobody shows."""
    if not outputs:
        warn_after_release(release)
        return
    series = release.heatmap(**settings)
    for output in outputs:
        series.save(output, **look_for(output, look, SERIES))
    warn_of_faint(series)


def warn_of_faint(series: Series, slice_: str | None = None) -> None:
    """Warn of slices that may be empty as far as the published values tell; the exact ones are not looked at."""
    faint = [label for label in series.volumes.faint if slice_ in (None, label)]
    if faint:
        many = "1 slice" if len(series) == 1 else f"{len(series)} slices"
        more = [f"and {len(faint) - _NAMED} more"] if len(faint) > _NAMED else []
        say(
            f"Warning: the noise is as large as the number of people in {len(faint)} of {many}: "
            f"{', '.join([*faint[:_NAMED], *more])}. Don't read much into what is made of them."
        )


def warn_after_release(release: SlicedRelease) -> None:
    """Warn of such slices where no map was drawn, if their numbers are found soon."""
    if sum(len(release.trees(family)) for family in range(len(release.families))) <= _SOON:
        warn_of_faint(release.heatmap())


def source_from(release: Release | SlicedRelease, path: str, slice_: str | None) -> Release | SlicedRelease | Slice:
    """The release, or the slice that is named."""
    if slice_ is None:
        return release
    check_slice(release, path, slice_)
    assert isinstance(release, SlicedRelease)
    return release.slice(slice_)


def warn_of_source(source: Release | SlicedRelease | Slice) -> None:
    """Warn of slices that may be empty, of all that were used, or of the one."""
    if isinstance(source, Slice):
        warn_of_faint(source.release.heatmap(), source.name)
    elif isinstance(source, SlicedRelease):
        warn_of_faint(source.heatmap())


def map_from(release: Release | SlicedRelease, slice_: str | None, *, method: str, **settings: Any) -> Heatmap:
    """The map of a release, or of one slice of it."""
    if isinstance(release, SlicedRelease):
        assert slice_ is not None
        return release.heatmap(**settings)[slice_]
    return release.heatmap(method=method, **settings)


def check_slice(release: Release | SlicedRelease, path: str, slice_: str | None) -> None:
    """Refuse the name of a slice that there is not, and a release of which one slice must be named."""
    if isinstance(release, SlicedRelease):
        if slice_ is None:
            raise ParameterError(f"{path} has {len(release.slices)} slices, and one is needed. Name it with --slice.")
        release.number_of(slice_)
    elif slice_ is not None:
        raise ParameterError(f"{path} has one map and no slices; the slice was {slice_!r}. Leave it out.")
