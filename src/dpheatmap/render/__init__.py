"""Writing of heatmaps to files, one module a format.

Each module has a function ``write(heat, path, **options)``, and ``refuse(domain, **options)`` if some maps can't be
written. Pictures and pages take their look as one value. :func:`save` picks the module by the suffix, refuses options
that the format does not take, and writes the file whole or not at all.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap._util.parameters import check
from dpheatmap.errors import ParameterError
from dpheatmap.render.content.look import OPTIONS, Look

if TYPE_CHECKING:
    from dpheatmap.heatmap.heatmap import Heatmap
    from dpheatmap.place.domain import Domain

FORMATS = {
    ".png": "dpheatmap.render.formats.png",
    ".svg": "dpheatmap.render.formats.vector",
    ".pdf": "dpheatmap.render.formats.vector",
    ".tif": "dpheatmap.render.formats.geotiff",
    ".geojson": "dpheatmap.render.formats.geojson",
    ".parquet": "dpheatmap.render.formats.geoparquet",
    ".pmtiles": "dpheatmap.render.formats.pmtiles",
    ".csv": "dpheatmap.render.formats.csv",
    ".npz": "dpheatmap.render.formats.npz",
    ".nc": "dpheatmap.render.formats.netcdf",
    ".html": "dpheatmap.render.formats.html",
}
"""Suffixes of the files a heatmap can be saved as, and the modules that write them."""

Writer = Callable[..., None]
"""A function that writes a map to a path, with options of its format."""

RELEASE_SUFFIX = ".dph.parquet"
"""The suffix of a release file, which is not a map."""


def is_release(path: str | PathLike[str]) -> bool:
    """Whether a file name is that of a release, in upper or lower case, as for maps.

    >>> is_release("June.DPH.Parquet"), is_release("june.parquet")
    (True, False)
    """
    return os.fspath(path).lower().endswith(RELEASE_SUFFIX)


def refuse_release(path: str | PathLike[str]) -> None:
    """Refuse a map's file whose name is that of a release."""
    if is_release(path):
        raise ParameterError(
            f"A file that ends in {RELEASE_SUFFIX} holds a release; the file was {os.fspath(path)!r}. "
            "Use Release.save, or another name for the map."
        )


_USUAL = {"style": "bands", "basemap": True, "bare": False}  # values of options; those of all others are None


def save(heat: Heatmap, path: str | PathLike[str], **choices: Any) -> None:
    """Write a heatmap to the format that the suffix of ``path`` names; any format takes the usual choices."""
    options = options_among(choices)
    refuse_release(path)
    write = _module(path).write
    refuse_options(path, options, write)
    refuse(heat.domain, path, **options)
    with replace_whole(path) as temporary:
        write(heat, temporary, **with_look(write, options))
    for companion, text in companions(heat, path, **options).items():
        with replace_whole(companion) as temporary:
            temporary.write_text(text, encoding="ascii")


def options_among(choices: dict[str, Any]) -> dict[str, Any]:
    """The choices that are not the usual ones, checked."""
    check(**{name: value for name, value in choices.items() if name in _USUAL or value is not None})
    return {name: value for name, value in choices.items() if value != _USUAL.get(name)}


def refuse_options(path: str | PathLike[str], options: dict[str, Any], write: Writer) -> None:
    """Refuse an option that the function which writes a format does not take."""
    for name in sorted(options.keys() - options_taken_by(write)):
        raise ParameterError(
            f"{name} is no option of {Path(path).suffix} files; the file was {os.fspath(path)!r}. Leave it out."
        )


def options_of(path: str | PathLike[str]) -> set[str]:
    """The names of the options that the format of a file takes."""
    return options_taken_by(_module(path).write)


def options_taken_by(write: Writer) -> set[str]:
    """The names of the options that the function which writes a format takes."""
    _, _, *taken = inspect.signature(write).parameters
    return set(taken) - {"look"} | set(OPTIONS) if "look" in taken else set(taken)


def with_look(write: Writer, options: dict[str, Any]) -> dict[str, Any]:
    """Options with those of the look put together, if a format has a look."""
    if "look" not in inspect.signature(write).parameters:
        return options
    look = {name: value for name, value in options.items() if name in OPTIONS}
    if "context" in look:
        look["context"] = (look["context"],) if isinstance(look["context"], str) else tuple(look["context"])
    return {"look": Look(**look)} | {name: value for name, value in options.items() if name not in OPTIONS}


def refuse(domain: Domain, path: str | PathLike[str], **options: Any) -> None:
    """Refuse a file that no map of a domain can be written to, before data is read or budget spent."""
    refuse_by(_module(path), domain, options)


def refuse_by(module: ModuleType, domain: Domain, options: dict[str, Any]) -> None:
    """Refuse what the module of a format refuses, and limits without steps between them."""
    refusal = getattr(module, "refuse", None)
    if refusal is not None:
        refusal(domain, **with_look(module.write, options))
    if options.get("limits") is not None:
        from dpheatmap.render.content.bands import limited_bands
        from dpheatmap.render.content.subject import subject_of

        limited_bands(subject_of(domain, options.get("background")), *options["limits"])


def companions(heat: Heatmap, path: str | PathLike[str], **options: Any) -> dict[Path, str]:
    """Small files that go beside a map: a bare picture of the heat needs its coordinates in another file."""
    if not options.get("bare") or not heat.domain.geographic:
        return {}
    from dpheatmap.render.figure.bare_heat import world_files

    return world_files(heat, Path(path))


def _module(path: str | PathLike[str]) -> ModuleType:
    return import_module(FORMATS[suffix_of(path, "a heatmap's file", FORMATS)])
