"""Areas that a request brings, and the people in them.

What is sent is a stranger's: it is small, polygons only, and is counted in a process of its own, one request after the
other, each for a limited time. Answers are kept for a while, because readers ask for the same districts.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool

from dpheatmap._util.parameters import check
from dpheatmap._util.worker import Worker
from dpheatmap.errors import DpheatmapError, ParameterError
from dpheatmap.render.formats.area_file import csv_of, records_of
from dpheatmap.serve.catalogue import Listed, load_again

MOST_BYTES, MOST_AREAS, MOST_POINTS = 2_000_000, 1_000, 50_000
SECONDS = 60.0
"""How long the people in one request's areas may be counted."""
_AGAIN = 1.0  # seconds
_WAITING = 8
_KEPT = 16_000_000  # bytes of answers
_POLYGONS = ("Polygon", "MultiPolygon")


class AreaQuestion(NamedTuple):
    """What a request asks for: people in the areas of a collection of GeoJSON, as JSON or as CSV."""

    listed: Listed
    slice: str | None
    collection: Mapping[str, Any]
    confidence: float
    name: str | None
    as_csv: bool


class BusyError(Exception):
    """Others ask, too, or it took too long: the question may be asked again later."""


class AreaService:
    """The process that counts, those who wait for it, and the answers that it gave."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._worker = Worker("Counting took too long and was stopped. Send fewer areas, or simpler ones.")
        self._turn, self._waiting, self._seconds = asyncio.Lock(), 0, seconds
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()

    async def answer(self, question: AreaQuestion) -> bytes:
        """The people in areas; raises `BusyError` if too many wait, or if it takes too long."""
        key = _key(question)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if self._waiting >= _WAITING:
            raise BusyError("Too many areas are being counted. Ask again in a moment.")
        self._waiting += 1
        try:
            async with self._turn:
                found = await self._count(question)
        finally:
            self._waiting -= 1
        self._keep(key, found)
        return found

    async def _count(self, question: AreaQuestion) -> bytes:
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._seconds, lambda: stop())

        def stop() -> None:
            nonlocal timer
            self._worker.interrupt()
            timer = loop.call_later(_AGAIN, stop)  # a process that is being started is not there yet to be ended

        try:
            return await run_in_threadpool(self._worker.run, count_people, question)
        except DpheatmapError as error:
            if type(error) is DpheatmapError:
                raise BusyError(str(error)) from None
            raise
        finally:
            timer.cancel()

    def _keep(self, key: bytes, answer: bytes) -> None:
        self._kept[key] = answer
        while sum(map(len, self._kept.values())) > _KEPT:
            self._kept.popitem(last=False)

    def warm(self) -> None:
        """Start the process before the first question."""
        self._worker.warm(__name__, "dpheatmap.estimate.areas.area_table", "dpheatmap.estimate.posterior.posterior")

    def close(self) -> None:
        """End the process."""
        self._worker.close()


def _key(question: AreaQuestion) -> bytes:
    told = [question.listed.name, *question[1:]]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).digest()


def count_people(question: AreaQuestion) -> bytes:
    """Count the people in areas; this runs in the process."""
    release = _release(question.listed)
    source = release if question.slice is None else release.slice(question.slice)
    table = source.areas(question.collection, confidence=question.confidence, name=question.name)
    if question.as_csv:
        return csv_of(table).encode()
    told = {
        "confidence": question.confidence,
        "epsilon": str(release.epsilon),
        "areas": records_of(table),
        "notes": table.attrs["said"],
        "promise": dict(source.label),
    }
    return json.dumps(told).encode()


@lru_cache(maxsize=4)
def _release(listed: Listed) -> Any:
    return load_again(listed)


def collection_of(body: bytes) -> dict[str, Any]:
    """The polygons of a body as a collection of GeoJSON, whichever of its forms they have."""
    try:
        given = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ParameterError("The body is not JSON. Send polygons as GeoJSON.") from None
    kind = given.get("type") if isinstance(given, dict) else None
    if kind in _POLYGONS:
        given = {"type": "Feature", "properties": {}, "geometry": given}
    if kind in (*_POLYGONS, "Feature"):
        given = {"type": "FeatureCollection", "features": [given]}
    elif kind != "FeatureCollection":
        raise ParameterError(
            "Areas are GeoJSON: a Polygon, a MultiPolygon, a Feature or a FeatureCollection. Send one of these."
        )
    features = given.get("features")
    if not isinstance(features, list) or not 0 < len(features) <= MOST_AREAS:
        raise ParameterError(f"There must be 1 to {MOST_AREAS:,} areas in a request. Send others in another one.")
    points = sum(map(_points_of, features))
    if points > MOST_POINTS:
        raise ParameterError(
            f"Areas of a request have at most {MOST_POINTS:,} corners together; there were {points:,}. Simplify them, "
            "or send fewer."
        )
    return {"type": "FeatureCollection", "features": features}


def _points_of(feature: Any) -> int:
    """The number of corners of an area, after checking that it is a polygon of numbers."""
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    properties = feature.get("properties") if isinstance(feature, dict) else None
    if not isinstance(geometry, dict) or geometry.get("type") not in _POLYGONS:
        raise ParameterError("Every area must be a Feature with a Polygon or a MultiPolygon. Leave others out.")
    if not isinstance(properties, dict | None):
        raise ParameterError("The properties of an area must be an object. Leave them out.")
    feature.setdefault("properties", {})
    coordinates: Any = geometry.get("coordinates")
    polygons = [coordinates] if geometry["type"] == "Polygon" else coordinates
    try:
        return sum(_points_of_ring(ring) for polygon in polygons for ring in polygon)
    except (TypeError, ValueError):
        raise _not_numbers() from None


def _points_of_ring(ring: Any) -> int:
    for x, y, *_ in ring:
        if type(x) not in (int, float) or type(y) not in (int, float):
            raise _not_numbers()
    return len(ring)


def _not_numbers() -> ParameterError:
    return ParameterError("The corners of an area are pairs of numbers, as GeoJSON has them. Check its coordinates.")


def _refuse_constant(text: str) -> float:
    raise ValueError(text)


def confidence_of(text: str | None) -> float:
    """The confidence of intervals, 0.9 if it is not given."""
    if text is None:
        return 0.9
    try:
        confidence = float(text)
    except ValueError:
        raise ParameterError(f"confidence must be a number between 0 and 1; it was {text!r}. Send 0.9.") from None
    check(confidence=confidence)
    return confidence
