"""The pictures of docs/reference/gallery.md, from generated people: nobody on these maps exists."""

from __future__ import annotations

import sys
from functools import cache
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

SIZE = 1024
COLUMNS = {"user": "person", "x": "x", "y": "y"}
NEW_YORK = (-74.06, 40.64, -73.86, 40.84)
BERN = (7.30, 46.90, 7.50, 47.02)
BAY = (-122.60, 37.55, -122.15, 37.95)
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


HAUNTS = {  # of New York: longitude, latitude, and how many go there by day and at night
    "Times Square": (-73.986, 40.757, 20, 22),
    "Grand Central": (-73.977, 40.752, 16, 6),
    "Union Square": (-73.990, 40.736, 14, 16),
    "Wall Street": (-74.010, 40.706, 14, 3),
    "SoHo": (-74.001, 40.723, 9, 8),
    "East Village": (-73.984, 40.727, 5, 18),
    "Penn Station": (-73.993, 40.750, 12, 7),
    "Columbus Circle": (-73.982, 40.768, 9, 6),
    "Upper East Side": (-73.960, 40.774, 7, 7),
    "Columbia": (-73.962, 40.808, 5, 3),
    "Harlem": (-73.946, 40.811, 4, 5),
    "Downtown Brooklyn": (-73.987, 40.692, 7, 5),
    "Williamsburg": (-73.957, 40.714, 4, 12),
    "Park Slope": (-73.980, 40.672, 4, 5),
    "Long Island City": (-73.948, 40.746, 4, 3),
    "Astoria": (-73.921, 40.764, 3, 5),
    "Jackson Heights": (-73.883, 40.749, 3, 4),
    "LaGuardia": (-73.874, 40.774, 7, 3),
    "Hoboken": (-74.031, 40.741, 3, 5),
    "Jersey City": (-74.038, 40.718, 4, 3),
    "Yankee Stadium": (-73.927, 40.829, 1, 5),
}


def new_yorkers(people: int, *, night: bool = False, seed: int = 4) -> pa.Table:
    """People who go to well-known places, on land, and to a few of their own; nobody of them exists."""
    import shapely

    rng = np.random.default_rng(seed)
    at = np.array([place[:2] for place in HAUNTS.values()])
    pull = np.array([place[3 if night else 2] for place in HAUNTS.values()], float)
    trips = rng.geometric(0.25, people)
    person = np.repeat(np.arange(people), trips)
    own = rng.choice(len(at), people, p=pull / pull.sum())
    there = np.where(rng.random(len(person)) < 0.5, own[person], rng.choice(len(at), len(person), p=pull / pull.sum()))
    wide = rng.choice([0.0035, 0.009, 0.03], len(person), p=[0.6, 0.3, 0.1])[:, None]
    points = at[there] + rng.normal(0.0, 1.0, (len(person), 2)) * wide
    dry = shapely.contains_xy(land_of_new_york(), points[:, 0], points[:, 1])
    return pa.table({"person": person[dry], "x": points[dry, 0], "y": points[dry, 1]})


def a_day(extent: tuple[float, ...], people: int, seed: int = 6) -> pa.Table:
    """People who sleep about real towns and work in the three largest, with the second of the day of each sight."""
    rng = np.random.default_rng(seed)
    towns = basemap.cities(Bounds(*extent), 600)
    at = np.array([(town.lon, town.lat) for town in towns])
    home = at[rng.choice(len(at), people)] + rng.normal(0.0, 0.012, (people, 2))
    work = at[rng.choice(3, people, p=[0.6, 0.25, 0.15])] + rng.normal(0.0, 0.004, (people, 2))
    sights = rng.poisson(12, people) + 1
    person = np.repeat(np.arange(people), sights)
    pull = np.array([2, 1, 1, 1, 1, 2, 6, 12, 14, 9, 8, 9, 12, 10, 9, 9, 11, 15, 16, 11, 8, 6, 5, 3], float)
    hour = rng.choice(24, len(person), p=pull / pull.sum())
    busy = (rng.random(len(person)) < np.where((hour >= 8) & (hour < 18), 0.8, 0.05))[:, None]
    points = np.where(busy, work[person], home[person]) + rng.normal(0.0, 0.002, (len(person), 2))
    second = 3600 * hour + rng.integers(0, 3600, len(person))
    return pa.table({"person": person, "x": points[:, 0], "y": points[:, 1], "second": second})


@cache
def land_of_new_york() -> Any:
    """The land, as a geometry of shapely."""
    import shapely

    from dpheatmap.render.basemap.shores import shores

    known = shores(Bounds(*NEW_YORK))
    if known is None:
        raise SystemExit("The pictures need the coast: scripts/coast --install")
    return shapely.union_all([shapely.Polygon(outer, holes) for outer, *holes in known.land])


def quarters() -> dict[str, Any]:
    """The land nearest to each of the well-known places."""
    import shapely

    at = shapely.MultiPoint([place[:2] for place in HAUNTS.values()])
    cells = shapely.get_parts(shapely.voronoi_polygons(at, extend_to=shapely.box(*NEW_YORK), ordered=True))
    return dict(zip(HAUNTS, shapely.intersection(cells, land_of_new_york()), strict=True))


def manhattan() -> dict[str, Any]:
    """The island of Manhattan, as far as it is on the map, and a strip of water around it, as GeoJSON."""
    import shapely

    near = shapely.Polygon(
        [(-74.03, 40.69), (-73.975, 40.705), (-73.938, 40.775), (-73.9285, 40.797), (-73.9345, 40.811),
         (-73.9325, 40.84), (-73.99, 40.84)]
    )  # fmt: skip
    island = max(shapely.get_parts(near & land_of_new_york()), key=shapely.area)
    made: dict[str, Any] = shapely.geometry.mapping(shapely.buffer(island, 0.001))
    return made


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
    """All fifteen, of generated people."""
    folder.mkdir(parents=True, exist_ok=True)
    invented = {"source": "invented people at real places"}
    place = Domain.bbox(*NEW_YORK, resolution=50)
    columns: dict[str, Any] = dict(COLUMNS)
    day, night = (
        dph.release(new_yorkers(8000, night=late, seed=4 + late), place, epsilon=1, **columns) for late in (False, True)
    )
    heat = day.heatmap(sigma=400, size=SIZE)
    words = {"title": "Where 8,000 invented people are in New York", **invented}
    heat.save(folder / "new-york.png", **words)
    heat.save(folder / "new-york-dark.png", colours="dark", **words)
    heat.save(folder / "new-york-contour.png", style="contour", **words)
    day.save_areas(
        quarters(), folder / "districts.png", values="people", title="How many invented people go where", **invented
    )
    island = Domain.polygon(manhattan(), resolution=50)
    inside = map_of(new_yorkers(8000), island, 1, 400)
    inside.save(folder / "inside.png", values="people", title="Invented people on Manhattan", **invented)
    change = dph.difference(night, day, sigma=600, size=SIZE, names=("by day", "at night"))
    change.save(folder / "change.png", title="Where New York goes at night", **invented)
    city = Domain.bbox(*BERN, resolution=50)
    draw_hours(city, folder / "hours.png", **invented)
    few = map_of(around_towns(BERN, 400, 0.01), city, "1/2", 600)
    few.save(folder / "few.png", title="400 invented people in Bern", **invented)
    nothing = map_of(around_towns(BERN, 12, 0.01), city, "1/10", 600)
    nothing.save(folder / "nothing.png", title="Twelve invented people in Bern", **invented)
    bay = map_of(around_towns(BAY, 20_000, 0.02), Domain.bbox(*BAY, resolution=100), 1, 900)
    bay.save(folder / "bay.png", title="Invented people around San Francisco Bay", **invented)
    italy = map_of(around_towns(ITALY, 60_000, 0.12), Domain.bbox(*ITALY, resolution=3000), 1, 12_000)
    italy.save(folder / "italy.png", title="Invented people in and around Italy", **invented)
    world = map_of(around_towns(WORLD, 100_000, 1.0), Domain.bbox(*WORLD, depth=9), 1, 150_000)
    world.save(folder / "world.png", style="smooth", title="Invented people of the world", **invented)
    screen = shop(folder / "screen.png")
    gaze = map_of(looks_at_a_shop(300), Domain.image(640, 480), 2, 20)
    gaze.save(
        folder / "gaze.png", background=screen, title="Where people looked: the shop's front page",
        source="an invented page, 300 invented viewers",
    )  # fmt: skip
    screen.unlink()
    match = map_of(passes(440), Domain.image(105, 68), 2, 4)
    match.save(
        folder / "pitch.png", background="pitch", what="touches", title="Where players touch the ball",
        source="440 invented players",
    )  # fmt: skip
    draw_cells(map_of(generated_people(20_000, extent=BERN), city, 1, 250), folder / "cells.png")


def draw_hours(place: Domain, path: Path, **words: str) -> None:
    """A day in small maps on one scale, and how many people are about at each hour."""
    made = dph.release(
        a_day(BERN, 20_000), place, epsilon=1, time="second", every="hour-of-day", time_zone="UTC", user="person",
        x="x", y="y",
    )  # fmt: skip
    series = made.heatmap(sigma=500, size=320)
    series.save(path, values="people", title="A day of 20,000 invented people in Bern", **words)


def draw_cells(heat: dph.Heatmap, path: Path) -> None:
    """The measured cells as GeoPandas shows them."""
    import matplotlib

    matplotlib.use("agg")
    cells = heat.to_geopandas()
    cells["percent"] = (100 * cells["per_km2"]).clip(lower=0.01)
    axes = cells.plot(
        "percent", legend=True, cmap="YlOrRd", figsize=(8.8, 6.4), edgecolor="0.45", linewidth=0.2,
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
        city = map_of(str(checkins), Domain.bbox(*NEW_YORK, resolution=50), 1, 450, columns)
        city.save(folder / "new-york.png", what="check-ins", source="Gowalla")
    if touches.exists():
        match = map_of(str(touches), Domain.image(100, 100), 1, 2, COLUMNS | {"user": "user"})
        match.save(folder / "football.png", what="events", source="Pappalardo and others, 2019")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
    if (real := stand_in_data.folder()) is not None:
        draw_real(real, Path("results/gallery"))
