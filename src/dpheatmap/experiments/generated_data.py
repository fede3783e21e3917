"""Invented people instead of data, for trials without downloads and for pictures that may be published."""

from __future__ import annotations

import numpy as np

from dpheatmap.experiments.populations import Dataset, Place
from dpheatmap.place.domain import Domain
from dpheatmap.testing import generated_people

TITLE = "invented people: no data, no evidence for any claim"
CITIES, IMAGES, SIZE = 30, 38, (320, 240)


def cities() -> Dataset:
    """As many cities as the paper has, of 600 people each."""
    return Dataset(tuple(_city(number) for number in range(CITIES)), TITLE, stand_in=True)


def gaze() -> Dataset:
    """As many images as the paper has, of 60 people each."""
    return Dataset(tuple(_image(number) for number in range(IMAGES)), TITLE, stand_in=True)


def football() -> Dataset:
    """Passes, shots and duels of players who each have a part of the pitch."""
    return Dataset(tuple(_pitch(number) for number in range(3)), TITLE, stand_in=True)


def _pitch(number: int) -> Place:
    rng = np.random.default_rng(1000 + number)
    user = np.repeat(np.arange(240), 25)
    home = rng.uniform(0.1, 0.9, (240, 2))
    at = np.clip(home[user] + rng.normal(0, 0.05 + 0.05 * number, (len(user), 2)), 0, 1)
    return Place(f"pitch {number}", Domain.unit(8), user, at[:, 0], at[:, 1])


def _city(number: int) -> Place:
    events = generated_people(600, seed=number).fetchnumpy()
    return Place.of_events(f"city {number}", Domain.unit(8), events["person"], events["x"], events["y"])


def _image(number: int) -> Place:
    """An image with a few targets of different interest, and a gaze that jitters and sometimes strays."""
    rng = np.random.default_rng(number)
    things = int(rng.integers(2, 7))
    centres = rng.uniform(0.15, 0.85, (things, 2)) * SIZE
    looks = np.repeat(np.arange(60), 30)
    thing = rng.choice(things, len(looks), p=rng.dirichlet(np.full(things, 2.0)))
    at = centres[thing] + rng.normal(0, 9, (len(looks), 2))
    strays = rng.random(len(looks)) < 0.1
    at[strays] = rng.uniform(0, 1, (int(strays.sum()), 2)) * SIZE
    return Place(f"image {number}", Domain.image(*SIZE), looks, at[:, 0], at[:, 1])
