"""What a feature of somebody's own map is, and how it is drawn: told by its tags, or by its shape.

>>> kind_of({"highway": "secondary"}, "line")
Kind(name='road', rank=2)
>>> kind_of({}, "polygon").name
'border'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Shape = Literal["polygon", "line", "point"]
"""What a feature is made of."""

CHOSEN = ("water", "park", "land", "road", "rail", "border")
"""The kinds that a user may name."""

KINDS = ("land", "park", "water", "road", "rail", "border", "line", "point")
"""All kinds, in the order in which they are drawn."""


class Kind(NamedTuple):
    """A kind of feature, and its rank among those of its kind: 1 is the most important, 3 the least."""

    name: str
    rank: int = 1


_WORDS = {
    "water": "water lake river stream canal ocean sea reservoir basin bay strait pond riverbank lagoon dock wetland",
    "park": "park garden forest wood grass grassland meadow scrub heath nature_reserve national_park protected_area "
    "cemetery golf_course recreation_ground village_green allotments orchard vineyard playground pitch",
    "land": "land earth island islet residential commercial industrial retail",
    "rail": "rail railway subway tram light_rail narrow_gauge monorail",
    "border": "border boundary boundaries administrative country region state county municipality district",
}
_ROADS = (
    "motorway motorway_link trunk trunk_link primary primary_link highway major_road",
    "secondary secondary_link tertiary tertiary_link medium_road",
    "road street residential unclassified living_street minor minor_road service track pedestrian footway "
    "cycleway path transportation",
)
_KIND_OF_WORD = {word: Kind(kind) for kind, words in _WORDS.items() for word in words.split()}
_KIND_OF_ROAD = {word: Kind("road", rank) for rank, words in enumerate(_ROADS, 1) for word in words.split()}
_ANY: Mapping[str, Kind | None] = {
    "waterway": Kind("water"),
    "highway": Kind("road", 3),
    "railway": Kind("rail"),
    "leisure": Kind("park"),
    "landuse": Kind("land"),
    "natural": None,
    "boundary": Kind("border"),
    "admin_level": Kind("border"),
}
"""Tags of OpenStreetMap, the strongest first, and what they mean with a value that is not listed."""
_OTHERS = ("fclass", "class", "kind", "pmap:kind", "type", "layer")
"""What extracts and vector tiles call the value of such a tag, or the layer that has it."""


def kind_of(tags: Mapping[str, Any], shape: Shape) -> Kind:
    """The kind of a feature with these tags, or the one of its shape."""
    kind = _by_tags(tags, shape)
    if shape == "point":
        return Kind("point")
    if kind is None or (shape == "line" and kind.name in ("park", "land")):
        return Kind("border" if shape == "polygon" else "line")
    return kind


def _by_tags(tags: Mapping[str, Any], shape: Shape) -> Kind | None:
    words = {str(key).lower(): str(value).lower() for key, value in tags.items() if value not in (None, "", "no")}
    for tag, otherwise in _ANY.items():
        if tag in words:
            known = _KIND_OF_ROAD if tag == "highway" else _KIND_OF_WORD
            if found := known.get(words[tag], otherwise):
                return found
    known = _KIND_OF_WORD if shape == "polygon" else _KIND_OF_WORD | _KIND_OF_ROAD
    for tag in _OTHERS:
        # Layers of tiles are often called by the plural.
        word = words.get(tag, "")
        if found := known.get(word) or known.get(word.removesuffix("s")):
            return found
    return None
