"""``dpheatmap serve``: a small server over public releases, for reading only."""

from __future__ import annotations

import sys

import click

from dpheatmap._util.extras import import_extra
from dpheatmap.cli.terminal import progress, say


@click.command("serve")
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="The port; 0 takes a free one."
)
@click.option(
    "--host", default="127.0.0.1", show_default=True,
    help="The address to listen at. Others can read the releases at any but this machine's own.",
)  # fmt: skip
@click.option("--url", help="The address that readers know, if a proxy stands before the server.")
def command(releases: tuple[str, ...], port: int, host: str, url: str | None) -> None:
    """Serve RELEASE..., .dph.parquet files, to web maps and GIS: tiles, people in areas, and the map as a page.

    Tiles are those of OGC API Tiles and TileJSON, so MapLibre, Leaflet and QGIS show them. The server reads releases
    alone, and costs no budget. Ctrl-C ends it. Example:

    \b
    dpheatmap serve june.dph.parquet july.dph.parquet
    """
    for package in ("starlette", "uvicorn"):
        import_extra(package, "app", "The server")
    from dpheatmap.serve.catalogue import read_catalogue
    from dpheatmap.serve.public_server import address_of, check_url, draw_all, is_public, listen, serve

    public, known = is_public(host), url and check_url(url)
    catalogue = read_catalogue(releases)
    with listen(host, port) as listening:
        with progress("Drawing") as bar:

            def tell(number: int, name: str) -> None:
                if bar is not None:
                    bar(number / len(catalogue), 0.0)

            maps = draw_all(catalogue, tell)
        click.echo(known or address_of(listening))
        sys.stdout.flush()
        size = sum(one.size for one in maps) / 1e6
        say(f"Serving {', '.join(one.name for one in maps)}: {size:.1f} MB in memory. Ctrl-C ends it.")
        if public:
            say("Everybody who reaches this machine can read them now, without encryption unless a proxy adds it.")
        serve(listening, catalogue, maps, known)
