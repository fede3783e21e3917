"""The pages for readers: all releases, and one of them with the addresses that tools take."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources

from dpheatmap.serve.links import Links
from dpheatmap.serve.public_maps import PublicMap
from dpheatmap.serve.tile_documents import ABOUT, TITLE


def page_of_releases(maps: Sequence[PublicMap], links: Links) -> str:
    """The page of all releases."""
    listed = "".join(f"<li>{_picture(one, links)}<div class='words'>{_summary(one, links)}</div></li>" for one in maps)
    tools = " · ".join(
        f"<a href='{escape(links.to(path))}'>{words}</a>"
        for path, words in (
            ("collections", "All releases as JSON"),
            ("api", "OpenAPI"),
            ("conformance", "OGC API Tiles: conformance"),
        )
    )
    return _page(
        TITLE,
        f"<h1>{TITLE}</h1><p class='soft'>{ABOUT}</p><ul class='releases'>{listed}</ul>"
        f"<p class='small soft'>{tools}</p>",
    )


def page_of_release(one: PublicMap, links: Links) -> str:
    """The page of a release: what it shows and promises, and its addresses."""
    promise = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in one.label.items())
    return _page(
        f"{one.title}: {one.name}",
        f"<p class='small'><a href='{escape(links.to(''))}'>All releases</a></p>"
        f"<ul class='releases'><li>{_picture(one, links)}<div class='words'>{_summary(one, links, heading='h1')}</div>"
        f"</li></ul>{_tiles(one, links)}{_areas(one, links)}<h3>What this promises</h3><dl>{promise}</dl>"
        f"<h3>Small print</h3><p class='small soft'>{escape(' '.join(one.facts))}</p>",
    )


def policy() -> str:
    """What these pages may load: pictures of this server, and their own style."""
    digest = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


def _summary(one: PublicMap, links: Links, heading: str = "h2") -> str:
    """Title, takeaway and promise of a release, and where to go on."""
    there = [(links.collection(one.name, "page"), "Open the map")]
    if heading == "h2":
        there.append((links.collection(one.name, f="html"), "Addresses and promise"))
    anchors = "".join(f"<a href='{escape(address)}'>{words}</a>" for address, words in there)
    return (
        f"<{heading}>{escape(one.title)}</{heading}><p class='small soft'>{escape(one.name)} · {escape(one.made[:10])}"
        f"</p><p>{escape(one.takeaway)}</p><span class='badge'>{escape(one.badge)}</span><div class='links'>{anchors}"
        "</div>"
    )


def _picture(one: PublicMap, links: Links) -> str:
    address, picture = (escape(links.collection(one.name, part)) for part in ("page", "thumbnail.png"))
    return f"<a class='picture' href='{address}'><img src='{picture}' alt='{escape(one.title)}: the heat'></a>"


def _tiles(one: PublicMap, links: Links) -> str:
    """The addresses of tiles, those of slices as a list."""
    if not one.tiles:
        return "<h3>Tiles</h3><p>There are none: the place of this map is not on the ground.</p>"
    first = next(iter(one.tiles))
    zooms = one.tiles[first].zooms
    xyz = links.tile(one.name, first, zoom="{z}", row="{y}", column="{x}")
    slices = ""
    if one.slices:
        items = "".join(
            f"<li><a href='{escape(links.collection(one.name, 'tilejson.json', slice=name))}'>{escape(words)}</a></li>"
            for name, words in one.slices.items()
        )
        slices = f"<p>TileJSON of each slice:</p><ol class='slices'>{items}</ol>"
    return (
        f"<h3>TileJSON, for MapLibre and others</h3>"
        f"<pre>{escape(links.collection(one.name, 'tilejson.json', slice=first))}</pre>"
        f"<h3>Tiles, for QGIS (XYZ) and Leaflet, zooms {zooms[0]} to {zooms[1]}</h3><pre>{escape(xyz)}</pre>"
        f"<h3>OGC API Tiles</h3><pre>{escape(links.collection(one.name, 'map', 'tiles'))}</pre>{slices}"
    )


def _areas(one: PublicMap, links: Links) -> str:
    """How to ask for people in areas."""
    address = links.collection(one.name, "areas", slice=next(iter(one.slices), None))
    return (
        "<h3>People in areas</h3><p>Send polygons as GeoJSON. The answer has the share and the number of people of "
        "each, with intervals; add f=csv for a table.</p><pre>curl -H 'Content-Type: application/geo+json' "
        f"-d @districts.geojson \\\n  '{escape(address)}'</pre>"
    )


def _page(title: str, body: str) -> str:
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><link rel='icon' href='data:,'><style>{_style()}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


@cache
def _style() -> str:
    return (resources.files("dpheatmap.serve") / "static" / "reader.css").read_text(encoding="utf-8")
