"""The public server: tiles, pages and areas of releases, for reading only. It knows releases and no private data.

::

    catalogue.py          the releases that are served: their names in addresses, and which are refused
    public_maps.py        all that is drawn of a release, before the first request: tiles, page, thumbnail and words
    area_requests.py      areas that a request brings, and their people, counted in a process of its own
    links.py              addresses, which begin with what the reader knows the server by
    tile_documents.py     OGC API Tiles and TileJSON
    openapi_document.py   the description of all addresses
    reader_pages.py       the pages for readers: all releases, and one of them
    public_routes.py      requests and answers, with their limits and headers
    public_server.py      start and stop
"""
