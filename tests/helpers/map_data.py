"""Data of interactive maps by the page's contract, made of arrays: what a page shows is then known to the digit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpheatmap.place.domain import Domain, Floats
from dpheatmap.render.web.layers import deflate, layer
from dpheatmap.render.web.page import between_tags, frame, place_on_square

EDGES = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
LIGHT = ["#F8DE96", "#FAA34B", "#F1623C", "#C33554", "#891B65", "#47175F"]
DARK = ["#3F2C5D", "#8B2F7A", "#D23C60", "#F9753B", "#FBBC58", "#FCF5C7"]
FEWER, MORE = ["#87C1E5", "#4791CC", "#265EA3", "#15326A"], ["#F0AB72", "#D86C38", "#A43B21", "#661D1D"]
LAND = {"light": "#F4F2ED", "dark": "#22282E"}
NOTHING: dict[str, Any] = {"land": [], "borders": [], "cities": [], "window": None, "fine": None, "rivers": []}


def over(colour: str, opacity: float, ground: str) -> str:
    """A colour as it looks on a ground."""
    top, under = (np.array(list(bytes.fromhex(c[1:]))) for c in (colour, ground))
    return "#" + bytes(np.rint(opacity * top + (1 - opacity) * under).astype(np.uint8).tolist()).hex().upper()


def theme(name: str, bands: list[str], fewer: list[str], opacities: tuple[float, float]) -> dict[str, Any]:
    low, high = opacities
    opacity = [low + (high - low) * min(1.0, i / max(1, len(bands) - 2)) for i in range(len(bands))]
    swatches = [
        [over(colour, a, LAND[name]) for colour, a in zip(side, opacity, strict=False)] for side in (bands, fewer)
    ]
    return {
        "bands": bands,
        "fewer": fewer,
        "opacity": opacity,
        "swatches": swatches[0],
        "fewerSwatches": swatches[1],
    }


def map_data(
    domain: Domain,
    values: Floats,
    *,
    relative: Floats | None = None,
    clarity: Floats | None = None,
    basemap: dict[str, Any] | None = None,
    signed: bool = False,
    **changes: Any,
) -> dict[str, Any]:
    """Data of a map of values; ``relative`` is the half of a range, as a part of its value, or of a change itself."""
    rows, columns = values.shape
    edges = EDGES[:4] if signed else EDGES
    low = high = None
    if relative is not None:
        below, above = (values - relative, values + relative) if signed else (1 - relative, 1 + relative)
        low, high = layer(np.maximum(below, -np.inf if signed else 0.0)), layer(above)
    if basemap is None and domain.geographic:
        basemap = NOTHING
    data: dict[str, Any] = {
        "title": "Where people are",
        "subtitle": "",
        "takeaway": "Half of people are in about 12 of 377 km². The busiest place has 83 to 88 of every 1,000 people.",
        "warnings": [],
        "badge": "Private · ε = 1 per person",
        "label": [{"heading": "Who is protected", "text": "Each person."}],
        "facts": ["Each person counts the same, however often they were seen.", "Smoothed over about 450 m."],
        "credits": ["Natural Earth", "GeoNames CC BY 4.0", "dpheatmap"] if domain.geographic else ["dpheatmap"],
        "kind": domain.kind,
        "place": place_on_square(domain),
        "bounds": list(domain.bounds),
        "columns": columns,
        "rows": rows,
        "smooth": False,
        "signed": signed,
        "values": layer(values),
        "low": low,
        "high": high,
        "clarity": None if clarity is None else layer(clarity),
        "hatch": clarity is not None and not signed,
        "edges": edges,
        "top": float(np.abs(values).max()),
        "light": theme("light", MORE, FEWER, (0.70, 0.92)) if signed else theme("light", LIGHT, [], (0.76, 0.92)),
        "dark": theme("dark", MORE, FEWER, (0.70, 0.92)) if signed else theme("dark", DARK, [], (0.75, 0.95)),
        "colours": None,
        "style": "bands",
        "legend": {
            "title": "Of every 1,000 people, how many are in a square kilometre here",
            "short": "Of every 1,000 people, how many per km²",
            "under": "can\u2019t tell" if signed else "under 1",
            "bare": "" if signed else "Under 1, or too few to tell from the noise",
            "rough": "Rough: may be off by half or more" if clarity is not None and not signed else "",
            "outside": "Outside the line nothing was counted",
            "notes": [] if relative is not None else ["How sure this is, is not known."],
            "less": "← Fewer at night" if signed else "",
            "more": "More at night →" if signed else "",
        },
        "reading": {
            "range": "{lo} to {hi} of every 1,000 people per km²",
            "bare": "Under {hi} of every 1,000 people per km², perhaps none",
            "value": "About {v} of every 1,000 people per km²",
            "sure": "About 9 in 10 such ranges hold the truth" if relative is not None else "",
            "outside": "Nothing was counted here",
            "cantTell": "No change can be told from the noise",
        },
        "nothing": None,
        "busiest": [],
        "basemap": None if basemap is None else deflate(between_tags(basemap).encode()),
        "background": None,
        "tiles": None,
        "context": [],
    }
    return data | changes


def page_of(data: dict[str, Any]) -> str:
    """The whole page of a map."""
    tiles = data["tiles"]
    before, after = frame(data["title"], tiles and tiles["url"])
    return before + between_tags(data) + after


def steps_of(line: NDArray[Any], per_degree: int) -> list[int]:
    """A line as integer steps from one point to the next, the first from 0, 0."""
    points = np.rint(per_degree * np.asarray(line)).astype(np.int64)
    return [int(step) for step in np.diff(points, axis=0, prepend=0).ravel()]
