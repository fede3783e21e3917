"""The pictures of docs/reference/gallery.md, from generated people: nobody on these maps exists."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image, ImageDraw

import dpheatmap as dph
from dpheatmap.experiments import stand_in_data
from dpheatmap.place.domain import Bounds, Domain
from dpheatmap.render import basemap
from dpheatmap.testing import generated_people

SIZE = 1000
COLUMNS = {"user": "person", "x": "x", "y": "y"}
BERN = (7.30, 46.90, 7.50, 47.02)
BAY = (-124.0, 36.4, -120.4, 39.2)
ITALY = (6.0, 36.5, 19.0, 47.5)
WORLD = (-170.0, -56.0, 179.9, 74.0)


def around_towns(extent: tuple[float, ...], people: int, spread: float, seed: int = 1) -> pa.Table:
    """People who live about real towns, as many as these are large, with a few haunts each; nobody of them exists."""
    rng = np.random.default_rng(seed)
    towns = basemap.cities(Bounds(*extent), 600)
    size = np.array([town.population for town in towns], float)
    home = rng.choice(len(towns), people, p=size / size.sum())
    trips = rng.geometric(0.2, people)
    person = np.repeat(np.arange(people), trips)
    near = np.where(
        rng.random(len(person)) < 0.1, rng.choice(len(towns), len(person), p=size / size.sum()), home[person]
    )
    at = np.array([(town.lon, town.lat) for town in towns])[near] + rng.normal(0.0, spread, (len(person), 2))
    return pa.table({"person": person, "x": at[:, 0], "y": at[:, 1]})


def looks_at_a_shop(people: int, seed: int = 2) -> pa.Table:
    """Gazes on the screen that :func:`shop` draws: at the headline, the faces of products, prices, the button."""
    rng = np.random.default_rng(seed)
    spots = np.array([(150, 60), (130, 210), (320, 200), (510, 205), (130, 330), (320, 330), (510, 330), (540, 430)])
    pull = np.array([0.22, 0.16, 0.2, 0.1, 0.06, 0.1, 0.05, 0.11])
    fixations = rng.poisson(9, people) + 1
    person = np.repeat(np.arange(people), fixations)
    at = spots[rng.choice(len(spots), len(person), p=pull)] + rng.normal(0, (34, 20), (len(person), 2))
    return pa.table({"person": person, "x": at[:, 0].clip(0, 639), "y": at[:, 1].clip(0, 479)})


def shop(path: Path) -> Path:
    """A screen of an invented shop, drawn here."""
    image = Image.new("RGB", (640, 480), (250, 250, 248))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 640, 34), (40, 70, 110))
    draw.text((16, 8), "teapots & co", fill=(255, 255, 255), font_size=18)
    draw.text((30, 46), "Pour with joy", fill=(30, 30, 40), font_size=32)
    wares = [((190, 80, 60), "24.00"), ((70, 120, 90), "31.50"), ((220, 180, 80), "19.90")]
    for k, (colour, price) in enumerate(wares):
        left = 40 + 190 * k
        draw.rounded_rectangle((left, 110, left + 170, 360), 10, (255, 255, 255), (205, 205, 205))
        draw.ellipse((left + 35, 160, left + 125, 250), colour)
        draw.polygon([(left + 118, 190), (left + 158, 170), (left + 124, 222)], colour)
        draw.arc((left + 8, 180, left + 60, 235), 60, 300, colour, 9)
        draw.ellipse((left + 68, 146, left + 92, 168), colour)
        draw.text((left + 20, 285), "Teapot No. " + str(k + 1), fill=(50, 50, 60), font_size=16)
        draw.text((left + 20, 315), price, fill=(30, 30, 40), font_size=24)
    draw.rounded_rectangle((460, 405, 620, 455), 10, (220, 110, 50))
    draw.text((490, 416), "To the till", fill=(255, 255, 255), font_size=22)
    image.save(path)
    return path


def passes(people: int, seed: int = 3) -> pa.Table:
    """Touches of the ball by invented players of a side that attacks on its right wing."""
    rng = np.random.default_rng(seed)
    posts = [
        (8, 34),
        (22, 12),
        (20, 28),
        (20, 42),
        (24, 58),
        (45, 22),
        (48, 45),
        (70, 12),
        (78, 36),
        (74, 58),
        (88, 30),
    ]
    touches = rng.poisson(30, people) + 5
    person = np.repeat(np.arange(people), touches)
    at = np.array(posts)[person % len(posts)] + rng.normal(0, (11, 7), (len(person), 2))
    wing = rng.random(len(person)) < 0.08
    at[wing] = rng.normal((80, 60), (9, 3.5), (int(wing.sum()), 2))
    return pa.table({"person": person, "x": at[:, 0].clip(0, 104.9), "y": at[:, 1].clip(0, 67.9)})


def map_of(
    events: Any, domain: Domain, epsilon: object, sigma: float, columns: dict[str, str] = COLUMNS
) -> dph.Heatmap:
    """The map of a fresh release."""
    return dph.release(events, domain, epsilon=epsilon, **columns).heatmap(sigma=sigma, size=SIZE)


def draw(folder: Path) -> None:
    """All ten, of generated people."""
    folder.mkdir(parents=True, exist_ok=True)
    place = Domain.bbox(*BERN, resolution=50)
    city = map_of(generated_people(20_000, extent=BERN), place, 1, 250)
    city.save(folder / "city.png", title="An invented city, 20,000 people")
    city.save(folder / "city-dark.png", colours="dark", title="The same, in the dark")
    city.save(folder / "city-contour.png", style="contour", title="The same, as lines")
    draw_cells(city, folder / "city-cells.png")
    few = map_of(generated_people(400, extent=BERN), place, "1/4", 500)
    few.save(folder / "few.png", title="400 people, epsilon 1/4")
    bay = map_of(around_towns(BAY, 30_000, 0.03), Domain.bbox(*BAY, resolution=600), 1, 4000)
    bay.save(folder / "bay.png", title="Invented people around San Francisco")
    italy = map_of(around_towns(ITALY, 60_000, 0.12), Domain.bbox(*ITALY, resolution=3000), 1, 12_000)
    italy.save(folder / "italy.png", title="Invented people in and around Italy")
    world = map_of(around_towns(WORLD, 100_000, 1.0), Domain.bbox(*WORLD, depth=9), 1, 150_000)
    world.save(folder / "world.png", title="Invented people of the world")
    screen = shop(folder / "screen.png")
    gaze = map_of(looks_at_a_shop(300), Domain.image(640, 480), 2, 16)
    gaze.save(folder / "gaze.png", background=screen, title="Where 300 invented people looked")
    screen.unlink()
    match = map_of(passes(440), Domain.image(105, 68), 2, 4)
    match.save(folder / "pitch.png", background="pitch", title="Touches of 440 invented players")


def draw_cells(heat: dph.Heatmap, path: Path) -> None:
    """The measured cells as GeoPandas shows them."""
    import matplotlib

    matplotlib.use("agg")
    cells = heat.to_geopandas()
    cells["percent"] = (100 * cells["per_km2"]).clip(lower=0.01)
    axes = cells.plot(
        "percent", legend=True, cmap="magma", figsize=(8.8, 6.4), edgecolor="0.45", linewidth=0.2,
        norm=matplotlib.colors.LogNorm(), legend_kwds={"label": "% of people per km²", "shrink": 0.8},
    )  # fmt: skip
    b = heat.domain.bounds
    axes.set(title="heat.to_geopandas(): the cells that were measured", xlabel="longitude", ylabel="latitude")
    axes.set(xlim=(b.x0, b.x1), ylim=(b.y0, b.y1), aspect=1.46)
    axes.figure.savefig(path, dpi=110, bbox_inches="tight")


def draw_real(data: Path, folder: Path) -> None:
    """Maps of the real data, where it is found; they stay out of the repository."""
    folder.mkdir(parents=True, exist_ok=True)
    checkins, touches = data / "gowalla_nyc_timed.parquet", data / "wyscout_events.parquet"
    if checkins.exists():
        columns = {"user": "user", "x": "lon", "y": "lat"}
        city = map_of(str(checkins), Domain.bbox(-74.1, 40.6, -73.8, 40.9, resolution=50), 1, 250, columns)
        city.save(folder / "new-york.png", title="Check-ins in New York")
    if touches.exists():
        match = map_of(str(touches), Domain.image(100, 100), 1, 2, COLUMNS | {"user": "user"})
        match.save(folder / "football.png", title="Events of football matches, in per cent of the pitch")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
    if (real := stand_in_data.folder()) is not None:
        draw_real(real, Path("results/gallery"))
