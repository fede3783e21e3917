"""The rules of parameters, as data: a name has one meaning in the whole interface.

``check(width=width, depth=depth)`` looks each name up in :data:`RULES` and raises the same kind of
:class:`~dpheatmap.errors.ParameterError` for every value that breaks its rule. A test goes through the table and proves
that every public function that takes a name refuses what its rule refuses.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from os import PathLike
from unicodedata import category
from urllib.parse import urlsplit

from dpheatmap.errors import ParameterError

DEEPEST = 28
"""The deepest level: a Morton code of 2 x 28 bits stays far inside 64-bit integers."""

MOST_IMAGES = 10_000
"""Images in one release: each gets a quadtree of its own."""

LARGEST_EPSILON = 10**6
"""Far above anything that protects anybody; noise of that epsilon is next to none."""

MOST_DIGITS = 400
"""Digits of an epsilon's numerator and of its denominator: enough for every float, and each can be written out."""

LONGEST_CAPTION = 300
"""Characters of a title or another text on maps: lettering takes time, and more can't be read."""

_NO_LETTERS = ("Cc", "Cs")  # control characters, and halves of characters

SIGMAS = (1e-30, 1e30)
"""The least and the largest smoothing, in any unit: long before, nothing changes, or all places look the same."""

LONGEST_NUMBER = 1000
"""Characters of a number that is read from text, whatever it is worth."""


@dataclass(frozen=True)
class Rule:
    """What a parameter must be, in words and as a test, and advice if it is not."""

    words: str
    holds: Callable[[object], bool]
    advice: str


def _whole(low: int, high: int, advice: str) -> Rule:
    def holds(value: object) -> bool:
        return not isinstance(value, bool) and isinstance(value, numbers.Integral) and low <= int(value) <= high

    return Rule(f"a whole number from {low} to {high}", holds, advice)


def _real(words: str, inside: Callable[[float], bool], advice: str) -> Rule:
    def holds(value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return False
        try:
            return math.isfinite(value) and inside(float(value))
        except OverflowError:  # a whole number or a fraction too large for a float
            return False

    return Rule(words, holds, advice)


def one_of(*options: str) -> Rule:
    """The rule of a text that is one of these."""
    words = "one of " + ", ".join(repr(option) for option in options)
    return Rule(words, lambda value: isinstance(value, str) and value in options, "Pick one of these.")


def _text(words: str, advice: str) -> Rule:
    return Rule(words, lambda value: isinstance(value, str), advice)


def _caption(advice: str) -> Rule:
    """The rule of a text that is written on maps."""
    return Rule(f"text of up to {LONGEST_CAPTION} characters, none of them a control character", is_caption, advice)


def is_caption(value: object) -> bool:
    """Whether this is a text that can be written on a map, in every format: XML has no control characters.

    >>> is_caption("Été 👩‍👧"), is_caption("a\\x1bb"), is_caption("a\\ud800"), is_caption("a\\uffff")
    (True, False, False, False)
    """
    if not isinstance(value, str) or len(value) > LONGEST_CAPTION:
        return False
    return not any(category(letter) in _NO_LETTERS or ord(letter) & 0xFFFE == 0xFFFE for letter in value)


def _is_epsilon(value: object) -> bool:
    try:
        exact = as_epsilon(value)
    except (TypeError, ValueError, ArithmeticError):
        return False
    return 0 < exact <= LARGEST_EPSILON and has_digits(exact, MOST_DIGITS)


def _is_delta(value: object) -> bool:
    try:
        exact = as_epsilon(value)
    except (TypeError, ValueError, ArithmeticError):
        return False
    return 0 <= exact <= Fraction(1, 10) and has_digits(exact, MOST_DIGITS)


def limit_parts(value: object) -> tuple[object, object, object]:
    """The epsilon, delta and rho in a limit as the ledger shows it; None for those that it has not.

    >>> limit_parts("1 at delta 0.000001"), limit_parts("rho 0.02"), limit_parts(3)
    (('1', '0.000001', None), (None, None, '0.02'), (3, None, None))
    """
    if not isinstance(value, str):
        return value, None, None
    if value.startswith("rho "):
        return None, None, value.removeprefix("rho ")
    epsilon, at, delta = value.partition(" at delta ")
    return epsilon, delta if at else None, None


def _is_limit(value: object) -> bool:
    epsilon, delta, rho = limit_parts(value)
    return _is_epsilon(epsilon if rho is None else rho) and (delta is None or _is_delta(delta))


def has_digits(value: Fraction, most: int) -> bool:
    """Whether numerator and denominator have at most so many digits each.

    >>> has_digits(Fraction(1, 99), 2), has_digits(Fraction(1, 100), 2)
    (True, False)
    """
    bound: int = 10**most
    return max(abs(value.numerator), value.denominator) < bound


def _is_list_of_names(value: object) -> bool:
    names = isinstance(value, list) and all(isinstance(name, str) and name for name in value)
    return isinstance(value, list) and names and 1 <= len(value) <= MOST_IMAGES and len(set(value)) == len(value)


def _are_limits(value: object) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and all(isinstance(end, (int, float)) and not isinstance(end, bool) for end in value)
        and 0 < value[0] < value[1] < math.inf
    )


def _as_texts(value: object) -> tuple[str, ...]:
    """A text, or a tuple of texts, as a tuple; anything else as none."""
    found = value if isinstance(value, tuple) else (value,)
    return found if all(isinstance(each, str) for each in found) else ()


def _are_two_texts(value: object) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(is_caption(v) and v for v in value)


def _are_zooms(value: object) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and all(isinstance(zoom, numbers.Integral) and not isinstance(zoom, bool) for zoom in value)
        and 0 <= value[0] <= value[1] <= DEEPEST
    )


def as_epsilon(value: object) -> Fraction:
    """Read an epsilon exactly: a float as the decimal it prints as, so that ten times 0.1 is 1.

    >>> as_epsilon(0.1) * 10
    Fraction(1, 1)
    """
    if isinstance(value, bool) or not isinstance(value, (int, str, Fraction, Decimal, numbers.Real)):
        raise TypeError(f"{type(value).__name__} is not a number")
    if isinstance(value, str) and len(value) > LONGEST_NUMBER:  # its arithmetic would take for ever
        raise ValueError("too long")
    if isinstance(value, str) and "/" not in value:
        value = Decimal(value)
    if isinstance(value, Decimal) and len(value.as_tuple().digits) > LONGEST_NUMBER:
        raise ValueError("too long")
    if isinstance(value, Decimal) and abs(value.adjusted()) > MOST_DIGITS:  # it could not be written out
        raise ValueError("out of range")
    return Fraction(value if isinstance(value, (int, str, Fraction, Decimal)) else repr(float(value)))


def _is_partition(value: object) -> bool:
    """Whether a value is one column with a list of different texts."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    ((column, values),) = value.items()
    listed = isinstance(column, str) and isinstance(values, (list, tuple)) and len(values) > 0
    return listed and all(isinstance(v, str) for v in values) and len(set(values)) == len(values)


def origin_of_tiles(address: str) -> str | None:
    """Scheme, host and port of the address of map tiles, or None if it is no such address.

    >>> origin_of_tiles("https://tiles.example:8080/{z}/{x}/{y}.png"), origin_of_tiles("https://tiles.example/")
    ('https://tiles.example:8080', None)
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    plain = host.isascii() and all(c.isalnum() or c in "-." for c in host)
    if parts.scheme not in ("https", "http") or not host or not plain:
        return None
    if not all(place in address for place in ("{z}", "{x}", "{y}")):
        return None
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")


_EPSILON = f"a number above 0 and at most {LARGEST_EPSILON}, of at most {MOST_DIGITS} digits"
RULES: dict[str, Rule] = {
    "epsilon": Rule(
        _EPSILON,
        _is_epsilon,
        "Give it as a number or a fraction such as '1/3'; 1 is a common choice, smaller protects more.",
    ),
    "rho": Rule(_EPSILON, _is_epsilon, "Give it as a number or a fraction; 0.02 is about epsilon 1 at delta 1e-6."),
    "was": Rule(
        f"{_EPSILON}, or a limit such as '1 at delta 0.000001' or 'rho 0.02'",
        _is_limit,
        "It is the limit that is to be changed; dpheatmap ledger show tells it.",
    ),
    "releases": _whole(1, 1000, "It is the number of releases about the same people."),
    "days": _whole(1, 1000, "It is the number of days, each with a release of its own."),
    "series": _whole(1, 2**53, "It is the number of the entry that reserved the series."),
    "depth": _whole(0, DEEPEST, "Each level halves the side of a cell; 8 gives 256 x 256 cells."),
    "width": _whole(1, 2**20, "It is the number of cells kept at each level; the paper uses 20."),
    "decay": _real("a number above 0 and at most 1", lambda v: 0 < v <= 1, "The paper uses 1/sqrt(2)."),
    "first_level": _whole(0, DEEPEST, "It is the first level measured; leave it out to have it chosen by the width."),
    "users": _whole(1, 10**12, "It is a public guess of the number of people, never a count taken from the data."),
    "places": _whole(1, 10**12, "It is the number of finest cells that people are in, or about so many."),
    "emd": _real("a number of sides from 0 to 2", lambda v: 0 <= v <= 2, "It is an earth mover's distance."),
    "sigma": _real(
        f"a number from {SIGMAS[0]:g} to {SIGMAS[1]:g}",
        lambda v: SIGMAS[0] <= v <= SIGMAS[1],
        "It is in ground metres, pixels or fractions of the side, as the domain is.",
    ),
    "top": _real("a percentage above 0 and at most 100", lambda v: 0 < v <= 100, "The paper tries 0.001 to 1."),
    "size": _whole(1, 8192, "It is the number of pixels on the longer side of the map."),
    "resolution": _real("a number of metres above 0", lambda v: v > 0, "It is the widest a cell may be."),
    "image_width": _whole(1, 2**DEEPEST, "It is the width of the image in pixels."),
    "image_height": _whole(1, 2**DEEPEST, "It is the height of the image in pixels."),
    "engine": one_of("duckdb", "spark"),
    "dialect": one_of("bigquery", "databricks", "duckdb", "postgres", "redshift", "snowflake", "spark", "trino"),
    "time_type": one_of("instant", "clock", "date", "seconds", "text"),
    "table": _text("the name of a table", "Give it as text, such as 'trips' or 'schema.trips'."),
    "memory": _whole(64, 2**20, "It is in megabytes; 800 is enough for a hundred million rows."),
    **{
        role: _text("the name of a column", "Give it as text; dpheatmap inspect lists the names.")
        for role in ("user", "x", "y", "to_x", "to_y", "geometry", "weight", "image", "time", "group")
    },
    "images": Rule(
        f"a list of 1 to {MOST_IMAGES} names, each once",
        _is_list_of_names,
        "It is the public list of the images to release, never one taken from the data.",
    ),
    "groups": Rule(
        f"a list of 1 to {MOST_IMAGES} names, each once",
        _is_list_of_names,
        "It is the public list of the groups to release, never one taken from the data.",
    ),
    "crs": _text("a system of coordinates on the ground that PROJ knows", "Give it as text, such as 'EPSG:2056'."),
    "areas_crs": _text("a system of coordinates that PROJ knows", "Give it as text, such as 'EPSG:2056'."),
    "layer": _text("the name of a layer", "Give it as text; the file has several."),
    "bad_lines": one_of("stop", "skip"),
    "split": one_of("weight", "epsilon"),
    "noise": one_of("laplace", "gaussian"),
    "where": _text("a predicate as text", "Write one such as: time >= '2024-01-01'"),
    "each_row_is_a_person": Rule(
        "True or False",
        lambda value: isinstance(value, bool),
        "True says that there is no user column because every row is another person.",
    ),
    "each_row_is_a_trip": Rule(
        "True or False",
        lambda value: isinstance(value, bool),
        "True says that there is no user column, and that trips are protected, not the people who made them.",
    ),
    "points": one_of("start", "end", "both", "path"),
    "numbers": one_of("comma", "thousands", "degrees"),
    "uncertain": Rule(
        "True or False",
        lambda value: isinstance(value, bool),
        "True draws points from one of the maps that may be true, False from the likeliest.",
    ),
    "same": Rule(
        "True or False",
        lambda value: isinstance(value, bool),
        "True says that the releases are about one table, False that they are about other days or people.",
    ),
    "confidence": _real("a number above 0.5 and below 1", lambda v: 0.5 < v < 1, "0.9 or 0.95 are common."),
    "sample_points": _whole(1, 10**8, "It is the number of synthetic points."),
    "seed": _whole(0, 2**63 - 1, "Any number will do; another one gives other points."),
    "k": _whole(1, 1000, "It is the number of places to find."),
    "metric": one_of("l1", "euclidean"),
    "share": _real("a number above 0 and below 1", lambda v: 0 < v < 1, "0.95 asks for 95 % of people."),
    "control": one_of("discovery", "family"),
    "title": _caption("It stands above the map."),
    "subtitle": _caption("It stands below the title."),
    "source": _caption("It says whose data it is."),
    "what": _caption("It names what people did there, such as check-ins."),
    "style": one_of("bands", "smooth", "contour"),
    "colours": one_of("light", "dark"),
    "limits": Rule(
        "two numbers above 0, the lower first",
        _are_limits,
        "They are the first and the last edge of the bands, as in (1, 50).",
    ),
    "names": Rule(
        f"two texts of up to {LONGEST_CAPTION} characters, none of them a control character",
        _are_two_texts,
        "They name both maps, such as 'by day' and 'at night'.",
    ),
    "background": Rule(
        "the path of a picture, or 'pitch'",
        lambda value: isinstance(value, (str, PathLike)),
        "The heat is drawn over it; 'pitch' is a football pitch.",
    ),
    "basemap": Rule("True or False", lambda value: isinstance(value, bool), "False draws no coast, borders and towns."),
    "context": Rule(
        "names of files",
        lambda value: bool(_as_texts(value)) and all(_as_texts(value)),
        "They hold your own map: parks, streets, borders.",
    ),
    "context_credit": _caption("It says whose map the context is."),
    "bare": Rule("True or False", lambda value: isinstance(value, bool), "True draws the heat and nothing else."),
    "h3": _whole(0, 15, "It is a resolution of H3: 8 has hexagons of about 0.7 km2, and each step a seventh of that."),
    "values": one_of("share", "people"),
    "people_share": _real(
        "a number from 0.000001 to 0.5",
        lambda v: 1e-6 <= v <= 0.5,
        "It is the part of epsilon that the number of all people gets; 0.01 is the default.",
    ),
    "tiles": Rule(
        "an address that starts with https:// and holds {z}, {x} and {y}",
        lambda value: isinstance(value, str) and origin_of_tiles(value) is not None,
        "Give one such as https://tile.openstreetmap.org/{z}/{x}/{y}.png",
    ),
    "zooms": Rule("two zooms from 0 to 28, as in (6, 13)", _are_zooms, "They are the tiles' first and last zoom."),
    "population": Rule(
        "the name of a population, in up to 200 printable characters",
        lambda value: (
            isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable() and value == value.strip()
        ),
        "All releases about the same people name the same one.",
    ),
    "partition": Rule(
        "one column and the public list of its values",
        _is_partition,
        "Give it such as {'district': ['north', 'south']}; the value must be a function of the person.",
    ),
    "part": _text("a value of the partition as text", "Give one of the values on the partition's list."),
    "n_min": _whole(2, 2**20, "It is the number of honest contributions that the promise needs."),
    "n_max": _whole(2, 2**20, "It is the number of contributions that there is room for."),
    "units": _whole(1, 2**30, "It is what one person's weight is rounded to: the paper's B."),
    "servers": _whole(0, 16, "It is the number of servers that each add noise; two are enough."),
    "delta": Rule(
        f"a number from 0 to 0.1, of at most {MOST_DIGITS} digits",
        _is_delta,
        "It is the probability that epsilon is not kept; 1e-6 is a common choice.",
    ),
    "trusted": one_of("curator", "shuffler", "servers", "nobody"),
}
"""Every checked parameter of the interface and its rule; `design/registry.py` adds those of designs."""


def check(**values: object) -> None:
    """Raise a :class:`ParameterError` for the first of the named values that breaks its rule.

    >>> check(width=20, depth=8)
    >>> check(width=0)
    Traceback (most recent call last):
    ...
    dpheatmap.errors.ParameterError: width must be a whole number from 1 to 1048576; it was 0. It is the number of \
cells kept at each level; the paper uses 20.
    """
    for name, value in values.items():
        rule = RULES[name]
        if not rule.holds(value):
            raise ParameterError(f"{name} must be {rule.words}; it was {_as_text(value)}. {rule.advice}")


def _as_text(value: object) -> str:
    """A value as text, cut short if it is long; only the type of a column or list, which may hold people's data."""
    if value is not None and not isinstance(value, (str, numbers.Number, PathLike)):
        return f"of the type {type(value).__name__}"
    try:
        text = repr(value)
    except ValueError:  # Python does not write out integers of many thousand digits
        text = f"an enormous {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:60]}..."
