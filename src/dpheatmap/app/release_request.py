"""Requests of the page, read from JSON and checked before anything is done."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from dpheatmap._util.files import not_a_pattern
from dpheatmap._util.parameters import check
from dpheatmap.app.texts import say
from dpheatmap.app.uploads import Uploads
from dpheatmap.design.shares import read_epsilon
from dpheatmap.errors import DataError, DpheatmapError, ParameterError
from dpheatmap.place.domain import Domain

MOST_PREVIEWED = 10**9
LONGEST_TITLE = 120
LARGEST_LOOK = 2000
LOOK = ("show", "theme", "smooth", "view", "slice")
"""What the page tells of how a map is shown."""
PLACE = ("kind", "bounds", "resolution", "size")
"""What it tells of a place."""


@dataclass(frozen=True)
class Source:
    """A table: its location, its name for people, and its identity."""

    events: str
    name: str
    identity: str
    path: str | None
    """The path that was given; None for an upload."""
    used: Callable[[], AbstractContextManager[None]] = nullcontext
    """Keeps the table where it is while it is read."""

    @contextmanager
    def name_in_errors(self) -> Iterator[None]:
        """Let errors about an upload use its owner's name for it."""
        try:
            yield
        except DpheatmapError as error:
            error.args = (str(error).replace(Path(self.events).name, self.name),)
            raise


@dataclass(frozen=True)
class Columns:
    """The columns of the person and the coordinates."""

    user: str | None
    x: str
    y: str
    weight: str | None

    def options(self) -> dict[str, Any]:
        """The options of `release`; broken lines are skipped, since a refusal would be an answer about people."""
        options = {"user": self.user, "x": self.x, "y": self.y, "weight": self.weight, "bad_lines": "skip"}
        found: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        return found if self.user is not None else {**found, "each_row_is_a_person": True}


@dataclass(frozen=True)
class Charge:
    """The population that is charged, and the amount."""

    epsilon: Fraction
    population: str


def body_of(value: object) -> Mapping[str, Any]:
    """Check that a value is a JSON object."""
    if not isinstance(value, dict):
        raise ParameterError(say("not_an_object"))
    return value


def text_of(body: Mapping[str, Any], name: str) -> str:
    """Read a required text."""
    value = body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(say("missing", name=name))
    return value


def source_of(body: Mapping[str, Any], uploads: Uploads) -> Source:
    """Read the table: an upload's id, or a path on this machine."""
    if body.get("upload") is not None:
        upload = uploads.get(text_of(body, "upload"))
        return Source(not_a_pattern(upload.path), upload.name, upload.digest, None, partial(uploads.hold, upload.id))
    path = Path(os.path.expanduser(text_of(body, "path")))
    if not path.is_file():
        raise DataError(say("no_file", path=str(path)))
    found = path.stat()
    identity = f"{path.resolve()} {found.st_size} {found.st_mtime_ns} {found.st_ino}"
    return Source(not_a_pattern(path), path.name, identity, str(path))


def columns_of(body: Mapping[str, Any]) -> Columns:
    """Read the columns; without a column of persons, the request must say that each row is another person."""
    alone = body.get("each_row_is_a_person", False)
    check(each_row_is_a_person=alone)
    weight = body.get("weight")
    return Columns(
        None if alone else text_of(body, "user"),
        text_of(body, "x"),
        text_of(body, "y"),
        None if weight is None else text_of(body, "weight"),
    )


def domain_of(place: object) -> Domain:
    """The place: {"kind": "bbox", "bounds": [W, S, E, N], "resolution": m}, {"kind": "image", "size": [w, h]}, unit."""
    body = body_of(place)
    kind = body.get("kind")
    if kind == "bbox":
        return Domain.bbox(*_numbers(body, "bounds", 4), resolution=body.get("resolution"))
    if kind == "image":
        return Domain.image(*_numbers(body, "size", 2))
    if kind == "unit":
        return Domain.unit()
    raise ParameterError(say("no_place"))


def place_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a request tells of a place, to be stored: the names that `domain_of` knows."""
    return _parts(body_of(body.get("place")), PLACE)


def charge_of(body: Mapping[str, Any]) -> Charge:
    """Read epsilon and the population to which it is charged."""
    population = text_of(body, "population").strip()
    check(population=population)
    return Charge(read_epsilon(text_of(body, "epsilon").strip()), population)


def title_of(body: Mapping[str, Any]) -> str:
    """Read the title of a map: a line of text, which may be missing."""
    title = " ".join(str(body.get("title") or "").split())
    if len(title) > LONGEST_TITLE or not title.isprintable():
        raise ParameterError(say("bad_title", most=LONGEST_TITLE))
    return title


def appearance_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Read the changes of a map's appearance: its title, its smoothing, and its look, which the page understands."""
    changes: dict[str, Any] = {}
    if "title" in body:
        changes["title"] = title_of(body)
    if "sigma" in body:
        if body["sigma"] is not None:
            check(sigma=body["sigma"])
        changes["sigma"] = body["sigma"]
    if "look" in body:
        look = body_of(body["look"])
        if len(json.dumps(look)) > LARGEST_LOOK:
            raise ParameterError(say("missing", name="look"))
        changes["look"] = _parts(look, LOOK)
    return changes


def users_of(body: Mapping[str, Any]) -> int:
    """Read a public guess of the number of people."""
    users = body.get("users")
    check(users=users)
    assert isinstance(users, int)
    return min(users, MOST_PREVIEWED)


def _parts(body: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The parts of a body that have one of these names."""
    return {name: value for name, value in body.items() if name in names}


def _numbers(body: Mapping[str, Any], name: str, count: int) -> list[Any]:
    values = body.get(name)
    if not isinstance(values, list) or len(values) != count:
        raise ParameterError(say("missing", name=name))
    return values
