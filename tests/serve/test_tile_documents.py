"""OGC API Tiles and TileJSON: every link leads somewhere, and tiles are where they say they are."""

from __future__ import annotations

import io
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from helpers.public_server import CITY, PublicServer

TILES = "/collections/city/map/tiles/WebMercatorQuad"


def links_in(value: Any) -> list[dict[str, Any]]:
    """Every link of a document, however deep."""
    if isinstance(value, dict):
        own = [value] if "href" in value else []
        return own + [found for inner in value.values() for found in links_in(inner)]
    return [found for inner in value for found in links_in(inner)] if isinstance(value, list) else []


def test_every_link_leads_to_what_it_says(client: httpx.Client, running: PublicServer) -> None:
    waiting, seen = ["/"], set[str]()
    while waiting:
        found = client.get(waiting.pop(), headers={"accept": "application/json"})
        assert found.status_code == 200
        for link in links_in(found.json()):
            assert link["href"].startswith(f"{running.origin}/")
            if link.get("templated") or link["href"] in seen or link["href"].endswith("/areas"):
                continue
            seen.add(link["href"])
            target = client.get(link["href"], headers={"accept": link["type"]})
            assert target.status_code == 200, link
            assert target.headers["content-type"].partition(";")[0] == link["type"].partition(";")[0], link
            if target.headers["content-type"] == "application/json":
                waiting.append(link["href"])
    assert f"{running.origin}/collections/by-mode/tilejson.json?slice=a%26b" in seen
    assert f"{running.origin}/collections/gaze/page" in seen


def test_the_api_describes_every_address(client: httpx.Client) -> None:
    """Whatever is linked is an address of the description, and what the description names is there."""
    document = client.get("/api").json()
    values = {
        "{collectionId}": "city",
        "{tileMatrixSetId}": "WebMercatorQuad",
        "{tileMatrix}": "9",
        "{tileRow}": "192",
        "{tileCol}": "150",
    }
    assert len(document["paths"]) == 14
    for path, methods in document["paths"].items():
        address = path
        for name, value in values.items():
            address = address.replace(name, value)
        if "get" in methods:
            found = client.get(address, headers={"accept": next(iter(methods["get"]["responses"]["200"]["content"]))})
            assert found.status_code == 200, address
            named = {f"{{{one['name']}}}" for one in methods["get"]["parameters"] if one["in"] == "path"}
            assert named == {name for name in values if name in path}


def test_the_tiling_is_that_of_the_web(client: httpx.Client) -> None:
    matrices = client.get("/tileMatrixSets/WebMercatorQuad").json()["tileMatrices"]
    assert matrices[0]["scaleDenominator"] == pytest.approx(559082264.028717, rel=1e-9)  # the standard's own number
    assert matrices[3]["cellSize"] == pytest.approx(19567.8792410051, rel=1e-9)
    assert matrices[3]["matrixWidth"] == 8
    assert matrices[0]["pointOfOrigin"] == pytest.approx([-20037508.342789244, 20037508.342789244])


def corner(zoom: int, column: int, row: int) -> tuple[float, float]:
    """The longitude and latitude of a tile's north-west corner, by the formula that web maps share."""
    many = 2.0**zoom
    latitude = np.degrees(np.arctan(np.sinh(np.pi * (1 - 2 * row / many))))
    return 360.0 * column / many - 180.0, float(latitude)


def test_limits_are_the_tiles_that_meet_the_place(client: httpx.Client) -> None:
    west, south, east, north = CITY
    for limit in client.get(TILES).json()["tileMatrixSetLimits"]:
        zoom = int(limit["tileMatrix"])
        left, top = corner(zoom, limit["minTileCol"], limit["minTileRow"])
        right, bottom = corner(zoom, limit["maxTileCol"] + 1, limit["maxTileRow"] + 1)
        wide = 360.0 / 2**zoom
        assert left <= west < left + wide
        assert right - wide < east <= right + 0.001  # cells end at or beyond the box
        assert bottom <= south < north <= top
        inside = (limit["minTileRow"], limit["minTileCol"])
        assert client.get(f"{TILES}/{zoom}/{inside[0]}/{inside[1]}").status_code == 200
        for row, column in ((inside[0] - 1, inside[1]), (inside[0], limit["maxTileCol"] + 1)):
            outside = client.get(f"{TILES}/{zoom}/{row}/{column}")
            assert outside.status_code == 404
            assert "outside the place" in outside.json()["detail"]


def heat_at(client: httpx.Client, template: str, zoom: int) -> tuple[float, float]:
    """The middle of everything painted on the tiles of a zoom, in degrees."""
    limits = {one["tileMatrix"]: one for one in client.get(TILES).json()["tileMatrixSetLimits"]}[str(zoom)]
    found = []
    for row in range(limits["minTileRow"], limits["maxTileRow"] + 1):
        for column in range(limits["minTileCol"], limits["maxTileCol"] + 1):
            png = client.get(template.format(z=zoom, y=row, x=column)).content
            opacity = np.asarray(Image.open(io.BytesIO(png)).convert("RGBA"))[:, :, 3]
            assert opacity.shape == (256, 256)
            found += [(column + (x + 0.5) / 256, row + (y + 0.5) / 256) for y, x in np.argwhere(opacity > 0)]
    x, y = np.mean(found, axis=0)
    return corner(zoom, x, y)


def test_tilejson_leads_to_the_heat(client: httpx.Client, releases: Any) -> None:
    """Tiles of two zooms paint the same place, that of the map itself."""
    import dpheatmap as dph
    from dpheatmap.render.content.picture import picture_of

    document = client.get("/collections/city/tilejson.json").json()
    (template,) = document["tiles"]
    assert document["tilejson"] == "3.0.0"
    assert document["bounds"] == pytest.approx(CITY, abs=0.002)
    assert "#F8DE96 from" in document["legend"]
    assert "ε = 1 per person" in document["attribution"]
    last = heat_at(client, template, document["maxzoom"])
    assert heat_at(client, template, document["maxzoom"] - 2) == pytest.approx(last, abs=0.01)
    heat = dph.load(releases / "city.dph.parquet").heatmap()
    picture = picture_of(heat)
    rows, columns = np.nonzero(picture.values >= picture.edges[0])
    assert last == pytest.approx((heat.x[columns].mean(), heat.y[rows].mean()), abs=0.01)


def test_slices_have_tiles_of_their_own_on_one_scale(client: httpx.Client) -> None:
    documents = [
        client.get("/collections/by-mode/tilejson.json", params={"slice": one}).json()
        for one in ("on foot", "by bike", "a&b")
    ]
    assert len({document["tiles"][0] for document in documents}) == 3
    assert len({str(document["dpheatmap"]["legend"]["edges"]) for document in documents}) == 1
    assert [document["name"] for document in documents] == [
        "Where people are, on foot",
        "Where people are, by bike",
        "Where people are, a&b",
    ]
    middle = {"z": documents[0]["minzoom"] + 5, "y": 0, "x": 0}
    limits = client.get("/collections/by-mode/map/tiles/WebMercatorQuad", params={"slice": "a&b"}).json()
    at = next(one for one in limits["tileMatrixSetLimits"] if one["tileMatrix"] == str(middle["z"]))
    middle |= {"y": at["minTileRow"], "x": at["minTileCol"]}
    tiles = {client.get(document["tiles"][0].format(**middle)).content for document in documents}
    assert len(tiles) == 3


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/collections/by-mode/tilejson.json", 400, "slice must be one of 'on foot' to 'a&b'"),
        ("/collections/by-mode/tilejson.json?slice=x", 400, "slice must be one of"),
        ("/collections/city/tilejson.json?slice=x", 400, "one map and no slices"),
        ("/collections/gaze/tilejson.json", 404, "not on the ground"),
        (f"{TILES}/25/0/0", 404, "There are the zooms"),
        (f"{TILES}/9/-1/150", 404, "whole numbers"),
        (f"{TILES}/9/²/150", 404, "whole numbers"),
        (f"{TILES}/9/{'9' * 30}/150", 404, "whole numbers"),
        ("/collections/city/map/tiles/WorldCRS84Quad", 404, "WebMercatorQuad"),
        ("/collections/nobody", 404, "no release of this name"),
        ("/collections/..%2f..%2fetc%2fpasswd", 404, "nothing at this address"),
        ("/collections/city.dph.parquet", 404, "no release of this name"),
        ("/?f=xml", 400, "f is json or html"),
        ("/favicon.ico", 404, "nothing at this address"),
    ],
)
def test_what_is_not_there_is_told(client: httpx.Client, address: str, status: int, words: str) -> None:
    found = client.get(address)
    assert found.status_code == status
    assert found.headers["content-type"] == "application/problem+json"
    assert words in found.json()["detail"]
