"""Addresses of the server, which begin with what the reader knows it by, and links as OGC API has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

MATRIX_SET = "WebMercatorQuad"
JSON, HTML, PNG, GEOJSON, CSV = "application/json", "text/html", "image/png", "application/geo+json", "text/csv"
OPENAPI = "application/vnd.oai.openapi+json;version=3.0"
_RELATIONS = "http://www.opengis.net/def/rel/ogc/1.0/"


@dataclass(frozen=True)
class Links:
    """Addresses that begin with ``root``, which has no slash at its end."""

    root: str

    def to(self, *parts: str, **query: str | None) -> str:
        """The address of a path; parameters that are None are left out."""
        given = {name: value for name, value in query.items() if value is not None}
        path = "/".join(quote(part, safe="{}") for part in parts)
        return f"{self.root}/{path}" + (f"?{urlencode(given, quote_via=quote)}" if given else "")

    def collection(self, name: str, *parts: str, **query: str | None) -> str:
        """The address of a release, or of a part of it."""
        return self.to("collections", name, *parts, **query)

    def tileset(self, name: str, slice_: str | None) -> str:
        """The address of the tiles of a map."""
        return self.collection(name, "map", "tiles", MATRIX_SET, slice=slice_)

    def tile(self, name: str, slice_: str | None, *, zoom: str, row: str, column: str) -> str:
        """The address of any tile of a map, with names for its zoom, row and column."""
        return self.collection(name, "map", "tiles", MATRIX_SET, zoom, row, column, slice=slice_)


def link(href: str, rel: str, type_: str, title: str = "", **more: Any) -> dict[str, Any]:
    """A link of a document."""
    return {"href": href, "rel": rel, "type": type_, **({"title": title} if title else {}), **more}


def ogc(relation: str) -> str:
    """A relation of links that OGC has defined."""
    return _RELATIONS + relation
