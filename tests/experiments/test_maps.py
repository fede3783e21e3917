"""Maps side by side."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dpheatmap.experiments.maps import CITY, GAZE, SHOWN, Gallery, side_by_side
from dpheatmap.experiments.populations import Dataset, Place
from dpheatmap.experiments.study_runner import run_gallery
from dpheatmap.place.domain import Domain


class Invented:
    """A city in the north-west, and gaze at the top of two pictures."""

    def __init__(self, picture: Path | None = None) -> None:
        self.picture = picture

    def cities(self) -> Dataset:
        rng = np.random.default_rng(0)
        where = rng.normal((0.25, 0.75), 0.05, (1200, 2)).clip(0, 0.999)
        place = Place("north-west", Domain.unit(6), np.arange(1200) % 600, where[:, 0], where[:, 1])
        return Dataset((place,), "invented people", stand_in=True, notes=("Invented.",))

    football = cities

    def gaze(self) -> Dataset:
        rng = np.random.default_rng(0)
        places = [
            Place(
                f"image {k}",
                Domain.image(64, 48),
                np.arange(600) % 60,
                rng.uniform(0, 64, 600),
                rng.uniform(0, 9, 600),
                self.picture,
            )
            for k in range(2)
        ]
        return Dataset(tuple(places), "invented gaze", stand_in=True)


def test_a_city_is_drawn_with_north_at_the_top() -> None:
    strips, dataset = CITY.strips(Invented(), 0)
    assert [float(one.epsilon) for one in strips] == [1, 5]
    figure = side_by_side(strips, "title", [dataset.title])
    shown = [axes for axes in figure.axes if axes.images]
    assert len(shown) == 2 * (1 + len(SHOWN))
    values = np.asarray(shown[0].images[0].get_array())
    row, column = np.unravel_index(np.argmax(values), values.shape)
    assert column < 24
    assert row > 40
    low, high = shown[0].get_ylim()
    assert low < high
    low, high = side_by_side(GAZE.strips(Invented(), 0)[0], "", []).axes[0].get_ylim()
    assert low > high


@pytest.mark.parametrize("gallery", [CITY, GAZE], ids=lambda gallery: gallery.name)
def test_what_a_gallery_writes(gallery: Gallery, tmp_path: Path) -> None:
    said: list[str] = []
    written = run_gallery(gallery, Invented(), tmp_path, say=said.append).files
    assert [path.suffix for path in written] == [".png", ".csv", ".txt"]
    rows = list(csv.DictReader(written[1].read_text().splitlines()[2:]))
    assert len(rows) == 2 * len(SHOWN)
    emd = {(row["place"], row["epsilon"], row["method"]): float(row["emd"]) for row in rows}
    held = "NOT HELD" not in written[2].read_text()
    assert held == all(
        emd[place, epsilon, "paper"] == min(emd[place, epsilon, name] for name in SHOWN) for place, epsilon, _ in emd
    )
    assert said == (["Invented."] if gallery is CITY else [])
    again = run_gallery(gallery, Invented(), tmp_path).files
    assert list(csv.DictReader(again[1].read_text().splitlines()[2:])) == rows


@pytest.mark.parametrize("gallery", [CITY, GAZE], ids=lambda gallery: gallery.name)
def test_maps_titles_and_notes_have_room(gallery: Gallery) -> None:
    figure = side_by_side(gallery.strips(Invented(), 0)[0], gallery.title, ["A first note", "A second note"])
    figure.canvas.draw()
    parts = [axes.get_tightbbox() for axes in figure.axes] + [text.get_window_extent() for text in figure.texts]
    for one in parts:
        assert one is not None
        assert min(one.x0, one.y0) >= -1
        assert one.x1 <= figure.bbox.x1 + 1
        assert one.y1 <= figure.bbox.y1 + 1
    for one, other in combinations(parts, 2):
        assert one is not None
        assert other is not None
        assert one.x1 <= other.x0 + 1 or other.x1 <= one.x0 + 1 or one.y1 <= other.y0 + 1 or other.y1 <= one.y0 + 1


def test_heat_lies_over_the_picture(tmp_path: Path) -> None:
    picture = tmp_path / "COCO.jpg"
    Image.fromarray(np.full((480, 640, 3), 200, np.uint8)).save(picture)
    strips, _ = GAZE.strips(Invented(picture), 0)
    drawn = np.asarray(side_by_side(strips, "", []).axes[0].images[0].get_array())
    assert drawn.shape == (48, 64, 3)
    np.testing.assert_allclose(drawn[40, 30], 200 / 255, atol=0.02)
    assert np.ptp(drawn[4, 30]) > 0.1
