"""Maps side by side as in the paper: the original, the baseline, its top 0.01 %, and the paper's algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpheatmap.evaluate.chart import GREY, INK, new_figure
from dpheatmap.evaluate.ground_truth import true_distribution
from dpheatmap.evaluate.methods import METHODS
from dpheatmap.evaluate.scores import Scores, score
from dpheatmap.evaluate.trial import seed_of
from dpheatmap.experiments import epsilon as comparison
from dpheatmap.experiments import gaze
from dpheatmap.experiments.study import SIGMA
from dpheatmap.experiments.users import one_cell
from dpheatmap.heatmap.smoothing import smooth
from dpheatmap.place.domain import Floats
from dpheatmap.render.palette import LIGHT, shades

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpheatmap.experiments.populations import Dataset, Place
    from dpheatmap.experiments.study import Data

WIDTH, GAP, TITLE = 14.4, 0.15, 0.32  # of a figure, between maps, and above each, in inches
STEPS = 256  # of colours
FADED = 0.12  # of the scale, over which colours fade into the paper
SHOWN = ("baseline", "top-0.01", "paper")


@dataclass(frozen=True)
class Gallery:
    """A figure of maps: its places, numbers of people, and epsilons."""

    name: str
    title: str
    strips: Callable[[Data, int], tuple[list[Strip], Dataset]]


@dataclass(frozen=True)
class Strip:
    """One row of maps: the true one, then each method's with its scores."""

    place: Place
    epsilon: Fraction
    true: Floats
    estimates: dict[str, Floats]
    scores: dict[str, Scores]


def strip(place: Place, people: int, epsilon: Fraction, sigma: float, seed: int) -> Strip:
    """Draw people from a place and map them by each method; the same for the same seed."""
    rng = np.random.default_rng(seed_of(seed, "people", place.name))
    counts = place.sample(people, rng)
    true = smooth(true_distribution(counts), sigma)
    estimates = {
        name: smooth(METHODS[name].estimate(counts, epsilon, seed_of(seed, place.name, epsilon, name)), sigma)
        for name in SHOWN
    }
    return Strip(place, epsilon, true, estimates, {name: score(true, map_) for name, map_ in estimates.items()})


def side_by_side(strips: list[Strip], title: str, notes: list[str]) -> Figure:
    """Draw the strips below each other; each map has its own scale, because flat maps are far below the true one."""
    figure = new_figure()
    rows, columns = strips[0].true.shape
    wide = (WIDTH - GAP) / (1 + len(SHOWN)) - GAP
    high = wide * rows / columns
    below, each = 0.15 + 0.2 * len(notes), high + TITLE
    height = below + len(strips) * each + 0.45
    figure.set_size_inches(WIDTH, height)
    for number, one in enumerate(strips):
        bottom = below + (len(strips) - 1 - number) * each
        row = [
            figure.add_axes(((GAP + k * (wide + GAP)) / WIDTH, bottom / height, wide / WIDTH, high / height))
            for k in range(1 + len(SHOWN))
        ]
        _draw(row[0], one.true, one.place, f"Original, no privacy  ({one.place.name})")
        for panel, name in zip(row[1:], SHOWN, strict=True):
            emd = one.scores[name].emd
            _draw(panel, one.estimates[name], one.place, f"{METHODS[name].title}, epsilon {one.epsilon}, EMD {emd:.3f}")
    figure.text(0.01, 1 - 0.1 / height, title, color=INK, fontsize=12, weight="bold", va="top")
    for k, note in enumerate(reversed(notes)):
        figure.text(0.01, (0.04 + 0.2 * k) / height, note, color=GREY, fontsize=8.5, va="bottom")
    return figure


def _draw(panel: Any, heat: Floats, place: Place, title: str) -> None:
    from matplotlib.colors import ListedColormap

    rows, columns = heat.shape
    if place.picture is None:
        panel.imshow(heat, cmap=ListedColormap(_on_paper()), vmin=0, interpolation="nearest")
    else:
        panel.imshow(_overlay(heat, place.picture), interpolation="nearest")
    panel.set_title(title, fontsize=9.5, color=INK)
    panel.set_xticks([])
    panel.set_yticks([])
    panel.set_xlim(-0.5, columns - 0.5)
    bottom_up = place.domain.kind == "unit"  # a city cell's y grows northward
    panel.set_ylim(*((-0.5, rows - 0.5) if bottom_up else (rows - 0.5, -0.5)))


def _overlay(heat: Floats, picture: Path) -> Floats:
    """Lay the heat over a grey picture; hotter pixels hide more of the picture."""
    from PIL import Image

    rows, columns = heat.shape
    with Image.open(picture) as opened:
        grey = np.asarray(opened.convert("L").resize((columns, rows)), dtype=np.float64) / 255
    part = heat / heat.max()
    cover = np.sqrt(part)[..., None] * 0.8
    blended: Floats = (1 - cover) * grey[..., None] + cover * _on_paper()[np.rint((STEPS - 1) * part).astype(np.intp)]
    return blended


def _city_strips(data: Data, seed: int) -> tuple[list[Strip], Dataset]:
    cities = data.cities()
    place = one_cell(cities)
    return [strip(place, comparison.PEOPLE, Fraction(epsilon), SIGMA, seed) for epsilon in (1, 5)], cities


def _gaze_strips(data: Data, seed: int) -> tuple[list[Strip], Dataset]:
    images = data.gaze()
    return [strip(place, gaze.PEOPLE, Fraction(10), gaze.SIGMA, seed) for place in images.places[:2]], images


CITY = Gallery("maps", "A city cell of 200 people, at epsilon 1 and 5", _city_strips)
GAZE = Gallery("gaze-maps", "Gaze of 50 people on two images, at epsilon 10", _gaze_strips)


@cache
def _on_paper() -> Floats:
    """Colours from white through those of heat, from 0 to 1."""
    opacity = np.minimum(np.linspace(0.0, 1.0 / FADED, STEPS), 1.0)[:, None]
    colours: Floats = 1.0 - opacity * (1.0 - shades(LIGHT.heat, STEPS) / 255.0)
    return colours
