"""The figure of places, a map with their catchments, and the files of places: a table, GeoJSON, and pictures."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dpheatmap._util.files import replace_whole, suffix_of
from dpheatmap.place.domain import Domain
from dpheatmap.render.content.look import Look
from dpheatmap.render.content.numbers import length_in_words
from dpheatmap.render.content.slice_names import look_of_slice
from dpheatmap.render.figure.figure import Figure
from dpheatmap.render.figure.figure_file import PICTURES, refuse_picture, write_figure
from dpheatmap.render.figure.heat_figure import figure_of
from dpheatmap.render.figure.place_marks import PlaceMarks
from dpheatmap.render.formats import places_geojson, places_table
from dpheatmap.render.formats.places_table import columns_of

if TYPE_CHECKING:
    from dpheatmap.estimate.places import Places

__all__ = ["FORMATS", "columns_of", "figure_of_places", "refuse", "save"]

FORMATS = (".csv", ".geojson", *PICTURES)
"""Suffixes of the files that places can be saved as."""


def save(places: Places, path: str | PathLike[str]) -> None:
    """Write places to the format that the suffix names, whole or not at all."""
    refuse(places.domain, path)
    suffix = Path(path).suffix.lower()
    with replace_whole(path) as temporary:
        if suffix == ".csv":
            places_table.write(places, temporary)
        elif suffix == ".geojson":
            places_geojson.write(places, temporary)
        else:
            write_figure(figure_of_places(places), temporary, suffix)


def refuse(domain: Domain, path: str | PathLike[str]) -> None:
    """Refuse a file that places of a domain can't be written to."""
    suffix = suffix_of(path, "a file of places", FORMATS)
    if suffix == ".geojson":
        places_geojson.refuse(domain)
    if suffix in PICTURES:
        refuse_picture(suffix)


def figure_of_places(places: Places) -> Figure:
    """The figure of places: the heat, the borders of the catchments, and rings around the centres."""
    away = length_in_words(places.cost, places.domain)
    many = "1 place" if len(places.centres) == 1 else f"{len(places.centres)} places"
    heat = places.release.heatmap(method=places.method)
    look = look_of_slice(Look(title=f"{many}, {away} from people on average"), places.release)
    return figure_of(heat, look, marks=PlaceMarks(places))
