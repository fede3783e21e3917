"""``dpheatmap demo``: a release and its map from generated people."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dpheatmap.cli.coast_hint import hint_at_coast
from dpheatmap.cli.shared_options import json_option
from dpheatmap.cli.terminal import answer, progress, say

SETTINGS = {"resolution": 100, "sigma": 250}


@click.command("demo")
@click.option("--folder", default="dpheatmap-demo", show_default=True, help="Where to write.")
@click.option("--people", type=click.IntRange(1, 10**6), default=20_000, show_default=True, help="How many to invent.")
@click.option("--epsilon", default="1", show_default=True, help="How much may leak: smaller protects more.")
@click.option("--no-open", is_flag=True, help="Don't open the map.")
@json_option
def command(folder: str, people: int, epsilon: str, no_open: bool, as_json: bool) -> None:
    """Invent a city of people, release where they are, and draw the map."""
    from dpheatmap.curator import release
    from dpheatmap.place.domain import Domain
    from dpheatmap.planning.plans import plan
    from dpheatmap.testing import CITY, generated_people

    place = Path(folder)
    names = ("people.parquet", "city.dph.parquet", "map.png", "map.html")
    table, saved, picture, page = (str(place / name) for name in names)
    domain = Domain.bbox(*CITY, resolution=SETTINGS["resolution"])
    foreseen = plan(domain, epsilon=epsilon, users=people)
    place.mkdir(parents=True, exist_ok=True)
    say(f"Inventing {people:,} people ...")
    generated_people(people, extent=CITY).write_parquet(table)
    say(str(foreseen))
    with progress("Releasing") as tick:
        made = release(table, domain, epsilon=epsilon, user="person", x="x", y="y", progress=tick)
    made.save(saved)
    with progress("Drawing"):
        heat = made.heatmap(sigma=SETTINGS["sigma"])
        heat.save(picture)
        heat.save(page)
    hint_at_coast(domain, (picture, page), {})
    options = " ".join(f"--{name} {value}" for name, value in SETTINGS.items())
    box = ",".join(f"{edge:g}" for edge in CITY)
    say(
        f"\nThe same by hand:\n  dpheatmap release {table} --epsilon {epsilon} --user person --x x --y y "
        f"--bbox={box} {options} -o {page} -o {picture} -o {saved}\nAnother map, free of charge:\n"
        f"  dpheatmap export {saved} -o {place / 'smoother.png'} --sigma 600\n"
    )
    written = [table, saved, picture, page]
    answer(as_json, {"outputs": written, "label": dict(made.label)}, "\n".join(written))
    if not no_open and sys.stdout.isatty():
        click.launch(page)
